#pragma once

#include <tesela/runtime/types.hpp>
#include <tesela/tiles/block_cyclic.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela {

/// A matrix product as it was asked for, on the host in column-major memory without gaps.
template <class T>
struct ProductProblem {
  Op op_a = Op::none, op_b = Op::none;
  index_t m = 0, n = 0, k = 0;
  T alpha = 1, beta = 0;
  const T* a = nullptr;
  const T* b = nullptr;
  const T* c_before = nullptr;  ///< not read when beta is 0
  const T* c = nullptr;
};

/// How far C is from R = alpha op(A) op(B) + beta C_before.
struct ProductError {
  /// ||C - R||_F / (||A||_F ||B||_F) on the rows compared: the measured error as reports state it. The numerator alone
  /// when A or B vanishes; NaN when C holds one there.
  double relative = 0;
  /// ||C - R||_F / (|alpha| ||A||_F ||B||_F + |beta| ||C_before||_F) on those rows: some rounding errors for a right
  /// result, whatever the scale of its terms, so this is what right and wrong are told apart by. What T cannot hold for
  /// smallness is forgiven. NaN when the denominator is not finite.
  double scaled = 0;
  /// Whether all of C is finite, the rows that were not compared included.
  bool finite = true;
};

/// Compares the given rows of C with R, computed as one BLAS product in double precision. The norms neither overflow
/// nor underflow.
template <class T>
ProductError product_error(const ProductProblem<T>& problem, const std::vector<index_t>& rows);

/// Squares of Frobenius norms, of the rows compared and of B, and what they make of the error.
struct ProductSums {
  long double error = 0, norm_a = 0, norm_b = 0, norm_c = 0, alpha = 1, beta = 0;
  long double smallest = 0;  ///< normal number of the precision
  index_t rows = 0, n = 0, k = 0;
  bool finite = true;
};
ProductError product_error_of(const ProductSums& sums);

/// The same of what lies over several ranks, on all of them: what this one has of each matrix.
template <class T>
struct ProductParts {
  Op op_a = Op::none, op_b = Op::none;
  T alpha = 1, beta = 0;
  const HostMatrix<T>&a, &b, &c_before, &c;
  BlockCyclic a_part, b_part, c_part;
};
template <class T>
ProductError product_error(const Runtime& runtime, const ProductParts<T>& parts, const std::vector<index_t>& rows);

/// The most that `scaled` can be for a product that T's arithmetic computed in whatever order, with k terms an entry:
/// min((k + 8) eps, 0.01). Half of that is Wilkinson's bound for C, the other half is the reference's own.
template <class T>
double product_bound(index_t k);

/// `count` different rows of 0 … m - 1, in order, the same for the same seed; all of them when count >= m.
std::vector<index_t> sample_rows(index_t m, index_t count, std::uint64_t seed);

}  // namespace tesela
