#pragma once

#include <tesela/algorithms/toeplitz/shifted_toeplitz.hpp>
#include <tesela/codelets/toeplitz/superfast/superfast_solve.hpp>

#include <array>
#include <vector>

namespace tesela {

/// Returns the default tolerance of ToeplitzSuperfast, for conditions up to about 1e8 (single 1e3), and the tight one,
/// up to about 1e12 (single 1e5), at twice the time.
template <class T>
double superfast_tolerance(bool tight = false);

/// Returns an upper estimate of the bytes of ToeplitzSuperfast's factors.
template <class T>
constexpr double superfast_bytes(index_t n) {
  return 690 * static_cast<double>(n) * sizeof(T);
}

/// Factors of the two Cauchy-like blocks of any nonsingular T - sigma I as trees of skeletons, in O(n log^2 n)
/// operations and numbers (codelets/toeplitz/superfast/superfast.hpp).
///
/// Method  Each node of a tree compresses the rows of an index range and eliminates its own unknowns with partial
///         pivoting: a task per subtree, then a task per node up to the root. Singular leading minors are harmless. A
///         solve consists of sine transforms, substitution through the trees, again by subtrees, and iterative
///         refinement with products by T, which repairs the error of the compression. The trees
///         need cores, a GPU transforms and refines.
template <class T>
class ToeplitzSuperfast {
 public:
  /// Inserts the factorization. Throws ArgumentError if n < 1 or a number of T - sigma I is not finite.
  ToeplitzSuperfast(Graph& g, const Toeplitz<T>& A, T sigma, double tolerance = superfast_tolerance<T>());

  index_t n() const { return shifted_.matrix.n(); }

  /// Computes B = (T - sigma I)^-1 B; arguments and status as CauchyInverse::solve. A breakdown, a pivot that vanishes,
  /// has order n. Waits for the refinement steps, but not for the last tasks.
  void solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
             const ToeplitzRefinement& refinement = {}) const;

  /// Returns the condition as CauchyInverse::condition, by solves with as much refinement as it needs; NaN if their
  /// residuals stay too large.
  double condition(Runtime& runtime) const;

 private:
  class Columns;

  void factor(Graph& g, const kernels::SuperfastTree& tree);
  void insert(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
              const kernels::RefinedSolveArgs<T>& args) const;

  ShiftedToeplitz<T> shifted_;
  TileMatrix<T> w_;
  TileMatrix<double> sums_;
  std::array<kernels::SuperfastTree, 2> trees_;
  /// Of each tree: factors of the subtrees, then of the levels above up to the root, and the root's skeleton.
  std::array<std::vector<TileMatrix<T>>, 2> factors_;
  std::vector<TileMatrix<T>> roots_;
};

}  // namespace tesela
