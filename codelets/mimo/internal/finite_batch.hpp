#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/host/all_finite.hpp>
#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/host_device.hpp>

#include <complex>

// Whether the numbers of a task are finite, tested where they are: on one of many cores, or on the GPU that searches
// them. Internal to MIMO.

namespace tesela::kernels::mimo {

/// Returns false if a number of h or y is not finite; the first report then has the flag, and nothing else is to be
/// done.
template <class T>
bool finite_batch(const Block<const std::complex<T>>& h, const Block<const std::complex<T>>& y,
                  const Block<SearchReport>& reports) {
  const auto finite = [](const Block<const std::complex<T>>& a) {
    const bool dense = a.ld == a.rows;
    const index_t columns = dense && a.cols > 0 ? 1 : a.cols, rows = dense ? a.rows * a.cols : a.rows;
    for (index_t j = 0; j < columns; ++j)
      if (!all_finite(reinterpret_cast<const T*>(a.data + j * a.ld), 2 * rows)) return false;
    return true;
  };
  if (y.cols == 0 || (finite(h) && finite(y))) return true;
  reports(0, 0) = {0, 0, SearchReport::not_finite};
  return false;
}

/// Does the same on a GPU's stream; the later kernels call batch_not_finite().
template <class T>
void find_not_finite(CUstream_st* stream, const Block<const std::complex<T>>& h, const Block<const std::complex<T>>& y,
                     const Block<SearchReport>& reports);

TESELA_BOTH inline bool batch_not_finite(const SearchReport* reports) {
  return (reports->flags & SearchReport::not_finite) != 0;
}

}  // namespace tesela::kernels::mimo
