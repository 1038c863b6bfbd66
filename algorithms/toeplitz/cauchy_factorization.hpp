#pragma once

#include <tesela/algorithms/toeplitz/shifted_toeplitz.hpp>
#include <tesela/codelets/toeplitz/cauchy_factor.hpp>

#include <array>

namespace tesela {

/// T - sigma I as L D L^T of its two Cauchy-like blocks in the sine basis (codelets/toeplitz/cauchy.hpp), of orders
/// ceil(n / 2) and floor(n / 2), each from its generators in O(n^2) with diagonal pivoting. The factors are dense, n^2
/// / 2 numbers in two tiles, and serve every solve: sine transforms of the columns, two triangular solves of half the
/// size and a diagonal scaling for each block, n^2 flops a column and more in BLAS 3 the more columns there are, and
/// iterative refinement as in CauchyInverse. It fails where CauchyInverse does but survives larger conditions.
template <class T>
class CauchyFactorization {
 public:
  /// Inserts the two factorizations. Throws ArgumentError where n < 1 or a number of T - sigma I is not finite.
  CauchyFactorization(Graph& g, const Toeplitz<T>& A, T sigma);

  index_t n() const { return shifted_.matrix.n(); }

  /// B <- (T - sigma I)^-1 B, with what is said at CauchyInverse::solve.
  void solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
             const ToeplitzRefinement& refinement = {}) const;

  /// An estimate of ||T - sigma I||_1 ||(T - sigma I)^-1||_1, from below (norm1_estimate), by some solves without
  /// refinement; waits for them. Infinite where there is no inverse.
  double condition(Runtime& runtime) const;

  /// What the factorizations said, as CauchyInverse::report, in two tiles. Their negative pivots are T's eigenvalues
  /// below sigma.
  const TileMatrix<double>& report() const { return report_; }

 private:
  void insert(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
              const kernels::CauchySolveArgs<T>& args) const;

  ShiftedToeplitz<T> shifted_;
  std::array<TileMatrix<T>, 2> factors_;
  TileMatrix<double> report_;
};

}  // namespace tesela
