#include <tesela/codelets/iterations/inverse_iteration.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>
#include <limits>

namespace tesela::kernels {
namespace {

void normalize(index_t n, double* x) {
  const double norm = blas::nrm2(n, x);
  for (index_t i = 0; norm > 0 && i < n; ++i) x[i] /= norm;
}

}  // namespace

void InverseIteration::cpu(const Args& args, In<double> a, In<double> values, Out<double> x, Scratch<double> work) {
  const index_t n = a.rows;
  const Generator<double> random{Pattern::uniform, 0, 0, 1};
  const double rounding = (args.norm > 0 ? args.norm : 1) * std::numeric_limits<double>::epsilon();
  for (index_t j = 0; j < values.rows; ++j) {
    double* const column = &x(0, j);
    for (index_t i = 0; i < n; ++i) column[i] = random(i, args.first + j);
    double moved = 0;
    for (int step = 0; step < 2;) {
      normalize(n, column);
      for (index_t k = 0; k < n; ++k) {
        std::copy_n(&a(0, k), n, work.data + k * n);
        work.data[k + k * n] -= values(j, 0) + moved;
      }
      if (lapack::gesv(n, 1, work.data, n, column, n) == 0)
        ++step;
      else
        moved = moved == 0 ? rounding : 2 * moved;
    }
    normalize(n, column);
  }
}

}  // namespace tesela::kernels
