#pragma once

#include <tesela/runtime/types.hpp>

// Passes over the rows of a narrow panel that compute and apply Householder vectors. Internal to codelets/qr.

namespace tesela::kernels::internal {

/// One pass over a panel. It scales column `v` to a Householder vector and applies it to all columns right of it: a_i
/// -= v weight_i. Then it adds sum_i += x . a_i for every column i; x is the next column.
template <class T>
struct PanelPass {
  index_t width, v;
  T scale;
  const T* weights;  // null: no update
  T* sums;           // null: no sums
};

/// Copy of a panel's rows in one piece of memory.
template <class T>
struct PanelRows {
  T* data;
  index_t rows, ld;
};

template <class T>
void sweep(const PanelPass<T>& pass, const PanelRows<T>& panel);

}  // namespace tesela::kernels::internal
