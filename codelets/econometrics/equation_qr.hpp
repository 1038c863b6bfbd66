#pragma once

#include <tesela/runtime/codelet.hpp>

#include <array>
#include <span>

namespace tesela::kernels {

// One equation of a model whose data are a triangle: A holds all variables in the coordinates of an orthogonal basis,
// column c being zero below its height. Z = the columns of A that `picks` names, y the last of them, both cut to the
// first `rows` rows. Sorted by height, as they must be, they form a staircase, and Householder's QR factorization takes
// no rows below it.
//
// picks is 2 x (r + 2): (column, height) of each column of Z and of y, and (the number of exogenous columns, with which
// Z begins; the constant one, or -1).

/// An upper bound of Householder's work on the staircase of these heights, on a dense right-hand side as well.
double staircase_flops(const int* heights, index_t count, index_t stride);

/// The stairs that a GPU's panels take, whose tasks cannot look at heights: so many columns each, and their rows.
/// heights may be null where only the columns are asked for.
struct EquationPanels {
  index_t columns = 0;
  std::array<std::int32_t, 16> rows = {};
};
EquationPanels equation_panels(const int* heights, index_t count, index_t stride, index_t rows);

/// The work space of both kernels: more where a GPU may run them.
Shape equation_work(index_t rows, index_t regressors, bool with_gpu);

/// min ||Z b - y||_2 over the first `rows` coordinates, and its residual over all:
///
///     facts(p, 0) = b_p                      facts(p, 2) = |R(p, p)|
///     facts(p, 1) = ||row p of R^-1||_2      facts(p, 3) = the norm of what the exogenous columns leave of column p of
///                                                          Z (0 for these)
///     facts(r, 0) = the 1-norm condition of R with unit columns, facts(r, 1) = the norm of R b without the part along
///     the constant column of Z (all of R b without one), residual = y - Z b of all of A's rows
///
/// A zero on R's diagonal leaves infinities and NaN. facts is (r + 1) x 4, residual A.rows x 1, rows >= r.
struct EquationQr {
  static constexpr auto name = "equation_qr";
  static constexpr std::uint32_t color = 0x2ca02c;
  struct Args {
    index_t rows = 0;
    EquationPanels panels = {};
    double work = 0;  ///< staircase_flops
    std::uint64_t cost_key() const;
  };
  static double flops(const Args& args, Shape, Shape picks, Shape, Shape, Shape) {
    const auto r = static_cast<double>(picks.cols);
    return args.work + r * r * r / 3;
  }
  static void cpu(const Args& args, In<double> a, In<int> picks, Out<double> facts, Out<double> residual,
                  Scratch<double> work);
  static void cuda(CudaContext& context, const Args& args, In<double> a, In<int> picks, Out<double> facts,
                   Out<double> residual, Scratch<double> work);
};

/// Z = Q R with Q, rows x r, formed, and R, r x r, zeros below its diagonal. Of picks the columns of Z are read alone.
struct EquationBasis {
  static constexpr auto name = "equation_basis";
  static constexpr std::uint32_t color = 0x98df8a;
  struct Args {
    EquationPanels panels = {};
    double work = 0;
    std::uint64_t cost_key() const;
  };
  static double flops(const Args& args, Shape, Shape, Shape, Shape, Shape) { return 2 * args.work; }
  static void cpu(const Args& args, In<double> a, In<int> picks, Out<double> q, Out<double> r, Scratch<double> work);
  static void cuda(CudaContext& context, const Args& args, In<double> a, In<int> picks, Out<double> q, Out<double> r,
                   Scratch<double> work);
};

}  // namespace tesela::kernels
