#pragma once

#include <tesela/algorithms/mimo/mimo_channel.hpp>

namespace tesela {

/// Whitens coloured noise in place: for noise of covariance C = L L^H, y = H s + v becomes L^-1 y = L^-1 H s + L^-1 v
/// with variance 1 at each antenna. C is Nr x Nr. Throws ArgumentError, with the place, if C is not Hermitian, not
/// finite or not positive definite.
template <class T>
void whiten(const HostMatrix<std::complex<double>>& covariance, HostMatrix<std::complex<T>>& channels,
            HostMatrix<std::complex<T>>& y);

}  // namespace tesela
