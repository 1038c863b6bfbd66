#pragma once

#include <tesela/runtime/types.hpp>

#include <vector>

namespace tesela::detail {

/// One half of a merge: its eigenvalues in the order of its columns, their ascending order, and the row of its vectors
/// next to the other half.
template <class T>
struct MergeHalf {
  std::vector<T> values;
  std::vector<index_t> order;
  std::vector<T> row;
};

/// The columns that a block of rows copies from its half, and their rotations (kernels::MergeColumns): first the
/// columns that are multiplied by the new vectors, then the deflated ones.
template <class T>
struct ColumnPlan {
  std::vector<index_t> sources;
  std::vector<index_t> pairs;  // of each rotation: the deflated column, and the column that remains
  std::vector<T> cosines_and_sines;
};

/// D + rho z z^T after deflation.
template <class T>
struct Deflation {
  T rho = 0;                // for z with ||z|| = 1
  std::vector<T> poles, z;  // ascending, k of each
  // order of the poles: columns with rows of the upper half only, of both halves, of the lower half only
  std::vector<index_t> order;
  index_t upper = 0, lower = 0;  // number of columns with rows of the upper half, and of the lower half
  std::vector<T> deflated;       // the deflated eigenvalues, in the order of their columns
  ColumnPlan<T> top, bottom;
  index_t k() const { return static_cast<index_t>(poles.size()); }
};

/// Deflates diag(T1, T2) + |e| v v^T with v = (0 … 0 1 sign(e) 0 … 0): D are the eigenvalues of both halves, z = V^T v.
/// Two cases (J. Cuppen, Numer. Math. 36, 1981; J. Dongarra, D. Sorensen, SIAM J. Sci. Stat. Comput. 8, 1987): a
/// component of z is so small that its pair is an eigenpair; or two values are so close that a rotation of their
/// vectors makes one an eigenvector. Each changes the matrix by less than 8 u ||T||, u the unit roundoff.
template <class T>
Deflation<T> deflate(const MergeHalf<T>& upper, const MergeHalf<T>& lower, T e);

}  // namespace tesela::detail
