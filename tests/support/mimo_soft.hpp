#pragma once

#include "tests/support/mimo.hpp"
#include <tesela/algorithms/mimo/mimo_soft.hpp>

namespace tesela::test {

template <class T>
SoftDetection<T> soft(const Problem<T>& p, SoftOptions options, const HostMatrix<T>& priors = {}) {
  options.n0 = options.n0 > 0 ? options.n0 : p.n0;
  Graph g(runtime());
  return mimo_soft(g, p.shape, p.h, p.y, p.alphabets, options, priors);
}

/// Returns the largest |L - L'| / max(1, |L'|).
template <class T>
double apart(const SoftDetection<T>& a, const SoftDetection<T>& b) {
  double most = 0;
  for (index_t e = 0; e < a.llrs.size(); ++e) {
    const double x = double(a.llrs.data()[e]), y = double(b.llrs.data()[e]);
    most = std::fmax(most, std::isfinite(x) ? std::abs(x - y) / std::fmax(1, std::abs(y)) : HUGE_VAL);
  }
  return most;
}

}  // namespace tesela::test
