#pragma once

#include <tesela/runtime/types.hpp>

// One step of a general Levinson recursion without look-ahead. Internal to codelets/toeplitz.

namespace tesela::kernels {

/// Computes f(j) += alpha q(j), then z(j) = q(j - 1) - delta f(j), for j < k, and the sums of back(j) f(j) and of
/// row(j) z(j). z(j) is stored at q(j - 1), so q(-1) must be 0 before.
struct LookaheadPass {
  index_t k;
  double *f, *q;
  double alpha, delta;
  const double *back, *row;
  double sum_f = 0, sum_z = 0;
};

void update(LookaheadPass& pass);

}  // namespace tesela::kernels
