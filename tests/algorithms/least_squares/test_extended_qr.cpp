#include "tests/support/test.hpp"
#include <tesela/algorithms/least_squares/extended_qr.hpp>
#include <tesela/tiles/generator.hpp>

// [A | B] = Q [R C; 0 S] implies R^T R = A^T A, R^T C = A^T B and C^T C + S^T S = B^T B for any Q.

using namespace tesela;

namespace {

template <class T>
HostMatrix<T> random(index_t m, index_t n, std::uint64_t seed) {
  const Generator<double> element{Pattern::uniform, 0, n, seed};
  HostMatrix<T> a(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) a(i, j) = static_cast<T>(element(i, j));
  return a;
}

template <class T>
double dot(const HostMatrix<T>& a, index_t i, const HostMatrix<T>& b, index_t j) {
  REQUIRE(a.rows() == b.rows());
  double sum = 0;
  for (index_t k = 0; k < a.rows(); ++k) sum += static_cast<double>(a(k, i)) * static_cast<double>(b(k, j));
  return sum;
}

template <class T>
void require_extended_qr(const ExtendedQr<T>& e, const HostMatrix<T>& a, const HostMatrix<T>& b) {
  const index_t m = a.rows(), n = a.cols(), r = b.cols();
  const double bound = 20 * static_cast<double>(m + n) * static_cast<double>(std::numeric_limits<T>::epsilon());
  CAPTURE(m, n, r, bound);
  REQUIRE(e.R.cols() == n);
  REQUIRE(e.C.shape() == Shape{e.R.rows(), r});
  REQUIRE(std::ssize(e.residual_norms) == r);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j + 1; i < e.R.rows(); ++i) REQUIRE(e.R(i, j) == T(0));
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = 0; i < n; ++i) REQUIRE(std::abs(dot(e.R, i, e.R, j) - dot(a, i, a, j)) <= bound);
    for (index_t k = 0; k < r; ++k) REQUIRE(std::abs(dot(e.R, j, e.C, k) - dot(a, j, b, k)) <= bound);
  }
  for (index_t k = 0; k < r; ++k) {
    const double below = static_cast<double>(e.residual_norms[static_cast<std::size_t>(k)]);
    REQUIRE(std::abs(dot(e.C, k, e.C, k) + below * below - dot(b, k, b, k)) <= bound);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("the extended QR holds by tiles, rotations and appended rows", "", float, double) {
  using T = TestType;
  const auto [m, n] = GENERATE(table<index_t, index_t>({{1, 1}, {7, 1}, {16, 16}, {61, 20}, {20, 61}}));
  const index_t r = GENERATE(0, 1, 9);
  const HostMatrix<T> a = random<T>(m, n, 1), b = random<T>(m, r, 2);
  Runtime runtime;
  Graph g(runtime);
  const auto mapped = [&](HostMatrix<T>& x, TileShape tile) {
    return TileMatrix<T>::map(runtime, x.data(), x.rows(), x.cols(), x.ld(), tile);
  };
  {
    HostMatrix<T> factors = a.clone(), qt_b = b.clone();
    const auto A = mapped(factors, {13, 8}), B = mapped(qt_b, {13, 4});
    const auto q = qr(g, A);
    q.apply(g, Side::left, Op::transpose, B);
    const auto e = extended_qr(g, q, A.tile_shape(), B);
    REQUIRE(e.R.rows() == std::min(m, n));
    require_extended_qr(e, a, b);
  }
  {
    HostMatrix<T> factors = a.clone(), qt_b = b.clone();
    const auto A = mapped(factors, {m, 8}), B = mapped(qt_b, {m, 4});
    const auto q = givens_qr(g, A, {}, &B);
    const auto e = extended_qr(g, q, A.tile_shape(), B);
    REQUIRE(e.R.rows() == std::min(m, n));
    require_extended_qr(e, a, b);
  }
  {
    HostMatrix<T> rows = a.clone(), right = b.clone();
    QrUpdater<T> updater(runtime, n, r);
    const auto A = mapped(rows, {13, n}), B = mapped(right, {13, std::max<index_t>(r, 1)});
    updater.append(g, A, B);
    const auto e = extended_qr(g, updater);
    REQUIRE(e.R.rows() == n);
    require_extended_qr(e, a, b);
  }
}

TEST_CASE("an extended QR of no rows is zero, and all_finite finds NaN and infinity") {
  Runtime runtime;
  Graph g(runtime);
  const auto none = extended_qr(g, QrUpdater<double>(runtime, 3, 2));
  CHECK(all_finite(none));
  require_extended_qr(none, HostMatrix<double>(0, 3), HostMatrix<double>(0, 2));

  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    ExtendedQr<double> e{random<double>(3, 3, 1), random<double>(3, 2, 2), {1, 2}};
    CHECK(all_finite(e));
    e.residual_norms[1] = bad;
    CHECK_FALSE(all_finite(e));
    e.residual_norms[1] = 2;
    e.C(2, 1) = bad;
    CHECK_FALSE(all_finite(e));
    e.C(2, 1) = 0;
    e.R(0, 2) = bad;
    CHECK_FALSE(all_finite(e));
  }
}

TEST_CASE("first_rows returns the first rows of a matrix and the norms of the others") {
  Runtime runtime;
  HostMatrix<double> b = random<double>(20, 3, 1);
  b(19, 1) = 1e200;
  b(18, 1) = 1e200;
  const auto B = TileMatrix<double>::map(runtime, b.data(), 20, 3, 20, {8, 2});
  for (const index_t k : {0, 1, 8, 13, 16, 20}) {
    CAPTURE(k);
    const auto parts = first_rows(B, k);
    REQUIRE(parts.rows.shape() == Shape{k, 3});
    for (index_t j = 0; j < 3; ++j) {
      double norm = 0;
      for (index_t i = 0; i < k; ++i) REQUIRE(parts.rows(i, j) == b(i, j));
      for (index_t i = k; i < 20; ++i) norm = std::hypot(norm, b(i, j));
      REQUIRE(std::abs(parts.norms_below[static_cast<std::size_t>(j)] - norm) <= 1e-14 * norm);
    }
  }
}
