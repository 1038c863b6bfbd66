#pragma once

#include <tesela/tiles/host_matrix.hpp>

namespace tesela {

/// Largest errors over a batch of matrices, as in EigError.
struct EigBatchError {
  double value = 0;  ///< difference from LAPACK's syevd, relative to ||A||_2
  double residual = 0, orthogonality = 0;
  double rounding = 0;   ///< smallest normal number of T divided by the least norm: error of results near zero
  index_t matrices = 0;  ///< number of measured matrices
};

/// Measures at most `most` evenly spaced matrices: `a` is n x (K n), whose lower triangles are read, values n x K,
/// vectors n x (K n) or null. Compares the values with LAPACK's only if `compare`.
template <class T>
EigBatchError eig_batch_error(const HostMatrix<T>& a, const HostMatrix<T>& values, const HostMatrix<T>* vectors,
                              bool compare, index_t most, std::uint64_t seed);

}  // namespace tesela
