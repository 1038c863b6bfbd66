#include "tests/support/general_toeplitz.hpp"
#include <tesela/algorithms/toeplitz/lookahead.hpp>
#include <tesela/codelets/toeplitz/general_toeplitz.hpp>
#include <tesela/codelets/toeplitz/toeplitz_error.hpp>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

template <class T>
HostMatrix<T> times(const GeneralMatrix<T>& a, const HostMatrix<T>& x) {
  HostMatrix<T> b(a.n(), x.cols());
  for (index_t c = 0; c < x.cols(); ++c)
    for (index_t i = 0; i < a.n(); ++i) {
      double sum = 0;
      for (index_t j = 0; j < a.n(); ++j) sum += a(i, j) * static_cast<double>(x(j, c));
      b(i, c) = static_cast<T>(sum);
    }
  return b;
}

template <class T>
HostMatrix<T> integers(index_t n, index_t k, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> small(-9, 9);
  HostMatrix<T> x(n, k);
  for (index_t e = 0; e < x.size(); ++e) x.data()[e] = static_cast<T>(small(random));
  return x;
}

}  // namespace

CORES_TEMPLATE_TEST_CASE("lookahead solves every matrix of moderate condition, whatever its leading minors",
                         "[toeplitz]", float, double) {
  using T = TestType;
  for (const index_t n : {1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 32, 33, 47, 64, 70})
    for (int kind = 0; kind < strange_kinds; ++kind)
      for (const bool symmetric : {false, true}) {
        const auto a = strange_matrix<T>(n, kind, symmetric, static_cast<unsigned>(100 * n + kind));
        const auto b = random_columns<T>(n, 2, 5);
        const double condition = singular_value_condition(a);
        const Answer<T> one = answer(runtime, a, b, ToeplitzMethod::lookahead);
        INFO("n " << n << " kind " << kind << " symmetric " << symmetric << ": " << one.solution.status()
                  << ", condition " << condition << ", residual " << one.solution.taken.residual.error);
        if (condition < 1e-3 / eps<T>) CHECK(one.solution.ok());
        if (condition > 10 / eps<T>) CHECK_FALSE(one.solution.ok());
        if (!one.solution.ok()) continue;
        CHECK(one.solution.taken.residual.error <= 4 * eps<T>);
        CHECK(one.solution.condition <= 1.1 * static_cast<double>(n) * condition);
        CHECK(one.solution.condition >= condition / (3 * static_cast<double>(n)));
        // The bound is in the 1-norm, the difference in the maximum norm.
        CHECK(difference(one.x, extended_solve(a, b)) <= static_cast<double>(n) * one.solution.forward_bound().error);
      }
}

CORES_TEST_CASE("lookahead finds integer solutions of matrices with runs of singular leading minors") {
  for (const index_t n : {2, 9, 20, 41, 70})
    for (const index_t zeros : {index_t{1}, n / 3, n / 2})
      for (const bool symmetric : {false, true}) {
        // t(d) = 0 for |d| < zeros: the minors up to this order, and more, are zero.
        const auto numbers = integers<double>(n, 2, static_cast<unsigned>(n + zeros));
        const auto a = general_matrix<double>(
            n, [&](index_t d) { return std::abs(d) < zeros ? 0 : numbers(std::abs(d), symmetric || d > 0 ? 0 : 1); });
        const auto x = integers<double>(n, 3, 5);
        const double condition = singular_value_condition(a);
        const auto one = answer(runtime, a, times(a, x), ToeplitzMethod::lookahead);
        INFO("n " << n << " zeros " << zeros << " symmetric " << symmetric << " condition " << condition);
        if (condition > 1e10) continue;
        CHECK(one.solution.ok());
        CHECK(difference(one.x, x) <= 4 * eps<double> * condition);
        REQUIRE(one.solution.taken.largest_step.has_value());
        CHECK(*one.solution.taken.largest_step > zeros);
      }
}

CORES_TEST_CASE("lookahead takes steps of one order if the leading minors are well conditioned") {
  for (const int kind : {6, 11})
    for (const bool symmetric : {false, true}) {
      const auto a = strange_matrix<double>(60, kind, symmetric, 3);
      const auto one = answer(runtime, a, random_columns<double>(60, 1, 5), ToeplitzMethod::lookahead);
      CHECK(one.solution.ok());
      CHECK(one.solution.taken.largest_step == 1);
    }
}

CORES_TEST_CASE("lookahead counts the negative eigenvalues of symmetric matrices") {
  for (int kind = 0; kind < strange_kinds; ++kind) {
    const auto a = strange_matrix<double>(50, kind, true, 7);
    if (singular_value_condition(a) > 1e10) continue;
    index_t negative = 0;
    for (const double value : dense_eigenvalues(a.c)) negative += value < 0 ? 1 : 0;
    INFO("kind " << kind);
    CHECK(answer(runtime, a, random_columns<double>(50, 1, 5), ToeplitzMethod::lookahead).solution.taken.negative ==
          negative);
  }
}

CORES_TEST_CASE("a solution beyond the range of numbers has a true status") {
  const auto a = strange_matrix<double>(12, 0, false, 9);
  const auto b = random_columns<double>(12, 1, 5);
  for (const int e : {-900, 900})
    for (const ToeplitzMethod method : {ToeplitzMethod::automatic, ToeplitzMethod::lookahead, ToeplitzMethod::dense}) {
      auto scaled = GeneralMatrix<double>{a.c.clone(), a.r.clone()};
      auto right = b.clone();
      for (index_t i = 0; i < 12; ++i) {
        scaled.c(i, 0) *= std::ldexp(1.0, e), scaled.r(i, 0) *= std::ldexp(1.0, e);
        right(i, 0) *= std::ldexp(1.0, -e);
      }
      const std::string status = answer(runtime, scaled, right, method).solution.status();
      CHECK_THAT(status, ContainsSubstring(e < 0 ? "not finite: X" : "inaccurate: residual"));
    }
}

CORES_TEST_CASE("lookahead that cannot pass a run of singular minors reports it, and automatic takes another method") {
  SECTION("with a small largest block") {
    const index_t n = 40;
    const auto a = strange_matrix<double>(n, 3, false, 1);
    Graph g(runtime);
    const ToeplitzLookahead<double> inverse(g, a.c, a.r, {4});
    const TileMatrix<double> B(runtime, n, 2, {n, 2}), outcome(runtime, 2, 4, {2, 4});
    B.copy_from(random_columns<double>(n, 2, 5).data(), n);
    inverse.solve(g, B, outcome);
    CHECK(g.wait().info == 1);
    CHECK(outcome(0, 0).read()(1, 0) == 1);
    CHECK(B(0, 0).read()(5, 1) == 0);
    CHECK(std::isnan(inverse.condition(runtime)));
  }
  SECTION("with 150 of them") {
    const index_t n = 400;
    const auto a = general_matrix<double>(n, [](index_t d) { return d == 150 || d == -250 ? 1 : 0; });
    const auto b = random_columns<double>(n, 2, 5);
    const auto one = answer(runtime, a, b, ToeplitzMethod::lookahead);
    CHECK(one.solution.taken.order == 1);
    CHECK_THAT(one.solution.status(), ContainsSubstring("breakdown: no leading minor from order 1 on"));
    const auto other = answer(runtime, a, b);
    CHECK(other.solution.ok());
    CHECK(other.solution.taken.method == ToeplitzMethod::dense);
    CHECK(other.solution.attempts.size() == 2);
    for (index_t i = 0; i < n; ++i) CHECK(std::abs(other.x(i, 1) - b((i + 150) % n, 1)) <= 1e-15);
  }
}

CORES_TEST_CASE("singular general matrices have no solution, for any B") {
  for (const index_t n : {2, 5, 40}) {
    const auto ones = general_matrix<double>(n, [](index_t) { return 1; });
    const auto triangle = general_matrix<double>(n, [](index_t d) { return d > 0 ? 1 : 0; });
    const auto wave = general_matrix<double>(n, [](index_t d) { return d >= 0 ? std::pow(0.5, d) : std::pow(2, -d); });
    for (const auto* a : {&ones, &triangle, &wave})
      for (const ToeplitzMethod method :
           {ToeplitzMethod::automatic, ToeplitzMethod::lookahead, ToeplitzMethod::dense}) {
        const auto one = answer(runtime, *a, times(*a, integers<double>(n, 1, 4)), method);
        CAPTURE(n, one.solution.status(), one.solution.condition);
        CHECK_FALSE(one.solution.ok());
      }
  }
}

CORES_TEMPLATE_TEST_CASE("a symmetric pair is solved as a symmetric matrix", "[toeplitz]", float, double) {
  using T = TestType;
  const auto a = strange_matrix<T>(30, 11, true, 4);
  const auto b = random_columns<T>(30, 2, 5);
  const auto one = answer(runtime, a, b, ToeplitzMethod::automatic, T(0.25));
  HostMatrix<T> x = b.clone();
  const auto symmetric = toeplitz_solve<T>(runtime, a.c, T(0.25), MatrixView<T>(x));
  CHECK(one.solution.taken.method == ToeplitzMethod::dense);  // small
  CHECK(std::equal(x.data(), x.data() + x.size(), one.x.data()));
  const auto shifted = strange_matrix<T>(30, 0, false, 4);
  auto moved = GeneralMatrix<T>{shifted.c.clone(), shifted.r.clone()};
  moved.c(0, 0) -= T(0.25);
  CHECK(difference(answer(runtime, shifted, b, ToeplitzMethod::automatic, T(0.25)).x, answer(runtime, moved, b).x) ==
        0);
}

CORES_TEST_CASE("toeplitz_solve names the wrong argument of a general system") {
  const auto a = strange_matrix<double>(6, 0, false, 9);
  const auto b = random_columns<double>(6, 2, 5);
  CHECK_THROWS_AS(answer(runtime, a, b, ToeplitzMethod::cauchy), ArgumentError);
  CHECK_THROWS_AS(answer(runtime, GeneralMatrix<double>{a.c.clone(), HostMatrix<double>(5, 1)}, b), ArgumentError);
  CHECK_THROWS_AS(answer(runtime, a, random_columns<double>(5, 1, 1)), ArgumentError);
  Graph g(runtime);
  CHECK_THROWS_AS(ToeplitzLookahead<double>(g, a.c, a.r, {0}), ArgumentError);
  CHECK_THROWS_AS(ToeplitzLookahead<double>(g, a.c, HostMatrix<double>(6, 2)), ArgumentError);
  CHECK(g.wait().ok());
  for (const auto& [n, k] : {std::pair<index_t, index_t>{0, 2}, {3, 0}}) {
    const auto none = answer(runtime, strange_matrix<double>(n, 0, false, 1), HostMatrix<double>(n, k));
    CHECK((none.solution.ok() && none.solution.attempts.empty()));
  }
}

TEST_CASE("general products, norms and residuals agree with dense sums") {
  for (const index_t n : {1, 2, 5, 64, 101}) {
    const auto a = strange_matrix<double>(n, 0, false, static_cast<unsigned>(n));
    const HostMatrix<double> full = dense(a);
    const auto x = random_columns<double>(n, 2, 3), y = random_columns<double>(n, 2, 4);
    const HostMatrix<double> right = times(a, x);
    HostMatrix<double> b(n, 2);
    toeplitz_product<double>(n, a.c.data(), a.r.data(), 0.0, 2, x.data(), b.data());
    CHECK(difference(b, right) <= 1e-14);
    HostMatrix<double> copy = full.clone();
    const double norm = lapack::gesvd(n, n, copy.data(), copy.ld()).front();
    const double bound = general_toeplitz_norm_bound(n, a.c.data(), a.r.data());
    CHECK(bound >= norm * (1 - 1e-14));
    CHECK(bound <= 2 * norm);
    double columns = 0;
    for (index_t j = 0; j < n; ++j) {
      double sum = 0;
      for (index_t i = 0; i < n; ++i) sum += std::abs(full(i, j));
      columns = std::max(columns, sum);
    }
    CHECK(std::abs(general_toeplitz_one_norm(n, a.c.data(), a.r.data()) - columns) <= 1e-14 * columns);
    double worst = 0;
    for (index_t c = 0; c < 2; ++c) {
      double rr = 0, xx = 0, yy = 0;
      for (index_t i = 0; i < n; ++i) {
        rr += std::pow(right(i, c) - y(i, c), 2), xx += x(i, c) * x(i, c), yy += y(i, c) * y(i, c);
      }
      worst = std::max(worst, std::sqrt(rr) / (bound * std::sqrt(xx) + std::sqrt(yy)));
    }
    const double found = toeplitz_residual<double>(n, a.c.data(), a.r.data(), 0.0, 2, x.data(), y.data());
    CHECK(std::abs(found - worst) <= 1e-12 * worst);
  }
}
