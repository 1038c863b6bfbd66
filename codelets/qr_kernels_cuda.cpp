#include "codelets/qr_kernels.hpp"

#if TESELA_WITH_CUDA

namespace tesela {

template <class T>
void Geqrt<T>::cuda(CudaContext& context, const Args&, InOut<T>, Out<T>, Scratch<T>) noexcept {
  context.check(1, "geqrt: not written yet");
}

template <class T>
void Unmqr<T>::cuda(CudaContext& context, const Args&, In<T>, In<T>, InOut<T>, Scratch<T>) noexcept {
  context.check(1, "unmqr: not written yet");
}

template <class T>
void Tpqrt<T>::cuda(CudaContext& context, const Args&, InOut<T>, InOut<T>, Out<T>, Scratch<T>) noexcept {
  context.check(1, "tpqrt: not written yet");
}

template <class T>
void Tpmqrt<T>::cuda(CudaContext& context, const Args&, In<T>, In<T>, InOut<T>, InOut<T>, Scratch<T>) noexcept {
  context.check(1, "tpmqrt: not written yet");
}

#define TESELA_QR_KERNELS(T)                                                                                \
  template void Geqrt<T>::cuda(CudaContext&, const Args&, InOut<T>, Out<T>, Scratch<T>) noexcept;           \
  template void Unmqr<T>::cuda(CudaContext&, const Args&, In<T>, In<T>, InOut<T>, Scratch<T>) noexcept;     \
  template void Tpqrt<T>::cuda(CudaContext&, const Args&, InOut<T>, InOut<T>, Out<T>, Scratch<T>) noexcept; \
  template void Tpmqrt<T>::cuda(CudaContext&, const Args&, In<T>, In<T>, InOut<T>, InOut<T>, Scratch<T>) noexcept;
TESELA_QR_KERNELS(float)
TESELA_QR_KERNELS(double)

}  // namespace tesela

#endif
