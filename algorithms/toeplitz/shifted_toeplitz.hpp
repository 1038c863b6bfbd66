#pragma once

#include <tesela/algorithms/support/insert_or_run.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_refinement.hpp>
#include <tesela/codelets/toeplitz/cauchy_solve.hpp>

#include <cmath>

namespace tesela {

/// T - sigma I for solvers in the sine basis: a Toeplitz matrix at size 1, its Cauchy-like blocks, and the scale of
/// their pivots and residuals.
template <class T>
struct ShiftedToeplitz {
  /// Throws ArgumentError if n < 1 or a number of T - sigma I is not finite.
  ShiftedToeplitz(Graph& g, const Toeplitz<T>& A, T sigma)
      : matrix(g, checked(shifted_column(A, sigma))),
        norm(matrix.unit_norm()),
        blocks_(g.runtime(), A.n(), 3, {A.n(), 3}, "C"),
        tables_(g.runtime(), kernels::cauchy_tables(A.n()).rows, 6, {kernels::cauchy_tables(A.n()).rows, 6}, "tables") {
    insert_or_run<kernels::ToeplitzToCauchy<T>>(g, {}, {}, matrix.tile(), blocks());
    insert_or_run<kernels::CauchyTables<T>>(g, {}, {A.n()}, tables());
  }

  Tile<T> blocks() const { return blocks_(0, 0); }
  Tile<T> tables() const { return tables_(0, 0); }  ///< tables of the sine basis

  /// Returns the arguments of a solve with this refinement.
  kernels::CauchySolveArgs<T> solve_args(const ToeplitzRefinement& refinement) const {
    // If sigma is an eigenvalue as LAPACK rounds it, about 95% of random matrices of order 1000 have a pivot below
    // this.
    const double least = 16 * static_cast<double>(std::numeric_limits<T>::epsilon()) * norm;
    return {refinement.args<T>(matrix.exponent(), norm), least};
  }

  Toeplitz<T> matrix;
  double norm;  ///< norm of the matrix at size 1

 private:
  static HostMatrix<T> checked(HostMatrix<T> column) {
    if (column.rows() < 1) throw ArgumentError("ShiftedToeplitz", "A", "a matrix of order 0 has no inverse");
    for (index_t k = 0; k < column.rows(); ++k)
      if (!std::isfinite(column(k, 0)))
        throw ArgumentError("ShiftedToeplitz", k == 0 ? "t(0) - sigma" : "t",
                            "number " + std::to_string(k) + " is not finite");
    return column;
  }

  TileMatrix<T> blocks_, tables_;
};

}  // namespace tesela
