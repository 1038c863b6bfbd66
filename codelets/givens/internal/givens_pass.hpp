#pragma once

#include <tesela/codelets/givens/givens.hpp>
#include <tesela/codelets/givens/rotation.hpp>

namespace tesela::kernels::internal {

/// Steps from … to - 1 of a window, forwards or backwards, on columns of C on a core. Their rotations stand in
/// `rotations`, w.width a step. Between two calls the window's cells wait in `saved`, w.width elements a column; the
/// first and last steps load them from C and store them there.
template <class T>
void pass_columns(const GivensWindow& w, bool forward, index_t from, index_t to, const Rotation<T>* rotations,
                  Strided<T> c, index_t columns, T* saved);

}  // namespace tesela::kernels::internal
