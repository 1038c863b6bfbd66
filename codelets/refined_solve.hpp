#pragma once

#include "codelets/toeplitz.hpp"

namespace tesela {

// What the kernels have in common that solve (T - sigma I) X = B by an approximate inverse and steps of iterative
// refinement, whose residuals are products by ToeplitzMultiply's transforms. A step's result is kept in the columns
// where it made the residual smaller. A core stops once no column improves, a GPU takes every step.
//
// B, n x k, becomes X, or zero where the inverse broke down. outcome, k x 4, has each column's
// ||(T - sigma I) x - b|| / (norm ||x|| + ||b||) in its first column. info becomes the order of the breakdown, else
// n + 1 + j where column j is the first that did not reach `tolerance`, else stays.

template <class T>
struct RefinedSolveArgs {
  T sigma = 0;
  double norm = 0;  ///< of T - sigma I, estimated
  int steps = 3;    ///< of refinement, at most
  double tolerance = 0;
  std::uint64_t cost_key() const { return static_cast<std::uint64_t>(steps); }
};

}  // namespace tesela
