#include "bench/tridiag_data.hpp"

#include <cmath>
#include <mutex>

namespace tesela::bench {
namespace {

/// Keeps NaN once it came.
void raise(double& largest, double value) {
  if (!(value <= largest) && !std::isnan(largest)) largest = value;
}

/// The norms of one system, or of a part of its rows.
struct Norms {
  double residual = 0, matrix = 0, x = 0, b = 0;
  void add(const Norms& other) {
    raise(residual, other.residual);
    raise(matrix, other.matrix);
    raise(x, other.x);
    raise(b, other.b);
  }
  double relative() const { return residual == 0 ? 0 : residual / (matrix * x + b); }
};

/// One system: its elements by formula, its solution with the given stride.
template <class T>
struct System {
  const TridiagData<T>& data;
  SystemsIn systems;
  index_t number;
  const T* x;
  index_t stride;

  double element(Band band, index_t i) const {
    const auto generator = data.generator(band);
    return static_cast<double>(systems == SystemsIn::columns ? generator(i, number) : generator(number, i));
  }
  double solution(index_t i) const { return static_cast<double>(x[i * stride]); }

  Norms norms(index_t first, index_t last) const {
    Norms all;
    for (index_t i = first; i < last; ++i) {
      const double dl = i > 0 ? element(Band::dl, i) : 0, d = element(Band::d, i), b = element(Band::b, i);
      const double du = i + 1 < data.what().n ? element(Band::du, i) : 0;
      double ax = d * solution(i);
      if (i > 0) ax += dl * solution(i - 1);
      if (i + 1 < data.what().n) ax += du * solution(i + 1);
      all.add({std::abs(ax - b), std::abs(dl) + std::abs(d) + std::abs(du), std::abs(solution(i)), std::abs(b)});
    }
    return all;
  }
};

}  // namespace

template <class T>
Generator<T> TridiagData<T>::generator(Band band) const {
  if (band == Band::d && what_.dominant) return {Pattern::constant, T(3)};
  return {Pattern::uniform, T(0), 0, 4 * what_.seed + static_cast<std::uint64_t>(band)};
}

template <class T>
double TridiagData<T>::residual(SystemsIn systems, const T* x) const {
  const auto system = [&](index_t s) {
    return systems == SystemsIn::columns ? System<T>{*this, systems, s, x + s * what_.n, 1}
                                         : System<T>{*this, systems, s, x + s, what_.batch};
  };
  std::mutex mutex;
  if (what_.batch == 1) {
    Norms all;
    on_all_cores(what_.n, [&](index_t first, index_t last) {
      const Norms part = system(0).norms(first, last);
      const std::lock_guard lock(mutex);
      all.add(part);
    });
    return all.relative();
  }
  double worst = 0;
  on_all_cores(what_.batch, [&](index_t first, index_t last) {
    double mine = 0;
    for (index_t s = first; s < last; ++s) raise(mine, system(s).norms(0, what_.n).relative());
    const std::lock_guard lock(mutex);
    raise(worst, mine);
  });
  return worst;
}

template class TridiagData<float>;
template class TridiagData<double>;

}  // namespace tesela::bench
