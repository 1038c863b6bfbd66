#pragma once

#include <tesela/tiles/host_matrix.hpp>

namespace tesela::kernels {

/// An estimate of the largest over the smallest singular value of the upper triangle R, n x n with zeros below its
/// diagonal, none of them on it: eight steps of the power method with R^T R and with its inverse, from one start, so it
/// may be somewhat too small. 32 n^2 operations, where singular values themselves take 8/3 n^3.
template <class T>
double spectral_condition(const HostMatrix<T>& R);

}  // namespace tesela::kernels
