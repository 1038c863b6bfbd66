#pragma once

#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>

namespace tesela {

/// Returns zeros that all cores write, so that all of them allocate pages: one core alone allocates only 2 or 3 GB/s.
/// Throws as HostMatrix does.
template <class T>
HostMatrix<T> parallel_zeros(index_t rows, index_t cols) {
  constexpr index_t part = index_t{1} << 21;
  HostMatrix<T> A(rows, cols);
  parallel_for(A.size(), part, [&](index_t first, index_t end) { std::fill(A.data() + first, A.data() + end, T(0)); });
  return A;
}

}  // namespace tesela
