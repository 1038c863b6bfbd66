#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz_inverse.hpp"
#include <tesela/algorithms/toeplitz/levinson.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>

namespace tesela::test {

template <class T>
struct BySchur : GohbergSemencul<T> {
  BySchur(Graph& g, const Toeplitz<T>& A, T sigma) : GohbergSemencul<T>(g, A, sigma, InverseRecursion::schur) {}
};
template <class T>
double negative_pivots(const BySchur<T>& inverse) {
  return negative_pivots(static_cast<const GohbergSemencul<T>&>(inverse));
}

}  // namespace tesela::test

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

/// First column of the inverse, times 2^exponent, and the report.
template <class T>
struct Column {
  HostMatrix<T> x;
  std::array<double, levinson_report_rows> report{};
  int exponent = 0;
  double order() const { return report[levinson_breakdown]; }
};

/// The recursion by tiles of this size, or by Durbin's recursion if it is 0.
template <class T>
Column<T> first_column(Runtime& runtime, const HostMatrix<T>& t, index_t tile) {
  const index_t n = t.rows();
  Column<T> c{HostMatrix<T>(n, 1), {}, 0};
  Graph g(runtime);
  const Toeplitz<T> A(g, t);
  const TileMatrix<T> inverse(runtime, n, 1, {n, 1}), zero(runtime, 1, 1, {1, 1});
  const TileMatrix<double> report(runtime, levinson_report_rows, 1, {levinson_report_rows, 1});
  zero(0, 0).write()(0, 0) = 0;
  if (tile > 0)
    schur(g, A, inverse, report, tile);
  else
    durbin(g, A, zero, inverse, report);
  CHECK(g.wait().ok());
  inverse.copy_to(c.x.data(), n);
  report.copy_to(c.report.data(), levinson_report_rows);
  c.exponent = tile > 0 ? A.exponent() : 0;
  return c;
}

/// The Kac-Murdock-Szego matrix t(i) = r^i has the inverse's first column (1, -r, 0, ..., 0) / (1 - r^2).
template <class T>
void check_closed_form(Runtime& runtime, index_t n, index_t tile) {
  const T r = T(0.75);
  const auto c = first_column(runtime, toeplitz_column<T>({ToeplitzKind::kms, double(r)}, n), tile);
  INFO("n " << n << " tile " << tile);
  CHECK(c.order() == 0);
  CHECK(c.report[levinson_negative] == 0);
  double worst = 0;
  for (index_t i = 0; i < n; ++i) {
    const double scale = n == 1 ? 1 : 1 / (1 - double(r) * double(r));
    const double exact = i == 0 ? scale : i == 1 ? -double(r) * scale : 0;
    const double error = std::abs(std::ldexp(double(c.x(i, 0)), -c.exponent) - exact);
    if (!(error <= worst)) worst = error;
  }
  CHECK(worst <= 50 * eps<T>);
}

template <class T>
void check_columns(Runtime& runtime, index_t n, index_t tile) {
  for (const ToeplitzGenerator& kind : {ToeplitzGenerator{ToeplitzKind::spd}, {ToeplitzKind::second_difference}}) {
    const auto t = toeplitz_column<T>(kind, n);
    const auto c = first_column(runtime, t, tile);
    auto unit = HostMatrix<T>::zeros(n, 1);
    unit(0, 0) = std::ldexp(T(1), c.exponent);
    const auto exact = dense_solve(t, 0, unit);
    const auto reference = first_column(runtime, t, 0);
    INFO("n " << n << " tile " << tile << " kind " << static_cast<int>(kind.kind));
    CHECK(c.order() == 0);
    CHECK(difference(c.x, exact) <= 30 * eps<T> * double(n));
    CHECK(c.report[levinson_negative] == 0);
    CHECK(std::abs(c.report[levinson_growth] - reference.report[levinson_growth]) <= 100 * eps<T> * double(n));
    CHECK(std::abs(std::ldexp(c.report[levinson_least], c.exponent) / reference.report[levinson_least] - 1) <=
          100 * eps<T> * double(n));
  }
}

template <class T>
void check_breakdowns(Runtime& runtime, index_t n, index_t tile) {
  INFO("n " << n << " tile " << tile);
  const auto zeros = [&](const Column<T>& c) {
    return std::all_of(c.x.data(), c.x.data() + n, [](T x) { return x == 0; });
  };
  auto t = HostMatrix<T>::zeros(n, 1);
  const auto none = first_column(runtime, t, tile);
  CHECK(none.order() == 1);
  CHECK(zeros(none));
  if (n == 1) return;
  t(0, 0) = t(1, 0) = 1;
  const auto second = first_column(runtime, t, tile);
  CHECK(second.order() == 2);
  CHECK(zeros(second));
  CHECK(second.report[levinson_growth] == 1);
  // The only number behind t(0) is the last one: the minor of order n vanishes.
  t(1, 0) = 0;
  t(n - 1, 0) = 1;
  const auto last = first_column(runtime, t, tile);
  CHECK(last.order() == double(n));
  CHECK(zeros(last));
  t(n - 1, 0) = std::numeric_limits<T>::quiet_NaN();
  CHECK(first_column(runtime, t, tile).order() > 0);
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("tiles of generators give the first column of the inverse", "", float, double) {
  for (const index_t n : {1, 2, 3, 127, 128, 129, 130, 257, 700})
    for (const index_t tile : {128, 256}) {
      check_closed_form<TestType>(runtime, n, tile);
      check_columns<TestType>(runtime, n, tile);
      check_breakdowns<TestType>(runtime, n, tile);
    }
  for (const index_t tile : {128, 512, 2048, 8192}) check_closed_form<TestType>(runtime, 3000, tile);
  check_breakdowns<TestType>(runtime, 1500, 512);
}

WORKERS_TEMPLATE_TEST_CASE("solutions by tiles of generators are refined or report the failure", "", float, double) {
  using T = TestType;
  for (const index_t n : {0, 1, 2, 64, 501, 1000})
    for (const ToeplitzGenerator& kind :
         {ToeplitzGenerator{ToeplitzKind::spd}, {ToeplitzKind::kms, 0.5}, {ToeplitzKind::random, 0, 5}})
      for (const index_t k : {1, 5}) {
        const auto t = toeplitz_column<T>(kind, n);
        const auto b = random_columns<T>(n, k, 5);
        const auto s = test::solve<T, BySchur>(runtime, t, T(-1.25), b);
        INFO("n " << n << " k " << k << " kind " << static_cast<int>(kind.kind) << " status " << s.status.info);
        if (kind.kind == ToeplitzKind::random && !s.status.ok()) continue;  // it reported the failure
        CHECK(s.status.ok());
        CHECK(residual(t, -1.25, s.x, b, 0, k) <= 32 * eps<T>);
        double below = 0;
        for (const double value : dense_eigenvalues(t)) below += value < -1.25 ? 1 : 0;
        CHECK(s.negative == below);
      }
  const auto second = toeplitz_column<T>({ToeplitzKind::second_difference}, 300);
  const auto b = random_columns<T>(300, 3, 5);
  CHECK(test::solve<T, BySchur>(runtime, second, T(2), b).status.info == 1);
  CHECK(test::solve<T, BySchur>(runtime, second, T(1), b).status.info == 2);
  check_refinement_fails<T, BySchur>(runtime, second, -1);
}

TEST_CASE("all schedulers and numbers of workers give the same first column", "[toeplitz]") {
  const auto t = toeplitz_column<double>({ToeplitzKind::random, 0, 3}, 1000);
  HostMatrix<double> first;
  for (const char* scheduler : {"lws", "eager", "prio"})
    for (const int cpus : {1, 2}) {
      Runtime runtime({.cpus = cpus, .gpus = 0, .scheduler = scheduler});
      const auto c = first_column(runtime, t, 128);
      CHECK(c.order() == 0);
      if (first.rows() == 0) first = c.x.clone();
      CHECK(std::equal(first.data(), first.data() + 1000, c.x.data()));
    }
}

CORES_TEMPLATE_TEST_CASE("the Schur method keeps its digits at extreme scales", "", float, double) {
  using T = TestType;
  const index_t n = 300;
  const int large = sizeof(T) == 8 ? 996 : 120;
  const auto solve = [&](int exponent, HostMatrix<T> b) {
    auto t = toeplitz_column<T>({ToeplitzKind::spd}, n);
    for (index_t i = 0; i < n; ++i) t(i, 0) = std::ldexp(t(i, 0), exponent), b(i, 0) = std::ldexp(b(i, 0), exponent);
    const auto s = toeplitz_solve<T>(runtime, t, T(0), MatrixView<T>(b), {ToeplitzMethod::schur});
    CHECK(s.ok());
    CHECK(s.taken.residual.error <= 32 * eps<T>);
    CHECK(s.taken.negative == 0);
    return b;
  };
  const auto b = random_columns<T>(n, 1, 5);
  const auto x = solve(0, b.clone());
  for (const int exponent : {-large, large}) {
    const auto y = solve(exponent, b.clone());
    CHECK(std::equal(x.data(), x.data() + n, y.data()));
  }
}

CORES_TEST_CASE("the Schur method never calls a useless solution ok") {
  const index_t n = 400;
  for (const double sigma : {0.0, 1e-10, 1e-4}) {  // prolate matrices: the least eigenvalue is far below a rounding
    const auto t = toeplitz_column<double>({ToeplitzKind::prolate, 0.3}, n);
    auto b = random_columns<double>(n, 2, 5);
    const auto right = b.clone();
    const auto s = toeplitz_solve<double>(runtime, t, -sigma, MatrixView<double>(b), {ToeplitzMethod::schur});
    INFO("sigma " << -sigma << ": " << s.status());
    if (sigma < 1e-14) CHECK_FALSE(s.ok());
    if (sigma > 1e-5) CHECK(s.ok());
    if (s.ok()) CHECK(difference(b, dense_solve(t, -sigma, right)) <= 1e-2);
  }
  // sigma = t(0), and singular minors
  auto t = toeplitz_column<double>({ToeplitzKind::random, 0, 3}, n);
  auto b = random_columns<double>(n, 1, 5);
  const auto zero = toeplitz_solve<double>(runtime, t, t(0, 0), MatrixView<double>(b), {ToeplitzMethod::schur});
  CHECK(zero.taken.order == 1);
  CHECK_FALSE(zero.ok());
  t = toeplitz_column<double>({ToeplitzKind::singular_minors}, n);
  const auto minors = toeplitz_solve<double>(runtime, t, 0, MatrixView<double>(b), {ToeplitzMethod::schur});
  CHECK(minors.taken.order > 0);
  CHECK_FALSE(minors.ok());
}

TEST_CASE("the Schur recursion refuses invalid shapes and chooses tiles", "[toeplitz]") {
  Runtime runtime({.gpus = 0});
  Graph g(runtime);
  const Toeplitz<double> A(g, toeplitz_column<double>({ToeplitzKind::kms, 0.5}, 6));
  const TileMatrix<double> x(runtime, 6, 1, {6, 1}), wide(runtime, 6, 2, {6, 2}), short_one(runtime, 5, 1, {5, 1});
  const TileMatrix<double> report(runtime, levinson_report_rows, 1, {levinson_report_rows, 1});
  for (const index_t tile : {1, 64, 129, 384}) CHECK_THROWS_AS(schur(g, A, x, report, tile), ArgumentError);
  CHECK_THROWS_AS(schur(g, A, wide, report), ArgumentError);
  CHECK_THROWS_AS(schur(g, A, short_one, report), ArgumentError);
  CHECK_THROWS_AS(schur(g, A, x, x), ArgumentError);
  CHECK_THROWS_AS(schur(g, Toeplitz<double>(g, HostMatrix<double>(0, 1)), x, report), ArgumentError);
  CHECK(g.wait().ok());
  for (const int gpus : {0, 1, 4})
    for (const index_t n : {1, 200, 5000, 20000, 65536, 1 << 20})
      CHECK(is_schur_tile(suitable_schur_tile(n, {2, gpus})));
}

GPU_TEMPLATE_TEST_CASE("tiles of generators work under a sanitizer", "[toeplitz][sanitize]", float, double) {
  check_closed_form<TestType>(runtime, 300, 128);
  check_breakdowns<TestType>(runtime, 300, 256);
}
