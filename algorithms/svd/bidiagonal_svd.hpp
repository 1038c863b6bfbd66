#pragma once

#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <optional>
#include <span>
#include <vector>

namespace tesela {

/// Result of bidiagonal_svd.
template <class T>
struct BidiagonalSvd {
  std::vector<T> values;           ///< descending; empty if the iteration did not converge
  std::optional<HostMatrix<T>> u;  ///< n x n, if requested: B = U diag(values) V^T
  std::optional<HostMatrix<T>> v;  ///< n x n, if requested
  int info = 0;                    ///< LAPACK's info: positive if the iteration did not converge
  /// Returns whether the iteration converged.
  bool ok() const { return info == 0; }
};

/// Computes the singular values, and the singular vectors if `vectors`, of the upper bidiagonal matrix B with diagonal
/// d (n) and super-diagonal e (n - 1).
///
/// Returns  values, each to nearly full relative accuracy, however small; U and V with B = U diag(values) V^T to a few
///          eps ||B||.
/// Throws   ArgumentError for lengths that do not conform.
/// Method   On the calling thread, in double precision, because bdsdc deflates at 64 eps. Values: dqds (LAPACK lasq1;
/// K.
///          Fernando, B. Parlett, Numer. Math. 67, 1994). Vectors: divide and conquer (LAPACK bdsdc; M. Gu, S.
///          Eisenstat, SIAM J. Matrix Anal. Appl. 16, 1995), whose products use the threads of BLAS.
template <class T>
BidiagonalSvd<T> bidiagonal_svd(std::span<const T> d, std::span<const T> e, bool vectors);

/// Computes the same on the runtime's cores, for any n that memory allows.
///
/// Returns  the same; values do not depend on the runtime.
/// Throws   ArgumentError for lengths that do not conform.
/// Method   Values as above. Vectors of large matrices: divide and conquer as a task graph in double precision (M. Gu,
///          S. Eisenstat, SIAM J. Matrix Anal. Appl. 16, 1995), whose merges deflate at 4 eps; cores solve its leaves
///          (LAPACK lasd0). Vectors of small matrices as above, on the calling thread.
template <class T>
BidiagonalSvd<T> bidiagonal_svd(Runtime& runtime, std::span<const T> d, std::span<const T> e, bool vectors);

}  // namespace tesela
