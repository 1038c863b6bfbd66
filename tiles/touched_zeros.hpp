#pragma once

#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/in_parts.hpp>

namespace tesela {

/// Returns zeros that all cores write, so that all of them allocate pages: one core alone allocates only 2 or 3 GB/s.
/// Throws as HostMatrix does.
template <class T>
HostMatrix<T> touched_zeros(index_t rows, index_t cols) {
  constexpr index_t part = index_t{1} << 21;
  HostMatrix<T> A(rows, cols);
  in_parts(A.size(), part, [&](index_t first, index_t count) { std::fill_n(A.data() + first, count, T(0)); });
  return A;
}

}  // namespace tesela
