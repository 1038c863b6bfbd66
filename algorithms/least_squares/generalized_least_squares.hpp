#pragma once

#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <string>
#include <vector>

namespace tesela {

/// Thrown for a covariance that is indefinite or not symmetric (not Hermitian); names the pivot or the entry.
class CovarianceError : public ArgumentError {
 public:
  /// Makes the message "`before` 3 `after`", or "`before` (3, 4) `after`" if `column` is not negative. Both indices
  /// count from 0.
  CovarianceError(const char* routine, std::string before, index_t row, index_t column, std::string after);
  /// Returns the message with rows and columns counted from `first`; what() counts them from 1.
  std::string problem(index_t first) const { return words(before_, row_, column_, after_, first); }

 private:
  static std::string words(const std::string& before, index_t row, index_t column, const std::string& after,
                           index_t first);
  std::string before_, after_;
  index_t row_, column_;
};

/// The method that the covariance selected.
enum class CovariancePath : std::uint8_t {
  rows,      ///< rows are scaled as by `wls`: the covariance is diagonal
  whitened,  ///< [A | b] is divided by the factor, then `ols`: the factor is well conditioned
  /// `glm`, without division: the covariance is singular or ill conditioned, or equations differ much in precision
  model,
};

/// Returns "rows", "whitened" or "model".
const char* description(CovariancePath path);

/// Result of gls_factor and gls_covariance.
template <class T>
struct GeneralizedLeastSquares : LeastSquares<T> {
  CovariancePath path = CovariancePath::whitened;
  /// Condition number of the covariance's factor, estimated in the 1-norm. If `path` is `model`, it is
  /// Glm::condition_b, which is infinite or above 1 / eps for a singular covariance.
  double factor_condition = 1;
  /// Rank of the covariance: the number of pivots in Cholesky's factorization of S, or of nonzero elements of a
  /// diagonal F, or of singular values of F above m eps times the largest (rows and columns scaled to one size).
  index_t covariance_rank = 0;
  HostMatrix<T> U = {};  ///< errors u of the model b = A x + F u
  /// As in Glm, for `path` = `model` and on request: A^H lambda = 0 and F F^H lambda = b - A x.
  HostMatrix<T> multipliers = {};
  std::vector<int> multiplier_exponents = {};
  HostMatrix<T> spread = {};
  std::vector<double> distances;  ///< distance of each right-hand side from the range of [A F]; 0 if consistent
};

/// Solves the generalized least-squares problem X = argmin ||F^-1 (A x - b)||_2 column by column, for errors of
/// covariance F F^H, real or complex.
///
/// A, B     m x n and m x r as for `ols`; overwritten.
/// F        m x m, also singular; overwritten.
/// Returns  X and status as `ols`; residual_norms are ||F^-1 (A x - b)||_2. The triangle is kept on the paths `rows`
///          and `whitened`, the spread on `model`.
/// Throws   ArgumentError if shapes do not conform.
/// Waits    for the graph.
/// Method   A diagonal F scales rows. Otherwise rows of F, A and b are divided by the sizes of F's rows. If F's
///          condition number is then below eps^(-1/3) and A's rows do not differ much in size, [A | b] is divided by F
///          (triangular solves if F is a triangle, LU otherwise) and passed to `ols`; the backward error may grow by
///          the condition number. In all other cases `glm` solves the model b = A x + F u. Powers of two as factors of
///          A, b or F change results by powers of two only.
template <class T>
[[nodiscard]] GeneralizedLeastSquares<T> gls_factor(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                                    HostMatrix<T> F, const OlsOptions& options = {});

/// Solves the same problem for the covariance S = F F^H, m x m. F is the Cholesky factor of S. If a pivot is at most m
/// eps times the largest variance, F is the m x rank factor of Cholesky's factorization with diagonal pivoting. Throws
/// CovarianceError, with the worst entry or pivot, if S is not symmetric (Hermitian) to m eps sqrt(s_ii s_jj) or is
/// indefinite.
template <class T>
[[nodiscard]] GeneralizedLeastSquares<T> gls_covariance(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                                        HostMatrix<T> S, const OlsOptions& options = {});

/// Solve the problems for matrices in memory: they choose the method and the tiles, and wait. a and b may be on a
/// device; they are overwritten.
template <class T>
[[nodiscard]] GeneralizedLeastSquares<T> gls_factor(Runtime& runtime, MatrixView<T> a, MatrixView<T> b, HostMatrix<T> F,
                                                    const OlsOptions& options = {});
template <class T>
[[nodiscard]] GeneralizedLeastSquares<T> gls_covariance(Runtime& runtime, MatrixView<T> a, MatrixView<T> b,
                                                        HostMatrix<T> S, const OlsOptions& options = {});

}  // namespace tesela
