#pragma once

#include <tesela/algorithms/toeplitz/shifted_toeplitz.hpp>
#include <tesela/codelets/toeplitz/cauchy_solve.hpp>

#include <array>

namespace tesela {

/// The factorizations L D L^T of the two Cauchy-like blocks of T - sigma I in the sine basis
/// (codelets/toeplitz/cauchy.hpp), of orders ceil(n / 2) and floor(n / 2).
///
/// Method  Each block is factored from its generators in O(n^2) with diagonal pivoting. The factors are dense, n^2 / 2
///         numbers in two tiles, and serve any number of solves. A solve consists of sine transforms, two triangular
///         solves of half the size and a diagonal scaling per block, n^2 flops per column (BLAS 3 with many columns),
///         and iterative refinement as in CauchyInverse. It fails for the same matrices as CauchyInverse, but tolerates
///         larger conditions.
template <class T>
class CauchyFactorization {
 public:
  /// Inserts the two factorizations. Throws ArgumentError if n < 1 or a number of T - sigma I is not finite.
  CauchyFactorization(Graph& g, const Toeplitz<T>& A, T sigma);

  index_t n() const { return shifted_.matrix.n(); }

  /// Inserts B = (T - sigma I)^-1 B; arguments and status as CauchyInverse::solve.
  void solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
             const ToeplitzRefinement& refinement = {}) const;

  /// Returns an estimate, from below, of ||T - sigma I||_1 ||(T - sigma I)^-1||_1 (norm1_estimate), by some solves
  /// without refinement; waits for them. Infinite if there is no inverse.
  double condition(Runtime& runtime) const;

  /// Returns the report of the factorizations, as CauchyInverse::report, in two tiles. The number of negative pivots is
  /// the number of T's eigenvalues below sigma.
  const TileMatrix<double>& report() const { return report_; }

 private:
  void insert(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
              const kernels::CauchySolveArgs<T>& args) const;

  ShiftedToeplitz<T> shifted_;
  std::array<TileMatrix<T>, 2> factors_;
  TileMatrix<double> report_;
};

}  // namespace tesela
