#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Computes the facts of EquationQr for `count` equations at once from common products. Cholesky's factor of Z^T Z
/// replaces R, and the true residual gives a correction (corrected seminormal equations: Bjorck 1987).
///
/// gram     the first rows of A times themselves; only the upper triangle is read.
/// picks    2 x count (r + 2): equation i has columns i (r + 2) .... All equations have room for r regressors; one with
///          fewer has (-1, 0) after its last regressor.
/// facts    (r + 1) x 4 count: equation i has columns 4 i .... facts(r, 0) is NaN if Cholesky's factorization fails.
///          Then, and if this condition is large (the error grows as its square times eps^2), only EquationQr computes
///          the facts.
/// residual A.rows x count.
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

/// Returns the shape of its work space.
Shape equation_gram_work(index_t regressors, index_t count, bool with_gpu);

}  // namespace tesela::kernels
