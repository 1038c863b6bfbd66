#pragma once

#include "tools/checks/qr_error.hpp"
#include <tesela/runtime/types.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

// Terms of the errors of QR factorizations on one or several processes.

namespace tesela::qr_errors {

/// Multiplies by 2^-exponent in two steps, so that neither factor overflows.
struct Scaling {
  explicit Scaling(int exponent)
      : first(std::ldexp(1.0, -exponent / 2)), rest(std::ldexp(1.0, exponent / 2 - exponent)) {}
  double first, rest;
  template <class Wide>
  Wide operator()(Wide x) const {
    return x * first * rest;
  }
};

template <class Wide>
long double sum_of_squares(const Wide* x, std::size_t count) {
  long double sum = 0;
  for (std::size_t e = 0; e < count; ++e) sum += std::norm(with_parts<Wide, long double>(x[e]));
  return sum;
}
template <class Wide>
long double sum_of_squares(const std::vector<Wide>& x) {
  return sum_of_squares(x.data(), x.size());
}

/// Returns the loss of entries of an m x n matrix that are too small for T, a few roundings per column's reflector, in
/// units of 2^exponent.
template <class T>
long double lost(index_t m, index_t n, int exponent) {
  const long double entries = static_cast<long double>(m) * static_cast<long double>(n);
  return std::ldexp(4 * static_cast<long double>(std::min(m, n) + 1) * std::sqrt(entries) *
                        static_cast<long double>(std::numeric_limits<real_t<T>>::denorm_min()),
                    -exponent);
}

/// Sets the backward error from sums of squares, where A was divided by 2^exponent, and the part that the loss allows:
/// a third of T's digits must be right.
template <class T>
void set_backward(QrError& result, long double distance, long double norm, int exponent, long double loss) {
  const long double error = std::sqrt(distance), size = std::sqrt(norm),
                    most = std::cbrt(static_cast<long double>(std::numeric_limits<real_t<T>>::epsilon()));
  result.backward = static_cast<double>(norm > 0 ? error / size : std::ldexp(error, exponent));
  result.lost = static_cast<double>(norm > 0 ? std::min(loss / size, most) : 0);
}

/// Returns an element of a matrix of random signs.
inline double sign(std::uint64_t seed, index_t row, index_t column) {
  return Generator<double>{Pattern::uniform, 0, 0, seed}.bits(row, column) >> 63 != 0 ? 1.0 : -1.0;
}

}  // namespace tesela::qr_errors
