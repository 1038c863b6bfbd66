#pragma once

#include <tesela/host/normal_residual.hpp>
#include <tesela/tiles/host_matrix.hpp>

namespace tesela {

/// Measures X as a solution of min ||F^-1 (A x - b)|| on F^-1 [A b], which LAPACK computes in double precision on all
/// cores, from F or from the Cholesky factor of sigma = F F^T, both m x m. NaN if there is no such factor.
template <class T>
kernels::NormalResidual<double>::Result gls_error(const HostMatrix<T>& a, const HostMatrix<T>& b,
                                                  const HostMatrix<T>& f, bool sigma, const HostMatrix<T>& x);

}  // namespace tesela
