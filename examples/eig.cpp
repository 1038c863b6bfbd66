// Eigenpairs of a dense symmetric matrix: the smallest five in one call, then all of them stage by stage.
#include <tesela/tesela.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace tesela;

namespace {

constexpr index_t n = 300;

/// Returns H S H with S = tridiag(-1, 2, -1) and a reflection H: the eigenvalues are 2 - 2 cos(k pi / (n + 1)).
std::vector<double> matrix() {
  std::vector<double> a(n * n), v(n), t(n);
  for (index_t i = 0; i < n; ++i) v[i] = std::sin(double(1 + i * i)) / std::sqrt(n / 2.0);
  double vv = 0;
  for (const double x : v) vv += x * x;
  const auto second_difference = [](index_t i, index_t j) { return i == j ? 2.0 : std::abs(i - j) == 1 ? -1.0 : 0.0; };
  // H S H with H = I - 2 v v^T / v^T v.
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) a[i + j * n] = second_difference(i, j);
  for (const bool left : {true, false})
    for (index_t k = 0; k < n; ++k) {
      const index_t step = left ? 1 : n, start = left ? k * n : k;
      double sum = 0;
      for (index_t i = 0; i < n; ++i) sum += v[i] * a[start + i * step];
      for (index_t i = 0; i < n; ++i) a[start + i * step] -= 2 / vv * sum * v[i];
    }
  return a;
}

double exact(index_t k) { return 2 - 2 * std::cos(double(k + 1) * std::acos(-1.0) / double(n + 1)); }

}  // namespace

int main() {
  double error = 0;
  Runtime runtime;
  std::vector<double> a = matrix();
  const auto five = symmetric_eig(runtime, MatrixView(a.data(), {n, n}, n), {.positions = IndexRange{0, 5}});
  for (index_t k = 0; k < 5; ++k) error = std::fmax(error, std::fabs(five.values[k] - exact(k)));
  std::printf("the five smallest: %g … %g\n", five.values.front(), five.values.back());
  a = matrix();
  const auto A = TileMatrix<double>::map(runtime, a.data(), n, n, n, {n, 96});
  const TileMatrix<double> X(runtime, n, n, {n, 100});
  Graph g(runtime);
  const SymmetricBand<double> B(runtime, n, 32, 128);
  const auto to_band = reduce_to_band(g, A, B);           // A = Q1 B Q1^T
  const auto to_tridiagonal = band_to_tridiagonal(g, B);  // B = Q2 T Q2^T
  const std::vector<double> d = to_tridiagonal.diagonal(), e = to_tridiagonal.off_diagonal();
  const auto eig = tridiagonal_eig<double>(runtime, d, e, X);  // T X = X diag(values)
  to_tridiagonal.apply(g, Op::none, X);                        // X = Q2 X
  to_band.apply(g, Op::none, X);                               // X = Q1 X
  g.wait();
  for (index_t k = 0; k < n; ++k) error = std::fmax(error, std::fabs(eig.values[k] - exact(k)));

  const std::vector<double> before = matrix();
  const auto x = X(0, 2).read();  // eigenvectors 200 … 299
  for (index_t j = 0; j < 100; j += 33)
    for (index_t i = 0; i < n; ++i) {
      double r = -eig.values[200 + j] * x(i, j);
      for (index_t k = 0; k < n; ++k) r += before[i + k * n] * x(k, j);
      error = std::fmax(error, std::fabs(r));
    }
  std::printf("%d tasks, largest error of a value or of A x - lambda x: %.1e\n", int(g.tasks()), error);
  return error < 1e-12 ? 0 : 1;
}
