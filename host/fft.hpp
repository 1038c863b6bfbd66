#pragma once

#include <tesela/runtime/types.hpp>

#include <complex>

namespace tesela::fft {

// Discrete Fourier transforms of several sequences in one call on one thread, by DUCC, unnormalised:
// Y(k) = sum_j X(j) w^(jk) with w = exp(-2 pi i / n) forward and its conjugate backward, so that both in a row multiply
// by n. T is float or double. Plans are made at the first use of a length and kept until the process ends.

/// Sign of the exponent: forward has exp(-2 pi i / n), backward its conjugate.
enum class Direction : std::uint8_t { forward, backward };

/// The least even 2^a 3^b 5^c 7^d >= max(n, 2): lengths for which transforms are fast.
index_t good_size(index_t n);

/// Complex to complex in place: `count` sequences of n numbers each, `ld` apart.
template <class T>
void transform(Direction direction, index_t n, index_t count, std::complex<T>* data, index_t ld);

/// The first n/2 + 1 numbers of the forward transform of n real ones; the rest are their conjugates. `out` may be the
/// memory of `in` where ld_in = 2 ld_out.
template <class T>
void real_to_complex(index_t n, index_t count, const T* in, index_t ld_in, std::complex<T>* out, index_t ld_out);

/// n real numbers, the backward transform of those whose first n/2 + 1 are given and whose rest are their conjugates.
/// `in` is overwritten; `out` may be its memory where ld_out = 2 ld_in.
template <class T>
void complex_to_real(index_t n, index_t count, std::complex<T>* in, index_t ld_in, T* out, index_t ld_out);

}  // namespace tesela::fft
