#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tesela {

/// Returns the binary exponent of the lower triangle's largest element; 0 if it has none or one that is not finite.
template <class T>
int lower_exponent(const HostMatrix<T>& a);

/// Returns the full symmetric or Hermitian matrix 2^-exponent A, from the lower triangle.
template <class T>
HostMatrix<with_parts<T, double>> scaled_whole(const HostMatrix<T>& a, int exponent);

/// Returns `count` distinct numbers below n in ascending order; all if there are not more.
std::vector<index_t> sample_indices(index_t n, index_t count, std::uint64_t seed);

/// Errors of eigenvalues and X as eigenpairs of a symmetric or Hermitian matrix A; NaN if a number is not finite.
struct EigError {
  double residual = 0;       ///< max ||A x - lambda x||_2 / ||A||_2
  double orthogonality = 0;  ///< ||I - X^H X||_F
};

/// Largest errors of a good result of order n in T: 5e-15 sqrt(n) for residuals and values, 1e-13 sqrt(n) for the
/// orthogonality; single precision 1e-6 and 2e-5. At most useful_bound.
struct EigBounds {
  double value = 0, orthogonality = 0;
};
template <class T>
EigBounds eig_bounds(index_t n);

/// Returns ||I - X^H X||_F, or an estimate with `sampled` random sign vectors r if X has more columns: the root mean
/// square of ||X^H X r - r|| (Hutchinson's estimator). BLAS uses its current threads.
template <class T>
double eigenvector_orthogonality(const HostMatrix<T>& x, index_t sampled, std::uint64_t seed);

/// Measures both errors of A times a power of two, in double precision with BLAS on all cores. Reads A's lower
/// triangle; X is n x values.size(). If `sampled` is less, measures this number of random pairs and estimates the
/// orthogonality.
template <class T>
EigError eig_error(const HostMatrix<T>& a, const std::vector<double>& values, const HostMatrix<T>& x, double norm,
                   index_t sampled, std::uint64_t seed);

/// Returns all eigenvalues by LAPACK's syevd or heevd on all cores in double precision, from the lower triangle of A
/// times a power of two; empty if it does not converge.
template <class T>
std::vector<double> reference_eigenvalues(const HostMatrix<T>& a);

/// Returns max |values(i) - reference(first + i)| / norm; NaN if one is not finite or the reference has too few.
double eigenvalue_error(const std::vector<double>& values, const std::vector<double>& reference, index_t first,
                        double norm);

/// Sum of all eigenvalues of a symmetric matrix, and root of the sum of their squares, computed from its elements.
struct Moments {
  double trace = 0, frobenius = 0;
};
template <class T>
Moments moments_of(const HostMatrix<T>& a);  ///< from the lower triangle

/// Returns |sum of all values - trace of A| / norm.
template <class T>
double trace_drift(const HostMatrix<T>& a, const std::vector<double>& values, double norm);
double trace_drift(long double trace, const std::vector<double>& values, double norm);

/// Returns the limit of the trace drift for a good result of order n.
double trace_bound(const EigBounds& bounds, index_t n);

/// Returns an estimate of ||A||_2: the largest eigenvalue found, but at most ||A||_F; 1 for A = 0.
template <class T>
double symmetric_norm(const HostMatrix<T>& a, double largest_value);

/// Largest errors over a batch of matrices, as in EigError.
struct EigBatchError {
  double value = 0;  ///< difference from LAPACK's syevd, relative to ||A||_2
  double residual = 0, orthogonality = 0;
  double rounding = 0;   ///< smallest normal number of T divided by the least norm: error of results near zero
  index_t matrices = 0;  ///< number of measured matrices
};

/// Measures at most `most` evenly spaced matrices: `a` is n x (K n), whose lower triangles are read, values n x K,
/// vectors n x (K n) or null. Compares the values with LAPACK's only if `compare`.
template <class T>
EigBatchError eig_batch_error(const HostMatrix<T>& a, const HostMatrix<real_t<T>>& values, const HostMatrix<T>* vectors,
                              bool compare, index_t most, std::uint64_t seed);

// Checks of eigenpairs of the symmetric tridiagonal matrix T with diagonal d (n) and off-diagonal e (n - 1), without
// n x n numbers.

/// Returns an estimate of ||T||_2: the largest eigenvalue found, but at least the largest norm of a column and at most
/// the largest sum of a row; 1 for T = 0.
double tridiagonal_norm(std::span<const double> d, std::span<const double> e, double largest_value);

/// Measures the residuals of all pairs, and the orthogonality as eig_error. X is n x values.size().
template <class T>
EigError tridiagonal_eig_error(std::span<const double> d, std::span<const double> e, const std::vector<double>& values,
                               const HostMatrix<T>& x, double norm, index_t sampled, std::uint64_t seed);

/// Returns max |values(i) - lambda(first + i)| / norm to a factor of 2, from Sturm counts at both sides of each value
/// in extended precision; of `sampled` random values if there are more. NaN if one is not finite, infinite beyond
/// `most`.
double tridiagonal_value_error(std::span<const double> d, std::span<const double> e, const std::vector<double>& values,
                               index_t first, double norm, double most, index_t sampled, std::uint64_t seed);

}  // namespace tesela
