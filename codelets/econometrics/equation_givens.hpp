#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// The facts of EquationQr for `count` equations, laid out as EquationGram's, by plane rotations in the stages of the
/// schedule "diagonal" over each one's staircase: entry (i, j) becomes zero in stage i + j against row j, and what is
/// zero from the beginning takes no rotation (Foschi, Belsley and Kontoghiorghes 2003). On a GPU a block of threads is
/// an equation.
struct EquationGivens {
  static constexpr auto name = "equation_givens";
  static constexpr std::uint32_t color = 0x17becf;
  struct Args {
    index_t count = 1, rows = 0;
    double work = 0;  ///< staircase_rotation_flops of all
    std::uint64_t cost_key() const;
  };
  static double flops(const Args& args, Shape, Shape picks, Shape, Shape, Shape) {
    const auto n = static_cast<double>(args.count), r = static_cast<double>(picks.cols) / n;
    return args.work + n * r * r * r / 3;
  }
  static void cpu(const Args& args, In<double> a, In<int> picks, Out<double> facts, Out<double> residual,
                  Scratch<double> work);
  static void cuda(CudaContext& context, const Args& args, In<double> a, In<int> picks, Out<double> facts,
                   Out<double> residual, Scratch<double> work);
};

/// Its work space.
Shape equation_givens_work(index_t rows, index_t regressors, index_t count, bool with_gpu);

/// Rotations that the staircase of these heights takes, and their operations on it and a right-hand side.
index_t staircase_rotations(const int* heights, index_t count, index_t stride);
double staircase_rotation_flops(const int* heights, index_t count, index_t stride);

}  // namespace tesela::kernels
