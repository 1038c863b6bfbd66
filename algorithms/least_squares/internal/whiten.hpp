#pragma once

#include <tesela/algorithms/least_squares/generalized_least_squares.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <string>
#include <vector>

namespace tesela::detail {

// How covariances and their factors are taken apart, at home. Sizes are near 1.

enum class Structure : std::uint8_t { diagonal, upper, lower, full };

template <class T>
Structure structure_of(const HostMatrix<T>& F);

/// Returns F's condition number, and if F is well conditioned, makes X = F^-1 X.
template <class T>
double divide_if_well_conditioned(Graph& g, Structure structure, const HostMatrix<T>& F, HostMatrix<T>& X);

/// Returns the rank of F, m x m, of this condition number: the number of singular values above m eps times the largest,
/// its columns brought to one size. Rows have one size.
template <class T>
index_t rank_of_factor(const HostMatrix<T>& F, double condition);

/// Returns whether [A | b], m rows, may be divided by a factor of this condition with errors below useful_bound. With
/// of_covariance, by a covariance's Cholesky factor: errors grow with its condition squared.
template <class T>
bool well_conditioned(index_t m, double condition, bool of_covariance = false);

/// Throws CovarianceError if S is not symmetric.
template <class T>
void require_symmetric(const char* routine, const HostMatrix<T>& S);

/// Returns the error for an invalid pivot of 2^exponent S, or an invalid entry if `column` is not negative.
template <class T>
CovarianceError indefinite(const char* routine, const std::string& what, index_t row, index_t column, T value,
                           int exponent);

/// F with F F^T = S, m x rank, either explicit or, if S is clearly definite, as F = diag(2^units) R^T.
template <class T>
struct CovarianceFactor {
  HostMatrix<T> F;              ///< or R, upper triangular with anything below its diagonal
  std::vector<int> units = {};  ///< of R's columns; empty for an explicit F
  double condition = 1;         ///< of R

  bool triangular() const { return !units.empty(); }
};

/// Factors by Cholesky, with pivoting if a minor is not clearly positive. Reads the upper triangle of 2^exponent S.
/// Throws CovarianceError if it is indefinite.
template <class T>
CovarianceFactor<T> factor_covariance(Graph& g, const char* routine, HostMatrix<T> S, int exponent);

/// Returns the explicit F.
template <class T>
HostMatrix<T> written_out(CovarianceFactor<T> factor);

/// Computes X = F^-1 X for a triangular factor.
template <class T>
void divide(Graph& g, const CovarianceFactor<T>& factor, HostMatrix<T>& X);

}  // namespace tesela::detail
