#pragma once

#include <tesela/runtime/machine/device_memory.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/matrix_view.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

// The diagonal of a Hermitian matrix in memory.

namespace tesela::detail {

/// Returns the diagonal of a matrix on the host or on a device.
template <class T>
std::vector<T> diagonal_of(const MatrixView<T>& a) {
  const index_t n = std::min(a.rows, a.cols);
  std::vector<T> diagonal(static_cast<std::size_t>(n));
  if (a.device >= 0 && n > 0) copy_columns(a.device, {diagonal.data(), 1}, {a.data, a.ld + 1}, {1, n}, sizeof(T));
  for (index_t i = 0; a.device < 0 && i < n; ++i) diagonal[static_cast<std::size_t>(i)] = a.data[i + i * a.ld];
  return diagonal;
}

/// Throws ArgumentError for the first element of a Hermitian matrix's diagonal that is not real up to the rounding
/// errors of a product of order n, 10 sqrt(n) eps.
template <class T>
void require_real(const char* routine, const std::vector<T>& diagonal, const char* name = "A") {
  if constexpr (is_complex<T>) {
    using Real = real_t<T>;
    const Real rounding = 10 * std::sqrt(static_cast<Real>(diagonal.size())) * std::numeric_limits<Real>::epsilon();
    for (std::size_t i = 0; i < diagonal.size(); ++i)
      require(!(std::abs(diagonal[i].imag()) > rounding * std::abs(diagonal[i].real())), routine, name, "its element [",
              i, ", ", i, "] (from zero) has the imaginary part ", shortest(diagonal[i].imag()),
              ", and a Hermitian matrix has a real diagonal");
  }
}

/// Returns the position, from 1 on, of the first element of a Hermitian matrix's diagonal whose imaginary part is NaN;
/// 0 if none is. A factorization reads only the real parts.
template <class T>
index_t nan_imaginary_part(const std::vector<T>& diagonal) {
  if constexpr (is_complex<T>)
    for (std::size_t i = 0; i < diagonal.size(); ++i)
      if (std::isnan(diagonal[i].imag())) return static_cast<index_t>(i) + 1;
  return 0;
}

}  // namespace tesela::detail
