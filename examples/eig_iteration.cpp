// Eigenvalues by QR iterations, without and with shifts, and the number of iterations expected from the eigenvalues.
#include <tesela/tesela.hpp>

#include <cmath>
#include <cstdio>

using namespace tesela;

int main() {
  const index_t n = 50;
  Runtime runtime;
  const SymmetricMatrix matrix(SymmetricKind::geometric, n, 100);  // eigenvalues from 1 down to 1/100
  const TileMatrix<double> A(runtime, n, n, {n, n});
  double worst = 0;
  for (const bool shifts : {false, true}) {
    {
      const auto a = A(0, 0).write();
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < n; ++i) a(i, j) = matrix.element<double>(i, j);
    }
    Graph g(runtime);
    const auto eig = eig_iteration(
        g, A, {.shift = shifts ? QrShift::wilkinson : QrShift::none, .deflate = shifts, .vectors = false});
    std::printf("%s shifts: %s after %lld iterations (%.0f expected without)\n", shifts ? "with" : "without",
                to_string(eig.status).c_str(), static_cast<long long>(eig.iterations), eig.predicted);
    if (!eig.status.ok()) return 1;
    for (std::size_t i = 0; i < eig.values.size(); ++i)
      worst = std::fmax(worst, std::abs(eig.values[i] - (*matrix.eigenvalues())[i]));
  }
  std::printf("largest error: %.1e\n", worst);
  return worst <= 1e-12 ? 0 : 1;
}
