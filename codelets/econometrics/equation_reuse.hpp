#pragma once

#include <tesela/codelets/econometrics/equation_givens.hpp>

namespace tesela::kernels {

/// Computes the facts of EquationQr from columns to which another equation's rotations have been applied already
/// (Yanev, Foschi and Kontoghiorghes 2004).
///
/// w        becomes the columns of `from` that `plan` lists. The first of them, the equation's own columns, become a
///          triangle; the rotations are also applied to the others, for equations that start from w.
/// from     another equation's w; A for equations that start from the data.
/// plan     2 x width: (column of `from`, its height there): own columns in the order of their heights, then carried
///          columns, then dependent variables, the own one first.
/// order    position in w of each column of picks.
/// work     equation_reuse_work.
/// Method   A second QR, with some r^3 additional operations, brings the triangle's columns into the order of picks: by
///          Householder on a core, by rotations on a GPU. A GPU reduces the own columns in one thread block, which
///          keeps the rotations, and rotates the other columns in all blocks.
struct EquationReuse {
  static constexpr auto name = "equation_reuse";
  static constexpr std::uint32_t color = 0x9edae5;
  struct Args {
    index_t right = 0;  ///< position of the own dependent variable in w
    double work = 0;    ///< of the rotations
    std::uint64_t cost_key() const;
  };
  static double flops(const Args& args, Shape, Shape, Shape picks, Shape, Shape, Shape, Shape, Shape, Shape) {
    const auto r = static_cast<double>(picks.cols);
    return args.work + 5 * r * r * r / 3;
  }
  static void cpu(const Args& args, In<double> a, In<double> from, In<int> picks, In<int> plan, In<int> order,
                  Out<double> w, Out<double> facts, Out<double> residual, Scratch<double> work);
  static void cuda(CudaContext& context, const Args& args, In<double> a, In<double> from, In<int> picks, In<int> plan,
                   In<int> order, Out<double> w, Out<double> facts, Out<double> residual, Scratch<double> work);
};

/// Returns the shape of its work space for w of `rows` rows.
Shape equation_reuse_work(index_t rows, index_t regressors, bool with_gpu);

}  // namespace tesela::kernels
