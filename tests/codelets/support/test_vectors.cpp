#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz.hpp"
#include <tesela/codelets/support/vectors.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

using namespace tesela;
using namespace tesela::kernels;
using namespace tesela::test;

namespace {

template <class T>
constexpr double eps = std::numeric_limits<T>::epsilon();

/// Checks every operation on n x k blocks; the padding is NaN and must not change.
template <class T>
void check(Runtime& runtime, index_t n, index_t k) {
  const index_t ld = n + 2;
  HostMatrix<T> x = random_columns<T>(ld, k, 1), y = random_columns<T>(ld, k, 2), z = random_columns<T>(ld, k, 3),
                v = random_columns<T>(ld, k, 4), dot(k, 1), reverse(k, 1);
  HostMatrix<double> norm(k, 1);
  for (HostMatrix<T>* a : {&x, &y, &z, &v})
    for (index_t j = 0; j < k; ++j)
      for (index_t i = n; i < ld; ++i) (*a)(i, j) = std::numeric_limits<T>::quiet_NaN();
  const HostMatrix<T> y0 = y.clone(), z0 = z.clone(), v0 = v.clone();
  {
    const auto map = [&](auto& a, index_t m) {
      using E = std::remove_reference_t<decltype(a(0, 0))>;
      return TileMatrix<E>::map(runtime, a.data(), m, a.cols(), a.ld(), {m, a.cols()});
    };
    const auto X = map(x, n), Y = map(y, n), Z = map(z, n), V = map(v, n), D = map(dot, k), R = map(reverse, k);
    const auto N = map(norm, k);
    Graph g(runtime);
    g.insert<Dot<T>>({}, X(0, 0), Y(0, 0), D(0, 0));
    g.insert<Dot<T>>({.reverse = true}, X(0, 0), Y(0, 0), R(0, 0));
    g.insert<Norm<T>>({}, X(0, 0), N(0, 0));
    g.insert<Axpy<T>>({T(3)}, X(0, 0), Y(0, 0));
    g.insert<Axpy<T>>({T(-2), true}, X(0, 0), Z(0, 0));
    g.insert<AxpxbReverse<T>>({T(-0.5), T(4)}, V(0, 0));
    REQUIRE(g.wait().ok());
  }
  INFO("n " << n << " k " << k);
  const double bound = 16 * eps<T>;
  for (index_t j = 0; j < k; ++j) {
    double sum = 0, turned = 0, squares = 0;
    for (index_t i = 0; i < n; ++i) {
      const double here = x(i, j), there = x(n - 1 - i, j);
      sum += here * double(y0(i, j)), turned += there * double(y0(i, j)), squares += here * here;
      CHECK(std::abs(double(y(i, j)) - (double(y0(i, j)) + 3 * here)) <= bound);
      CHECK(std::abs(double(z(i, j)) - (double(z0(i, j)) - 2 * there)) <= bound);
      CHECK(std::abs(double(v(i, j)) - 4 * (double(v0(i, j)) - 0.5 * double(v0(n - 1 - i, j)))) <= 4 * bound);
    }
    const double size = std::sqrt(static_cast<double>(n));
    CHECK(std::abs(double(dot(j, 0)) - sum) <= bound * size);
    CHECK(std::abs(double(reverse(j, 0)) - turned) <= bound * size);
    CHECK(std::abs(norm(j, 0) - std::sqrt(squares)) <= bound * size);
    for (const HostMatrix<T>* a : {&y, &z, &v})
      for (index_t i = n; i < ld; ++i) CHECK(std::isnan((*a)(i, j)));
  }
}

/// m orthonormal columns of the discrete sine transform, S(i, j) = sqrt(2 / (n + 1)) sin((i + 1) (j + 1) pi / (n + 1)).
template <class T>
void check_reorthogonalize(Runtime& runtime, index_t n, index_t m, index_t k) {
  HostMatrix<T> p(n, m), v = random_columns<T>(n, k, 9);
  const double unit = std::acos(-1.0) / static_cast<double>(n + 1);
  for (index_t j = 0; j < m; ++j)
    for (index_t i = 0; i < n; ++i)
      p(i, j) = static_cast<T>(std::sqrt(2 / static_cast<double>(n + 1)) *
                               std::sin(static_cast<double>((i + 1) * (j + 1) % (2 * (n + 1))) * unit));
  const HostMatrix<T> v0 = v.clone();
  {
    const auto P = TileMatrix<T>::map(runtime, p.data(), n, m, n, {n, m});
    const auto V = TileMatrix<T>::map(runtime, v.data(), n, k, n, {n, k});
    Graph g(runtime);
    g.insert<Reorthogonalize<T>>({}, P(0, 0), V(0, 0), g.scratch<T>(m, k));
    REQUIRE(g.wait().ok());
  }
  INFO("n " << n << " m " << m << " k " << k);
  // The result v is orthogonal to P, and v0 - v lies in the space of P: it has no component in the other columns of S.
  double worst = 0, size = 0;
  for (index_t c = 0; c < k; ++c) {
    for (index_t i = 0; i < n; ++i) size = std::max(size, std::abs(double(v(i, c))));
    for (index_t j = 0; j < n; ++j) {
      double left = 0, gone = 0;
      for (index_t i = 0; i < n; ++i) {
        const double s = std::sqrt(2 / static_cast<double>(n + 1)) *
                         std::sin(static_cast<double>((i + 1) * (j + 1) % (2 * (n + 1))) * unit);
        left += s * double(v(i, c));
        gone += s * (double(v0(i, c)) - double(v(i, c)));
      }
      worst = std::max(worst, std::abs(j < m ? left : gone));
    }
  }
  CHECK(worst <= 8 * eps<T> * std::sqrt(static_cast<double>(n)));
  if (m < n) CHECK(size > 0.01);
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("vector operations give the documented results", "", float, double) {
  for (const index_t n : {1, 2, 3, 64, 501, 1000, 4099})
    for (const index_t k : {1, 3}) check<TestType>(runtime, n, k);
  for (const index_t m : {1, 255, 256, 257, 300, 400})
    for (const index_t k : {1, 2}) check_reorthogonalize<TestType>(runtime, 401, m, k);
}

GPU_TEMPLATE_TEST_CASE("vector operations give the documented results under a sanitizer", "[vectors][sanitize]", float,
                       double) {
  check<TestType>(runtime, 37, 2);
  check_reorthogonalize<TestType>(runtime, 20, 5, 1);
}
