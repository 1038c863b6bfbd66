#pragma once

#include <tesela/host/fft.hpp>
#include <tesela/runtime/cuda_context.hpp>

namespace tesela::fft {

// The transforms of host/fft.hpp in GPU memory by cuFFT, enqueued on the context's stream. Each stream has a few plans
// of its own, because plans own work space. Making a plan allocates, so the first call of a shape waits for the GPU. A
// failure is reported through the context; nothing is enqueued then.

/// Enqueue `count` transforms of n numbers each, `ld` apart; transform works in place.
template <class T>
void transform(CudaContext& context, Direction direction, index_t n, index_t count, std::complex<T>* data, index_t ld);
template <class T>
void real_to_complex(CudaContext& context, index_t n, index_t count, const T* in, index_t ld_in, std::complex<T>* out,
                     index_t ld_out);
template <class T>
void complex_to_real(CudaContext& context, index_t n, index_t count, std::complex<T>* in, index_t ld_in, T* out,
                     index_t ld_out);

}  // namespace tesela::fft
