#include <tesela/codelets/econometrics/basis_solve.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/econometrics/internal/equation_lower.hpp>

namespace tesela::kernels {

void BasisSolve::cuda(CudaContext& context, const Args&, In<double> r, InOut<double> x) {
  equation::solve_upper(context, r.rows, x.cols, r.data, 1, r.ld, r.rows * r.ld, x.data, x.ld);
}

}  // namespace tesela::kernels

#endif
