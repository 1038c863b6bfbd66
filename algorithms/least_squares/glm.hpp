#pragma once

#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/algorithms/support/named.hpp>
#include <tesela/algorithms/support/solution.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/matrix_view.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <span>
#include <vector>

namespace tesela {

/// How glm computes u.
enum class GlmMethod : std::uint8_t {
  /// QR of A, then corrected seminormal equations for u if B2 is well conditioned, else as `tiles`. Fastest; the
  /// default.
  seminormal,
  tiles,   ///< QR of A, then QR of the rows of Q^H B below A's rank
  gqr,     ///< Ramiro Sánchez 2010, Algorithm 5.3: the complete generalized QR factorization
  givens,  ///< as `tiles`, by plane rotations
};

/// Returns the methods with the names that `tesela glm --method` accepts.
std::span<const Named<GlmMethod>> glm_methods();

/// Options of glm.
struct GlmOptions {
  GlmMethod method = GlmMethod::seminormal;
  /// Threshold for zero: singular values of A (columns scaled to unit norm) up to rcond times the largest, and of B2 up
  /// to rcond ||B||_F. 0 selects max(m, n, p) eps.
  double rcond = 0;
  QrOptions qr = {};                      ///< for all methods except givens
  GivensOptions givens = {};              ///< for givens
  std::vector<index_t> column_ends = {};  ///< staircase of A: as QrOptions::ends
  TileShape tile = {0, 0};                ///< tile shape of the factored part of B, transposed; 0 x 0 selects it
  bool multipliers = false;               ///< whether to compute multipliers
  bool keep_spread = false;               ///< whether to keep the spread, for covariance()
};

/// Result of glm.
template <class T>
struct Glm : Solution<T> {
  HostMatrix<T> U;  ///< p x r; 0 x 0 as X
  /// Multipliers, m x r, on request: A^H lambda = 0 and B^H lambda = u, where lambda_k = 2^multiplier_exponents[k]
  /// times column k.
  HostMatrix<T> multipliers;
  std::vector<int> multiplier_exponents;
  /// On request, if A has rank n: L = R^-1 B1 Q', n x (p - rank_b), where the orthonormal columns of Q' span the null
  /// space of B2 (R^-1 S11 by gqr). L L^H is the covariance of x for a u of variance 1, whatever the rank of B.
  HostMatrix<T> spread;

  std::vector<bool> consistent;  ///< whether each right-hand side is consistent
  /// Distance of each right-hand side from the range of [A B]; below its tolerance if consistent.
  std::vector<double> distances;
  /// Tolerances max(m, p) eps (sum_j ||a_j|| |x_j| + ||B2|| ||u|| + ||b||). If B's columns differ in size, sum_j
  /// ||b_j|| |u_j| replaces ||B2|| ||u||. If x has the least ||x|| of many solutions, ||A||_F ||x|| replaces the first
  /// sum. A given rcond adds the norm that it cut.
  std::vector<double> tolerances;
  index_t rank_b = 0;      ///< rank of B2, the last m - rank rows of Q^H B
  double condition_b = 1;  ///< condition of B2 with rows of unit norm: an estimate, or as in ols
  /// ||b - A x - B u||, measured on the factored problem, relative to the sum in `tolerances`.
  Measured backward_error = {};
  GlmMethod used = GlmMethod::tiles;  ///< the method used; another one than requested if that does not suit the problem
};

/// Solves the general Gauss-Markov linear model: min ||u||_2 subject to b = A x + B u, for each right-hand side b
/// (LAPACK ggglm, for any m, n, p and ranks), for real and complex numbers.
///
/// A, B, b  m x n, m x p and m x r with equal tile rows (one tile row for givens); overwritten.
/// Returns  X, U, ranks, conditions, distances and the measured backward error; `status` reports whether X exists
///          and is accurate.
/// Throws   ArgumentError if shapes or tiles do not conform; as Graph::wait.
/// Waits    for the graph.
/// Method   A = Q [R; 0], Q^H B = [B1; B2], Q^H b = [c1; c2]; u is the solution of least norm of B2 u = c2, and R x =
///          c1 - B1 u. Source: Paige, "Fast numerically stable computations for generalized linear least squares
///          problems" (1979); Anderson, Bai and Dongarra (1992).
///
/// How u is computed:
/// - If cond(B2) < 3000 (single precision: 290) and Q^H B is one tile row, `seminormal` uses u = B2^H w with B2 B2^H w
///   = c2 by Cholesky, and corrects u until the residual of c2 is rounding.
/// - Otherwise, and by `tiles`, u comes from QR of B2^H.
/// - `gqr`: Q^H B V = S; v = V^H u is zero except for its last m - n elements v2; S22 v2 = c2, R x = c1 - S12 v2.
///
/// Ranks and scaling:
/// - The rank k of A is decided on columns scaled to unit norm. B2 has m - k rows, and x has the least norm.
/// - If B2 does not have full row rank (p < m - k, or B B^H is singular), the status is inconsistent unless c2 lies in
///   the range of B2 to the tolerance.
/// - If norms of B's columns differ by more than 2^6, the rank of B2 is decided on columns of one size, and errors are
///   relative to each column. This part runs on the host.
/// - If the sizes of B's rows differ by more than 2^13 (single precision: 2^6), equations (rows of A, B and b) are
///   first divided by the sizes of B's rows; distances and tolerances are in these units. If A's rows then differ as
///   much, A is factored on the host with rows sorted by size and columns pivoted (Cox and Higham 1998): errors are
///   relative to each equation, and A's rank is decided on rows of one size.
/// - Powers of two as factors of A, B or b change X and U by powers of two only.
template <class T>
[[nodiscard]] Glm<T> glm(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& b,
                         const GlmOptions& options = {});

/// Solves the problem for matrices in memory: chooses the tiles, and waits. a, b and y, the right-hand sides, may be on
/// a device; they are overwritten.
template <class T>
[[nodiscard]] Glm<T> glm(Runtime& runtime, MatrixView<T> a, MatrixView<T> b, MatrixView<T> y,
                         const GlmOptions& options = {});

/// Tile shapes a of A and b of B.
struct GlmTiles {
  TileShape a, b;
};
/// Returns the tile shapes for a method, an A of this shape and a B with p columns.
GlmTiles glm_tiles(const Runtime& runtime, GlmMethod method, Shape a, index_t p);

}  // namespace tesela
