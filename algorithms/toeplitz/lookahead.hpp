#pragma once

#include <tesela/algorithms/toeplitz/gohberg_semencul.hpp>

namespace tesela {

/// Options of ToeplitzLookahead.
struct LookaheadOptions {
  index_t largest_block = 128;  ///< most orders that one step passes
};

/// The inverse of a Toeplitz matrix, real or complex, as Fourier transforms of four vectors in double precision, which
/// a derived class computes (kernels::LookaheadInverse).
template <class T>
class TransformedInverse {
 public:
  index_t n() const { return n_; }  ///< order of the matrix

  /// Inserts B = T^-1 B with iterative refinement in double precision; arguments, status and exceptions as
  /// GohbergSemencul::solve.
  void solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
             const ToeplitzRefinement& refinement = {}) const;

  /// Returns an estimate, from below, of ||T||_1 ||T^-1||_1 (norm1_estimate of T^-1 J, J the reversal, which is
  /// symmetric), by some solves on the calling thread; waits for the recursion. NaN after a breakdown, or if the solves
  /// are too inexact.
  double condition(Runtime& runtime) const;

 protected:
  using Wide = with_parts<T, double>;

  /// Copies the first column c and the first row r, n x 1, at size 1; r(0) is not read. Throws ArgumentError for other
  /// shapes.
  TransformedInverse(Graph& g, const char* routine, const HostMatrix<T>& c, const HostMatrix<T>& r);
  /// Computes the norms of T, on the calling thread while the recursion runs.
  void measure();

  index_t n_;
  int exponent_ = 0;
  double norm_ = 0, one_norm_ = 0;
  TileMatrix<Wide> t_, generator_;
  TileMatrix<double> report_;  ///< kernels::LookaheadReport
};

/// The inverse of a Toeplitz matrix, symmetric or not, in 4 n^2 operations on a core: Levinson's recursion that passes
/// singular and almost singular leading minors in larger steps.
///
/// Method  see kernels::LookaheadRecursion. The recursion breaks down only if no leading minor of `largest_block`
///         orders in a row is nonsingular, or if T is singular to working precision. Solves need some Fourier
///         transforms, then iterative refinement. Recursion and refinement use double precision for every T, real or
///         complex.
template <class T>
class ToeplitzLookahead : public TransformedInverse<T> {
 public:
  /// Inserts the recursion for the matrix with first column c and first row r, n x 1; r(0) is not read. Throws
  /// ArgumentError for other shapes.
  ToeplitzLookahead(Graph& g, const HostMatrix<T>& c, const HostMatrix<T>& r, const LookaheadOptions& options = {});
  /// Inserts it for a real T - sigma I.
  ToeplitzLookahead(Graph& g, const Toeplitz<T>& A, T sigma,
                    const LookaheadOptions& options = {}) requires(!is_complex<T>);

  /// Return the size of the largest step, and the negative eigenvalues of a symmetric or Hermitian matrix; wait for the
  /// recursion.
  index_t largest_step() const;
  index_t negative() const;
};

/// The inverse of a complex Hermitian Toeplitz matrix in 2 n^2 operations, stored as transforms of its first column.
///
/// Method  the recursion of GohbergSemencul in double precision. With the first column x and w = (0, conj(x(n-1)), ...,
///         conj(x(1))) the formula of Gohberg and Semencul is x(0) T^-1 = L(x) L(x)^H - L(w) L(w)^H. It fails, with a
///         status, if a leading minor vanishes, or if it is too inexact to improve a solution.
template <class T>
class HermitianInverse : public TransformedInverse<T> {
 public:
  /// Inserts the recursion for the matrix with first column t, t(0) real. Throws ArgumentError if n exceeds
  /// levinson_most with Durbin's recursion.
  HermitianInverse(Graph& g, const HostMatrix<T>& t, InverseRecursion recursion = InverseRecursion::durbin);

  /// Returns the report of the recursion for T at size 1 (see LevinsonReport), levinson_report_rows x 1.
  const TileMatrix<double>& recursion() const { return recursion_; }

 private:
  TileMatrix<double> recursion_;
};

}  // namespace tesela
