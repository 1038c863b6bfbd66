#pragma once

#include <tesela/codelets/dense/getrf.hpp>

#include <algorithm>

namespace tesela::kernels {

/// LU of the columns from `first` on, `count` of them, by halves (Toledo 1997): factor the left half, solve for U right
/// of it, subtract their product, factor the right half. `panel` does each of these.
template <class Panel>
void factor_by_halves(Panel& panel, index_t first, index_t count) {
  if (count <= tournament_columns) return panel.columns(first, count);
  const index_t left = ceil_div(count, 2 * tournament_columns) * tournament_columns, right = count - left;
  factor_by_halves(panel, first, left);
  panel.update(first, left, right);
  factor_by_halves(panel, first + left, right);
}

}  // namespace tesela::kernels
