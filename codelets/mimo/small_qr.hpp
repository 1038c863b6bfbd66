#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

#include <type_traits>

namespace tesela::kernels {

/// Factors A P = Q R for several matrices of one shape m x n, side by side in `a` (m x (n k)), by Householder
/// reflectors.
///
/// a        becomes R and the reflectors; with `rotations` R and plane rotations (PlaneRotation).
/// tau      min(m, n) x k: the reflectors' factors as in LAPACK's geqrf; with `rotations` zero.
/// order    n x k: the column of A for each column of A P. Args::order is natural, norm (ascending), sqrd or vblast.
///          With mmse_sqrd and mmse_vblast the last n rows of a and b are written first: a becomes [H; sqrt(N0) I], b
///          becomes [y; 0].
/// b        m x (right k): becomes Q^H b.
/// info     1 x k: 0, or -(1 + i + j m) if element (i, j) is NaN or infinite. The results of that matrix are then
///          invalid; the others are not affected.
/// Method   scales each matrix by a power of two for the computation.
template <class F>
struct SmallQr {
  static constexpr auto name = "small_qr";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    index_t cols = 0, right = 0;  ///< n, and columns of b per matrix
    ColumnOrder order = ColumnOrder::natural;
    double n0 = 0;  ///< noise variance for mmse_sqrd and mmse_vblast
    bool rotations = false;
    auto cost_key() const {
      return (static_cast<int>(order) * 2 + (rotations ? 1 : 0)) * 1024 + static_cast<int>(right < 1023 ? right : 1023);
    }
  };
  static double flops(const Args& args, Shape a, Shape, Shape, Shape, Shape, Shape) {
    const auto m = static_cast<double>(a.rows), n = static_cast<double>(args.cols), k = m < n ? m : n;
    const double matrices = n > 0 ? static_cast<double>(a.cols) / n : 0, unit = std::is_floating_point_v<F> ? 1 : 4;
    return unit * matrices *
           (2 * k * (m * n - k * (m + n) / 2 + k * k / 3) + 4 * m * k * static_cast<double>(args.right));
  }
  /// Returns the numbers of work space per matrix on a GPU.
  static index_t work_size(ColumnOrder order, index_t m, index_t n);
  static void cpu(const Args& args, InOut<F> a, InOut<F> b, Out<F> tau, Out<int> order, Out<int> info, Scratch<F> work);
  static void cuda(CudaContext& context, const Args& args, InOut<F> a, InOut<F> b, Out<F> tau, Out<int> order,
                   Out<int> info, Scratch<F> work);
};

}  // namespace tesela::kernels
