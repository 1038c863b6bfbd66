#pragma once

#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>

namespace tesela {

/// Zeros that all cores write, and so provide with memory at once: a large matrix that one core touches first takes it
/// a second for every 2 or 3 GB. Throws as HostMatrix does.
template <class T>
HostMatrix<T> touched_zeros(index_t rows, index_t cols) {
  constexpr index_t part = index_t{1} << 21;
  HostMatrix<T> A(rows, cols);
  parallel_for(A.size(), part, [&](index_t first, index_t end) { std::fill(A.data() + first, A.data() + end, T(0)); });
  return A;
}

}  // namespace tesela
