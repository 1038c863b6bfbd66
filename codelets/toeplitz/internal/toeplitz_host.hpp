#pragma once

#include <tesela/host/blas.hpp>
#include <tesela/host/fft.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <numeric>

// The core as a Machine of toeplitz_body.hpp. Internal to codelets/.

namespace tesela::kernels::toeplitz {

struct Host {
  template <class F>
  void each(index_t rows, index_t columns, const F& f) const {
    for (index_t j = 0; j < columns; ++j)
      for (index_t i = 0; i < rows; ++i) f(i, j);
  }
  template <class T>
  void real_to_complex(index_t n, index_t count, T* data, index_t ld) const {
    fft::real_to_complex(n, count, data, ld, reinterpret_cast<std::complex<T>*>(data), ld / 2);
  }
  template <class T>
  void complex_to_real(index_t n, index_t count, T* data, index_t ld) const {
    fft::complex_to_real(n, count, reinterpret_cast<std::complex<T>*>(data), ld / 2, data, ld);
  }
  template <class T>
  void transform(fft::Direction direction, index_t n, index_t count, T* data, index_t ld) const {
    fft::transform(direction, n, count, reinterpret_cast<std::complex<T>*>(data), ld);
  }
  template <class T>
  void norms(index_t n, index_t count, const T* data, index_t ld, double* to) const {
    for (index_t j = 0; j < count; ++j) to[j] = static_cast<double>(blas::nrm2(n, data + j * ld));
  }
  template <class T>
  void dot(index_t n, const T* x, const T* y, double* to, double*) const {
    *to = std::inner_product(x, x + n, y, 0.0);
  }
  bool knows(const double* flag) const { return *flag != 0; }
  template <class T>
  void to_unit(index_t n, index_t count, T* data, index_t ld, T* exponents, index_t ld_exponents) const {
    for (index_t j = 0; j < count; ++j) {
      const std::span<T> column(data + j * ld, static_cast<std::size_t>(n));
      const int e = exponent_of_largest<T>(column);
      scale_by_power_of_two(column, -e);
      exponents[j * ld_exponents] = static_cast<T>(e);
    }
  }
  template <class T>
  void times_powers(index_t n, index_t count, T* data, index_t ld, const T* exponents, index_t ld_exponents,
                    int more) const {
    for (index_t j = 0; j < count; ++j)
      scale_by_power_of_two(std::span<T>(data + j * ld, static_cast<std::size_t>(n)),
                            static_cast<int>(exponents[j * ld_exponents]) + more);
  }
  bool known_not_better(index_t count, const double* a, const double* b) const {
    for (index_t j = 0; j < count; ++j)
      if (a[j] < b[j] / 2) return false;
    return true;
  }
};

}  // namespace tesela::kernels::toeplitz
