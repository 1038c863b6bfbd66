#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Computes the facts of EquationQr for `count` equations, with EquationGram's layout, by plane rotations.
///
/// Method   Each equation's staircase is reduced in the stages of the schedule "diagonal": entry (i, j) becomes zero in
///          stage i + j against row j, and initial zeros need no rotation (Foschi, Belsley and Kontoghiorghes 2003). A
///          GPU uses one thread block per equation.
struct EquationGivens {
  static constexpr auto name = "equation_givens";
  static constexpr std::uint32_t color = 0x17becf;
  struct Args {
    index_t count = 1, rows = 0;  ///< number of equations, and of coordinates
    double work = 0;              ///< staircase_rotation_flops of all equations
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

/// Returns the shape of its work space.
Shape equation_givens_work(index_t rows, index_t regressors, index_t count, bool with_gpu);

/// Returns the rotations for the staircase of these heights, or their operations on it and a right-hand side.
index_t staircase_rotations(const int* heights, index_t count, index_t stride);
double staircase_rotation_flops(const int* heights, index_t count, index_t stride);

}  // namespace tesela::kernels
