#include <tesela/codelets/toeplitz/internal/toeplitz_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_device.cuh>
#include <tesela/codelets/toeplitz/toeplitz.hpp>

namespace tesela::kernels {

template <class T>
void ToeplitzSpectrum<T>::cuda(CudaContext& context, const Args&, In<T> t, Out<T> spectrum, Scratch<T> work) {
  toeplitz::Device device{context};
  toeplitz::spectrum(device, t.data, t.rows, spectrum.data, spectrum.rows, work.data);
}

template <class T>
void ToeplitzMultiply<T>::cuda(CudaContext& context, const Args& args, In<T> spectrum, In<T> x, InOut<T> y,
                               Scratch<T> work) {
  toeplitz::Device device{context};
  toeplitz::multiply(device, spectrum.data, spectrum.rows, args.weight, args.sigma, args.alpha, x.data, x.ld, args.beta,
                     y.data, y.ld, x.rows, x.cols, work.data);
}

TESELA_CUDA_FOR_REALS(ToeplitzSpectrum, ToeplitzMultiply)

}  // namespace tesela::kernels
