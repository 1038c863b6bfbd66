#include <tesela/codelets/dense/cholesky_link.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/support/internal/high_priority_stream.hpp>
#include <tesela/codelets/support/lacpy.hpp>

namespace tesela::kernels {

template <class T>
void CholeskyNextDiagonal<T>::cuda(CudaContext& context, const Args& args, In<T> r, In<T> v, In<T> a, In<T> below,
                                   Out<T> next, Scratch<T> s, Scratch<T> work) {
  const HighPriorityStream urgently(context);
  const index_t n = r.rows, w = next.rows;
  const InOut<T> part{{s.data, n, w, n}}, square{{next.data, w, w, next.ld}};  // the last may be wider
  context.check(lacpy<T>(context.stream(), Part::all, 0, {&a(0, args.column), n, w, a.ld}, part), "lacpy");
  context.check(lacpy<T>(context.stream(), Part::all, 0, {&below(0, args.column), w, w, below.ld}, square), "lacpy");
  BlockTrsm<T>::cuda(context, {Op::transpose}, r, v, part, work);
  context.check(cublas::gemm<T>(context.cublas(), Op::transpose, Op::none, w, w, n, -1, s.data, n, s.data, n, 1,
                                next.data, next.ld),
                "cublas gemm");
}

template decltype(CholeskyNextDiagonal<float>::cuda) CholeskyNextDiagonal<float>::cuda;
template decltype(CholeskyNextDiagonal<double>::cuda) CholeskyNextDiagonal<double>::cuda;

}  // namespace tesela::kernels

#endif
