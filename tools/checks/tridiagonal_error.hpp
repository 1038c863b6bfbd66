#pragma once

#include "tools/checks/worse.hpp"
#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

#include <cmath>

namespace tesela {

/// Equally spaced elements of host memory.
template <class T>
struct SpacedNumbers {
  const T* data = nullptr;
  index_t stride = 1;
  T operator[](index_t i) const { return data[i * stride]; }
};

/// One tridiagonal system A x = b and its solution in host memory; row i is dl(i) x(i-1) + d(i) x(i) + du(i) x(i+1).
template <class T>
struct TridiagonalSystem {
  index_t n = 0;
  SpacedNumbers<T> dl, d, du, b, x;
  bool periodic = false;  ///< whether dl of the first row and du of the last are read
};

/// Errors of x as a solution of A x = b. All are NaN or infinite if an input is not finite.
struct TridiagonalError {
  double residual = 0;  ///< ||A x - b||_inf / (||A||_inf ||x||_inf + ||b||_inf)
  /// max_i |A x - b|_i / (|A| |x| + |b|)_i: also reveals errors in badly scaled rows or columns
  double residual_componentwise = 0;
  /// `residual` of the system with columns and then rows scaled by powers of two (TridiagonalExponents), or
  /// residual_componentwise, an upper bound of it, if that is small enough.
  double residual_equilibrated = 0;
};

/// Measures in long double; 0 / 0 counts as 0. A component-wise residual of at most `enough` is small enough.
template <class T>
TridiagonalError tridiagonal_error(const TridiagonalSystem<T>& system, double enough = 0);

/// Returns max_i |x - known|_i / max_i |known|_i, NaN or infinite if x is; 0 / 0 counts as 0. known(i) is the true
/// x(i).
template <class T, class Known>
double forward_error(index_t n, SpacedNumbers<T> x, const Known& known);

template <class T, class Known>
double forward_error(index_t n, SpacedNumbers<T> x, const Known& known) {
  double error = 0, largest = 0;
  for (index_t i = 0; i < n; ++i) {
    const with_parts<T, double> truth = known(i), here = x[i];
    error = worse(error, std::abs(here - truth));
    largest = worse(largest, std::abs(truth));
  }
  return error == 0 ? 0 : error / largest;
}

/// Returns the bound of the residual for any method, also without pivoting: 1e-14 (single: 1e-6), ten times that unless
/// the matrix is dominant.
template <class T>
constexpr double tridiagonal_bound(bool dominant) {
  return (sizeof(real_t<T>) == 4 ? 1e-6 : 1e-14) * (dominant ? 1 : 10);
}

}  // namespace tesela
