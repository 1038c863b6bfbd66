#pragma once

#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/matrix_view.hpp>

#include <vector>

namespace tesela {

/// P A = L U for an m x n matrix.
template <class T>
struct LuFactors {
  HostMatrix<T> factors;      ///< L below the diagonal, with a unit diagonal, and U on and above it
  std::vector<index_t> rows;  ///< row i of P A is row rows[i] of A, from 0
  index_t zero_pivot = 0;     ///< first pivot that is zero, from 1; 0 if there is none
};

/// Factors P A = L U for a matrix in host memory, which is not changed (LAPACK getrf).
///
/// Returns  the factors, also of singular matrices. NaN spreads.
/// Waits    for the graph.
/// Method   lu() for square matrices from order 256 whose pivots do not vanish; otherwise LAPACK on the calling thread.
template <class T>
LuFactors<T> lu_factors(Runtime& runtime, const MatrixView<const T>& A);

}  // namespace tesela
