#pragma once

#include <tesela/runtime/cuda_context.hpp>
#include <tesela/runtime/types.hpp>

#include <complex>

namespace tesela::fft {

// Discrete Fourier transforms of several sequences in one call, unnormalised: Y(k) = sum_j X(j) w^(jk) with w = exp(-2
// pi i / n) forward and its conjugate backward, so that both in a row multiply by n. The host uses DUCC (or FFTW in a
// build with TESELA_FFTW) on one thread. A GPU uses cuFFT, enqueued on the context's stream. T is float or double.
//
// Plans are made at the first use of a length and kept until the process ends. FFTW chooses plans without measuring:
// measuring would need up to seconds, gains a few percent, and the same input would not always give the same last bits.
// FFTW's planner is not safe against other code of the process that plans at the same time. Each stream has a few cuFFT
// plans, because they own work space. Making a plan allocates memory, so the first call of a shape waits for the GPU.

enum class Direction : std::uint8_t { forward, backward };

/// Returns the least even 2^a 3^b 5^c 7^d >= max(n, 2): lengths of fast transforms.
index_t good_size(index_t n);

/// Transforms complex numbers in place: `count` sequences of n numbers each, `ld` apart.
template <class T>
void transform(Direction direction, index_t n, index_t count, std::complex<T>* data, index_t ld);

/// Computes the first n/2 + 1 numbers of the forward transform of n real ones; the others are their conjugates. `out`
/// may be the memory of `in` if ld_in = 2 ld_out.
template <class T>
void real_to_complex(index_t n, index_t count, const T* in, index_t ld_in, std::complex<T>* out, index_t ld_out);

/// Computes the n real numbers of the backward transform from the first n/2 + 1 numbers; the others are their
/// conjugates. `in` is overwritten; `out` may be its memory if ld_out = 2 ld_in.
template <class T>
void complex_to_real(index_t n, index_t count, std::complex<T>* in, index_t ld_in, T* out, index_t ld_out);

/// Transforms, like the three functions above, in GPU memory. A failure is reported through the context; nothing is
/// enqueued then.
template <class T>
void transform(CudaContext& context, Direction direction, index_t n, index_t count, std::complex<T>* data, index_t ld);
template <class T>
void real_to_complex(CudaContext& context, index_t n, index_t count, const T* in, index_t ld_in, std::complex<T>* out,
                     index_t ld_out);
template <class T>
void complex_to_real(CudaContext& context, index_t n, index_t count, std::complex<T>* in, index_t ld_in, T* out,
                     index_t ld_out);

}  // namespace tesela::fft
