#pragma once

#include <tesela/algorithms/eigen/generalized_eig.hpp>
#include <tesela/algorithms/eigen/symmetric_inertia.hpp>

namespace tesela {

/// A generalized eigenproblem for inertia counts: the number of eigenvalues below sigma is the number of negative
/// pivots of M - sigma B, with M = A (kind 1) or M = B A B (kinds 2 and 3, whose eigenvalues satisfy B A B x = lambda B
/// x). The counts are independent of B's Cholesky factor, reductions and eigenvectors, so that they can certify
/// generalized_eig. They need a positive lower bound of B's eigenvalues, which six inertias of B - tau I prove in less
/// than 2 n^3 flops; B A B costs 4 n^3 flops.
template <class T>
class SymmetricPencil {
 public:
  /// A and B are n x n in square tiles of one size; the lower triangles are read. In kind 1 both must not change
  /// afterwards. Waits for the graph. Throws ArgumentError for other shapes.
  SymmetricPencil(Graph& g, GeneralizedKind kind, const TileMatrix<T>& A, const TileMatrix<T>& B);

  /// Returns the number of eigenvalues below sigma, which may be infinite. Only eigenvalues within the uncertainty of
  /// sigma may be miscounted. The uncertainty is infinite if B was not proved to be positive definite. Waits for the
  /// graph. Throws ArgumentError for NaN.
  SymmetricInertia inertia(Graph& g, double sigma) const;

  /// Returns the scale of the errors of generalized_eig, whose largest |value| is `norm`: norm times a bound of B's
  /// condition (kind 1), or a bound of ||A||_2 ||B||_2. Infinite if B was not proved to be positive definite.
  double error_scale(double norm) const;

 private:
  GeneralizedKind kind_;
  TileMatrix<T> m_, b_;  // the problem's values are the wanted ones times 2^-exponent_
  int exponent_ = 0;
  double m_error_ = 0;    // error of M in the 2-norm
  double least_ = 0;      // lower bound of B's eigenvalues
  double bound_ = 0;      // upper bound of |values|
  double condition_ = 0;  // upper bound of B's condition
};

/// Runs certify_spectrum with the inertia of a pencil.
template <class T>
Certificate certify_spectrum(Graph& g, const SymmetricPencil<T>& pencil, std::span<const double> values,
                             double accuracy, index_t shifts, std::uint64_t seed);

}  // namespace tesela
