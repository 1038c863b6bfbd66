#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// One equation of a model whose data are a triangle: A holds all variables in the coordinates of an orthogonal basis,
// column c being zero below its height. Z = the columns of A that `picks` names, y the last of them, both cut to the
// rows of the work space. Sorted by height, as they must be, they form a staircase, and Householder's QR factorization
// takes no rows below it.

/// An upper bound of Householder's work on the staircase of these heights, on a dense right-hand side as well.
double staircase_flops(const int* heights, index_t count, index_t stride);

/// min ||Z b - y||_2 over the first `rows` coordinates, and its residual over all:
///
///     facts(p, 0) = b_p                      facts(p, 2) = |R(p, p)|
///     facts(p, 1) = ||row p of R^-1||_2      facts(p, 3) = the norm of what columns 0 ... exogenous - 1 leave of
///                                                          column p of Z (0 for these)
///     facts(r, 0) = the 1-norm condition of R with unit columns, facts(r, 1) = the norm of R b without the part along
///     column `constant` of Z, b(constant) taken as 0 (all of R b where constant < 0) residual = y - Z b of all of A's
///     rows
///
/// A zero on R's diagonal leaves infinities and NaN. picks is 2 x (r + 1) (column, height), facts (r + 1) x 4, residual
/// A.rows x 1, z rows x (r + 1), rows >= r.
struct EquationQr {
  static constexpr auto name = "equation_qr";
  static constexpr std::uint32_t color = 0x2ca02c;
  struct Args {
    index_t exogenous = 0, constant = -1;
    double work = 0;  ///< staircase_flops
    std::uint64_t cost_key() const;
  };
  static double flops(const Args& args, Shape, Shape picks, Shape, Shape, Shape) {
    const auto r = static_cast<double>(picks.cols);
    return args.work + r * r * r / 3;
  }
  static void cpu(const Args& args, In<double> a, In<int> picks, Out<double> facts, Out<double> residual,
                  Scratch<double> z);
};

/// As EquationQr from products that all equations share, gram = the first rows of A times themselves, of which only the
/// upper triangle is read: Cholesky's factor of Z^T Z in place of R, and a correction by the true residual (corrected
/// seminormal equations: Bjorck 1987). Where the condition is above `limit`, or Cholesky fails, the QR factorization.
struct EquationGram {
  static constexpr auto name = "equation_gram";
  static constexpr std::uint32_t color = 0x8c564b;
  struct Args {
    index_t exogenous = 0, constant = -1;
    double limit = 1e4;
    std::uint64_t cost_key() const { return 0; }
  };
  static double flops(const Args&, Shape a, Shape, Shape picks, Shape, Shape, Shape) {
    const auto r = static_cast<double>(picks.cols);
    return 2 * r * r * r / 3 + 4 * r * r + 6 * static_cast<double>(a.rows) * r;
  }
  static void cpu(const Args& args, In<double> a, In<double> gram, In<int> picks, Out<double> facts,
                  Out<double> residual, Scratch<double> z);
};

/// Z = Q R with Q, q.rows x r, formed, and R, r x r, zeros below its diagonal.
struct EquationBasis {
  static constexpr auto name = "equation_basis";
  static constexpr std::uint32_t color = 0x98df8a;
  struct Args {
    double work = 0;
    std::uint64_t cost_key() const;
  };
  static double flops(const Args& args, Shape, Shape, Shape, Shape) { return 2 * args.work; }
  static void cpu(const Args& args, In<double> a, In<int> picks, Out<double> q, Out<double> r);
};

}  // namespace tesela::kernels
