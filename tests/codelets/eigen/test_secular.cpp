#include <tesela/codelets/eigen/secular.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace tesela;
using namespace tesela::kernels;

namespace {

template <class T>
In<T> in(const std::vector<T>& x, index_t rows) {
  return {{x.data(), rows, static_cast<index_t>(x.size()) / rows, rows}};
}
template <class T>
Out<T> out(std::vector<T>& x, index_t rows) {
  return {{x.data(), rows, static_cast<index_t>(x.size()) / rows, rows}};
}

/// D + rho z z^T and what the kernels find of it, roots in batches of `batch`.
template <class T>
struct Secular {
  index_t k;
  T rho;
  std::vector<T> poles;  // and z
  std::vector<std::vector<T>> roots, weights;
  std::vector<index_t> order;

  Secular(const std::vector<T>& d, std::vector<T> z, T r) : k(static_cast<index_t>(d.size())), rho(r), poles(d) {
    T square = 0;
    for (const T x : z) square += x * x;
    for (T& x : z) x /= std::sqrt(square);
    poles.insert(poles.end(), z.begin(), z.end());
    for (index_t i = 0; i < k; ++i) order.push_back(k - 1 - i);  // any order will do
  }

  void solve(index_t batch) {
    for (index_t first = 0; first < k; first += batch) {
      roots.emplace_back(static_cast<std::size_t>(3 * std::min(batch, k - first)));
      SecularRoots<T>::cpu({rho, first}, in(poles, k), out(roots.back(), std::min(batch, k - first)));
    }
    for (index_t first = 0; first < k; first += batch) {
      weights.emplace_back(static_cast<std::size_t>(std::min(batch, k - first)));
      const std::vector<In<T>> all = root_tiles();
      SecularWeights<T>::cpu({first}, in(poles, k), out(weights.back(), std::min(batch, k - first)), all);
    }
  }
  std::vector<In<T>> root_tiles() const {
    std::vector<In<T>> tiles;
    for (const auto& r : roots) tiles.push_back(in(r, static_cast<index_t>(r.size()) / 3));
    return tiles;
  }
  std::vector<In<T>> weight_tiles() const {
    std::vector<In<T>> tiles;
    for (const auto& w : weights) tiles.push_back(in(w, static_cast<index_t>(w.size())));
    return tiles;
  }

  /// Vectors, rows in `order`, and values in long double.
  std::vector<T> vectors;
  std::vector<long double> values;
  void find_vectors() {
    vectors.assign(static_cast<std::size_t>(k * k), std::numeric_limits<T>::quiet_NaN());
    index_t column = 0;
    for (const auto& r : roots) {
      const index_t count = static_cast<index_t>(r.size()) / 3;
      Out<T> to{{vectors.data() + column * k, k, count, k}};
      SecularVectors<T>::cpu({0, count}, in(poles, k), in(order, k), in(r, count), to, weight_tiles());
      for (index_t j = 0; j < count; ++j)
        values.push_back(static_cast<long double>(r[static_cast<std::size_t>(j)]) +
                         static_cast<long double>(r[static_cast<std::size_t>(j + count)]));
      column += count;
    }
  }
  T pole(index_t i) const { return poles[static_cast<std::size_t>(i)]; }
  T z(index_t i) const { return poles[static_cast<std::size_t>(k + i)]; }
  /// Component of pole i.
  long double x(index_t i, index_t j) const { return vectors[static_cast<std::size_t>(k - 1 - i + j * k)]; }
};

template <class T>
void check(Secular<T> s, const char* what, index_t batch) {
  s.solve(batch);
  s.find_vectors();
  const double eps = std::numeric_limits<T>::epsilon(), size = std::sqrt(static_cast<double>(s.k));
  INFO(what << " k = " << s.k);
  double residual = 0, orthogonality = 0, iterations = 0;
  for (const auto& r : s.roots)
    for (std::size_t j = 2 * r.size() / 3; j < r.size(); ++j)
      iterations = std::max(iterations, static_cast<double>(r[j]));
  for (index_t j = 0; j < s.k; ++j) {
    const auto value = s.values[static_cast<std::size_t>(j)];
    CHECK(value >= s.pole(j));
    CHECK(value <= (j + 1 < s.k ? static_cast<long double>(s.pole(j + 1))
                                : static_cast<long double>(s.pole(j)) + s.rho * (1 + 8 * eps)));
    long double inner = 0, square = 0;
    for (index_t i = 0; i < s.k; ++i) inner += s.z(i) * s.x(i, j);
    for (index_t i = 0; i < s.k; ++i)
      square += std::pow((s.pole(i) - value) * s.x(i, j) + s.rho * s.z(i) * inner, 2.0L);
    residual = std::max(residual, static_cast<double>(std::sqrt(square)));
    for (index_t l = 0; l <= j; ++l) {
      long double dot = 0;
      for (index_t i = 0; i < s.k; ++i) dot += s.x(i, j) * s.x(i, l);
      const double off = std::abs(static_cast<double>(dot) - (l == j ? 1 : 0));
      if (!(off <= orthogonality)) orthogonality = off;
    }
  }
  const double first = std::abs(static_cast<double>(s.pole(0))), last = std::abs(static_cast<double>(s.pole(s.k - 1))),
               norm = std::max({first, last, static_cast<double>(s.rho)});
  INFO("residual " << residual / norm / eps << " eps, orthogonality " << orthogonality / eps << " eps, iterations "
                   << iterations);
  CHECK(residual <= 8 * size * eps * norm);
  CHECK(orthogonality <= 8 * size * eps);
  CHECK(iterations < 30);

  // Rows of the vectors without the vectors.
  std::vector<T> upper(static_cast<std::size_t>(s.k), T(0.5)), lower(static_cast<std::size_t>(s.k / 2 + 1), T(0.25));
  const auto u = static_cast<index_t>(upper.size()), l = s.k / 2;
  index_t column = 0;
  for (const auto& r : s.roots) {
    const index_t count = static_cast<index_t>(r.size()) / 3;
    std::vector<T> new_upper(static_cast<std::size_t>(count)), new_lower = new_upper;
    SecularRows<T>::cpu({u, l}, in(s.poles, s.k), in(s.order, s.k), in(r, count), in(upper, 1), in(lower, 1),
                        out(new_upper, 1), out(new_lower, 1), s.weight_tiles());
    for (index_t j = 0; j < count; ++j, ++column) {
      long double above = 0, below = 0;
      for (index_t i = 0; i < s.k; ++i) {
        const long double x = s.vectors[static_cast<std::size_t>(i + column * s.k)];
        above += x / 2;
        if (i >= s.k - l) below += x / 4;
      }
      CHECK(std::abs(static_cast<double>(above - new_upper[static_cast<std::size_t>(j)])) <= 8 * size * eps);
      CHECK(std::abs(static_cast<double>(below - new_lower[static_cast<std::size_t>(j)])) <= 8 * size * eps);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("secular equation: roots between their poles, vectors orthonormal, and the matrix they make", "",
                   float, double) {
  using T = TestType;
  const T eps = std::numeric_limits<T>::epsilon();
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0.01, 1);
  for (const index_t k : {1, 2, 3, 4, 5, 8, 9, 33, 150}) {
    std::vector<T> even, close, two, z, tiny, alternating;
    for (index_t i = 0; i < k; ++i) {
      const auto x = static_cast<T>(i);
      even.push_back(x / static_cast<T>(k) - T(0.5));
      close.push_back(1 + 20 * eps * x);
      two.push_back(i < k / 2 ? -1 + 40 * eps * x : 1 + 40 * eps * x);
      z.push_back(static_cast<T>(uniform(random)) * (i % 3 == 0 ? T(-1) : T(1)));
      tiny.push_back(i == k / 2 ? T(1) : 10 * eps * static_cast<T>(uniform(random)));
      alternating.push_back(i % 2 == 0 ? T(1) : 30 * eps);
    }
    for (const T rho : {T(1), T(0.01), 100 * eps}) {
      check<T>({even, z, rho}, "even", 7);
      check<T>({close, z, rho}, "close", 64);
      check<T>({two, z, rho}, "two clusters", 1000);
      check<T>({even, tiny, rho}, "tiny weights", 16);
      check<T>({even, alternating, rho}, "alternating weights", 5);
      check<T>({two, alternating, rho}, "two clusters, alternating weights", 5);
    }
  }
}
