#pragma once

#include <tesela/runtime/types.hpp>

#include <vector>

namespace tesela::kernels {

// General Toeplitz matrices T(i, j) = t(i - j) of order n on a core, in double precision: the first column c and the
// first row r, n numbers each. r(0) is not read.

/// Returns the estimate of ||T||_2 that scales residuals, an upper bound up to rounding: the smaller of
/// sqrt(||T||_1 ||T||_inf) and of the largest magnitude of the symbol (see toeplitz_norm_bound). NaN if a number is not
/// finite, 0 for n = 0.
double general_toeplitz_norm_bound(index_t n, const double* c, const double* r);

/// Returns ||T||_1.
double general_toeplitz_one_norm(index_t n, const double* c, const double* r);

/// Products with one matrix by Fourier transforms.
class GeneralToeplitz {
 public:
  GeneralToeplitz(index_t n, const double* c, const double* r);

  index_t n() const { return n_; }  ///< order of T
  /// Computes y = alpha T x + beta y; x and y have n numbers.
  void multiply(double alpha, const double* x, double beta, double* y);

 private:
  index_t n_, length_;
  std::vector<double> spectrum_, work_;
};

/// Multiplies `half` complex numbers x by the numbers `by`, or by their conjugates, and by a scale.
void multiply_transforms(index_t half, double scale, const double* by, bool conjugate, double* x);

}  // namespace tesela::kernels
