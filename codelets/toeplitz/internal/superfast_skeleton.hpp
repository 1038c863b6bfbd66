#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>

#include <vector>

// Skeletons of index ranges: a few rows whose combinations are all rows, outside the range. Internal to
// codelets/toeplitz.

namespace tesela::kernels::superfast {

/// One block of C, with tables that all nodes read.
template <class T>
struct CauchyBlock {
  index_t n, rows, o;  ///< order of the Toeplitz matrix and of the block, offset of the sums
  const T *g, *h, *diagonal, *w;
  const double *sums_g, *sums_h;  ///< sums of g^2 and h^2 before each row
  double tolerance, norm;         ///< error relative to the norm of C, and this norm

  /// Returns g_a w(a + b + o) w(a - b), the kernel at a != b.
  T kernel(index_t a, index_t b) const { return a > b ? w[a + b + o] * w[a - b] : -w[a + b + o] * w[b - a]; }
  T entry(index_t a, index_t b) const { return (g[a] * h[b] - h[a] * g[b]) * kernel(a, b); }
};

/// Returns columns outside rows lo <= a < hi, ascending, whose kernels approximate the kernels of all columns outside:
/// the columns next to the poles of Zolotarev's rational function for the range and each side.
std::vector<index_t> proxies(index_t n, index_t rows, index_t o, index_t lo, index_t hi, double tolerance);

/// Result of interpolate.
template <class T>
struct Interpolation {
  std::vector<index_t> order;  ///< positions in `rows`: the skeleton first
  index_t r = 0;               ///< size of the skeleton
  std::vector<T> others;       ///< r x (m - r): the other rows as combinations of the skeleton, transposed
};

/// Chooses at most `most` skeleton rows among `rows`, m rows of lo <= a < hi, by a pivoted QR factorization of the
/// proxy columns.
template <class T>
Interpolation<T> interpolate(const CauchyBlock<T>& block, index_t lo, index_t hi, const std::vector<index_t>& rows,
                             index_t most);

}  // namespace tesela::kernels::superfast
