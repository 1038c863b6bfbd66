// The best approximation of a matrix by rank 10 (Eckart and Young): its error is the eleventh singular value.
#include <tesela/tesela.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace tesela;

int main() {
  constexpr index_t m = 400, n = 250, k = 10;
  std::vector<double> a(m * n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) a[i + j * m] = std::exp(-std::hypot(double(i) / m - 0.3, double(j) / n - 0.6) * 5);
  Runtime runtime;
  const Svd<double> found = svd(runtime, MatrixView(a.data(), {m, n}, m), {.largest = 10});
  if (!found.status.ok()) return std::printf("%s\n", to_string(found.status).c_str()), 1;
  for (index_t l = 0; l < k; ++l)
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) a[i + j * m] -= (*found.u)(i, l) * found.values[l] * (*found.v)(j, l);
  const Svd<double> rest = svd(runtime, MatrixView(a.data(), {m, n}, m), {.vectors = SvdVectors::none});
  std::printf("values %g … %g; without the first ten the norm is %g\n", found.values[0], found.values[k - 1],
              rest.norm);
  return rest.norm > 0 && rest.norm <= found.values[k - 1] ? 0 : 1;
}
