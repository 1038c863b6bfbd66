#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// As EquationQr for `count` equations at once, from products that all share, gram = the first rows of A times
/// themselves, of which only the upper triangle is read: Cholesky's factor of Z^T Z in place of R, and a correction by
/// the true residual (corrected seminormal equations: Bjorck 1987). facts(r, 0) is NaN where Cholesky fails; there, and
/// where this condition is large (the error is as its square times eps^2), only EquationQr has the facts.
///
/// All equations have room for r regressors: equation i has columns i (r + 2) ... of picks (2 x count (r + 2)), 4 i ...
/// of facts ((r + 1) x 4 count) and i of residual (A.rows x count). One with less has (-1, 0) behind its last
/// regressor.
struct EquationGram {
  static constexpr auto name = "equation_gram";
  static constexpr std::uint32_t color = 0x8c564b;
  struct Args {
    index_t count = 1;
  };
  static double flops(const Args& args, Shape a, Shape, Shape picks, Shape, Shape, Shape) {
    const auto n = static_cast<double>(args.count), r = static_cast<double>(picks.cols) / n;
    return n * (2 * r * r * r / 3 + 4 * r * r + 6 * static_cast<double>(a.rows) * r);
  }
  static void cpu(const Args& args, In<double> a, In<double> gram, In<int> picks, Out<double> facts,
                  Out<double> residual, Scratch<double> work);
  static void cuda(CudaContext& context, const Args& args, In<double> a, In<double> gram, In<int> picks,
                   Out<double> facts, Out<double> residual, Scratch<double> work);
};

/// Its work space.
Shape equation_gram_work(index_t regressors, index_t count, bool with_gpu);

}  // namespace tesela::kernels
