#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_refinement.hpp>

namespace tesela {

/// Options of ToeplitzLookahead.
struct LookaheadOptions {
  index_t largest_block = 128;  ///< most orders that one step passes
};

/// The inverse of a real Toeplitz matrix, symmetric or not, in 4 n^2 flops on a core: Levinson's recursion that passes
/// singular and almost singular leading minors in larger steps.
///
/// Method  see kernels::LookaheadRecursion. The recursion breaks down only if no leading minor of `largest_block`
///         orders in a row is nonsingular, or if T is singular to working precision. Solves need some Fourier
///         transforms, then iterative refinement. Recursion and refinement use double precision for every T.
template <class T>
class ToeplitzLookahead {
 public:
  /// Inserts the recursion for the matrix with first column c and first row r, n x 1; r(0) is not read. Throws
  /// ArgumentError for other shapes.
  ToeplitzLookahead(Graph& g, const HostMatrix<T>& c, const HostMatrix<T>& r, const LookaheadOptions& options = {});
  /// Inserts it for T - sigma I.
  ToeplitzLookahead(Graph& g, const Toeplitz<T>& A, T sigma, const LookaheadOptions& options = {});

  index_t n() const { return n_; }

  /// Inserts B = T^-1 B; arguments, status and exceptions as GohbergSemencul::solve.
  void solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
             const ToeplitzRefinement& refinement = {}) const;

  /// Returns an estimate, from below, of ||T||_1 ||T^-1||_1 (norm1_estimate of T^-1 J, J the reversal, which is
  /// symmetric), by some solves on the calling thread; waits for the recursion. NaN after a breakdown, or if the solves
  /// are too inexact.
  double condition(Runtime& runtime) const;

  /// Return the size of the largest step, and the negative eigenvalues of a symmetric matrix; wait for the recursion.
  index_t largest_step() const;
  index_t negative() const;

 private:
  index_t n_;
  int exponent_ = 0;
  double norm_ = 0, one_norm_ = 0;
  TileMatrix<double> t_, generator_, report_;
};

}  // namespace tesela
