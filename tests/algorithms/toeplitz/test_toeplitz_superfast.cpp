#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz_inverse.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_superfast.hpp>
#include <tesela/codelets/toeplitz/toeplitz_error.hpp>

#include <random>

using namespace tesela::test;

namespace {

template <class T>
Solved<T> solve_superfast(Runtime& runtime, const HostMatrix<T>& t, T sigma, const HostMatrix<T>& b,
                          const ToeplitzRefinement& refinement = {}) {
  return test::solve<T, ToeplitzSuperfast>(runtime, t, sigma, b, refinement);
}

struct Answer {
  HostMatrix<double> x;
  ToeplitzSolution solution;
  double residual;
};

Answer answer(Runtime& runtime, const HostMatrix<double>& t, double sigma, const HostMatrix<double>& b,
              ToeplitzMethod method = ToeplitzMethod::superfast) {
  const index_t n = b.rows(), k = b.cols();
  Answer a{b.clone(), {}, 0};
  const auto X = TileMatrix<double>::map(runtime, a.x.data(), n, k, n, {n, k});
  Graph g(runtime);
  a.solution = toeplitz_solve(g, Toeplitz<double>(g, t), sigma, X, {.method = method});
  X.bring_home();
  a.residual = kernels::toeplitz_residual(n, t.data(), sigma, k, a.x.data(), b.data());
  return a;
}

/// Returns the symmetric Toeplitz matrix T - sigma I with eigenvalues of both signs whose smallest magnitude is about
/// `gap` times its norm; `values` are T's eigenvalues.
HostMatrix<double> near_eigenvalue(const HostMatrix<double>& t, const std::vector<double>& values, double gap) {
  const double most = std::max(-values.front(), values.back());
  HostMatrix<double> shifted = t.clone();
  shifted(0, 0) -= values[values.size() / 3] + gap * most;
  return shifted;
}

template <class T>
void check_sizes(Runtime& runtime, std::initializer_list<index_t> sizes) {
  for (const ToeplitzGenerator& kind : {ToeplitzGenerator{ToeplitzKind::random, 0, 5},
                                        {ToeplitzKind::kms, 0.9},
                                        {ToeplitzKind::kms, -0.5},
                                        {ToeplitzKind::spd},
                                        {ToeplitzKind::singular_minors}})
    for (const index_t n : sizes)
      for (const index_t k : {1, 5}) {
        CAPTURE(static_cast<int>(kind.kind), kind.parameter, n, k);
        const auto t = toeplitz_column<T>(kind, n);
        const auto b = random_columns<T>(n, k, 5);
        const auto s = solve_superfast(runtime, t, T(0), b);
        CHECK(s.status.ok());
        CHECK(residual(t, 0, s.x, b, 0, k) <= 32 * eps<T>);
        for (index_t j = 0; n > 0 && j < k; ++j) CHECK(s.outcome(j, 0) <= 32 * eps<T>);
      }
}

}  // namespace

CORES_TEMPLATE_TEST_CASE("superfast solves Toeplitz systems of any size to rounding", "[toeplitz]", float, double) {
  // 193 rows are the first with two leaves; 1009 is prime.
  check_sizes<TestType>(runtime, {1, 2, 3, 96, 97, 191, 192, 193, 194, 385, 1009});
}

TEST_CASE("superfast solves with one worker and with two, for any tiles of B", "[toeplitz]") {
  for (const int cpus : {1, 2}) {
    Runtime runtime({.cpus = cpus, .gpus = 0});
    const index_t n = 1700;
    const auto t = toeplitz_column<double>({ToeplitzKind::random, 0, 3}, n);
    const auto b = random_columns<double>(n, 4, 5);
    const auto s = solve_superfast(runtime, t, 0.25, b);
    CHECK(s.status.ok());
    CHECK(difference(s.x, dense_solve(t, 0.25, b)) <= 1e-10);
  }
}

CORES_TEST_CASE("superfast agrees with LAPACK within the condition and the residual", "[toeplitz]") {
  for (const index_t n : {300, 1024, 1999}) {
    const auto random = toeplitz_column<double>({ToeplitzKind::random, 0, 7}, n);
    const auto values = dense_eigenvalues(random);
    for (const double gap : {1e-3, 1e-6, 1e-9, 1e-12}) {
      const auto t = near_eigenvalue(random, values, gap);
      const auto b = random_columns<double>(n, 2, 5);
      const auto a = answer(runtime, t, 0, b);
      CAPTURE(n, gap, a.solution.status(), a.solution.condition, a.solution.attempts.size());
      // At a gap of 1e-12 rounding errors of the eigenvalue can lift the forward bound above its limit.
      const bool near_limit = gap == 1e-12 && a.solution.status().find("forward_bound") != std::string::npos;
      CHECK((a.solution.ok() || near_limit));
      CHECK(a.residual <= 32 * eps<double>);
      if (gap >= 1e-6) CHECK(a.solution.attempts.size() == 1);  // the default tolerance suffices
      if (gap == 1e-12) CHECK(a.solution.attempts.size() == 2);
      CHECK(a.solution.condition >= 0.3 / gap);
      CHECK(a.solution.condition <= 30 / gap * std::sqrt(static_cast<double>(n)));
      CHECK(difference(a.x, dense_solve(t, 0, b)) <= 1e3 * eps<double> * a.solution.condition);
    }
  }
}

CORES_TEST_CASE("superfast is never ok for a matrix that is singular to rounding", "[toeplitz]") {
  const auto check = [&runtime](const HostMatrix<double>& t, double sigma) {
    const auto a = answer(runtime, t, sigma, random_columns<double>(t.rows(), 2, 5));
    CAPTURE(t.rows(), sigma, a.solution.status(), a.solution.condition);
    CHECK_FALSE(a.solution.ok());
    return a.solution.status();
  };
  // 2 - 2 cos(k pi / (n + 1)) is 2 if 2 k = n + 1.
  for (const index_t n : {1, 39, 499, 2047})
    CHECK_THAT(check(toeplitz_column<double>({ToeplitzKind::second_difference}, n), 2),
               ContainsSubstring("singular to working precision") || ContainsSubstring("eigenvalue"));
  for (const index_t n : {100, 1500}) check(toeplitz_column<double>({ToeplitzKind::prolate, 0.1}, n), 0);
  for (const index_t n : {2, 64, 300, 1000}) {
    const auto t = toeplitz_column<double>({ToeplitzKind::random, 0, 2}, n);
    const auto values = dense_eigenvalues(t);
    for (const index_t i : {index_t{0}, n / 2, n - 1}) check(t, values[static_cast<std::size_t>(i)]);
  }
  check(HostMatrix<double>::zeros(300, 1), 0);
}

TEST_CASE("superfast, without a count of eigenvalues, is not ok for a large singular matrix", "[toeplitz]") {
  Runtime runtime({.gpus = 0});
  const index_t n = (index_t{1} << 17) - 1;
  const auto t = toeplitz_column<double>({ToeplitzKind::second_difference}, n);
  const auto a = answer(runtime, t, 2, random_columns<double>(n, 1, 5));
  CAPTURE(a.solution.status(), a.solution.condition);
  CHECK_FALSE(a.solution.ok());
}

CORES_TEMPLATE_TEST_CASE("superfast scales exactly with powers of two in T and B", "[toeplitz]", float, double) {
  using T = TestType;
  const index_t n = 450;
  const auto t = toeplitz_column<T>({ToeplitzKind::random, 0, 5}, n);
  const auto b = random_columns<T>(n, 2, 5);
  const ToeplitzRefinement stated{3, 32 * eps<T>};  // the helper cannot measure residuals of these sizes
  const auto one = solve_superfast(runtime, t, T(0.25), b, stated);
  REQUIRE(one.status.ok());
  const int much = sizeof(T) == 8 ? 900 : 100;
  for (const int e : {-much, much}) {
    auto scaled = t.clone(), right = b.clone();
    for (index_t i = 0; i < n; ++i) scaled(i, 0) = std::ldexp(t(i, 0), e);
    for (index_t i = 0; i < b.size(); ++i) right.data()[i] = std::ldexp(b.data()[i], e);
    const auto s = solve_superfast(runtime, scaled, std::ldexp(T(0.25), e), right, stated);
    CHECK(s.status.ok());
    CAPTURE(e);
    for (index_t i = 0; i < b.size(); ++i) CHECK(s.x.data()[i] == one.x.data()[i]);
  }
  auto huge = t.clone(), right = b.clone();  // 1e300 and 1e-300 are no powers of two
  const T size = sizeof(T) == 8 ? T(1e300) : T(1e30);
  for (index_t i = 0; i < n; ++i) huge(i, 0) *= size;
  for (index_t i = 0; i < b.size(); ++i) right.data()[i] *= size;
  CHECK(difference(solve_superfast(runtime, huge, T(0), right, stated).x, solve_superfast(runtime, t, T(0), b).x) <=
        1e4 * eps<T>);
}

CORES_TEST_CASE("superfast solves matrices whose numbers have very different sizes", "[toeplitz]") {
  const index_t n = 1200;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (const double decay : {0.0, 0.3, 0.9, 0.999, 1.0}) {
    HostMatrix<double> t(n, 1);
    for (index_t i = 0; i < n; ++i) t(i, 0) = normal(random) * std::pow(decay, static_cast<double>(i));
    t(0, 0) = decay < 0.5 ? 3 : 0;
    const auto b = random_columns<double>(n, 2, 5);
    const auto a = answer(runtime, t, 0, b);
    CAPTURE(decay, a.solution.status(), a.solution.condition);
    CHECK(a.solution.ok());
    CHECK(difference(a.x, dense_solve(t, 0, b)) <= 1e3 * eps<double> * a.solution.condition);
  }
}

CORES_TEST_CASE("superfast estimates the condition", "[toeplitz]") {
  Graph g(runtime);
  const index_t n = 600;
  const ToeplitzSuperfast<double> inverse(g, Toeplitz<double>(g, toeplitz_column<double>({ToeplitzKind::kms, 0.9}, n)),
                                          0.0);
  const double exact = (1.9 / 0.1) * (1.9 / 0.1);  // of the infinite matrix, and nearly so for this order
  CHECK(inverse.condition(runtime) <= 1.1 * exact);
  CHECK(inverse.condition(runtime) >= exact / 2);
}

CORES_TEST_CASE("superfast does not underestimate the condition near an eigenvalue", "[toeplitz]") {
  for (const index_t n : {300, 1000}) {
    const auto t = toeplitz_column<double>({ToeplitzKind::random, 0, 2}, n);
    const double sigma = dense_eigenvalues(t)[static_cast<std::size_t>(n / 2)];
    for (const bool tight : {false, true}) {
      Graph g(runtime);
      const ToeplitzSuperfast<double> inverse(g, Toeplitz<double>(g, t), sigma, superfast_tolerance<double>(tight));
      const double condition = inverse.condition(runtime);
      CAPTURE(n, tight, condition);
      CHECK((std::isnan(condition) || condition >= 1e13));  // the compression moves the eigenvalue by 1e-10 norms
      CHECK(g.wait().ok());
    }
  }
}

CORES_TEST_CASE("superfast reports columns that are not refined or not finite, and refuses invalid shapes",
                "[toeplitz]") {
  for (const index_t n : {40, 700})
    check_refinement_fails<double, ToeplitzSuperfast>(runtime, toeplitz_column<double>({ToeplitzKind::random, 0, 5}, n),
                                                      -1);
  Graph g(runtime);
  check_tiles_refused(g, ToeplitzSuperfast<double>(g, Toeplitz<double>(g, toeplitz_column<double>({}, 6)), -30.0));
  CHECK_THROWS_AS(ToeplitzSuperfast<double>(g, Toeplitz<double>(g, HostMatrix<double>(0, 1)), 0), ArgumentError);
  auto t = toeplitz_column<double>({ToeplitzKind::random, 0, 5}, 6);
  t(3, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(ToeplitzSuperfast<double>(g, Toeplitz<double>(g, t), 0), ArgumentError);
  CHECK(g.wait().ok());
}

TEST_CASE("toeplitz_solve chooses superfast for a large indefinite matrix", "[toeplitz]") {
  Runtime runtime({.cpus = 2, .gpus = 0});
  const index_t n = 70001;
  const auto t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, n);
  const auto a = answer(runtime, t, 0.3, random_columns<double>(n, 1, 5), ToeplitzMethod::automatic);
  CAPTURE(a.solution.status(), a.solution.condition);
  CHECK(a.solution.ok());
  CHECK(a.solution.taken.method == ToeplitzMethod::superfast);
  CHECK(a.residual <= 4 * eps<double>);
}

TEST_CASE("superfast runs on cores of a runtime with a GPU", "[toeplitz][gpu]") {
  require_gpu();
  Runtime runtime({.cpus = 2, .gpus = 1});
  check_sizes<double>(runtime, {1, 385, 1009});
}

GPU_TEST_CASE("superfast needs a core", "[toeplitz]") {
  Graph g(runtime);
  const Toeplitz<double> A(g, toeplitz_column<double>({ToeplitzKind::random, 0, 5}, 300));
  CHECK_THROWS_AS(ToeplitzSuperfast<double>(g, A, 0), NoWorkerError);
  CHECK(g.wait().ok());
}
