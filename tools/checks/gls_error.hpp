#pragma once

#include <tesela/host/normal_residual.hpp>
#include <tesela/tiles/host_matrix.hpp>

namespace tesela {

/// How well X solves min ||F^-1 (A x - b)||, measured on F^-1 [A b], which LAPACK computes here in double precision on
/// all cores: by F itself, or by Cholesky's factor of sigma = F F^T, both m x m. NaN where there is no such factor.
template <class T>
kernels::NormalResidual<double>::Result gls_error(const HostMatrix<T>& a, const HostMatrix<T>& b,
                                                  const HostMatrix<T>& f, bool sigma, const HostMatrix<T>& x);

}  // namespace tesela
