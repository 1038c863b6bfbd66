#pragma once

#include <tesela/tiles/host_matrix.hpp>

namespace tesela {

/// The largest errors of a batch's matrices, as EigError has them.
struct EigBatchError {
  double value = 0;  ///< over ||A||_2, beside LAPACK's (syevd)
  double residual = 0, orthogonality = 0;
  double rounding = 0;   ///< the smallest number of T over the least norm: errors of results near zero
  index_t matrices = 0;  ///< so many were measured
};

/// Measured of at most `most` matrices, evenly from all: `a` is n x (K n), of which lower triangles are read, values n
/// x K, vectors n x (K n) or null. Values are compared only where that is asked for.
template <class T>
EigBatchError eig_batch_error(const HostMatrix<T>& a, const HostMatrix<T>& values, const HostMatrix<T>* vectors,
                              bool compare, index_t most, std::uint64_t seed);

}  // namespace tesela
