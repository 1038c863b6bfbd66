// A = Q R over tiles, on all cores and GPUs: R and Q, then least squares for later right-hand sides.
#include <tesela/tesela.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace tesela;

int main() {
  const index_t m = 700, n = 300;
  std::vector<double> a(m * n), q(m * n), r(n * n), b(m);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) a[i + j * m] = (i == j ? 30 : 0) + std::sin(double(i * n + j));
  const std::vector<double> before = a;

  Runtime runtime;
  const TileShape tile{256, 64};
  const auto A = TileMatrix<double>::map(runtime, a.data(), m, n, m, tile);
  const auto Q = TileMatrix<double>::map(runtime, q.data(), m, n, m, tile);
  const auto R = TileMatrix<double>::map(runtime, r.data(), n, n, n, tile);

  Graph g(runtime);
  const auto factors = qr(g, A, {.tree = "greedy"});  // A becomes R and the vectors of Q
  factors.form_q(g, Q);                               // Q has n columns: the economy form
  factors.extract_r(g, R);                            // R with zeros below its diagonal
  g.wait();
  Q.bring_home();
  R.bring_home();

  double error = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) {
      double sum = -before[i + j * m];
      for (index_t k = 0; k <= j; ++k) sum += q[i + k * m] * r[k + j * n];
      error = std::fmax(error, std::fabs(sum));
    }

  for (double x = 1; x <= 3; ++x) {  // b = A (x, …, x): the factorization serves every right-hand side
    for (index_t i = 0; i < m; ++i) b[i] = 0;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) b[i] += before[i + j * m] * x;
    {
      const auto B = TileMatrix<double>::map(runtime, b.data(), m, 1, m, {tile.mb, 1});
      factors.apply(g, Side::left, Op::transpose, B);  // b becomes Q^T b
      g.wait();
    }
    for (index_t j = n - 1; j >= 0; --j) {  // R x = (Q^T b)(1:n), from the last row up
      b[j] /= r[j + j * n];
      for (index_t i = 0; i < j; ++i) b[i] -= r[i + j * n] * b[j];
      error = std::fmax(error, std::fabs(b[j] - x));
    }
  }
  std::printf("%d tasks, largest error of A = Q R and of x: %.1e\n", int(g.tasks()), error);
  return error < 1e-11 ? 0 : 1;
}
