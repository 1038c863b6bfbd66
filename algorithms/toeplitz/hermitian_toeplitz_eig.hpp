#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>

#include <span>
#include <vector>

namespace tesela {

/// Result of hermitian_toeplitz_eig.
template <class T>
struct HermitianToeplitzEig {
  SymmetricEigStatus status;
  std::vector<double> values;  ///< the selected eigenvalues, ascending; infinite beyond the range of T
  index_t first = 0;           ///< number of eigenvalues below values[0]
  /// Unit eigenvectors, n x values.size(), on request; the largest component of each is real and positive.
  HostMatrix<T> vectors;
  double norm = 0;  ///< ||T||_2, the largest |eigenvalue|
};

/// Computes the eigenvalues of a complex Hermitian Toeplitz matrix, and on request its eigenvectors.
///
/// t        first column; t(0) is real.
/// Returns  the selected eigenpairs and a status.
/// Throws   ArgumentError if t(0) is not real or t(k) is not finite, and for options as symmetric_eig.
/// Waits    for the graph.
/// Method   J T J = conj(T) with the reversal J (T is centrohermitian). With the unitary U whose columns are e(i) +
///          e(n-1-i) and i (e(i) - e(n-1-i)), over sqrt 2, and the middle unit vector, U^H T U is real and symmetric
///          (A. Lee, Linear Algebra Appl. 29, 1980): symmetric_eig solves it with a quarter of the operations, n^2
///          numbers. If T is real this matrix falls into two halves, which the sine transform makes Cauchy-like;
///          otherwise im(t) couples them, and neither the transform nor Lanczos on halves applies.
template <class T>
HermitianToeplitzEig<T> hermitian_toeplitz_eig(Runtime& runtime, std::span<const T> t,
                                               const SymmetricEigOptions& options = {});
/// Computes them with the options of a graph.
template <class T>
HermitianToeplitzEig<T> hermitian_toeplitz_eig(Graph& g, std::span<const T> t, const SymmetricEigOptions& options = {});

}  // namespace tesela
