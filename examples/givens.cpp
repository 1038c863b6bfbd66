// QR of a tridiagonal matrix in full storage by plane rotations: R, Q^T b and Q, and the error of A = Q R.

#include <tesela/tesela.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace tesela;

int main() {
  const index_t n = 300, nb = 64;
  std::vector<double> a(n * n), q(n * n), b(n, 1.0);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j > 0 ? j - 1 : 0; i < n && i <= j + 1; ++i) a[i + j * n] = i == j ? 2 : -1;
  const std::vector<double> before = a;

  Runtime runtime;
  const auto A = TileMatrix<double>::map(runtime, a.data(), n, n, n, {n, nb});  // one tile row: tiles of whole columns
  const auto B = TileMatrix<double>::map(runtime, b.data(), n, 1, n, {n, 1});
  const auto Q = TileMatrix<double>::map(runtime, q.data(), n, n, n, {n, nb});
  Graph g(runtime);
  const auto qr = givens_qr(g, A, {.method = GivensMethod::chain}, &B);  // B becomes Q^T B
  qr.form_q(g, Q);
  g.wait();
  A.bring_home();
  Q.bring_home();

  double error = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      double sum = -before[i + j * n];
      for (index_t k = 0; k <= j; ++k) sum += q[i + k * n] * a[k + j * n];
      error = std::fmax(error, std::fabs(sum));
    }
  std::printf("%lld rotations, largest error of A = Q R: %.1e\n", static_cast<long long>(qr.rotations()), error);
  return error < 1e-13 && qr.rotations() == n - 1 ? 0 : 1;
}
