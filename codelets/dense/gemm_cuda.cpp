#include <tesela/codelets/dense/gemm.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/dense/gemm_launch.hpp>
#include <tesela/codelets/support/internal/cublas.hpp>

namespace tesela::kernels {
template <class T, template <class> class C>
void Gemm<T, C>::cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, C<T> c) {
  const GemmProblem<T> p{args.op_a, args.op_b, c.rows, c.cols, apply(args.op_a, a.shape()).cols,           args.alpha,
                         a.data,    a.ld,      b.data, b.ld,   C<T>::mode == Mode::out ? T(0) : args.beta, c.data,
                         c.ld};
  const auto by_cublas = [&] {
    context.check(cublas::gemm(context.cublas(), p.op_a, p.op_b, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta,
                               p.c, p.ldc),
                  "cublas gemm");
  };
  if constexpr (is_complex<T>)
    return by_cublas();
  else
    switch (args.kernel) {
      case GemmKernel::cublas:
      case GemmKernel::int8:
      case GemmKernel::automatic: return by_cublas();
      case GemmKernel::naive: context.check(gemm_naive(context.stream(), p, args.block), "naive gemm"); return;
      case GemmKernel::shared: context.check(gemm_shared(context.stream(), p, args.block), "shared gemm"); return;
      case GemmKernel::coarse: context.check(gemm_coarse(context.stream(), p, args.block), "coarse gemm"); return;
      case GemmKernel::tuned: context.check(gemm_tuned(context.stream(), p), "tuned gemm"); return;
    }
}

#define TESELA_INSTANTIATE(T)                                   \
  template decltype(Gemm<T, InOut>::cuda) Gemm<T, InOut>::cuda; \
  template decltype(Gemm<T, Out>::cuda) Gemm<T, Out>::cuda;
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::kernels

#endif
