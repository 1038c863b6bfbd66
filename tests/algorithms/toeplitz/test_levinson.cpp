#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz.hpp"
#include "tests/support/vector_targets.hpp"
#include <tesela/algorithms/toeplitz/levinson.hpp>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

template <class T>
constexpr double eps = std::numeric_limits<T>::epsilon();

template <class T>
struct Run {
  HostMatrix<T> x, inverse;  ///< solutions and first columns of the inverses
  HostMatrix<double> report, durbin_report;
};

/// Solves for s shifts with k columns each, `sb` shifts for each task, with NaN below the tiles' columns.
template <class T>
Run<T> solve(Runtime& runtime, const HostMatrix<T>& t, const std::vector<T>& sigmas, const HostMatrix<T>& b,
             index_t sb) {
  const index_t n = t.rows(), s = static_cast<index_t>(sigmas.size()), k = b.cols() / s, ld = n + 3;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  HostMatrix<T> padded(ld, b.cols()), first(ld, s), shifts(s, 1);
  std::fill_n(padded.data(), padded.size(), nan);
  std::fill_n(first.data(), first.size(), nan);
  std::copy(sigmas.begin(), sigmas.end(), shifts.data());
  for (index_t j = 0; j < b.cols(); ++j)
    for (index_t i = 0; i < n; ++i) padded(i, j) = b(i, j);
  Run<T> run{HostMatrix<T>(n, b.cols()), HostMatrix<T>(n, s), HostMatrix<double>(levinson_report_rows, s),
             HostMatrix<double>(levinson_report_rows, s)};
  {
    const TileShape tall{std::max<index_t>(n, 1), sb * k}, one{tall.mb, sb}, about{levinson_report_rows, sb};
    const auto S = TileMatrix<T>::map(runtime, shifts.data(), s, 1, s, {sb, 1});
    const auto X = TileMatrix<T>::map(runtime, padded.data(), n, b.cols(), ld, tall);
    const auto F = TileMatrix<T>::map(runtime, first.data(), n, s, ld, one);
    const auto R =
        TileMatrix<double>::map(runtime, run.report.data(), levinson_report_rows, s, levinson_report_rows, about);
    const auto D = TileMatrix<double>::map(runtime, run.durbin_report.data(), levinson_report_rows, s,
                                           levinson_report_rows, about);
    Graph g(runtime);
    const Toeplitz<T> A(g, t);
    levinson(g, A, S, X, R);
    durbin(g, A, S, F, D);
    REQUIRE(g.wait().ok());
  }
  for (const HostMatrix<T>* a : {&padded, &first})
    for (index_t j = 0; j < a->cols(); ++j)
      for (index_t i = n; i < ld; ++i) CHECK(std::isnan((*a)(i, j)));
  for (index_t j = 0; j < b.cols(); ++j)
    for (index_t i = 0; i < n; ++i) run.x(i, j) = padded(i, j);
  for (index_t j = 0; j < s; ++j)
    for (index_t i = 0; i < n; ++i) run.inverse(i, j) = first(i, j);
  return run;
}

template <class T>
HostMatrix<T> column_of(const HostMatrix<T>& a, index_t j) {
  HostMatrix<T> c(a.rows(), 1);
  for (index_t i = 0; i < a.rows(); ++i) c(i, 0) = a(i, j);
  return c;
}

/// For positive definite matrices the recursion is backward stable: residuals are small, and X agrees with a dense
/// solver.
template <class T>
void check_definite(Runtime& runtime, index_t n, index_t k, index_t sb, index_t s) {
  for (const ToeplitzGenerator& kind :
       {ToeplitzGenerator{ToeplitzKind::spd}, {ToeplitzKind::kms, 0.5}, {ToeplitzKind::kms, -0.8}}) {
    const auto t = toeplitz_column<T>(kind, n);
    std::vector<T> sigmas;
    for (index_t i = 0; i < s; ++i) sigmas.push_back(static_cast<T>(-0.25 * static_cast<double>(i)));
    const auto b = random_columns<T>(n, k * s, 5);
    const auto run = solve(runtime, t, sigmas, b, sb);
    for (index_t i = 0; i < s; ++i) {
      INFO("n " << n << " k " << k << " s " << s << " sb " << sb << " kind " << static_cast<int>(kind.kind) << " shift "
                << i);
      const auto sigma = static_cast<double>(sigmas[static_cast<std::size_t>(i)]);
      CHECK(residual(t, sigma, run.x, b, i * k, k) <= 10 * eps<T>);
      for (const HostMatrix<double>* report : {&run.report, &run.durbin_report}) {
        CHECK((*report)(levinson_breakdown, i) == 0);
        CHECK((*report)(levinson_negative, i) == 0);
        CHECK((*report)(levinson_least, i) > 0);
        CHECK((*report)(levinson_growth, i) < 1);
      }
      if (n > 1100) continue;                       // a dense solver is too slow
      auto right = HostMatrix<T>::zeros(n, k + 1);  // B, and the first unit vector
      std::copy_n(&b(0, i * k), n * k, right.data());
      right(0, k) = 1;
      const auto known = dense_solve(t, sigma, right);
      CHECK(difference(column_of(run.inverse, i), column_of(known, k)) <= 400 * eps<T>);
      for (index_t c = 0; c < k; ++c)
        CHECK(difference(column_of(run.x, i * k + c), column_of(known, c)) <= 400 * eps<T>);
    }
  }
}

/// For indefinite shifts the inertia is correct unless an eigenvalue is near or the recursion breaks down.
template <class T>
void check_inertia(Runtime& runtime, index_t n) {
  const auto t = toeplitz_column<T>({ToeplitzKind::random, 0, 11}, n);
  const std::vector<double> values = dense_eigenvalues(t);
  const double size = std::max(std::abs(values.front()), std::abs(values.back()));
  std::vector<T> sigmas;
  for (index_t i = 0; i < 9; ++i) sigmas.push_back(static_cast<T>(size * (-1.1 + 0.2731 * static_cast<double>(i))));
  const auto b = random_columns<T>(n, 9, 5);
  const auto run = solve(runtime, t, sigmas, b, 4);
  for (index_t i = 0; i < 9; ++i) {
    const auto sigma = static_cast<double>(sigmas[static_cast<std::size_t>(i)]);
    double below = 0, gap = size;
    for (const double value : values) below += value < sigma ? 1 : 0, gap = std::min(gap, std::abs(value - sigma));
    // Errors of pivots grow with about the square of the growth.
    const double most = sizeof(T) == 8 ? 1e3 : 1e2;
    if (gap < 1e3 * eps<T> * size || run.report(levinson_growth, i) > most) continue;
    INFO("n " << n << " sigma " << sigma << " growth " << run.report(levinson_growth, i));
    CHECK(run.report(levinson_negative, i) == below);
    CHECK(run.durbin_report(levinson_negative, i) == below);
  }
}

/// Checks that zero leading minors are named by their order, that nothing is NaN, and that other shifts of the task are
/// solved.
template <class T>
void check_breakdown(Runtime& runtime, index_t n) {
  const auto expect = [&](const HostMatrix<T>& t, T sigma, index_t order) {
    const auto b = random_columns<T>(n, 6, 5);
    const auto run = solve<T>(runtime, t, {T(-4), sigma, T(-3)}, b, 3);
    INFO("n " << n << " sigma " << sigma);
    for (const HostMatrix<double>* report : {&run.report, &run.durbin_report}) {
      CHECK((*report)(levinson_breakdown, 0) == 0);
      CHECK((*report)(levinson_breakdown, 1) == static_cast<double>(order));
      CHECK((*report)(levinson_breakdown, 2) == 0);
    }
    for (index_t i = 0; i < n; ++i)
      for (index_t c = 2; c < 4; ++c) CHECK(run.x(i, c) == 0);
    for (index_t i = 0; i < n; ++i) CHECK(run.inverse(i, 1) == 0);
    CHECK(residual(t, -4, run.x, b, 0, 2) <= 10 * eps<T>);
    CHECK(residual(t, -3, run.x, b, 4, 2) <= 10 * eps<T>);
  };
  const auto second = toeplitz_column<T>({ToeplitzKind::second_difference}, n);
  expect(second, T(2), 1);             // t(0)
  if (n > 1) expect(second, T(1), 2);  // (1 -1; -1 1)
  if (n > 1) expect(second, T(3), 2);  // (-1 -1; -1 -1)
  auto strange = second.clone();
  strange(n / 2, 0) = std::numeric_limits<T>::quiet_NaN();
  const auto run = solve<T>(runtime, strange, {T(0)}, random_columns<T>(n, 1, 5), 1);
  CHECK(run.report(levinson_breakdown, 0) >= 1);
  CHECK(run.report(levinson_breakdown, 0) <= static_cast<double>(n));
  for (index_t i = 0; i < n; ++i) CHECK(run.x(i, 0) == 0);
  for (index_t i = 0; i < n; ++i) CHECK(run.inverse(i, 0) == 0);
}

/// Uses the requested number of thread blocks for each right-hand side.
template <class T>
void check_blocks(Runtime& runtime, index_t n, int blocks) {
  const index_t k = 2;
  const auto t = toeplitz_column<T>({ToeplitzKind::spd}, n);
  const auto b = random_columns<T>(n, k, 5);
  auto x = b.clone();
  {
    const auto X = TileMatrix<T>::map(runtime, x.data(), n, k, n, {n, k});
    const TileMatrix<T> shift(runtime, 1, 1, {1, 1});
    const TileMatrix<double> report(runtime, levinson_report_rows, 1, {levinson_report_rows, 1});
    shift(0, 0).write()(0, 0) = 0;
    Graph g(runtime);
    const Toeplitz<T> A(g, t);
    g.insert<Levinson<T>>({blocks, A.exponent()}, A.tile(), shift(0, 0), X(0, 0), report(0, 0),
                          g.scratch<T>(levinson_work_rows(n), k));
    REQUIRE(g.wait().ok());
    CHECK(report(0, 0).read()(levinson_breakdown, 0) == 0);
  }
  INFO("n " << n << " blocks " << blocks);
  CHECK(residual(t, 0, x, b, 0, k) <= 10 * eps<T>);
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("Levinson's recursion agrees with a dense solver and counts the eigenvalues below the shift",
                           "", float, double) {
  TESELA_ON_EACH_VECTOR_TARGET(runtime);
  using T = TestType;
  for (const index_t n : {1, 2, 3, 15, 16, 17, 64, 501}) {
    check_definite<T>(runtime, n, 1, 1, 1);
    check_definite<T>(runtime, n, 3, 2, 3);
    check_inertia<T>(runtime, n);
    check_breakdown<T>(runtime, n);
  }
  check_definite<T>(runtime, 1000, 2, 1, 1);
  if (runtime.gpus() == 0) return;
  check_definite<TestType>(runtime, 1025, 1, 1, 1);
  check_definite<TestType>(runtime, 2049, 1, 1, 1);
  check_definite<TestType>(runtime, 4099, 1, 1, 1);
  for (const int blocks : {1, 2, 4, 8, 16})
    for (const index_t n : {1, 5, 700, 2500}) check_blocks<TestType>(runtime, n, blocks);
}

TEST_CASE("Levinson's recursion accepts empty problems and refuses invalid shapes", "[toeplitz]") {
  Runtime runtime({.gpus = 0});
  Graph g(runtime);
  const Toeplitz<double> none(g, HostMatrix<double>(0, 1)), A(g, HostMatrix<double>::zeros(6, 1));
  const TileMatrix<double> shifts(runtime, 3, 1, {2, 1}), report(runtime, levinson_report_rows, 3, {4, 2}),
      X(runtime, 6, 6, {6, 4}), whole(runtime, 6, 6, {6, 6}), cut(runtime, 6, 6, {3, 4}), few(runtime, 6, 5, {6, 4}),
      empty(runtime, 0, 6, {1, 4}), inverse(runtime, 6, 3, {6, 2});
  levinson(g, none, shifts, empty, report);
  CHECK_THROWS_AS(levinson(g, A, shifts, whole, report), ArgumentError);
  CHECK_THROWS_AS(levinson(g, A, shifts, cut, report), ArgumentError);
  CHECK_THROWS_AS(levinson(g, A, shifts, few, report), ArgumentError);
  CHECK_THROWS_AS(levinson(g, A, X, X, report), ArgumentError);
  CHECK_THROWS_AS(levinson(g, A, shifts, X, X), ArgumentError);
  CHECK_THROWS_AS(durbin(g, A, shifts, X, report), ArgumentError);
  CHECK(g.wait().ok());
}

GPU_TEST_CASE("Levinson's recursion on a GPU solves large kms systems for ones", "[toeplitz]") {
  // kms has a closed form: T x = e for x = (1, 1 - r, ..., 1 - r, 1) / (1 + r).
  for (const index_t n : {20000, 70000, 140000}) {
    const double r = 0.5;
    const auto t = toeplitz_column<double>({ToeplitzKind::kms, r}, n);
    HostMatrix<double> ones(n, 1);
    std::fill_n(ones.data(), n, 1.0);
    const auto run = solve<double>(runtime, t, {0}, ones, 1);
    double worst = 0;
    for (index_t i = 0; i < n; ++i)
      worst = std::max(worst, std::abs(run.x(i, 0) - (i == 0 || i == n - 1 ? 1 : 1 - r) / (1 + r)));
    CHECK(worst <= 1e-14);
    CHECK(std::abs(run.inverse(0, 0) - 1 / (1 - r * r)) <= 1e-14);
    CHECK(std::abs(run.inverse(1, 0) + r / (1 - r * r)) <= 1e-14);
  }
}

GPU_TEMPLATE_TEST_CASE("Levinson's recursion works under a sanitizer", "[toeplitz][sanitize]", float, double) {
  check_definite<TestType>(runtime, 40, 2, 2, 3);
  check_blocks<TestType>(runtime, 600, 0);
  check_blocks<TestType>(runtime, 600, 2);
  check_breakdown<TestType>(runtime, 5);
}
