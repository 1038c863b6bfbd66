#pragma once

#include <tesela/host/blas.hpp>
#include <tesela/runtime/access.hpp>

#include <algorithm>

namespace tesela::kernels::internal {

/// Vectors V of a block reflector Q = I - [E; V] T [E; V]^H: a rectangle and a triangle in memory. A unit lower
/// triangle (Geqrt) is above the rectangle, and E is empty. An upper triangle (Tpqrt, TT form) is below it; in TS form
/// there is no triangle. E is then the identity, which acts on rows C1 of another tile.
template <class T>
struct BlockVectors {
  blas::Triangle shape;
  index_t width;
  const T* data;  ///< V's first element
  index_t ld;
  index_t full;      ///< rows of the rectangle
  index_t triangle;  ///< rows of the triangle: width, or fewer for an upper trapezoid

  index_t full_row() const { return shape == blas::Triangle::unit_lower ? triangle : 0; }
  index_t triangle_row() const { return shape == blas::Triangle::unit_lower ? 0 : full; }
};

/// Computes W = V^H C; C has n columns and W is width x n.
template <class T>
void multiply(const BlockVectors<T>& v, index_t n, const T* c, index_t ldc, T* w, index_t ldw);

/// Computes, with op none or adjoint<T>, C = op(Q) C (left; n is C's columns) or C op(Q) (right; n is C's rows), as
/// LAPACK larfb and tprfb; c1 is null if E is empty. `work` is width x n or n x width.
template <class T>
void apply(const BlockVectors<T>& v, Side side, Op op, const T* t, index_t ldt, index_t n, T* c1, index_t ldc1, T* c,
           index_t ldc, T* work, index_t ldw);

/// Sets the first `ib` rows and `width` columns of T to zero. The blocks keep zeros below their diagonals, so that GPUs
/// can multiply by whole blocks.
template <class T>
void clear(const Block<T>& t, index_t ib, index_t width) {
  for (index_t j = 0; j < width; ++j) std::fill_n(&t(0, j), ib, T(0));
}

/// Computes T12 = -T1 T12 T2, which completes the T of two neighbouring blocks of k1 and k2 vectors; T12 holds V1^H V2.
template <class T>
void join(index_t k1, index_t k2, T* t, index_t ldt);

/// Returns the columns of the left half of a panel of more than panel_width columns: whole panels.
constexpr index_t half(index_t width, index_t panel) { return ceil_div(width / 2, panel) * panel; }

}  // namespace tesela::kernels::internal
