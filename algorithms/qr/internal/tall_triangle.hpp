#pragma once

#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>

namespace tesela::detail {

/// Returns R of A = Q R, n x n, by the tile QR, and overwrites A. Returns an empty matrix and leaves A alone if A is
/// wide or has fewer than 256 columns: LAPACK then reads A itself.
template <class T>
HostMatrix<T> tall_triangle(Runtime& runtime, HostMatrix<T>& A) {
  constexpr index_t graph_from = 256;
  const index_t m = A.rows(), n = A.cols();
  if (m < n || n < graph_from) return {};
  static_cast<void>(qr<T>(runtime, MatrixView<T>(A), {}, {}));
  HostMatrix<T> triangle(n, n);
  for (index_t j = 0; j < n; ++j) std::copy_n(A.data() + j * A.ld(), n, triangle.data() + j * n);
  return triangle;
}

}  // namespace tesela::detail
