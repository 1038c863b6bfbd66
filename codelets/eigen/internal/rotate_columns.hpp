#pragma once

#include <tesela/codelets/support/inline.hpp>
#include <tesela/runtime/access.hpp>

namespace tesela::kernels::ql {

/// Columns x and y = i and i + 1 become c x - s y and s x + c y.
template <class T>
TESELA_INLINE void rotate_columns(const Block<T>& vectors, index_t i, T c, T s) {
  T* const x = &vectors(0, i);
  T* const y = &vectors(0, i + 1);
  for (index_t r = 0; r < vectors.rows; ++r) {
    const T old = y[r];
    y[r] = s * x[r] + c * old;
    x[r] = c * x[r] - s * old;
  }
}

}  // namespace tesela::kernels::ql
