#include "tests/support/precise_products.hpp"
#include "tests/support/run_kernel.hpp"
#include "tests/support/shared_runtime.hpp"
#include "tests/support/vector_targets.hpp"
#include <tesela/codelets/eigen/tridiagonal/secular.hpp>

#include <random>

using namespace tesela;
using namespace tesela::kernels;
using test::run_kernel;

namespace {

template <class T>
In<T> in(const std::vector<T>& x, index_t rows) {
  return {{x.data(), rows, static_cast<index_t>(x.size()) / rows, rows}};
}
template <class T>
Out<T> out(std::vector<T>& x, index_t rows) {
  return {{x.data(), rows, static_cast<index_t>(x.size()) / rows, rows}};
}

/// D + rho z z^T and its results by the kernels, with roots in batches of `batch`, by direct calls or tasks.
template <class T>
struct Secular {
  Runtime* runtime = nullptr;
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
    for (index_t i = 0; i < k; ++i) order.push_back(k - 1 - i);  // an arbitrary order
  }

  void solve(index_t batch) {
    for (index_t first = 0; first < k; first += batch) {
      roots.emplace_back(static_cast<std::size_t>(3 * std::min(batch, k - first)));
      run_kernel<SecularRoots<T>>(runtime, {rho, first}, in(poles, k), out(roots.back(), std::min(batch, k - first)));
    }
    for (index_t first = 0; first < k; first += batch) {
      weights.emplace_back(static_cast<std::size_t>(std::min(batch, k - first)));
      const std::vector<In<T>> all = root_tiles();
      run_kernel<SecularWeights<T>>(runtime, {first}, in(poles, k), out(weights.back(), std::min(batch, k - first)),
                                    work(), std::span<const In<T>>(all));
    }
  }
  Scratch<T> work() const { return {{nullptr, k, 2, k}}; }
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

  /// Vectors with rows in `order`, and values in long double.
  std::vector<T> vectors;
  std::vector<long double> values;
  void find_vectors() {
    vectors.assign(static_cast<std::size_t>(k * k), std::numeric_limits<T>::quiet_NaN());
    const std::vector<In<T>> all = weight_tiles();
    index_t column = 0;
    for (const auto& r : roots) {
      const index_t count = static_cast<index_t>(r.size()) / 3;
      Out<T> to{{vectors.data() + column * k, k, count, k}};
      run_kernel<SecularVectors<T>>(runtime, {0, count}, in(poles, k), in(order, k), in(r, count), to, work(),
                                    std::span<const In<T>>(all));
      for (index_t j = 0; j < count; ++j)
        values.push_back(static_cast<long double>(r[static_cast<std::size_t>(j)]) +
                         static_cast<long double>(r[static_cast<std::size_t>(j + count)]));
      column += count;
    }
  }
  T pole(index_t i) const { return poles[static_cast<std::size_t>(i)]; }
  T z(index_t i) const { return poles[static_cast<std::size_t>(k + i)]; }
  /// Returns the component of pole i.
  long double x(index_t i, index_t j) const { return vectors[static_cast<std::size_t>(k - 1 - i + j * k)]; }
};

/// Requires that the roots of both variants are correct to a few eps of the matrix.
template <class T>
void compare_roots(const Secular<T>& one, const Secular<T>& other, double bound) {
  for (std::size_t b = 0; b < one.roots.size(); ++b) {
    const std::vector<T>&x = one.roots[b], &y = other.roots[b];
    for (std::size_t j = 0, count = x.size() / 3; j < count; ++j)
      CHECK(std::abs(static_cast<double>((x[j] - y[j]) + (x[count + j] - y[count + j]))) <= bound);
  }
}

template <class T>
void check(Runtime* runtime, Secular<T> s, const char* what, index_t batch) {
  s.runtime = runtime;
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
    for (index_t i = 0; i < s.k; ++i) {
      const long double off = (s.pole(i) - value) * s.x(i, j) + s.rho * s.z(i) * inner;
      square += off * off;
    }
    residual = std::max(residual, static_cast<double>(std::sqrt(square)));
  }
  HostMatrix<double> vectors(s.k, s.k);
  std::copy(s.vectors.begin(), s.vectors.end(), vectors.data());
  test::PreciseProducts<double> gram(vectors.shape(), 2);
  gram.add(1, Op::transpose, vectors, vectors);
  for (index_t j = 0; j < s.k; ++j)
    for (index_t l = 0; l <= j; ++l) {
      const double off = std::abs(gram(l, j) - (l == j ? 1 : 0));
      if (!(off <= orthogonality)) orthogonality = off;
    }
  const double first = std::abs(static_cast<double>(s.pole(0))), last = std::abs(static_cast<double>(s.pole(s.k - 1))),
               norm = std::max({first, last, static_cast<double>(s.rho)});
  INFO("residual " << residual / norm / eps << " eps, orthogonality " << orthogonality / eps << " eps, iterations "
                   << iterations);
  CHECK(residual <= 8 * size * eps * norm);
  CHECK(orthogonality <= 8 * size * eps);
  CHECK(iterations < 30);
  if (runtime != nullptr) {
    Secular<T> here = s;
    here.runtime = nullptr;
    here.roots.clear(), here.weights.clear();
    here.solve(batch);
    compare_roots(s, here, 32 * eps * norm);
  }

  // Rows of the vectors without forming the vectors.
  std::vector<T> upper(static_cast<std::size_t>(s.k), T(0.5)), lower(static_cast<std::size_t>(s.k / 2 + 1), T(0.25));
  const auto u = static_cast<index_t>(upper.size()), l = s.k / 2;
  const std::vector<In<T>> all = s.weight_tiles();
  index_t column = 0;
  for (const auto& r : s.roots) {
    const index_t count = static_cast<index_t>(r.size()) / 3;
    std::vector<T> new_upper(static_cast<std::size_t>(count)), new_lower = new_upper;
    run_kernel<SecularRows<T>>(s.runtime, {u, l}, in(s.poles, s.k), in(s.order, s.k), in(r, count), in(upper, 1),
                               in(lower, 1), out(new_upper, 1), out(new_lower, 1), s.work(),
                               std::span<const In<T>>(all));
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

/// Tests every kind of poles and weights in batches of several sizes, or of `batch` if given. With batches of one root,
/// which are many, only one kind.
template <class T>
void check_kinds(Runtime* runtime, std::initializer_list<index_t> sizes, index_t batch = 0,
                 std::initializer_list<T> factors = {T(1), T(0.01), 100 * std::numeric_limits<T>::epsilon()}) {
  const T eps = std::numeric_limits<T>::epsilon();
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0.01, 1);
  for (const index_t k : sizes) {
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
    const auto each = [&](index_t usual) { return batch > 0 ? batch : usual; };
    for (const T rho : factors) {
      check<T>(runtime, {even, z, rho}, "even", each(7));
      if (batch == 1) continue;
      check<T>(runtime, {close, z, rho}, "close", each(64));
      check<T>(runtime, {two, z, rho}, "two clusters", each(1000));
      check<T>(runtime, {even, tiny, rho}, "tiny weights", each(16));
      check<T>(runtime, {even, alternating, rho}, "alternating weights", each(5));
      check<T>(runtime, {two, alternating, rho}, "two clusters, alternating weights", each(5));
    }
  }
}

}  // namespace

KERNEL_TEMPLATE_TEST_CASE(
    "roots of the secular equation lie between their poles, and the vectors are orthonormal and give the matrix", "",
    float, double) {
  TESELA_ON_EACH_VECTOR_TARGET(runtime);
  check_kinds<TestType>(runtime, {1, 2, 3, 31, 32, 33, 65, 150});
  if (runtime == nullptr) return check_kinds<TestType>(runtime, {4, 5, 8, 9});  // full vectors, and one more root
  check_kinds<TestType>(runtime, {130}, 1, {TestType(1)});                      // more tiles than one launch processes
  check_kinds<TestType>(runtime, {400}, 300);
}

GPU_TEMPLATE_TEST_CASE("the secular equation is solved under a sanitizer", "[sanitize]", float, double) {
  check_kinds<TestType>(&runtime, {1, 34}, 20);
}
