#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/host/blas.hpp>

namespace tesela::kernels {

template <class T, template <class> class C>
void Gemm<T, C>::cpu(const Args& args, In<T> a, In<T> b, C<T> c) {
  blas::gemm<T>(args.op_a, args.op_b, c.rows, c.cols, apply(args.op_a, a.shape()).cols, args.alpha, a.data, a.ld,
                b.data, b.ld, C<T>::mode == Mode::out ? T(0) : args.beta, c.data, c.ld);
}

template struct Gemm<float, InOut>;
template struct Gemm<float, Out>;
template struct Gemm<double, InOut>;
template struct Gemm<double, Out>;
template struct Gemm<std::complex<float>, InOut>;
template struct Gemm<std::complex<float>, Out>;
template struct Gemm<std::complex<double>, InOut>;
template struct Gemm<std::complex<double>, Out>;

}  // namespace tesela::kernels
