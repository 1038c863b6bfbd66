#include <tesela/codelets/toeplitz/internal/sine_transform_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_device.cuh>
#include <tesela/codelets/toeplitz/sine_transform.hpp>

namespace tesela::kernels {

template <class T>
void SineTransform<T>::cuda(CudaContext& context, const Args& args, In<T> x, Out<T> y, Scratch<T> work) {
  const toeplitz::Device machine{context};
  toeplitz::sine_transform(machine, args.back, x.rows, x.cols, x.data, x.ld, y.data, y.ld, work.data);
}

template decltype(SineTransform<float>::cuda) SineTransform<float>::cuda;
template decltype(SineTransform<double>::cuda) SineTransform<double>::cuda;

}  // namespace tesela::kernels
