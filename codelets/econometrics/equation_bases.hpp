#pragma once

#include <tesela/codelets/econometrics/equation_qr.hpp>

#include <span>

namespace tesela::kernels {

/// Computes EquationBasis of `count` equations of moderate condition (at most 1e6) at once. A GPU uses Cholesky's
/// factorization of Z^T Z, twice (CholeskyQR2: Fukaya, Nakatsukasa, Yanagisawa and Yamamoto 2014), for all equations
/// together.
///
/// picks    as for EquationGram, with room for n regressors each.
/// r        n x (n count): equation i has the leading part of columns n i ..., with ones on the diagonal after it.
/// q        one tile per equation.
struct EquationBases {
  static constexpr auto name = "equation_bases";
  static constexpr std::uint32_t color = 0xc5b0d5;
  struct Args {
    index_t count = 1, rows = 0;  ///< number of equations, and of coordinates
    double work = 0;              ///< staircase_flops of all equations
    std::uint64_t cost_key() const;
  };
  static double flops(const Args& args, std::span<const Shape>) { return 2 * args.work; }
  static void cpu(const Args& args, In<double> a, In<int> picks, Out<double> r, Scratch<double> work,
                  std::span<const Out<double>> q);
  static void cuda(CudaContext& context, const Args& args, In<double> a, In<int> picks, Out<double> r,
                   Scratch<double> work, std::span<const Out<double>> q);
};

/// Returns the shape of its work space.
Shape equation_bases_work(index_t rows, index_t regressors, index_t count, bool with_gpu);

}  // namespace tesela::kernels
