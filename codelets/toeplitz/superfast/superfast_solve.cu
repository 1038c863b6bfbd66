#include <tesela/codelets/toeplitz/internal/superfast_solve_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_device.cuh>

namespace tesela::kernels {

template <class T>
void SuperfastBegin<T>::cuda(CudaContext& context, const Args& args, In<T> spectrum, InOut<T> b, Out<double> outcome,
                             Out<T> state, Out<T> sine, Scratch<T> work) {
  toeplitz::Device machine{context};
  toeplitz::superfast_begin(machine, args, spectrum, b, outcome.data, state.data, sine, work.data);
}

template <class T>
void SuperfastImprove<T>::cuda(CudaContext& context, const Args& args, In<T> spectrum, InOut<T> b,
                               InOut<double> outcome, InOut<T> state, Out<T> sine, Scratch<T> work,
                               std::span<const In<T>> parts) {
  toeplitz::Device machine{context};
  toeplitz::superfast_improve(machine, args, spectrum, b, outcome.data, state.data, sine, work.data, parts);
}

template <class T>
void SuperfastEnd<T>::cuda(CudaContext& context, const Args& args, In<T> spectrum, InOut<T> b, InOut<double> outcome,
                           InOut<T> state, InOut<int> info, std::span<const In<T>> roots) {
  toeplitz::Device machine{context};
  toeplitz::superfast_end(machine, args, spectrum, b, outcome.data, state.data, info.data, roots);
}

TESELA_CUDA_FOR_REALS(SuperfastBegin, SuperfastImprove, SuperfastEnd)

}  // namespace tesela::kernels
