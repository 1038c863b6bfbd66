#include <tesela/codelets/toeplitz/internal/gohberg_semencul_body.hpp>
#include <tesela/codelets/toeplitz/internal/gradients_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_device.cuh>
#include <tesela/codelets/toeplitz/transform_solves.hpp>

namespace tesela::kernels {

template <class T>
void GohbergSemenculGenerator<T>::cuda(CudaContext& context, const Args&, In<T> x, Out<T> generator) {
  toeplitz::Device device{context};
  toeplitz::generator(device, x.data, x.rows, generator.data, generator.rows);
}

template <class T>
void GohbergSemenculSolve<T>::cuda(CudaContext& context, const Args& args, In<T> spectrum, In<T> x, In<T> generator,
                                   In<double> report, InOut<T> b, Out<double> outcome, InOut<int> info,
                                   Scratch<T> work) {
  toeplitz::Device device{context};
  toeplitz::gohberg_semencul_solve(device, args, spectrum, x.data, generator, report.data, b, outcome.data, info.data,
                                   work.data);
}

TESELA_CUDA_FOR_REALS(GohbergSemenculGenerator, GohbergSemenculSolve)

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

TESELA_CUDA_FOR_REALS(ToeplitzChan, ToeplitzGradientsSolve)

}  // namespace tesela::kernels
