#include <tesela/codelets/support/internal/each.cuh>
#include <tesela/codelets/support/tile_kernels.hpp>

#include <cmath>

namespace tesela::kernels {
namespace {

template <class T>
struct Scale {
  T* a;
  index_t ld;
  T first, second;
  __device__ void operator()(index_t i, index_t j) const { a[i + j * ld] = a[i + j * ld] * first * second; }
};

}  // namespace

template <class T>
void ScalePowerOfTwo<T>::cuda(CudaContext& context, const Args& args, InOut<T> a) {
  const int half = args.exponent / 2;
  internal::each(context, a.rows, a.cols,
                 Scale<T>{a.data, a.ld, std::ldexp(T(1), half), std::ldexp(T(1), args.exponent - half)});
}

template decltype(ScalePowerOfTwo<float>::cuda) ScalePowerOfTwo<float>::cuda;
template decltype(ScalePowerOfTwo<double>::cuda) ScalePowerOfTwo<double>::cuda;

}  // namespace tesela::kernels
