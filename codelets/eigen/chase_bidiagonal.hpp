#pragma once

#include <tesela/codelets/eigen/bulge_chase.hpp>

namespace tesela::kernels {

/// Performs one task of BulgePlan in the reduction of an upper band matrix B to bidiagonal form, B = Q_L B' Q_R^H: the
/// hops of group `group` in window `window`. Both orthogonal or unitary matrices consist of the reflectors that
/// BulgePlan describes.
///
/// before       reflectors of rows of the group's previous task; not read in the group's first task.
/// left, right  reflectors of rows and of columns.
/// band         the tiles window - 1 and window (the existing ones; the first one starts at column `column`). Element
///              B(i, j) is in row i - j + 2b - 1 of column j; no element outside the band is read before a hop has
///              written it.
/// Method       Hop k of sweep s works on b columns: E, the b rows above the diagonal block D, and D (for k = 0, E is
///              row s). The row reflector of hop k - 1 is applied to E. The column reflector annihilates E's first row
///              and is applied to the rest of E and to D. The row reflector annihilates D's first column and is applied
///              to the rest of D. (Großer, Lang, "Efficient parallel reduction to bidiagonal form", Parallel Computing
///              25, 1999; Haidar, Kurzak, Luszczek, SC13.)
template <class T>
struct ChaseBidiagonal {
  static constexpr auto name = "chase_bidiagonal";
  static constexpr std::uint32_t color = 0xdd8452;
  using Args = typename ChaseBulges<T>::Args;
  static double flops(const Args& args, std::span<const Shape>) {
    const auto b = static_cast<double>(args.plan.b);
    return 16 * b * b * static_cast<double>(args.hops());
  }
  static void cpu(const Args& args, In<T> before, Out<T> left, Out<T> right, Scratch<T> work,
                  std::span<const InOut<T>> band);
  /// Chases as ChaseBulges does.
  static void cuda(CudaContext& context, const Args& args, In<T> before, Out<T> left, Out<T> right, Scratch<T> work,
                   std::span<const InOut<T>> band);
};

}  // namespace tesela::kernels
