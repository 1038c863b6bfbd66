#pragma once

#include <tesela/algorithms/least_squares/generalized_least_squares.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <string>
#include <vector>

namespace tesela::detail {

// Factors of covariances, real or complex, in host memory. Sizes are near 1.

enum class Structure : std::uint8_t { diagonal, upper, lower, full };

template <class T>
Structure structure_of(const HostMatrix<T>& F);

/// Returns F's condition number; if F is well conditioned for a problem of this size, computes X = F^-1 X.
template <class T>
double divide_if_well_conditioned(Graph& g, Structure structure, const HostMatrix<T>& F, HostMatrix<T>& X,
                                  index_t size);

/// Returns the rank of F, m x m: the number of singular values above m eps times the largest, its columns scaled to one
/// size. Rows have one size. `condition` is F's.
template <class T>
index_t rank_of_factor(const HostMatrix<T>& F, double condition);

/// Returns whether [A | b] may be divided by a factor of this condition with errors below useful_bound; `size` is the
/// larger of A's rows and columns. With `of_covariance` the factor is a covariance's Cholesky factor, whose errors grow
/// with the square of its condition.
template <class T>
bool well_conditioned(index_t size, double condition, bool of_covariance = false);

/// Throws CovarianceError if 2^exponent S is not symmetric, or not Hermitian.
template <class T>
void require_symmetric(const char* routine, const HostMatrix<T>& S, int exponent);

/// Returns the error for an invalid pivot of 2^exponent S, or for an invalid entry if `column` is not negative. The
/// message has the value, of a complex number its magnitude.
template <class T>
CovarianceError indefinite(const char* routine, const std::string& what, index_t row, index_t column, T value,
                           int exponent);

/// F with F F^H = S, m x rank: explicit or, if S is clearly definite, F = diag(2^units) R^H.
template <class T>
struct CovarianceFactor {
  HostMatrix<T> F;              ///< F, or R: upper triangular with undefined elements below its diagonal
  std::vector<int> units = {};  ///< exponents of R's columns; empty for an explicit F
  double condition = 1;         ///< condition of R

  bool triangular() const { return !units.empty(); }
};

/// Factors 2^exponent S by Cholesky, with pivoting if a minor is not clearly positive; reads the upper triangle. Throws
/// CovarianceError if S is indefinite.
template <class T>
CovarianceFactor<T> factor_covariance(Graph& g, const char* routine, HostMatrix<T> S, int exponent);

/// Returns F explicitly.
template <class T>
HostMatrix<T> written_out(CovarianceFactor<T> factor);

/// Computes X = F^-1 X for a triangular factor.
template <class T>
void divide(Graph& g, const CovarianceFactor<T>& factor, HostMatrix<T>& X);

}  // namespace tesela::detail
