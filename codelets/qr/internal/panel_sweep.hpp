#pragma once

#include <tesela/runtime/types.hpp>

// The passes over the rows of a narrow panel that make and apply Householder vectors. Internal to codelets/qr.

namespace tesela::kernels::internal {

/// One pass over a panel. Column `v` is scaled to a Householder vector and applied to all columns right of it:
/// a_i -= v weight_i. Then, column x being the next one, sum_i += x . a_i for every column i.
template <class T>
struct PanelPass {
  index_t width, v;
  T scale;
  const T* weights;  // null: nothing to apply
  T* sums;           // null: none wanted
};

/// A panel's rows in one piece of memory.
template <class T>
struct PanelRows {
  T* data;
  index_t rows, ld;
};

template <class T>
void sweep(const PanelPass<T>& pass, const PanelRows<T>& panel);

}  // namespace tesela::kernels::internal
