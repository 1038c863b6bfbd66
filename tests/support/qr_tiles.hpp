#pragma once

#include "tests/support/padded.hpp"
#include <tesela/codelets/qr/tile_qr.hpp>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace tesela::test {

using Where = std::function<bool(index_t i, index_t j)>;

/// Random numbers where `active`, NaN elsewhere and in the padding, so that a read there changes the result.
template <class T>
Padded<T> random(index_t m, index_t n, const Where& active, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Padded<T> a(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i)
      if (active(i, j)) a(i, j) = static_cast<T>(uniform(engine));
  return a;
}

template <class T>
Padded<T> work_for(index_t width, index_t across) {
  const Shape shape = kernels::qr_work(width, across, 0, false);
  return Padded<T>(shape.rows, shape.cols);
}

/// Requires that all elements outside `active` and the padding have the bits of before.
template <class T>
bool untouched(Padded<T>& before, Padded<T>& after, const Where& active) {
  for (index_t j = 0; j < after.n; ++j)
    for (index_t i = 0; i < after.ld; ++i)
      if ((i >= after.m || !active(i, j)) && std::memcmp(before.at(i, j), after.at(i, j), sizeof(T)) != 0) return false;
  return true;
}

/// Returns max |x - y| where `active`, in units of rounding; infinite for NaN.
template <class T>
double distance(Padded<T>& x, Padded<T>& y, const Where& active) {
  double worst = 0;
  for (index_t j = 0; j < x.n; ++j)
    for (index_t i = 0; i < x.m; ++i)
      if (active(i, j)) {
        const double d = std::abs(static_cast<double>(x(i, j)) - static_cast<double>(y(i, j)));
        worst = d <= std::numeric_limits<double>::max() ? std::max(worst, d) : std::numeric_limits<double>::infinity();
      }
  return worst / std::numeric_limits<T>::epsilon();
}

}  // namespace tesela::test
