// A parabola fitted to measurements of different variance, then with an exact value and slope as constraints, then with
// correlated errors.
#include <tesela/tesela.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

using namespace tesela;

namespace {

constexpr index_t m = 400, n = 3;

double time_of(index_t i) { return static_cast<double>(i) / static_cast<double>(m - 1); }

/// Powers of time, and measurements of 1 + t - 2 t^2 with errors up to 0.01 in the first half and up to 1 in the
/// second.
HostMatrix<double> powers() {
  HostMatrix<double> a(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) a(i, j) = std::pow(time_of(i), static_cast<double>(j));
  return a;
}
HostMatrix<double> measured() {
  HostMatrix<double> b(m, 1);
  for (index_t i = 0; i < m; ++i) {
    const double t = time_of(i), error = std::sin(37.0 * static_cast<double>(i));
    b(i, 0) = 1 + t - 2 * t * t + (2 * i < m ? 0.01 : 1.0) * error;
  }
  return b;
}

void print(const char* what, const HostMatrix<double>& x) {
  std::printf("%-26s %8.4f %8.4f %8.4f\n", what, x(0, 0), x(1, 0), x(2, 0));
}

}  // namespace

int main() {
  Runtime runtime;
  HostMatrix<double> a = powers(), b = measured();
  const auto again = [&] {  // solvers overwrite a and b
    a = powers();
    b = measured();
  };

  std::vector<double> weights(m);  // 1 / variance
  for (index_t i = 0; i < m; ++i) weights[static_cast<std::size_t>(i)] = 2 * i < m ? 1e4 : 1;
  OlsOptions keep;
  keep.keep_triangle = true;
  const auto weighted = wls(runtime, MatrixView(a), MatrixView(b), weights, keep);
  Graph g(runtime);
  const auto errors = standard_errors(g, weighted);
  print("by weights", weighted.X);
  std::printf("%-26s %8.4f %8.4f %8.4f\n", "standard errors", errors[0], errors[1], errors[2]);

  again();
  HostMatrix<double> C = HostMatrix<double>::zeros(2, n), D(2, 1);
  C(0, 0) = 1;  // the value at t = 0 is 1,
  C(1, 1) = 1;  // and the slope there 1
  D(0, 0) = D(1, 0) = 1;
  const auto constrained = lse(runtime, MatrixView(a), MatrixView(b), C, D);
  print("value and slope given", constrained.X);

  again();
  HostMatrix<double> F = HostMatrix<double>::zeros(m, m);  // each error is half the previous error plus a new one
  for (index_t i = 0; i < m; ++i)
    for (index_t j = std::max<index_t>(0, i - 40); j <= i; ++j) F(i, j) = std::exp2(static_cast<double>(j - i));
  const auto correlated = gls_factor(runtime, MatrixView(a), MatrixView(b), std::move(F));
  print("correlated errors", correlated.X);
  std::printf("%-26s condition %.1f, %s\n", "", correlated.factor_condition, description(correlated.path));

  const auto near = [](const HostMatrix<double>& x, double tolerance) {
    return std::abs(x(0, 0) - 1) < tolerance && std::abs(x(1, 0) - 1) < tolerance && std::abs(x(2, 0) + 2) < tolerance;
  };
  const bool met = std::abs(constrained.X(0, 0) - 1) < 1e-12 && std::abs(constrained.X(1, 0) - 1) < 1e-12;
  return weighted.status == SolveStatus::ok && near(weighted.X, 0.05) && errors[0] > 0 && errors[0] < errors[2] &&
                 met && constrained.status == SolveStatus::ok && near(constrained.X, 0.5) &&
                 correlated.status == SolveStatus::ok && near(correlated.X, 1)
             ? 0
             : 1;
}
