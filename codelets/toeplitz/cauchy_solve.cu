#include <tesela/codelets/toeplitz/cauchy_solve.hpp>
#include <tesela/codelets/toeplitz/internal/cauchy_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_device.cuh>

namespace tesela::kernels {

template <class T>
void CauchyInverseSolve<T>::cuda(CudaContext& context, const Args& args, In<T> spectrum, In<T> tables, In<T> inverse,
                                 In<double> report, InOut<T> b, Out<double> outcome, InOut<int> info, Scratch<T> work) {
  toeplitz::Device machine{context};
  toeplitz::cauchy_inverse_solve(machine, args, spectrum, tables, inverse, report, b, outcome.data, info.data,
                                 work.data);
}

template decltype(CauchyInverseSolve<float>::cuda) CauchyInverseSolve<float>::cuda;
template decltype(CauchyInverseSolve<double>::cuda) CauchyInverseSolve<double>::cuda;

}  // namespace tesela::kernels
