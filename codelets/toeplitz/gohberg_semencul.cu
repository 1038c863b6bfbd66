#include <tesela/codelets/toeplitz/gohberg_semencul.hpp>
#include <tesela/codelets/toeplitz/internal/gohberg_semencul_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_device.cuh>

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

template decltype(GohbergSemenculGenerator<float>::cuda) GohbergSemenculGenerator<float>::cuda;
template decltype(GohbergSemenculGenerator<double>::cuda) GohbergSemenculGenerator<double>::cuda;
template decltype(GohbergSemenculSolve<float>::cuda) GohbergSemenculSolve<float>::cuda;
template decltype(GohbergSemenculSolve<double>::cuda) GohbergSemenculSolve<double>::cuda;

}  // namespace tesela::kernels
