#pragma once

#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/algorithms/mimo/mimo_soft.hpp>

#include <complex>

namespace tesela::test {

template <class T>
struct Problem {
  MimoShape shape;
  std::vector<Constellation> alphabets;
  HostMatrix<std::complex<T>> h, y;
  HostMatrix<int> sent;
  double n0;
};

template <class T>
Problem<T> problem(const MimoShape& shape, const char* names, const char* channel, double db, std::uint64_t seed = 3) {
  Problem<T> p{shape, parse_constellations("test", names, shape.streams), {}, {}, {}, 0};
  p.n0 = noise_variance(db, p.alphabets);
  p.h = random_channels<T>(shape, parse_channel("test", channel), seed);
  p.sent = random_labels(shape, p.alphabets, seed);
  p.y = received(shape, p.h, p.alphabets, p.sent, p.n0, seed);
  return p;
}

template <class T>
Detection detect(const Problem<T>& p, MimoOptions options) {
  options.n0 = p.n0;
  Graph g(runtime());
  return mimo_detect(g, p.shape, p.h, p.y, p.alphabets, options);
}

/// Detects by the method with this name.
template <class T>
Detection by(const Problem<T>& p, const std::string& method, ColumnOrder order = ColumnOrder::mmse_vblast) {
  MimoOptions options{.order = order};
  parse_mimo_method("test", method, options);
  return detect(p, options);
}

/// Returns the number of signals with different results.
inline index_t differences(const Detection& a, const Detection& b) {
  index_t count = 0;
  for (index_t k = 0; k < a.labels.cols(); ++k) {
    bool same = true;
    for (index_t j = 0; j < a.labels.rows(); ++j) same = same && a.labels(j, k) == b.labels(j, k);
    count += same ? 0 : 1;
  }
  return count;
}

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
