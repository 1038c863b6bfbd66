#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/host/blas.hpp>

namespace tesela::kernels {

template <class T, template <class> class C>
void Gemm<T, C>::cpu(const Args& args, In<T> a, In<T> b, C<T> c) {
  blas::gemm<T>(args.op_a, args.op_b, c.rows, c.cols, apply(args.op_a, a.shape()).cols, args.alpha, a.data, a.ld,
                b.data, b.ld, C<T>::mode == Mode::out ? T(0) : args.beta, c.data, c.ld);
}

#define TESELA_INSTANTIATE(T)     \
  template struct Gemm<T, InOut>; \
  template struct Gemm<T, Out>;
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::kernels
