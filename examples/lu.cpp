// A X = B by LU with tournament pivoting, on all cores and GPUs.
#include <tesela/tesela.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace tesela;

int main() {
  const index_t n = 700;
  std::vector<double> a(n * n), x(n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) a[i + j * n] = std::sin(double(i * i + 3 * i * j + j));
  const std::vector<double> before = a;
  for (index_t i = 0; i < n; ++i)  // B = A (1, 2, 1, 2, …)
    for (index_t j = 0; j < n; ++j) x[i] += a[i + j * n] * double(1 + j % 2);
  const std::vector<double> b = x;

  Runtime runtime;
  const auto A = TileMatrix<double>::map(runtime, a.data(), n, n, n, lu_tile(runtime, n));
  const auto X = TileMatrix<double>::map(runtime, x.data(), n, 1, n, {n, 1});

  Graph g(runtime);
  const LuFactorization<double> factors = lu(g, A);  // A becomes L and U
  if (factors.zero_pivot() > 0) return 1;            // singular
  factors.solve(g, X);                               // X = A^-1 X
  g.wait();
  X.bring_home();

  double residual = 0, size = 0, length = 0;
  for (index_t i = 0; i < n; ++i) {
    double sum = -b[i];
    for (index_t j = 0; j < n; ++j) {
      sum += before[i + j * n] * x[j];
      size += before[i + j * n] * before[i + j * n];
    }
    residual += sum * sum;
    length += x[i] * x[i];
  }
  const double error = std::sqrt(residual / (size * length));
  std::printf("|b - A x| / (|A| |x|) = %.1e, x = %.3f %.3f …\n", error, x[0], x[1]);
  return error < 1e-14 ? 0 : 1;
}
