#pragma once

#include <tesela/codelets/toeplitz/toeplitz.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

#include <vector>

namespace tesela::kernels {

// General Toeplitz matrices T(i, j) = t(i - j) of order n on a core: the first column c and the first row r, n numbers
// each. r(0) is not read. S is double or std::complex<double>.

/// Returns the estimate of ||T||_2 that scales residuals, an upper bound up to rounding: the smaller of
/// sqrt(||T||_1 ||T||_inf) and of the largest magnitude of the symbol (see toeplitz_norm_bound). NaN if a number is not
/// finite, 0 for n = 0.
template <class S>
double general_toeplitz_norm_bound(index_t n, const S* c, const S* r);

/// Returns ||T||_1.
template <class S>
double general_toeplitz_one_norm(index_t n, const S* c, const S* r);

/// Returns the numbers that hold a sequence of this length and its transform in place.
template <class S>
constexpr index_t transform_rows(index_t length) {
  return is_complex<S> ? length : toeplitz_rows(length);
}

/// Transforms a sequence of this length in place, in transform_rows<S>(length) numbers: forward, and backward, which
/// returns it times the length. A real sequence has half of its transform, the other half are the conjugates.
template <class S>
void transform_forward(index_t length, S* data);
template <class S>
void transform_backward(index_t length, S* data);

/// Multiplies the transform x, `rows` numbers of S, by the transform `by`, or by its conjugates, and by a scale.
template <class S>
void multiply_transforms(index_t rows, double scale, const S* by, bool conjugate, S* x);

/// Products with one matrix by Fourier transforms.
template <class S>
class GeneralToeplitz {
 public:
  GeneralToeplitz(index_t n, const S* c, const S* r);

  index_t n() const { return n_; }  ///< order of T
  /// Computes y = alpha T x + beta y; x and y have n numbers.
  void multiply(double alpha, const S* x, double beta, S* y);

 private:
  index_t n_, length_;
  std::vector<S> spectrum_, work_;
};

}  // namespace tesela::kernels
