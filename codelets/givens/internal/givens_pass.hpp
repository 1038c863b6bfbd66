#pragma once

#include <tesela/codelets/givens/givens.hpp>
#include <tesela/codelets/givens/rotation.hpp>

namespace tesela::kernels::internal {

/// Runs steps from … to - 1 of a window, forwards or backwards, on columns of C on a core. `rotations` holds their
/// rotations, w.width per step. `saved` holds the window's cells between two calls, w.width elements per column; the
/// first and last steps load them from C and store them there.
template <class T>
void pass_columns(const GivensWindow& w, bool forward, index_t from, index_t to, const Rotation<T>* rotations,
                  Strided<T> c, index_t columns, T* saved);

}  // namespace tesela::kernels::internal
