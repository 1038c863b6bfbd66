#pragma once

#include <tesela/codelets/support/inline.hpp>
#include <tesela/runtime/access.hpp>

namespace tesela::kernels::ql {

/// Rotates columns x = i and y = i + 1 to c x - s y and s x + c y.
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

/// rotate_columns() for ql::sweep(), which is not compiled for a vector unit and thus could not inline a lambda that
/// is.
template <class T>
struct ColumnRotation {
  const Block<T>& vectors;
  TESELA_INLINE void operator()(index_t i, T c, T s) const { rotate_columns(vectors, i, c, s); }
};

}  // namespace tesela::kernels::ql
