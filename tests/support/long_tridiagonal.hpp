#pragma once

#include <tesela/runtime/types.hpp>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace tesela::test {

/// One long system on the host, and the error of a solution.
template <class T>
struct LongTridiagonal {
  std::vector<T> dl, d, du, b;
  explicit LongTridiagonal(index_t n) : dl(static_cast<std::size_t>(n)), d(dl), du(dl), b(dl) {}
  index_t n() const { return static_cast<index_t>(b.size()); }

  enum class Kind { dominant, uniform };
  static LongTridiagonal random(index_t n, Kind kind, unsigned seed = 1) {
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    LongTridiagonal s(n);
    for (std::size_t i = 0; i < s.b.size(); ++i) {
      s.dl[i] = static_cast<T>(uniform(generator)), s.du[i] = static_cast<T>(uniform(generator));
      const double c = uniform(generator);
      s.d[i] = static_cast<T>(kind == Kind::dominant ? std::copysign(2.2, c) : c);
      s.b[i] = static_cast<T>(uniform(generator));
    }
    return s;
  }
  /// Returns (-1, c, -1) with a solution that decays by `decay` from row to row on both sides of the only nonzero of b.
  static LongTridiagonal decaying(index_t n, double decay, index_t place, double size) {
    LongTridiagonal s(n);
    for (std::size_t i = 0; i < s.b.size(); ++i) {
      s.dl[i] = s.du[i] = -1;
      s.d[i] = static_cast<T>(decay + 1 / decay);
    }
    s.b[static_cast<std::size_t>(place)] = static_cast<T>(size);
    return s;
  }

  /// Returns the largest componentwise backward error of x over all rows whose terms are at least `least`.
  double error(const std::vector<T>& x, bool periodic, long double least = 0) const {
    long double worst = 0;
    const auto at = [](const std::vector<T>& v, index_t i) -> long double { return v[static_cast<std::size_t>(i)]; };
    for (index_t i = 0; i < n(); ++i) {
      const long double terms[] = {i > 0 || periodic ? at(dl, i) * at(x, (i + n() - 1) % n()) : 0, at(d, i) * at(x, i),
                                   i + 1 < n() || periodic ? at(du, i) * at(x, (i + 1) % n()) : 0, -at(b, i)};
      long double sum = 0, size = 0;
      for (const long double term : terms) sum += term, size += std::abs(term);
      const long double error = size > least ? std::abs(sum) / size : size <= least ? 0 : size;
      if (!(error <= worst)) worst = error;
    }
    return static_cast<double>(worst);
  }
};

}  // namespace tesela::test
