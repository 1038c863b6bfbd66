#pragma once

#include <tesela/algorithms/support/measured.hpp>
#include <tesela/runtime/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

// Bounds of ols, wls, gls, lse, glm and nnls that do not come with their solutions.
namespace tesela {

/// Returns the bound of a residual or backward error of a benchmark's peer on uniform matrices of this size, which are
/// well conditioned: 5e-15 sqrt(size), single precision 5e-6.
template <class T>
double peer_bound(index_t size) {
  return sizeof(real_t<T>) == sizeof(float) ? 5e-6 : 5e-15 * std::sqrt(static_cast<double>(size));
}

/// Largest relative distance of a peer's norm from the norm of the first peer.
template <class T>
constexpr double peer_distance = sizeof(real_t<T>) == sizeof(float) ? 1e-2 : 1e-8;

/// Returns the violation of the optimality conditions of lse and nnls with its bound.
template <class T>
Measured measured_optimality(double error, index_t size, double cut) {
  return {error, rounding_bound<T>(size), cut};
}

/// Returns the constraint residual of a model with the covariance sigma: its part below the last pivot counts as zero.
template <class T>
Measured measured_constraint(double error, index_t size, const Measured& backward) {
  const double left =
      std::min(20 * static_cast<double>(size) * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()),
               useful_bound - backward.bound);
  return {error, backward.bound + left, backward.cut};
}

}  // namespace tesela
