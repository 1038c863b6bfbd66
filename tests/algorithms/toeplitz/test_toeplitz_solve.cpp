#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz_inverse.hpp"
#include <tesela/algorithms/support/condition_estimate.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>
#include <tesela/codelets/toeplitz/toeplitz_error.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <random>

extern "C" void dgetri_(const int*, double*, const int*, const int*, double*, const int*, int*);
extern "C" void dgetrf_(const int*, const int*, double*, const int*, int*, int*);

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

double norm1(const HostMatrix<double>& a) {
  double most = 0;
  for (index_t j = 0; j < a.cols(); ++j) {
    double sum = 0;
    for (index_t i = 0; i < a.rows(); ++i) sum += std::abs(a(i, j));
    most = std::max(most, sum);
  }
  return most;
}

/// Returns the inverse, or infinities if LAPACK reports that a is singular.
HostMatrix<double> inverse_of(HostMatrix<double> a) {
  const int n = static_cast<int>(a.rows());
  std::vector<int> pivots(static_cast<std::size_t>(n));
  std::vector<double> work(static_cast<std::size_t>(n));
  int info = 0;
  dgetrf_(&n, &n, a.data(), &n, pivots.data(), &info);
  if (info == 0) dgetri_(&n, a.data(), &n, pivots.data(), work.data(), &n, &info);
  if (info != 0) std::fill_n(a.data(), a.size(), INFINITY);
  return a;
}

/// Returns the condition by LAPACK's inverse.
template <class T>
double dense_condition(const HostMatrix<T>& t, double sigma) {
  auto a = dense(t, sigma);
  const double norm = norm1(a);
  const double inverse = norm1(inverse_of(std::move(a)));
  return std::isinf(inverse) ? inverse : norm * inverse;
}

template <class T>
struct Answer {
  HostMatrix<T> x;
  ToeplitzSolution solution;
  double residual;  ///< computed in double precision
};

template <class T>
Answer<T> answer(Runtime& runtime, const HostMatrix<T>& t, T sigma, const HostMatrix<T>& b,
                 ToeplitzMethod method = ToeplitzMethod::automatic) {
  const index_t n = b.rows(), k = b.cols();
  Answer<T> a{b.clone(), {}, 0};
  const auto X = TileMatrix<T>::map(runtime, a.x.data(), n, k, std::max<index_t>(n, 1),
                                    {std::max<index_t>(n, 1), std::max<index_t>(k, 1)});
  Graph g(runtime);
  a.solution = toeplitz_solve(g, Toeplitz<T>(g, t), sigma, X, {method});
  X.bring_home();
  a.residual = toeplitz_residual(n, t.data(), double(sigma), k, a.x.data(), b.data());
  return a;
}

/// Returns T's first column for a kind that breaks recursions down or does not.
template <class T>
HostMatrix<T> strange_column(index_t n, int kind, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> small(-1, 1);
  auto t = HostMatrix<T>::zeros(n, 1);
  for (index_t i = 0; i < n; ++i) {
    double v = normal(random);
    switch (kind) {
      case 0: break;
      case 1: v = small(random); break;                                      // many leading minors are zero
      case 2: v = i == 0 ? 0 : v; break;                                     // the first leading minor is zero
      case 3: v = i < 3 ? small(random) : 0; break;                          // banded
      case 4: v *= std::pow(0.7, static_cast<double>(i)); break;             // decaying
      case 5: v = i == 0 ? 1e-9 : v; break;                                  // the first leading minor is almost zero
      case 6: v = std::cos(0.3 * static_cast<double>(i)) + 1e-5 * v; break;  // almost of rank 2
      case 7: v = i % 2 == 0 ? 0 : v; break;                                 // bipartite pattern
      case 8: v = i == n - 1 ? 1 : 0; break;                                 // nonzero corners
      default: v = i == 0 ? 2.5 : i == 1 ? -1 : 1e-3 * v; break;             // near the second difference
    }
    t(i, 0) = static_cast<T>(v);
  }
  return t;
}

}  // namespace

TEST_CASE("the 1-norm of a symmetric matrix is estimated from its products") {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (const index_t n : {1, 2, 3, 10, 41})
    for (int draw = 0; draw < 20; ++draw) {
      HostMatrix<double> a(n, n);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i <= j; ++i) a(i, j) = a(j, i) = normal(random) * (draw % 2 == 0 || i == j ? 1 : 0.01);
      int products = 0;
      const double estimate = norm1_estimate(n, [&](std::vector<double>& x) {
        const auto old = x;
        for (index_t i = 0; i < n; ++i) {
          double sum = 0;
          for (index_t j = 0; j < n; ++j) sum += a(i, j) * old[static_cast<std::size_t>(j)];
          x[static_cast<std::size_t>(i)] = sum;
        }
        ++products;
      });
      INFO("n " << n << " draw " << draw);
      CHECK(estimate <= norm1(a) * (1 + 1e-14));
      CHECK(estimate >= norm1(a) / 3);
      CHECK(products <= 12);
    }
  CHECK(norm1_estimate(0, [](std::vector<double>&) {}) == 0);
  CHECK(norm1_estimate(2, [](std::vector<double>& x) { x[0] = NAN; }) == INFINITY);
}

CORES_TEMPLATE_TEST_CASE("toeplitz_solve is at least as accurate as its best method", "[toeplitz]", float, double) {
  using T = TestType;
  for (const index_t n : {1, 2, 3, 4, 5, 8, 17, 64, 129})
    for (int kind = 0; kind < 10; ++kind) {
      const auto t = strange_column<T>(n, kind, static_cast<unsigned>(100 * n + kind));
      const auto b = random_columns<T>(n, 2, 5);
      double best = 2;
      for (const auto& entry : toeplitz_methods()) {
        if (entry.value == ToeplitzMethod::automatic) continue;
        const auto one = answer(runtime, t, T(0), b, entry.value);
        if (one.solution.failure.empty()) best = std::min(best, one.residual);
        CHECK((!one.solution.ok() || one.residual <= 1.5 * toeplitz_residual_bound<T>(n)));
      }
      const auto a = answer(runtime, t, T(0), b);
      INFO("n " << n << " kind " << kind << ": " << a.solution.status() << " by "
                << toeplitz_method_name(a.solution.taken.method) << " residual " << a.residual << " condition "
                << a.solution.condition);
      if (best < 2) {
        CHECK(a.solution.failure.empty());
        CHECK(a.residual <= std::max(2 * best, 4 * eps<T>));
      }
      // The verdict agrees with the residual and the error.
      const double condition = dense_condition(t, 0);
      if (a.solution.ok()) {
        CHECK(a.residual <= toeplitz_residual_bound<T>(n));
        CHECK(a.solution.condition <= 1.5 * condition);
        CHECK(a.solution.condition >= condition / 3);
        if (condition < 1e12)
          CHECK(difference(a.x, dense_solve(t, 0, b)) <=
                double(n) * (a.solution.forward_bound().error + 1e-15 * condition + 4 * eps<T>));
      } else {
        CHECK(condition >= 1e-2 / eps<T>);
      }
    }
}

TEST_CASE("toeplitz_solve solves matrices with blocks without any pivot", "[toeplitz]") {
  // Conditions 3.4, 2 and 3.4: after some steps all diagonal entries of a block and leading minors are zero.
  Runtime runtime({.gpus = 0});
  for (const std::vector<double>& values :
       {std::vector<double>{0, -1, 1, -1, -1}, {0, 0, 1, 0, -1}, {0, 1, 1, 1, -1}}) {
    HostMatrix<double> t(5, 1);
    std::copy(values.begin(), values.end(), t.data());
    const auto b = random_columns<double>(5, 2, 5);
    CHECK(answer(runtime, t, 0.0, b, ToeplitzMethod::cauchy_inverse).solution.taken.order > 0);
    const auto a = answer(runtime, t, 0.0, b);
    INFO(a.solution.status());
    CHECK(a.solution.ok());
    CHECK(a.solution.taken.method == ToeplitzMethod::lookahead);
    CHECK(a.solution.attempts.size() == 3);
    CHECK(a.solution.condition <= 10);
    CHECK(difference(a.x, dense_solve(t, 0, b)) <= 1e-14);
  }
}

CORES_TEST_CASE("toeplitz_solve reports singular at the eigenvalues of a matrix as rounded by LAPACK", "[toeplitz]") {
  for (const index_t n : {2, 20, 64, 150})
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const auto t = toeplitz_column<double>({ToeplitzKind::random, 0, seed}, n);
      const auto values = dense_eigenvalues(t);
      const auto b = random_columns<double>(n, 1, 5);
      for (const index_t i : {index_t{0}, n / 2, n - 1}) {
        const auto a = answer(runtime, t, values[static_cast<std::size_t>(i)], b);
        INFO("n " << n << " seed " << seed << " i " << i << ": " << a.solution.status());
        CHECK_FALSE(a.solution.ok());
        CHECK_THAT(a.solution.status(), ContainsSubstring("singular to working precision"));
        CHECK(a.solution.condition >= toeplitz_singular_condition<double>());
      }
    }
}

TEMPLATE_TEST_CASE("toeplitz_solve refuses singular matrices for any B", "[toeplitz]", float, double) {
  // B = T 1, which a perturbed inverse with refinement would solve.
  using T = TestType;
  Runtime runtime({.gpus = 0});
  for (const std::vector<T>& values : {std::vector<T>{1, 1, 1}, {2, 1, -1}, {1, 0, -1}, {1, 0, 0, 1}, {1, 0, 1}}) {
    const auto n = static_cast<index_t>(values.size());
    HostMatrix<T> t(n, 1), b = HostMatrix<T>::zeros(n, 1);
    std::copy(values.begin(), values.end(), t.data());
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j) b(i, 0) += values[static_cast<std::size_t>(std::abs(i - j))];
    const auto a = answer(runtime, t, T(0), b);
    INFO("n " << n << ": " << a.solution.status() << ", condition " << a.solution.condition);
    CHECK_FALSE(a.solution.ok());
    CHECK_THAT(a.solution.status(), ContainsSubstring("singular to working precision"));
  }
}

CORES_TEST_CASE("toeplitz_solve estimates the condition near eigenvalues of both symmetries", "[toeplitz]") {
  for (index_t n = 3; n < 25; ++n) {
    const auto t = toeplitz_column<double>({ToeplitzKind::random, 0, static_cast<unsigned>(n)}, n);
    const auto values = dense_eigenvalues(t);
    for (const index_t i : {index_t{0}, n / 2, n / 2 + 1, n - 1}) {
      auto near = t.clone();
      near(0, 0) -= values[static_cast<std::size_t>(i)] * (1 + 1e-9);
      const auto a = answer(runtime, near, 0.0, random_columns<double>(n, 1, 5));
      const double condition = dense_condition(near, 0);
      INFO("n " << n << " i " << i << ": " << a.solution.status() << ", " << a.solution.condition << " of "
                << condition);
      CHECK(a.solution.condition >= condition / 5);
      CHECK(a.solution.condition <= 1.5 * condition);
    }
  }
}

TEMPLATE_TEST_CASE("toeplitz_solve reports elements that are not finite and solutions that are not representable",
                   "[toeplitz]", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  Runtime runtime({.gpus = 0});
  const auto t = toeplitz_column<T>({ToeplitzKind::kms, 0.5}, 6);
  const auto b = random_columns<T>(6, 2, 5);
  const auto status = [&](const HostMatrix<T>& column, T sigma, const HostMatrix<T>& right, ToeplitzMethod method) {
    const auto a = answer(runtime, column, sigma, right, method);
    CHECK_FALSE(a.solution.ok());
    return a.solution.status();
  };
  for (const auto& entry : toeplitz_methods()) {
    INFO(entry.name);
    CHECK(answer(runtime, t, T(0), b, entry.value).solution.ok());
    for (const T strange : {Limits::quiet_NaN(), Limits::infinity()}) {
      auto s = t.clone();
      s(3, 0) = strange;
      CHECK_THAT(status(s, T(0), b, entry.value), ContainsSubstring("not finite: t(3)"));
      CHECK_THAT(status(t, strange, b, entry.value), ContainsSubstring("not finite: t(0) - sigma"));
      auto c = b.clone();
      c(2, 1) = strange;
      CHECK_THAT(status(t, T(0), c, entry.value), ContainsSubstring("not finite: b(2, 1)"));
    }
    auto high = t.clone();
    high(0, 0) = Limits::max();
    CHECK_THAT(status(high, -Limits::max(), b, entry.value), ContainsSubstring("not finite: t(0) - sigma"));
    // X overflows and underflows.
    const int far = sizeof(T) == 8 ? 900 : 100;
    for (const int e : {-far, far}) {
      auto small = t.clone(), right = b.clone();
      for (index_t i = 0; i < 6; ++i) small(i, 0) = std::ldexp(t(i, 0), e);
      for (index_t i = 0; i < 12; ++i) right.data()[i] = std::ldexp(b.data()[i], -e);
      const std::string said = status(small, T(0), right, entry.value);
      CHECK_THAT(said, ContainsSubstring(e < 0 ? "not finite: X" : "inaccurate: residual"));
    }
  }
  for (const auto& [n, k] : {std::pair<index_t, index_t>{0, 2}, {3, 0}}) {
    const auto a = answer(runtime, toeplitz_column<T>({ToeplitzKind::kms, 0.5}, n), T(0), HostMatrix<T>(n, k));
    CHECK((a.solution.ok() && a.solution.attempts.empty()));
  }
}

CORES_TEST_CASE("toeplitz_solve refuses invalid shapes", "[toeplitz]") {
  Graph g(runtime);
  const Toeplitz<double> A(g, toeplitz_column<double>({ToeplitzKind::kms, 0.5}, 6));
  const TileMatrix<double> two(runtime, 6, 4, {6, 2}), brief(runtime, 5, 4, {5, 4});
  CHECK_THROWS_AS(toeplitz_solve(g, A, 0.0, two), ArgumentError);
  CHECK_THROWS_AS(toeplitz_solve(g, A, 0.0, brief), ArgumentError);
  CHECK_THROWS_AS(toeplitz_method("odd"), ArgumentError);
  for (const auto& entry : toeplitz_methods()) CHECK(toeplitz_method(entry.name) == entry.value);
  CHECK(g.wait().ok());
}

GPU_TEMPLATE_TEST_CASE("toeplitz_solve works on a GPU", "[toeplitz]", float, double) {
  using T = TestType;
  for (const index_t n : {1, 5, 64, 501})
    for (const int kind : {0, 2, 4, 6, 9}) {
      const auto t = strange_column<T>(n, kind, 7);
      const auto b = random_columns<T>(n, 2, 5);
      const auto a = answer(runtime, t, T(0.25), b);
      const double condition = dense_condition(t, 0.25);
      INFO("n " << n << " kind " << kind << ": " << a.solution.status() << " condition " << condition);
      if (condition < 1e-3 / eps<T>) {
        CHECK(a.solution.ok());
        CHECK(a.solution.condition >= condition / 3);
        CHECK(a.solution.condition <= 1.5 * condition);
      }
      if (a.solution.ok()) CHECK(a.residual <= 4 * eps<T>);
    }
}
