#pragma once

#include <tesela/runtime/codelet.hpp>

#include <array>

namespace tesela::kernels {

// One equation of a model whose data are a triangle: A holds all variables in the coordinates of an orthogonal basis,
// and column c is zero below its height. Z consists of the columns of A that `picks` lists; y is the last listed
// column. Both end after the first `rows` rows. The columns must be sorted by height; they form a staircase, and
// Householder's QR factorization uses no rows below it.
//
// picks is 2 x (r + 2): (column, height) of each column of Z and of y, then (the number of exogenous columns, with
// which Z begins; the constant column, or -1).

/// Returns an upper bound of Householder's operations on the staircase of these heights and a dense right-hand side.
double staircase_flops(const int* heights, index_t count, index_t stride);

/// Columns and rows of the stairs for a GPU's panels, whose tasks cannot read heights. heights may be null if only the
/// number of columns is needed.
struct EquationPanels {
  index_t columns = 0;
  std::array<std::int32_t, 16> rows = {};
};
EquationPanels equation_panels(const int* heights, index_t count, index_t stride, index_t rows);

/// Returns the shape of the work space of both kernels: larger if a GPU may run them.
Shape equation_work(index_t rows, index_t regressors, bool with_gpu);

/// Solves min ||Z b - y||_2 over the first `rows` coordinates, and computes its residual over all.
///
/// facts    (r + 1) x 4:
///            facts(p, 0) = b_p
///            facts(p, 1) = ||row p of R^-1||_2
///            facts(p, 2) = |R(p, p)|
///            facts(p, 3) = the norm of column p of Z after projection off the exogenous columns (0 for exogenous p)
///            facts(r, 0) = the 1-norm condition of R with unit columns
///            facts(r, 1) = the norm of R b without its component along the constant column of Z, if there is one
/// residual A.rows x 1, rows >= r: y - Z b over all of A's rows.
///
/// A zero on R's diagonal gives infinities and NaN.
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

/// Computes Z = Q R with an explicit Q, rows x r, and R, r x r, zeros below its diagonal. Only the columns of Z in
/// picks are read.
struct EquationBasis {
  static constexpr auto name = "equation_basis";
  static constexpr std::uint32_t color = 0x98df8a;
  struct Args {
    EquationPanels panels = {};
    double work = 0;  ///< staircase_flops
    std::uint64_t cost_key() const;
  };
  static double flops(const Args& args, Shape, Shape, Shape, Shape, Shape) { return 2 * args.work; }
  static void cpu(const Args& args, In<double> a, In<int> picks, Out<double> q, Out<double> r, Scratch<double> work);
  static void cuda(CudaContext& context, const Args& args, In<double> a, In<int> picks, Out<double> q, Out<double> r,
                   Scratch<double> work);
};

}  // namespace tesela::kernels
