#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>
#include <tesela/tiles/block_cyclic.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace tesela {

/// A matrix product on the host in column-major memory without gaps.
template <class T>
struct ProductProblem {
  Op op_a = Op::none, op_b = Op::none;
  index_t m = 0, n = 0, k = 0;
  T alpha = 1, beta = 0;
  const T* a = nullptr;
  const T* b = nullptr;
  const T* c_before = nullptr;  ///< not read if beta is 0
  const T* c = nullptr;
};

/// Errors of C relative to R = alpha op(A) op(B) + beta C_before.
struct ProductError {
  /// ||C - R||_F / (||A||_F ||B||_F) on the compared rows: the error in reports. The numerator alone if A or B is 0;
  /// NaN if C contains NaN there.
  double relative = 0;
  /// ||C - R||_F / (|alpha| ||A||_F ||B||_F + |beta| ||C_before||_F) on those rows: a few rounding errors for a right
  /// result at any scale of its terms, so the test uses it. Underflow in T is not counted. NaN if the denominator is
  /// not finite.
  double scaled = 0;
  /// Whether all of C is finite, including the rows that were not compared.
  bool finite = true;
};

/// Compares the given rows of C with R, computed as one BLAS product in double precision. The norms neither overflow
/// nor underflow.
template <class T>
ProductError product_error(const ProductProblem<T>& problem, const std::vector<index_t>& rows);

/// Squares of Frobenius norms, of the compared rows and of B, which determine the error.
struct ProductSums {
  long double error = 0, norm_a = 0, norm_b = 0, norm_c = 0;
  long double alpha = 1, beta = 0;  ///< magnitudes of the factors
  long double smallest = 0;         ///< smallest normal number of the precision
  index_t rows = 0, n = 0, k = 0;
  bool finite = true;
};
ProductError product_error_of(const ProductSums& sums);

/// The same for matrices distributed over ranks: this rank's part of each matrix.
template <class T>
struct ProductParts {
  Op op_a = Op::none, op_b = Op::none;
  T alpha = 1, beta = 0;
  const HostMatrix<T>&a, &b, &c_before, &c;
  BlockCyclic a_part, b_part, c_part;
};
template <class T>
ProductError product_error(const Runtime& runtime, const ProductParts<T>& parts, const std::vector<index_t>& rows);

/// Returns the bound of `scaled` for a product computed in T in any order, with k terms per entry: min((k + 8) eps,
/// 0.01). Half of it is Wilkinson's bound for C, the other half covers the reference. A complex term is two real ones
/// in each part, so that k is twice as large.
template <class T>
double product_bound(index_t k);

/// An entry of A B in long double, and its bound: 8 sqrt(k) rounding errors of T of the sum of magnitudes, far above
/// the error of any order of summation of random numbers, far below a lost block of terms.
template <class T>
struct ProductEntry {
  with_parts<T, double> sum = 0;
  double bound = 0;
};

/// Sums the k terms a(l) b(l), given in T.
template <class T, class A, class B>
ProductEntry<T> product_entry(index_t k, const A& a, const B& b) {
  with_parts<T, long double> sum = 0;
  double magnitude = 0;
  for (index_t l = 0; l < k; ++l) {
    const auto term = times(with_parts<T, double>(a(l)), with_parts<T, double>(b(l)));
    sum += with_parts<T, long double>(term);
    magnitude += std::abs(term);
  }
  const double eps = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()),
               terms = static_cast<double>(is_complex<T> ? 2 * k : k);
  return {with_parts<T, double>(sum), 8 * eps * std::sqrt(terms) * magnitude};
}

/// Returns `count` different rows of 0 … m - 1 in ascending order, the same for the same seed; all if count >= m.
std::vector<index_t> sample_rows(index_t m, index_t count, std::uint64_t seed);

}  // namespace tesela
