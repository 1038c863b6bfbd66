#include <tesela/codelets/toeplitz/internal/gradients_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_device.cuh>
#include <tesela/codelets/toeplitz/toeplitz_gradients.hpp>

namespace tesela::kernels {

template <class T>
void ToeplitzChan<T>::cuda(CudaContext& context, const Args&, In<T> t, Out<T> eigenvalues, Out<double> broken,
                           Scratch<T> work) {
  toeplitz::Device device{context};
  toeplitz::chan(device, t, eigenvalues.data, eigenvalues.rows, broken.data, work.data);
}

template <class T>
void ToeplitzGradientsSolve<T>::cuda(CudaContext& context, const Args& args, In<T> spectrum, In<T> eigenvalues,
                                     In<double> broken, InOut<T> b, Out<double> outcome, InOut<int> info,
                                     Scratch<T> work, Scratch<double> numbers) {
  toeplitz::Device device{context};
  toeplitz::gradients_solve(device, args, spectrum, eigenvalues, broken, b, outcome.data, info.data, work.data,
                            numbers.data);
}

template decltype(ToeplitzChan<float>::cuda) ToeplitzChan<float>::cuda;
template decltype(ToeplitzChan<double>::cuda) ToeplitzChan<double>::cuda;
template decltype(ToeplitzGradientsSolve<float>::cuda) ToeplitzGradientsSolve<float>::cuda;
template decltype(ToeplitzGradientsSolve<double>::cuda) ToeplitzGradientsSolve<double>::cuda;

}  // namespace tesela::kernels
