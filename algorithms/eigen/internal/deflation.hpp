#pragma once

#include <tesela/runtime/types.hpp>

#include <vector>

namespace tesela::detail {

/// One half of a merge: its eigenvalues as its columns stand, their ascending order, and of its vectors the row next to
/// the other half.
template <class T>
struct MergeHalf {
  std::vector<T> values;
  std::vector<index_t> order;
  std::vector<T> row;
};

/// Which columns a block of rows takes from its half, and how they are rotated (kernels::MergeColumns): first those
/// that meet the new vectors, then the deflated ones.
template <class T>
struct ColumnPlan {
  std::vector<index_t> sources;
  std::vector<index_t> pairs;  // of each rotation: the column that is done with, and the one that goes on
  std::vector<T> cosines_and_sines;
};

/// What is left of D + rho z z^T once everything that does not move is taken out.
template <class T>
struct Deflation {
  T rho = 0;                     // of z with ||z|| = 1
  std::vector<T> poles, z;       // ascending, k of them
  std::vector<index_t> order;    // of the poles: columns with rows of the upper half alone, of both, of the lower alone
  index_t upper = 0, lower = 0;  // columns with rows of the upper half; of the lower
  std::vector<T> deflated;       // the eigenvalues that stand, as their columns do
  ColumnPlan<T> top, bottom;
  index_t k() const { return static_cast<index_t>(poles.size()); }
};

/// Of diag(T1, T2) + |e| v v^T with v = (0 … 0 1 sign(e) 0 … 0): D are both halves' eigenvalues, z what V^T v is. Two
/// things are deflated (J. Cuppen, Numer. Math. 36, 1981; J. Dongarra, D. Sorensen, SIAM J. Sci. Stat. Comput. 8,
/// 1987): a component of z so small that its pair is an eigenpair, and one of two values so close that a rotation of
/// their vectors may make it so. Either changes the matrix by less than 8 u ||T||, u the unit roundoff.
template <class T>
Deflation<T> deflate(const MergeHalf<T>& upper, const MergeHalf<T>& lower, T e);

}  // namespace tesela::detail
