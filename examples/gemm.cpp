// C = A B for matrices in column-major memory, on all cores and GPUs of the machine.
#include <tesela/tesela.hpp>

#include <cstdio>
#include <vector>

using namespace tesela;

int main() {
  const index_t m = 1000, n = 900, k = 800;
  std::vector<double> a(m * k), b(k * n), c(m * n);
  for (index_t l = 0; l < k; ++l) {
    for (index_t i = 0; i < m; ++i) a[i + l * m] = static_cast<double>(i + l);
    for (index_t j = 0; j < n; ++j) b[l + j * k] = static_cast<double>(l - j);
  }

  Runtime runtime;  // StarPU's workers; STARPU_SCHED, STARPU_NCPU and STARPU_NCUDA choose others
  const auto A = TileMatrix<double>::map(runtime, a.data(), m, k, m, {256, 256});
  const auto B = TileMatrix<double>::map(runtime, b.data(), k, n, k, {256, 256});
  const auto C = TileMatrix<double>::map(runtime, c.data(), m, n, m, {256, 256});

  Graph g(runtime);
  gemm(g, Op::none, Op::none, 1.0, A, B, 0.0, C);  // inserts one task for each tile product, and returns
  g.wait();
  C.bring_home();  // now c holds the product

  // Every number here is an integer, so the sum over l of (i + l) (l - j) must come out exactly.
  const index_t sum = k * (k - 1) / 2, squares = (k - 1) * k * (2 * k - 1) / 6;
  index_t wrong = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i)
      if (c[i + j * m] != static_cast<double>(squares + (i - j) * sum - i * j * k)) ++wrong;
  std::printf("%d tasks, %d of %d numbers wrong\n", int(g.tasks()), int(wrong), int(m * n));
  return wrong == 0 ? 0 : 1;
}
