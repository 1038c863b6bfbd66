// Least squares with more equations than unknowns, with dependent columns, and with fewer equations than unknowns.
#include <tesela/tesela.hpp>

#include <cmath>
#include <cstdio>

using namespace tesela;

namespace {

/// Solves min ||A x - b|| for a polynomial with n coefficients and m points of the cosine. `twice` repeats the last
/// column.
LeastSquares<double> fit(Runtime& runtime, index_t m, index_t n, bool twice) {
  HostMatrix<double> a(m, n), b(m, 1);
  for (index_t i = 0; i < m; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(m);
    for (index_t j = 0; j < n; ++j) a(i, j) = std::pow(t, static_cast<double>(twice && j == n - 1 ? j - 1 : j));
    b(i, 0) = std::cos(t);
  }
  return ols(runtime, MatrixView(a), MatrixView(b));  // overwrites a and b
}

}  // namespace

int main() {
  Runtime runtime;
  const auto full = fit(runtime, 2000, 6, false);
  std::printf("%-15s rank %d, condition %.1e, residual norm %.1e\n", description(full.status), int(full.rank),
              full.condition, full.residual_norms[0]);

  const auto deficient = fit(runtime, 2000, 7, true);  // the last two columns are the same
  std::printf("%-15s rank %d, residual norm %.1e, coefficients %.6f and %.6f\n", description(deficient.status),
              int(deficient.rank), deficient.residual_norms[0], deficient.X(5, 0), deficient.X(6, 0));

  const auto wide = fit(runtime, 3, 6, false);  // X is the solution of least norm
  std::printf("%-15s rank %d, residual norm %.1e\n", description(wide.status), int(wide.rank), wide.residual_norms[0]);

  // The two equal columns share the coefficient that one of them has alone.
  const bool shared =
      std::abs(deficient.X(5, 0) - full.X(5, 0) / 2) < 1e-10 && std::abs(deficient.X(6, 0) - full.X(5, 0) / 2) < 1e-10;
  const bool right = full.status == SolveStatus::ok && full.rank == 6 && full.residual_norms[0] < 1e-3 &&
                     deficient.status == SolveStatus::rank_deficient && deficient.rank == 6 && shared &&
                     wide.status == SolveStatus::ok && wide.rank == 3;
  return right ? 0 : 1;
}
