#pragma once

#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace tesela {

/// How a least-squares problem is regularized.
enum class Regularization : std::uint8_t {
  ridge,     ///< min ||A x - b||_2^2 + lambda ||x||_2^2
  truncated  ///< min ||A_k x - b||_2 with the least ||x||_2, A_k of rank k with the k largest singular values of A
};

/// Options of regularized_least_squares.
struct RegularizedOptions {
  Regularization kind = Regularization::ridge;  ///< the problem
  /// lambda, at least 0, or k from 0 to min(m, n). Empty: for each column of B the minimum of generalized
  /// cross-validation.
  std::optional<double> parameter = {};
  bool intercept = false;     ///< whether a constant is added to A x, which nothing penalizes
  OlsOptions reduction = {};  ///< how [A | B] is reduced to its triangle. Singular values up to rcond times the largest
                              ///< count as zero; the columns of A are not scaled
};

/// A value of the generalized cross-validation G = m ||b - A x||^2 / (m - d)^2 with d effective degrees of freedom.
struct GcvPoint {
  double parameter;  ///< lambda, or k
  double gcv;        ///< G
};

/// The regularized fit of one column of B.
struct RegularizedFit {
  double parameter = 0;         ///< lambda, infinite or 0 beyond the range of double; or k, at most the rank
  double root = 0;              ///< the root of lambda, which has the size of A's values; 0 for k
  double gcv = 0;               ///< G; NaN if d = m
  double effective_df = 0;      ///< d = sum s_i^2 / (s_i^2 + lambda), or k, and 1 for an intercept
  double residual_norm = 0;     ///< ||b - A x - intercept||_2
  double intercept = 0;         ///< the constant
  bool at_end = false;          ///< whether G still decreases at the largest lambda: x is almost 0
  std::vector<GcvPoint> curve;  ///< ascending in lambda or k; empty for a given one
};

/// Result of regularized_least_squares.
template <class T>
struct Regularized {
  HostMatrix<T> X;                       ///< n x r; 0 x 0 if there is no solution
  SolveStatus status = SolveStatus::ok;  ///< ok; not_finite; inaccurate; rank_deficient if lambda is 0 and X not unique
  index_t rank = 0;                      ///< number of singular values that do not count as zero
  std::vector<double> values;            ///< singular values of A, about its means with an intercept; descending
  std::vector<RegularizedFit> fits;      ///< one for each column of B
  HostMatrix<double> V;                  ///< n x rank, the right singular vectors
  double cut = 0;                        ///< norm of the values that count as zero, over ||A||_F
  Measured backward_error = {};          ///< of the problem that is reduced to the triangle; NaN if not finite
};

/// Solves the ridge regression or the truncated least-squares problem, column by column, for any m x n A, from one
/// singular value decomposition. If the values would give X fewer than eight digits, ridge uses the QR factorization of
/// R above sqrt(lambda) I.
///
/// a, b     m x n and m x r, on the host or on a device; only read.
/// Returns  X, for each column the parameter with its generalized cross-validation, and a status.
/// Throws   ArgumentError if the shapes do not conform, and for a parameter or rcond out of range.
/// Waits    for the graph.
/// Method   With an intercept A and B are centred. The graph reduces [A | B] to its triangle by any method of ols if m
///          >= n; svd decomposes R. A minimum of G is found on a grid in log lambda and refined by golden sections.
///          Sources: Golub, Heath and Wahba, "Generalized cross-validation as a method for choosing a good ridge
///          parameter"; Hansen, "Rank-Deficient and Discrete Ill-Posed Problems". There are no standard errors: X is
///          biased, and its bias is unknown.
template <class T>
[[nodiscard]] Regularized<T> regularized_least_squares(Runtime& runtime, MatrixView<T> a, MatrixView<T> b,
                                                       const RegularizedOptions& options = {});

/// Solves it with the options of a graph.
template <class T>
[[nodiscard]] Regularized<T> regularized_least_squares(Graph& g, MatrixView<T> a, MatrixView<T> b,
                                                       const RegularizedOptions& options = {});

/// Solves it by tall_skinny for an A in a file, which is read once; without an intercept.
template <class T>
[[nodiscard]] Regularized<T> regularized_least_squares(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B,
                                                       const RegularizedOptions& options = {});

}  // namespace tesela
