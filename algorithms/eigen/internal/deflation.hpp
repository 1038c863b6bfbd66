#pragma once

#include <tesela/runtime/types.hpp>

#include <cstdint>
#include <vector>

namespace tesela::detail {

/// One half of a merge: its values in the order of its columns, their ascending order, and the row of its vectors next
/// to the other half.
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

/// D + rho z z^T after deflation; for singular values the matrix with first row z and diagonal D below it.
template <class T>
struct Deflation {
  T rho = 0;                // for z with ||z|| = 1
  std::vector<T> poles, z;  // ascending, k of each
  // order of the poles: columns with rows of the upper half only, of both halves, of the lower half only
  std::vector<index_t> order;
  index_t upper = 0, lower = 0;  // number of columns with rows of the upper half, and of the lower half
  std::vector<T> deflated;       // the deflated values, in the order of their columns
  ColumnPlan<T> top, bottom;
  index_t k() const { return static_cast<index_t>(poles.size()); }
};

/// A value of a half with its entry of z.
template <class T>
struct DeflationPair {
  enum class Rows : std::uint8_t { upper, both, lower };  // the nonzero rows of its column
  T value, z;
  Rows rows;
  index_t upper, lower;  // its column in each half, or -1
};

/// Returns the pairs of both halves, ascending; z is a half's row times its factor.
template <class T>
std::vector<DeflationPair<T>> sorted_pairs(const MergeHalf<T>& upper, T upper_factor, const MergeHalf<T>& lower,
                                           T lower_factor);

/// Deflates sorted pairs; the first `fixed` ones stay. Two cases (J. Cuppen, Numer. Math. 36, 1981; J. Dongarra, D.
/// Sorensen, SIAM J. Sci. Stat. Comput. 8, 1987): rho |z| is at most the tolerance, so that the pair is that of an
/// eigenvector; or two values are so close that a rotation of their vectors makes one an eigenvector.
template <class T>
Deflation<T> deflate(std::vector<DeflationPair<T>> pairs, T rho, T tolerance, std::size_t fixed = 0);

/// Deflates diag(T1, T2) + |e| v v^T with v = (0 … 0 1 sign(e) 0 … 0): D are the eigenvalues of both halves, z = V^T v.
/// Each deflation changes the matrix by less than 8 u ||T||, u the unit roundoff.
template <class T>
Deflation<T> deflate(const MergeHalf<T>& upper, const MergeHalf<T>& lower, T e);

}  // namespace tesela::detail
