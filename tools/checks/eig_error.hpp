#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace tesela {

/// The binary exponent of the lower triangle's largest element; 0 where it has none or one that is not finite.
template <class T>
int lower_exponent(const HostMatrix<T>& a);

/// The whole of A 2^-exponent, from the lower triangle.
template <class T>
HostMatrix<double> scaled_whole(const HostMatrix<T>& a, int exponent);

/// `count` of the numbers below n, each once, in order; all where there are not more.
std::vector<index_t> some_of(index_t n, index_t count, std::uint64_t seed);

/// How far values and X are from eigenpairs of a symmetric matrix A; NaN where a number is not finite.
struct EigError {
  double residual = 0;       ///< max ||A x - lambda x||_2 / ||A||_2
  double orthogonality = 0;  ///< ||I - X^T X||_F
};

/// The most that a good result of order n in T has: 5e-15 sqrt(n) for residuals and values, 1e-13 sqrt(n) for the
/// orthogonality; single precision 1e-6 and 2e-5. useful_bound at most.
struct EigBounds {
  double value = 0, orthogonality = 0;
};
template <class T>
EigBounds eig_bounds(index_t n);

/// Both errors, measured in double precision with BLAS on all cores, of A times a power of two. Of A the lower triangle
/// is read; X is n x values.size(). Where `sampled` is less than that, of so many random pairs, and the orthogonality
/// from as many random vectors of signs r: the root of the mean of ||X^T X r - r||^2 is ||I - X^T X||_F (Hutchinson's
/// estimator).
template <class T>
EigError eig_error(const HostMatrix<T>& a, const std::vector<double>& values, const HostMatrix<T>& x, double norm,
                   index_t sampled, std::uint64_t seed);

/// All eigenvalues by LAPACK (syevd) on all cores in double precision, from the lower triangle of A times a power of
/// two; empty where it does not converge.
template <class T>
std::vector<double> reference_eigenvalues(const HostMatrix<T>& a);

/// max |values(i) - reference(first + i)| / norm; NaN where one is not finite or there are too few.
double eigenvalue_error(const std::vector<double>& values, const std::vector<double>& reference, index_t first,
                        double norm);

/// What the elements of a symmetric matrix say of all its eigenvalues together: their sum, and the root of the sum of
/// their squares.
struct Moments {
  double trace = 0, frobenius = 0;
};
template <class T>
Moments moments_of(const HostMatrix<T>& a);  ///< from the lower triangle

/// |sum of all values - trace of A| / norm.
template <class T>
double trace_drift(const HostMatrix<T>& a, const std::vector<double>& values, double norm);

/// Returns the limit of the trace drift of a good result of order n.
double trace_bound(const EigBounds& bounds, index_t n);

/// ||A||_2, as far as is known: the largest eigenvalue found, but not more than ||A||_F; 1 for A = 0.
template <class T>
double symmetric_norm(const HostMatrix<T>& a, double largest_value);

}  // namespace tesela
