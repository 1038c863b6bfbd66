#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <functional>
#include <vector>

namespace tesela {

/// A matrix in blocks of rows: calls its argument with each block's first row number and rows, in order.
template <class T>
using RowBlocks = std::function<void(const std::function<void(index_t first, const Block<const T>& rows)>&)>;

/// Errors of X as a solution of min ||A x - b|| with C x = d: the worst over all columns, in double precision with BLAS
/// on all cores, on matrices scaled by powers of two, so that nothing overflows.
struct LseError {
  double residual_norm = 0;  ///< ||B - A X||_F
  double constraint = 0;     ///< ||C x - d|| / (||C|| ||x|| + ||d||)
  /// ||A^H r - C^H l|| / max(||A|| ||r|| + ||C|| ||l||, ||A|| (||A|| ||x|| + ||b||)) with multipliers l. Unknowns are
  /// scaled so that A's columns have one size, then C's rows to one size. 0 for a column whose r is only rounding:
  /// ||r|| <= max(m, n) eps (||A|| ||x|| + ||b||), eps of T.
  double optimality = 0;
  double column_ratio = 1;  ///< norm of A's largest column divided by that of its smallest nonzero column
};

/// Measures the errors of X. Multipliers are p x r, with column k in units of 2^exponents[k], or 0 x 0 (then there is
/// no optimality). An A in blocks is read twice.
template <class T>
LseError lse_error(const RowBlocks<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& c, const HostMatrix<T>& d,
                   const HostMatrix<T>& x, const HostMatrix<T>& multipliers, const std::vector<int>& exponents,
                   const std::vector<int>& row_exponents);
template <class T>
LseError lse_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& c, const HostMatrix<T>& d,
                   const HostMatrix<T>& x, const HostMatrix<T>& multipliers, const std::vector<int>& exponents,
                   const std::vector<int>& row_exponents);

}  // namespace tesela
