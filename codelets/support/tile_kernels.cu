#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/support/internal/each.cuh>
#include <tesela/codelets/support/internal/mirror.cuh>
#include <tesela/codelets/support/tile_kernels.hpp>

#include <cmath>

namespace tesela::kernels {

template <class T>
void MirrorTile<T>::cuda(CudaContext& context, const Args& args, InOut<T> a) {
  mirror(context, a.cols, &a(args.row, 0), a.ld);
}

namespace {

template <class T>
struct Scale {
  T* a;
  index_t ld;
  real_t<T> first, second;
  __device__ void operator()(index_t i, index_t j) const { a[i + j * ld] = a[i + j * ld] * first * second; }
};

}  // namespace

template <class T>
void ScalePowerOfTwo<T>::cuda(CudaContext& context, const Args& args, InOut<T> a) {
  const int half = args.exponent / 2;
  internal::each(context, a.rows, a.cols,
                 Scale<device_t<T>>{device_pointer(a.data), a.ld, std::ldexp(real_t<T>(1), half),
                                    std::ldexp(real_t<T>(1), args.exponent - half)});
}

TESELA_CUDA_FOR_NUMBERS(MirrorTile, ScalePowerOfTwo)

template <class T>
void Transpose<T>::cuda(CudaContext& context, const Args&, In<T> a, Out<T> b) {
  context.check(cublas::transpose(context.cublas(), b.rows, b.cols, a.data, a.ld, b.data, b.ld), "cublas geam");
}

template void Transpose<float>::cuda(CudaContext&, const Args&, In<float>, Out<float>);
template void Transpose<double>::cuda(CudaContext&, const Args&, In<double>, Out<double>);

}  // namespace tesela::kernels
