#pragma once

#include <tesela/codelets/toeplitz/toeplitz.hpp>

namespace tesela::kernels {

// What the kernels have in common that solve T X = B by an approximate inverse and steps of iterative refinement, whose
// residuals are products by ToeplitzMultiply's transforms. A step's result is kept in the columns where it made the
// residual smaller. A core stops once no column improves, a GPU takes every step. T has size 1, and so has each column
// of B while it is worked on: squares and products have room whatever the size of the system.
//
// B, n x k, becomes X, or zero where the inverse broke down. outcome, k x 4, has each column's
// ||T x - b|| / (norm ||x|| + ||b||) in its first column, or what X loses by being denormal (infinite where it
// overflows) if that is more. info becomes the order of the breakdown, else
// n + 1 + j where column j is the first that did not reach `tolerance`, else stays.

template <class T>
struct RefinedSolveArgs {
  double norm = 0;  ///< of the matrix, estimated
  int steps = 3;    ///< of refinement, at most
  double tolerance = 0;
  int exponent = 0;  ///< the matrix is that of the system times 2^-exponent
  std::uint64_t cost_key() const { return static_cast<std::uint64_t>(steps); }
};

}  // namespace tesela::kernels
