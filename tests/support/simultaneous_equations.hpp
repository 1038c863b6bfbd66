#pragma once

#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>

#include <array>
#include <random>

// Models with known results, and the textbook formulas in long double: dense, stacked, by elimination.

namespace tesela::test {

using Real = long double;

/// A column-major matrix.
struct Dense {
  index_t rows = 0, cols = 0;
  std::vector<Real> a = {};
  Dense(index_t m, index_t n) : rows(m), cols(n), a(static_cast<std::size_t>(m * n), 0) {}
  Real& operator()(index_t i, index_t j) { return a[static_cast<std::size_t>(i + j * rows)]; }
  Real operator()(index_t i, index_t j) const { return a[static_cast<std::size_t>(i + j * rows)]; }
};

inline Dense times(const Dense& a, const Dense& b) {
  Dense c(a.rows, b.cols);
  for (index_t j = 0; j < b.cols; ++j)
    for (index_t k = 0; k < a.cols; ++k)
      for (index_t i = 0; i < a.rows; ++i) c(i, j) += a(i, k) * b(k, j);
  return c;
}

inline Dense transposed(const Dense& a) {
  Dense t(a.cols, a.rows);
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) t(j, i) = a(i, j);
  return t;
}

/// Returns the inverse by elimination with partial pivoting.
inline Dense inverse(Dense a) {
  const index_t n = a.rows;
  Dense x(n, n);
  for (index_t i = 0; i < n; ++i) x(i, i) = 1;
  for (index_t k = 0; k < n; ++k) {
    index_t p = k;
    for (index_t i = k; i < n; ++i)
      if (std::abs(a(i, k)) > std::abs(a(p, k))) p = i;
    for (index_t j = 0; j < n; ++j) std::swap(a(k, j), a(p, j)), std::swap(x(k, j), x(p, j));
    for (index_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const Real f = a(i, k) / a(k, k);
      for (index_t j = 0; j < n; ++j) a(i, j) -= f * a(k, j), x(i, j) -= f * x(k, j);
    }
  }
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) x(i, j) /= a(i, i);
  return x;
}

/// Data, D x (K + N), and a model for them.
struct SemProblem {
  HostMatrix<double> data;
  SimultaneousModel model;
  index_t variables() const { return data.cols(); }
};

inline Dense columns(const SemProblem& p, const std::vector<index_t>& which) {
  Dense c(p.data.rows(), static_cast<index_t>(which.size()));
  for (index_t j = 0; j < c.cols; ++j)
    for (index_t i = 0; i < c.rows; ++i) c(i, j) = p.data(i, which[static_cast<std::size_t>(j)]);
  return c;
}

/// Stacked estimates and standard errors, one equation after the other.
struct SemReference {
  std::vector<Real> b, errors;
  Dense covariance{0, 0}, weighting{0, 0};
};

/// Returns the projection of Z onto the span of X.
inline Dense projected(const Dense& X, const Dense& Z) {
  return times(X, times(inverse(times(transposed(X), X)), times(transposed(X), Z)));
}

/// Returns textbook 2SLS and, on request, 3SLS with `steps` repetitions. All equations must be identified.
inline SemReference sem_reference(const SemProblem& p, const SemOptions& options, int steps = 1) {
  const bool instrumental = options.method == SemMethod::two_stage || options.method == SemMethod::three_stage;
  const bool system = options.method == SemMethod::three_stage || options.method == SemMethod::sur;
  const auto N = static_cast<index_t>(p.model.equations.size()), D = p.data.rows();
  std::vector<index_t> common, starts{0};
  for (index_t c = 0; c < p.model.instruments; ++c) common.push_back(c);
  std::vector<Dense> Z, F, y;  // F: the fitted regressors
  for (const Equation& e : p.model.equations) {
    Z.push_back(columns(p, e.regressors));
    y.push_back(columns(p, {e.dependent}));
    F.push_back(instrumental ? projected(columns(p, e.instruments.empty() ? common : e.instruments), Z.back())
                             : Z.back());
    starts.push_back(starts.back() + Z.back().cols);
  }
  const index_t n = starts.back();
  SemReference result{std::vector<Real>(static_cast<std::size_t>(n)), std::vector<Real>(static_cast<std::size_t>(n))};
  const auto solve = [&](const Dense& weights) {
    Dense G(n, n), c(n, 1);
    for (index_t i = 0; i < N; ++i)
      for (index_t j = 0; j < N; ++j) {
        const auto k = static_cast<std::size_t>(i), l = static_cast<std::size_t>(j);
        const Dense block = times(transposed(F[k]), F[l]), right = times(transposed(F[k]), y[l]);
        for (index_t a = 0; a < block.rows; ++a) {
          for (index_t b = 0; b < block.cols; ++b) G(starts[k] + a, starts[l] + b) = weights(i, j) * block(a, b);
          c(starts[k] + a, 0) += weights(i, j) * right(a, 0);
        }
      }
    const Dense V = inverse(G), b = times(V, c);
    for (index_t k = 0; k < n; ++k) {
      result.b[static_cast<std::size_t>(k)] = b(k, 0);
      result.errors[static_cast<std::size_t>(k)] = std::sqrt(V(k, k));
    }
  };
  const auto covariance = [&] {
    Dense E(D, N), S(N, N);
    std::vector<Real> divisors;
    for (index_t i = 0; i < N; ++i) {
      const auto k = static_cast<std::size_t>(i);
      for (index_t t = 0; t < D; ++t) {
        E(t, i) = y[k](t, 0);
        for (index_t q = 0; q < Z[k].cols; ++q)
          E(t, i) -= Z[k](t, q) * result.b[static_cast<std::size_t>(starts[k] + q)];
      }
      divisors.push_back(std::sqrt(static_cast<Real>(options.divisor == SemDivisor::small ? D - Z[k].cols : D)));
    }
    S = times(transposed(E), E);
    for (index_t i = 0; i < N; ++i)
      for (index_t j = 0; j < N; ++j)
        S(i, j) /= divisors[static_cast<std::size_t>(i)] * divisors[static_cast<std::size_t>(j)];
    return S;
  };
  Dense unit(N, N);
  for (index_t i = 0; i < N; ++i) unit(i, i) = 1;
  solve(unit);
  result.covariance = covariance();
  for (index_t i = 0; i < N; ++i) unit(i, i) = 1 / result.covariance(i, i);
  solve(unit);
  for (int step = 0; system && step < steps; ++step) {
    result.weighting = covariance();
    solve(inverse(result.weighting));
    result.covariance = covariance();
  }
  return result;
}

inline SimultaneousEquations solve(Runtime& on, const SemProblem& p, const SemOptions& options = {},
                                   const std::vector<index_t>& clusters = {}) {
  Graph g(on);
  return estimate(g, p.data.clone(), p.model, options, clusters);
}

inline SimultaneousEquations solve(const SemProblem& p, const SemOptions& options = {}) {
  return solve(runtime(), p, options);
}

/// Returns the largest distance of coefficients and standard errors from the reference, relative to |b| plus its error.
inline double distance(const SimultaneousEquations& answer, const SemReference& reference) {
  double most = 0;
  std::size_t k = 0;
  for (const EquationEstimate& e : answer.equations)
    for (std::size_t p = 0; p < e.coefficients.size(); ++p, ++k) {
      const double b = static_cast<double>(reference.b[k]), s = static_cast<double>(reference.errors[k]);
      most = std::max(most, std::abs(e.coefficients[p] - b) / (std::abs(b) + s));
      most = std::max(most, std::abs(e.standard_errors[p] - s) / s);
    }
  return k == reference.b.size() ? most : std::numeric_limits<double>::infinity();
}

/// Returns the largest distance of coefficients, relative to |a| plus its standard error (if there is one), and of
/// standard errors, relative to a's; infinity if it is NaN or the equations differ in status or size.
inline double apart(const EquationEstimate& a, const EquationEstimate& b, bool with_errors = true) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (a.status != b.status || a.coefficients.size() != b.coefficients.size()) return infinity;
  double most = 0;
  for (std::size_t p = 0; p < a.coefficients.size(); ++p) {
    const double x = a.coefficients[p], error = a.standard_errors[p];
    for (const double d : {std::abs(x - b.coefficients[p]) / (std::abs(x) + (std::isnan(error) ? 0 : error)),
                           with_errors ? std::abs(b.standard_errors[p] / error - 1) : 0.0})
      most = std::isnan(d) ? infinity : std::max(most, d);
  }
  return most;
}

/// Returns a structural model Y B = X C + U of N equations and K exogenous variables (the first is 1). Each equation
/// has `exogenous` variables (or one less) and `endogenous` other dependent variables as regressors; `errors` is the
/// size of U.
inline SemProblem generated(index_t D, index_t K, index_t N, index_t exogenous, index_t endogenous, double errors,
                            unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  SemProblem p{HostMatrix<double>(D, K + N), {K, 0, {}}};
  Dense B(N, N), C(K, N);
  for (index_t i = 0; i < N; ++i) {
    Equation e{K + i};
    B(i, i) = 1;
    for (index_t k = 0; k < exogenous - i % 2; ++k) {
      const index_t c = k == 0 ? 0 : 1 + (i * (exogenous - 1) + k - 1) % (K - 1);
      e.regressors.push_back(c);
      C(c, i) = 1 + 0.5 * normal(random);
    }
    for (index_t k = 1; k <= endogenous; ++k) {
      const index_t c = (i + k) % N;
      e.regressors.push_back(K + c);
      B(c, i) = -0.4 * normal(random) / static_cast<double>(endogenous);
    }
    p.model.equations.push_back(std::move(e));
  }
  Dense X(D, K), U(D, N);
  for (index_t t = 0; t < D; ++t) {
    const double shared = normal(random);
    for (index_t k = 0; k < K; ++k) X(t, k) = k == 0 ? 1 : normal(random);
    for (index_t i = 0; i < N; ++i) U(t, i) = errors * (0.6 * shared + normal(random));
  }
  Dense right = times(X, C);
  for (std::size_t k = 0; k < right.a.size(); ++k) right.a[k] += U.a[k];
  const Dense Y = times(right, inverse(B));
  for (index_t t = 0; t < D; ++t) {
    for (index_t k = 0; k < K; ++k) p.data(t, k) = static_cast<double>(X(t, k));
    for (index_t i = 0; i < N; ++i) p.data(t, K + i) = static_cast<double>(Y(t, i));
  }
  return p;
}

/// Returns Kmenta's food market: 1, income, farm price and trend; consumption and price.
inline SemProblem food_market() {
  constexpr std::array<std::array<double, 5>, 20> rows{
      {{98.485, 100.323, 87.4, 98.0, 1},    {99.187, 104.264, 97.6, 99.1, 2},   {102.163, 103.435, 96.7, 99.1, 3},
       {101.504, 104.506, 98.2, 98.1, 4},   {104.240, 98.001, 99.8, 110.8, 5},  {103.243, 99.456, 100.5, 108.2, 6},
       {103.993, 101.066, 103.2, 105.6, 7}, {99.900, 104.763, 107.8, 109.8, 8}, {100.350, 96.446, 96.6, 108.7, 9},
       {102.820, 91.228, 88.9, 100.6, 10},  {95.435, 93.085, 75.1, 81.0, 11},   {92.424, 98.801, 76.9, 68.6, 12},
       {94.535, 102.908, 84.6, 70.9, 13},   {98.757, 98.756, 90.6, 81.4, 14},   {105.797, 95.119, 103.1, 102.3, 15},
       {100.225, 98.451, 105.1, 105.0, 16}, {103.522, 86.498, 96.4, 110.5, 17}, {99.929, 104.016, 104.4, 92.5, 18},
       {105.223, 105.769, 110.7, 89.3, 19}, {106.232, 113.490, 127.1, 93.0, 20}}};
  SemProblem p{HostMatrix<double>(20, 6), {4, 0, {{4, {0, 5, 1}}, {4, {0, 5, 2, 3}}}}};
  for (index_t t = 0; t < 20; ++t) {
    const auto& row = rows[static_cast<std::size_t>(t)];
    const std::array<double, 6> in_order{1, row[2], row[3], row[4], row[0], row[1]};
    for (index_t c = 0; c < 6; ++c) p.data(t, c) = in_order[static_cast<std::size_t>(c)];
  }
  return p;
}

}  // namespace tesela::test
