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

// Steps of glm, for real and complex numbers. c is Q^H b, its columns scaled to size 1.

template <class T>
Glm<T> glm_not_finite(index_t r);

/// Returns the norms ||a_j||, or the largest finite number if the sum of squares overflows. Waits for A.
template <class T>
std::vector<real_t<T>> norms_of_columns(Graph& g, const TileMatrix<T>& A);

/// The size of a matrix and of its columns.
struct Size {
  double norm = 0;   ///< ||A||_F of the scaled A
  int exponent = 0;  ///< the original A is 2^exponent times the scaled A
  /// 2^of_columns[j] <= ||a_j|| < 2^(of_columns[j] + 1); the least exponent for zero columns
  std::vector<int> of_columns;
  std::vector<double> norms;  ///< ||a_j||
  /// Returns whether the sizes of columns differ enough that rounding errors of the largest hide the smallest.
  bool graded() const;
};

/// Scales A to size 1 by a power of two if squares of its elements, or their rounding errors, would leave the range of
/// T. Waits for A.
template <class T>
Size scale_into_range(Graph& g, const TileMatrix<T>& A);

/// Scales A as scale_into_range does, column by column if the columns differ too much for one exponent. Returns the
/// exponent of each column, 0 for an unscaled one.
template <class T>
std::vector<int> scale_columns_into_range(Graph& g, const TileMatrix<T>& A);

/// Sets the first rows of B to turn times them; op(turn) times them for c.
template <class T>
void transform_first_rows(const TileMatrix<T>& B, const HostMatrix<T>& turn);
template <class T>
void transform_first_rows(HostMatrix<T>& c, Op op, const HostMatrix<T>& turn);

template <class T>
HostMatrix<T> rows_of(const HostMatrix<T>& c, index_t first, index_t count);

/// Returns c - B u.
template <class T>
HostMatrix<T> minus_product(Graph& g, const HostMatrix<T>& c, const TileMatrix<T>& B, const LeastNorm<T>& s);

/// Solves as Algorithm 5.3 of Ramiro Sánchez 2010: B V = [0 S], B2 = [0 S22] V^H, v2 = S22^-1 c2, u = V [0; v2], B u =
/// S [0; v2]. Returns nothing if B2 has fewer columns than rows or S22 is not clearly regular. C2 has size 1.
template <class T>
std::optional<LeastNorm<T>> solve_by_rq(Graph& g, const RqFactorization<T>& of_b, const HostMatrix<T>& C2, double rcond,
                                        double norm_b, bool multipliers);

/// The solution of R x = right, of least norm if R is not regular.
template <class T>
struct SolvedTriangle {
  HostMatrix<T> X;             ///< row j in units of 2^-exponents[j]
  std::vector<int> exponents;  ///< exponents of the sizes of R's columns
  /// sum_j ||r_j|| |x_j| for each solution x, or ||R||_F ||x|| for an x of least norm in its original units
  std::vector<double> sizes;
  std::vector<double> errors;  ///< ||R x - right|| for each solution x
  bool original_units = true;
};
template <class T>
SolvedTriangle<T> solve_triangle(Graph& g, HostMatrix<T> R, HostMatrix<T> right, bool regular, double rcond);

/// A's R in its tiles.
template <class T>
struct TileR {
  ResidentTriangle<T> triangle;
  std::vector<real_t<T>> norms;  ///< norms of its columns
  double condition;              ///< condition with columns scaled to unit norm
};
/// Returns the R of A, m x n with n <= m, if it lies in one tile row and is clearly regular.
template <class T>
std::optional<TileR<T>> resident_r_if_regular(Graph& g, const QrFactorization<T>& of_a, double rcond);
template <class T>
std::optional<TileR<T>> resident_r_if_regular(Graph&, const GivensQr<T>&, double) {
  return std::nullopt;
}
template <class T>
SolvedTriangle<T> solve_triangle(Graph& g, const TileR<T>& R, HostMatrix<T> right);

/// Properties of A's factorization that judge() needs.
struct FactorProperties {
  double cut = 0;             ///< norm of the block that the decision on A's rank dropped
  bool chosen_rcond = false;  ///< whether a right-hand side may be off by the dropped block
  bool graded = false;        ///< whether the first rows of c, up to A's rank, are in units of R's rows
  int exponent_below = 0;     ///< if graded, the exponent of errors in the other rows
};

/// Computes the backward error, distances, tolerances and the status. `e` is the output of minus_product.
template <class T>
void judge(Glm<T>& answer, const LeastNorm<T>& s, const SolvedTriangle<T>& x, const HostMatrix<T>& c,
           const HostMatrix<T>& e, Shape a, const Size& b, const FactorProperties& factors);

/// Divides row i by 2^exponents[i], for the rows that have an exponent.
template <class T>
void divide_rows(HostMatrix<T>& X, const std::vector<int>& exponents);

/// Returns X with row j moved to row places[j]; X itself if `places` is empty.
template <class T>
HostMatrix<T> with_rows_at(HostMatrix<T> X, const std::vector<index_t>& places);

/// Returns the first n rows of S of B V = [0 S] without the columns that belong to the other rows.
template <class T>
HostMatrix<T> beyond(Graph& g, const RqFactorization<T>& of_b, index_t n);

/// Returns 2^exponent R^-1 K.
template <class T>
HostMatrix<T> spread_of(Graph& g, HostMatrix<T> R, HostMatrix<T> K, int exponent, const std::vector<int>& of_columns);

/// Computes X = Q X.
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
