#pragma once

#include "runtime/types.hpp"

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

/// ||C - R||_F / (||A||_F ||B||_F) on the given rows of C and op(A), where R = alpha op(A) op(B) + beta C_before is one
/// BLAS product in double precision. The numerator alone when A or B vanishes; NaN when C holds one.
template <class T>
double product_error(const ProductProblem<T>& problem, const std::vector<index_t>& rows);

/// `count` different rows of 0 … m - 1, in order, the same for the same seed; all of them when count >= m.
std::vector<index_t> sample_rows(index_t m, index_t count, std::uint64_t seed);

}  // namespace tesela
