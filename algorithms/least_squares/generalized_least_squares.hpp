#pragma once

#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <string>
#include <vector>

namespace tesela {

/// A covariance that is indefinite or not symmetric: names the pivot or the entry.
class CovarianceError : public ArgumentError {
 public:
  /// "`before` 3 `after`", or "`before` (3, 4) `after`" if `column` is not negative; both count from 0.
  CovarianceError(const char* routine, std::string before, index_t row, index_t column, std::string after);
  /// Returns the message with rows and columns counted from `first`; what() counts them from 1.
  std::string problem(index_t first) const { return words(before_, row_, column_, after_, first); }

 private:
  static std::string words(const std::string& before, index_t row, index_t column, const std::string& after,
                           index_t first);
  std::string before_, after_;
  index_t row_, column_;
};

/// The method that a covariance selected.
enum class CovariancePath : std::uint8_t {
  rows,      ///< it is diagonal: rows are scaled, as by `wls`
  whitened,  ///< its factor is well conditioned: [A | b] was divided by it, then `ols`
  model,     ///< it is singular or ill conditioned, or equations differ much in precision: `glm`, without a division
};

/// "rows", "whitened", "model".
const char* description(CovariancePath path);

template <class T>
struct GeneralizedLeastSquares : LeastSquares<T> {
  CovariancePath path = CovariancePath::whitened;
  /// Condition number of the covariance's factor, estimated in the 1-norm. On the path `model` it is Glm::condition_b,
  /// infinite or above 1 / eps for a singular covariance.
  double factor_condition = 1;
  /// Rank of the covariance: the number of pivots in Cholesky's factorization of S, of nonzero elements of a diagonal
  /// F, or else of F's singular values above m eps times the largest, rows and columns of one size.
  index_t covariance_rank = 0;
  HostMatrix<T> U = {};  ///< of the model: b = A x + F u
  /// Of the model, each if it was asked for, as Glm has them: A^T lambda = 0 and F F^T lambda = b - A x.
  HostMatrix<T> multipliers = {};
  std::vector<int> multiplier_exponents = {};
  HostMatrix<T> spread = {};
  std::vector<double> distances;  ///< of each right-hand side from the range of [A F]; 0 if consistent
};

/// Generalized least squares, X = argmin ||F^-1 (A x - b)||_2 column by column: the errors' covariance is F F^T, F m x
/// m. A diagonal F scales rows. Otherwise rows of F, A and b are divided by the sizes of F's rows. If F's condition
/// number is then below eps^(-1/3), and A's rows do not differ much in size, [A | b] is divided by F (triangular solves
/// if F is a triangle, LU otherwise) and passed to `ols`, with a backward error that may be larger by the condition
/// number; else, and for a singular F, the model b = A x + F u is passed to `glm`. residual_norms are ||F^-1 (A x -
/// b)||_2; a triangle is kept on the first two paths, a spread on the third. Powers of two as factors of A, b or F
/// change results by powers of two only.
///
/// A, B and F are overwritten; A and B as for `ols`. Throws ArgumentError for shapes that do not fit.
template <class T>
[[nodiscard]] GeneralizedLeastSquares<T> gls_factor(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                                    HostMatrix<T> F, const OlsOptions& options = {});

/// Solves the same problem by the covariance S = F F^T, m x m. F is Cholesky's factor or, if a pivot is at most m eps
/// times the largest variance, the m x rank factor of Cholesky's factorization with diagonal pivoting. Throws
/// CovarianceError, with the worst entry or pivot, for an S that is not symmetric to m eps sqrt(s_ii s_jj), or
/// indefinite.
template <class T>
[[nodiscard]] GeneralizedLeastSquares<T> gls_covariance(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                                        HostMatrix<T> S, const OlsOptions& options = {});

}  // namespace tesela
