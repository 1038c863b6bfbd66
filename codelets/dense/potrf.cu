#include <tesela/codelets/dense/cholesky.hpp>
#include <tesela/codelets/support/internal/factor_tile.cuh>
#include <tesela/codelets/support/internal/high_priority_stream.hpp>
#include <tesela/codelets/support/internal/mirror.cuh>

namespace tesela::kernels {

template <class T>
void Potrf<T>::cuda(CudaContext& context, const Args& args, InOut<T> a, InOut<double> minor) {
  const HighPriorityStream urgently(context);
  mirror_down(context, a.rows, a.data, a.ld);  // the factorization reads the lower triangle
  factor::tile<T, true>(context, a.rows, a.data, a.ld, args.first, minor.data);
  mirror<true>(context, a.rows, a.data, a.ld);
}

template void Potrf<float>::cuda(CudaContext&, const Args&, InOut<float>, InOut<double>);
template void Potrf<double>::cuda(CudaContext&, const Args&, InOut<double>, InOut<double>);

}  // namespace tesela::kernels
