#pragma once

#include <tesela/codelets/dense/getrf.hpp>

#include <algorithm>

namespace tesela::kernels {

/// Factors `count` columns from `first` on into L U by halves (Toledo 1997): factors the left half, solves for U to its
/// right, subtracts their product, factors the right half. `panel` performs each of these steps.
template <class Panel>
void factor_by_halves(Panel& panel, index_t first, index_t count) {
  if (count <= tournament_columns) return panel.columns(first, count);
  const index_t left = ceil_div(count, 2 * tournament_columns) * tournament_columns, right = count - left;
  factor_by_halves(panel, first, left);
  panel.update(first, left, right);
  factor_by_halves(panel, first + left, right);
}

}  // namespace tesela::kernels
