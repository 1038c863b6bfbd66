// Least squares from rows that arrive in blocks, without storing A: the coefficients of y = 1 + 2 t - 3 t^2 + noise.
#include <tesela/tesela.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace tesela;

int main() {
  const index_t rows = 10000, blocks = 8;
  Runtime runtime;
  QrUpdater<double> fit(runtime, 3, 1);  // three unknowns, one right-hand side
  for (index_t b = 0; b < blocks; ++b) {
    std::vector<double> a(rows * 3), y(rows);
    for (index_t i = 0; i < rows; ++i) {
      const double t = static_cast<double>(b * rows + i) / (blocks * rows), noise = 1e-3 * std::sin(1e6 * t);
      a[i] = 1, a[i + rows] = t, a[i + 2 * rows] = t * t;
      y[i] = 1 + 2 * t - 3 * t * t + noise;
    }
    const auto A = TileMatrix<double>::map(runtime, a.data(), rows, 3, rows, {rows, 3});
    const auto B = TileMatrix<double>::map(runtime, y.data(), rows, 1, rows, {rows, 1});
    Graph g(runtime);
    fit.append(g, A, B);
    g.wait();  // the rows may then be freed
  }
  const auto solution = fit.solve();
  if (!solution.status.ok()) return 1;  // fewer rows than unknowns, or dependent columns

  const auto& x = solution.x;
  std::printf("%d rows: y = %.4f + %.4f t + %.4f t^2, residual norm %.4f\n", int(fit.rows()), x(0, 0), x(1, 0), x(2, 0),
              fit.residual_norms()[0]);
  const double error = std::abs(x(0, 0) - 1) + std::abs(x(1, 0) - 2) + std::abs(x(2, 0) + 3);
  return error < 1e-3 ? 0 : 1;
}
