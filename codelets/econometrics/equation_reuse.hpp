#pragma once

#include <tesela/codelets/econometrics/equation_givens.hpp>

namespace tesela::kernels {

/// The facts of EquationQr by rotations of columns that another equation's rotations have met already (Yanev, Foschi
/// and Kontoghiorghes 2004). `w` becomes the columns of `from` that `plan` names, and the first of them, the
/// equation's own, a triangle; the others take its rotations, for equations that start from w. plan is 2 x width:
/// (column of `from`, its height there), the own ones in the order of their heights, then what is carried, then
/// dependent variables, the own one first. `order` has for each column of picks where it stands in w. From the data
/// `from` is A. The triangle's columns get into the order of picks by Householder's QR, r^3 more.
struct EquationReuse {
  static constexpr auto name = "equation_reuse";
  static constexpr std::uint32_t color = 0x9edae5;
  struct Args {
    index_t right = 0;  ///< where the own dependent variable stands in w
    double work = 0;    ///< of the rotations
    std::uint64_t cost_key() const;
  };
  static double flops(const Args& args, Shape, Shape, Shape picks, Shape, Shape, Shape, Shape, Shape) {
    const auto r = static_cast<double>(picks.cols);
    return args.work + 5 * r * r * r / 3;
  }
  static void cpu(const Args& args, In<double> a, In<double> from, In<int> picks, In<int> plan, In<int> order,
                  Out<double> w, Out<double> facts, Out<double> residual);
};

}  // namespace tesela::kernels
