#pragma once

#include <tesela/algorithms/mimo/mimo_channel.hpp>

namespace tesela {

/// Coloured noise: v of covariance C = L L^H becomes L^-1 v, of variance 1 at each antenna, and y = H s + v becomes
/// L^-1 y = L^-1 H s + L^-1 v, in place. C is Nr x Nr. Throws ArgumentError where it is not Hermitian, not finite or
/// not positive definite, with the place.
template <class T>
void whiten(const HostMatrix<std::complex<double>>& covariance, HostMatrix<std::complex<T>>& channels,
            HostMatrix<std::complex<T>>& y);

}  // namespace tesela
