#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

#include <complex>
#include <type_traits>

namespace tesela::kernels {

/// A P = Q R of some matrices of one shape m x n, side by side in `a` (m x (n k)), by Householder reflectors; a becomes
/// R and the reflectors, tau (min(m, n) x k) their factors as in LAPACK's geqrf. With `rotations` a becomes R and plane
/// rotations (PlaneRotation), and tau zero. order (n x k) the column of A that
/// each column of A P is, and b (m x (right k)) Q^H b. `order` is natural, norm (ascending), sqrd or vblast. With
/// mmse_sqrd and mmse_vblast the last n rows of a and b are written first: a becomes [H; sqrt(N0) I], b [y; 0]. info (1
/// x k) is 0, or -(1 + i + j m) where element (i, j) is NaN or infinite; what that matrix becomes is of no use then,
/// and no other one notices. A matrix is scaled by a power of two on the way.
template <class F>
struct SmallQr {
  static constexpr auto name = "small_qr";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    index_t cols = 0, right = 0;
    ColumnOrder order = ColumnOrder::natural;
    double n0 = 0;
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
  static index_t work_size(ColumnOrder order, index_t m, index_t n);  ///< numbers that a matrix needs on a GPU
  static void cpu(const Args& args, InOut<F> a, InOut<F> b, Out<F> tau, Out<int> order, Out<int> info, Scratch<F> work);
  static void cuda(CudaContext& context, const Args& args, InOut<F> a, InOut<F> b, Out<F> tau, Out<int> order,
                   Out<int> info, Scratch<F> work);
};

}  // namespace tesela::kernels
