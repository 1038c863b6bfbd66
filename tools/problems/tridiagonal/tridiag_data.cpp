#include "tools/problems/tridiagonal/tridiag_data.hpp"

#include <tesela/tiles/parallel_for.hpp>

#include <cmath>
#include <mutex>

namespace tesela::bench {

using namespace kernels;
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

  double solution(index_t i) const { return static_cast<double>(x[i * stride]); }

  Norms norms(index_t first, index_t last) const {
    Norms all;
    for (index_t i = first; i < last; ++i) {
      const TridiagonalRow<T> row = data.bands()(i, number);
      const double dl = i > 0 ? static_cast<double>(row.dl) : 0, d = static_cast<double>(row.d);
      const double du = i + 1 < data.what().n ? static_cast<double>(row.du) : 0;
      const double b = static_cast<double>(systems == SystemsIn::columns ? data.b()(i, number) : data.b()(number, i));
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
double TridiagData<T>::residual(SystemsIn systems, const T* x) const {
  const auto system = [&](index_t s) {
    return systems == SystemsIn::columns ? System<T>{*this, systems, s, x + s * what_.n, 1}
                                         : System<T>{*this, systems, s, x + s, what_.batch};
  };
  std::mutex mutex;
  if (what_.batch == 1) {
    Norms all;
    parallel_for(what_.n, [&](index_t first, index_t last) {
      const Norms part = system(0).norms(first, last);
      const std::lock_guard lock(mutex);
      all.add(part);
    });
    return all.relative();
  }
  double worst = 0;
  parallel_for(what_.batch, [&](index_t first, index_t last) {
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
