#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <functional>
#include <vector>

namespace tesela {

/// A matrix some rows at a time: calls what it is given with the number of the first row and with the rows, in order.
template <class T>
using RowBlocks = std::function<void(const std::function<void(index_t first, const Block<const T>& rows)>&)>;

/// How far X is from a solution of min ||A x - b|| with C x = d: the worst of all columns, in double precision with
/// BLAS on all cores, on matrices scaled by powers of two, so that nothing overflows.
struct LseError {
  double residual_norm = 0;  ///< ||B - A X||_F
  double constraint = 0;     ///< ||C x - d|| / (||C|| ||x|| + ||d||)
  /// ||A^T r - C^T l|| / max(||A|| ||r|| + ||C|| ||l||, ||A|| (||A|| ||x|| + ||b||)), l the multipliers, with unknowns
  /// in units in which A's columns have one size, and rows of C then. 0 for a column whose r is nothing but rounding:
  /// ||r|| <= max(m, n) eps (||A|| ||x|| + ||b||), eps of T.
  double optimality = 0;
  double column_ratio = 1;  ///< the largest of A's columns over the smallest that is not zero
};

/// Multipliers p x r, column k of them 2^exponents[k] times what stands there, or 0 x 0 where there are none: then
/// there is no optimality. An A in blocks is gone through twice.
template <class T>
LseError lse_error(const RowBlocks<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& c, const HostMatrix<T>& d,
                   const HostMatrix<T>& x, const HostMatrix<T>& multipliers, const std::vector<int>& exponents,
                   const std::vector<int>& row_exponents);
template <class T>
LseError lse_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& c, const HostMatrix<T>& d,
                   const HostMatrix<T>& x, const HostMatrix<T>& multipliers, const std::vector<int>& exponents,
                   const std::vector<int>& row_exponents);

}  // namespace tesela
