#pragma once

#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/least_squares/glm.hpp>
#include <tesela/algorithms/least_squares/internal/kept_triangle.hpp>
#include <tesela/algorithms/least_squares/internal/row_system.hpp>
#include <tesela/algorithms/qr/rq.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace tesela::detail {

// Steps of glm. c is Q^T b, its columns of size 1.

template <class T>
Glm<T> glm_not_finite(index_t r);

/// ||a_j|| of each column; the largest number where the sum of its elements' squares is beyond it. Waits for A.
template <class T>
std::vector<T> norms_of_columns(Graph& g, const TileMatrix<T>& A);

/// How large a matrix is.
struct Size {
  double norm = 0;              ///< ||A||_F of what A is now
  int exponent = 0;             ///< A was 2^exponent times that
  std::vector<int> of_columns;  ///< ||a_j|| is from 2^of_columns[j] on below twice that; of columns of zeros the least
  std::vector<double> norms;    ///< ||a_j||
  /// Whether columns differ so much in size that rounding errors of the largest matter beside the smallest.
  bool graded() const;
};

/// Where A's elements are so large or small that squares, or what rounding leaves of them, would leave T's range,
/// brings A to size 1. Waits for A.
template <class T>
Size bring_into_range(Graph& g, const TileMatrix<T>& A);

/// The same, column by column where columns are too far apart for one exponent. Answers that of each, 0 where nothing
/// had to be done.
template <class T>
std::vector<int> bring_columns_into_range(Graph& g, const TileMatrix<T>& A);

/// The first rows of B = turn times them.
template <class T>
void turn_first_rows(const TileMatrix<T>& B, const HostMatrix<T>& turn);
template <class T>
void turn_first_rows(HostMatrix<T>& c, Op op, const HostMatrix<T>& turn);

template <class T>
HostMatrix<T> rows_of(const HostMatrix<T>& c, index_t first, index_t count);

/// c - B u.
template <class T>
HostMatrix<T> minus_product(Graph& g, const HostMatrix<T>& c, const TileMatrix<T>& B, const LeastNorm<T>& s);

/// The published way: B V = [0 S], B2 = [0 S22] V^T, v2 = S22^-1 c2, u = V [0; v2], B u = S [0; v2]. Nothing where B2
/// has fewer columns than rows or S22 is not clearly regular. C2 is of size 1.
template <class T>
std::optional<LeastNorm<T>> solve_by_rq(Graph& g, const RqFactorization<T>& of_b, const HostMatrix<T>& C2, double rcond,
                                        double norm_b, bool multipliers);

/// R x = right, of least norm where R is not regular.
template <class T>
struct SolvedTriangle {
  HostMatrix<T> X;             ///< row j in units of 2^-exponents[j]
  std::vector<int> exponents;  ///< of R's columns
  std::vector<double> sizes;   ///< of each column x: sum_j ||r_j|| |x_j|
  std::vector<double> errors;  ///< of each column x: ||R x - right||
  bool original_units = true;
};
template <class T>
SolvedTriangle<T> solve_triangle(Graph& g, HostMatrix<T> R, HostMatrix<T> right, bool regular, double rcond);

/// A's R where it was made.
template <class T>
struct KeptR {
  KeptTriangle<T> triangle;
  std::vector<T> norms;  ///< of its columns
  double condition;      ///< with columns of unit norm
};
/// Where the R of A, m x n with n <= m, lies in one row of tiles and is clearly regular; else nothing.
template <class T>
std::optional<KeptR<T>> kept_if_regular(Graph& g, const QrFactorization<T>& of_a, double rcond);
template <class T>
std::optional<KeptR<T>> kept_if_regular(Graph&, const GivensQr<T>&, double) {
  return std::nullopt;
}
template <class T>
SolvedTriangle<T> solve_triangle(Graph& g, const KeptR<T>& R, HostMatrix<T> right);

/// A's factorization as judge() needs it.
struct JudgedFactors {
  double cut = 0;             ///< norm of the block that the decision on A's rank dropped
  bool chosen_rcond = false;  ///< whether a right-hand side may be off by the dropped block
  bool graded = false;        ///< the first rows of c, as many as A's rank, are in units of R's rows
  int exponent_below = 0;     ///< then: the size of errors in the other rows
};

/// Computes the backward error, distances, tolerances and the status. `e` is the output of minus_product.
template <class T>
void judge(Glm<T>& answer, const LeastNorm<T>& s, const SolvedTriangle<T>& x, const HostMatrix<T>& c,
           const HostMatrix<T>& e, Shape a, const Size& b, const JudgedFactors& factors);

/// Divides row i by 2^exponents[i], for the rows that have an exponent.
template <class T>
void divide_rows(HostMatrix<T>& X, const std::vector<int>& exponents);

/// Returns X with row j moved to row places[j]; X itself without places.
template <class T>
HostMatrix<T> with_rows_at(HostMatrix<T> X, const std::vector<index_t>& places);

/// B V = [0 S]: the first n rows of S, without the last columns, as many as there are other rows.
template <class T>
HostMatrix<T> beyond(Graph& g, const RqFactorization<T>& of_b, index_t n);

/// 2^exponent R^-1 K.
template <class T>
HostMatrix<T> spread_of(Graph& g, HostMatrix<T> R, HostMatrix<T> K, int exponent, const std::vector<int>& of_columns);

/// X = Q X.
template <class T>
void apply_q(Graph& g, const auto& factors, index_t mb, HostMatrix<T>& X) {
  if (X.size() == 0) return;
  const auto x = TileMatrix<T>::map(g.runtime(), X.data(), X.rows(), X.cols(), X.ld(),
                                    {mb, std::min<index_t>(X.cols(), 256)}, "X");
  factors.apply(g, Side::left, Op::none, x);
  g.wait();
  x.bring_home();
}

}  // namespace tesela::detail
