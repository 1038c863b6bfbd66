#include <tesela/codelets/econometrics/basis_solve.hpp>
#include <tesela/host/blas.hpp>

namespace tesela::kernels {

void BasisSolve::cpu(const Args&, In<double> r, InOut<double> x) {
  for (index_t i = 0; i < x.cols; ++i) blas::trsm(Op::none, r.rows, 1, &r(0, i * r.rows), r.ld, &x(0, i), x.ld);
}

}  // namespace tesela::kernels
