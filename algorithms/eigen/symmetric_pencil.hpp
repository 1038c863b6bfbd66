#pragma once

#include <tesela/algorithms/eigen/generalized_eig.hpp>
#include <tesela/algorithms/eigen/symmetric_inertia.hpp>

namespace tesela {

/// A generalized problem as its inertia is counted: as many eigenvalues are below sigma as M - sigma B has negative
/// pivots, with M = A (kind 1) or B A B (2 and 3, which have the eigenvalues of B A B x = lambda B x). It knows nothing
/// of B's Cholesky factor, of reductions and eigenvectors, so it proves what generalized_eig finds. What it needs to
/// know of B, that no eigenvalue is less than some number above zero, it proves by inertias of B - tau I: six of them
/// and less than 2 n^3 flops; B A B takes 4 n^3.
template <class T>
class SymmetricPencil {
 public:
  /// A and B are n x n in square tiles that cut alike, of which the lower triangle is read; in kind 1 both must stay as
  /// they are. Waits. Throws ArgumentError for other shapes.
  SymmetricPencil(Graph& g, GeneralizedKind kind, const TileMatrix<T>& A, const TileMatrix<T>& B);

  /// How many eigenvalues are below sigma, which may be infinite; right but for those that are within the uncertainty
  /// of it. That is infinite where B was not proved to be positive definite. Waits. Throws ArgumentError for NaN.
  SymmetricInertia inertia(Graph& g, double sigma) const;

  /// What errors of generalized_eig's values are in proportion to, where the largest of them is `norm` in magnitude:
  /// that times a bound of B's condition (kind 1), or a bound of ||A||_2 ||B||_2. Infinite as above.
  double error_scale(double norm) const;

 private:
  GeneralizedKind kind_;
  TileMatrix<T> m_, b_;  // of the problem whose values are those wanted, times 2^-exponent_
  int exponent_ = 0;
  double m_error_ = 0;    // of M, in the 2-norm
  double least_ = 0;      // no eigenvalue of B is less
  double bound_ = 0;      // no value is larger in magnitude
  double condition_ = 0;  // of B, at most
};

/// certify_spectrum by the pencil's inertia.
template <class T>
Certificate certify_spectrum(Graph& g, const SymmetricPencil<T>& pencil, std::span<const double> values,
                             double accuracy, index_t shifts, std::uint64_t seed);

}  // namespace tesela
