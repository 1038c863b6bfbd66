#pragma once

#include <tesela/codelets/toeplitz/toeplitz.hpp>
#include <tesela/host/fft.hpp>
#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/types.hpp>

#include <cmath>

// Products with Toeplitz matrices as steps that are common to a core and a GPU. A Machine has
//   each(rows, columns, f)                f(i, j) for all i < rows and j < columns, in any order
//   real_to_complex(n, count, data, ld)   in place; ld counts real numbers
//   complex_to_real(n, count, data, ld)
//   transform(direction, n, count, data, ld)   in place; n and ld count complex numbers
//   norms(n, count, data, ld, to)         to[j] = the Euclidean norm of column j
//   known_not_better(count, a, b)              whether it is known that no a[j] < b[j] / 2
//   to_unit(n, count, data, ld, e, ld_e)  column j times 2^-e(j), which brings its largest magnitude to [1/2, 1)
//                                         (tiles/power_of_two.hpp); e(j) becomes a T, at e[j ld_e]
//   times_powers(n, count, data, ld, e, ld_e, more)   column j times 2^(e(j) + more)
// Internal to codelets/.

namespace tesela::kernels::toeplitz {

/// Copies columns and pads them with zeros to `rows`.
template <class T>
struct Pad {
  const T* from;
  index_t n, ld_from;
  T* to;
  index_t rows;
  TESELA_BOTH void operator()(index_t i, index_t j) const { to[i + j * rows] = i < n ? from[i + j * ld_from] : T(0); }
};

/// Computes the first column of the circulant matrix of order `length` around T.
template <class T>
struct Circulant {
  const T* t;
  index_t n, length;
  T* to;
  TESELA_BOTH void operator()(index_t i, index_t) const {
    to[i] = i < n ? t[i] : length - i < n ? t[length - i] : T(0);
  }
};

/// Copies the real parts: the imaginary parts of a symmetric circulant matrix are only rounding errors.
template <class T>
struct RealParts {
  const T* from;
  T* to;
  TESELA_BOTH void operator()(index_t i, index_t) const { to[i] = from[2 * i]; }
};

/// Computes x(k) *= scale (weight spectrum(k) - sigma) in each column of `half` complex numbers.
template <class T>
struct MultiplySpectrum {
  const T* spectrum;
  T scale, weight, sigma;
  index_t half;
  T* x;
  TESELA_BOTH void operator()(index_t i, index_t j) const {
    const T factor = scale * (weight * spectrum[i] - sigma);
    T* const to = x + 2 * (i + j * half);
    to[0] *= factor;
    to[1] *= factor;
  }
};

/// Computes y = alpha product + beta y.
template <class T>
struct Accumulate {
  const T* product;
  index_t ld;
  T alpha, beta;
  T* y;
  index_t ld_y;
  TESELA_BOTH void operator()(index_t i, index_t j) const {
    T& to = y[i + j * ld_y];
    to = alpha * product[i + j * ld] + (beta == T(0) ? T(0) : beta * to);
  }
};

template <class Machine, class T>
void spectrum(Machine& machine, const T* t, index_t n, T* to, index_t half, T* work) {
  const index_t length = 2 * (half - 1);
  machine.each(length, 1, Circulant<T>{t, n, length, work});
  machine.real_to_complex(length, 1, work, toeplitz_rows(length));
  machine.each(half, 1, RealParts<T>{work, to});
}

/// Computes Y = alpha (weight T - sigma I) X + beta Y for k columns.
template <class Machine, class T>
void multiply(Machine& machine, const T* spectrum, index_t half, T weight, T sigma, T alpha, const T* x, index_t ld_x,
              T beta, T* y, index_t ld_y, index_t n, index_t k, T* work) {
  const index_t length = 2 * (half - 1), rows = toeplitz_rows(length);
  machine.each(rows, k, Pad<T>{x, n, ld_x, work, rows});
  machine.real_to_complex(length, k, work, rows);
  machine.each(half, k, MultiplySpectrum<T>{spectrum, 1 / static_cast<T>(length), weight, sigma, half, work});
  machine.complex_to_real(length, k, work, rows);
  machine.each(n, k, Accumulate<T>{work, rows, alpha, beta, y, ld_y});
}

}  // namespace tesela::kernels::toeplitz
