#pragma once

#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/algorithms/support/solution.hpp>
#include <tesela/algorithms/support/named.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <span>
#include <vector>

namespace tesela {

enum class GlmMethod : std::uint8_t {
  seminormal,  ///< qr of A; of the rows of Q^T B that A leaves products alone, where these are well conditioned
  tiles,       ///< qr of A, then only the rows of Q^T B that A leaves
  gqr,         ///< the published way: all of the generalized QR factorization
  givens,      ///< as tiles, by plane rotations
};

/// All of them, as `tesela glm --method` names them.
std::span<const Named<GlmMethod>> glm_methods();

struct GlmOptions {
  GlmMethod method = GlmMethod::seminormal;
  /// What counts as zero: singular values of A, its columns scaled to unit norm, up to rcond times the largest; those
  /// of the rows of Q^T B that A leaves up to rcond ||B||_F. 0 means max(m, n, p) eps.
  double rcond = 0;
  QrOptions qr = {};                      ///< of all but givens
  GivensOptions givens = {};              ///< of givens
  std::vector<index_t> column_ends = {};  ///< of A: as QrOptions::ends
  TileShape tile = {0, 0};                ///< of B's part, transposed, which is factored; 0 x 0: what suits the workers
  bool multipliers = false;               ///< whether they are wanted
  bool keep_spread = false;               ///< for covariance()
};

template <class T>
struct Glm : Solution<T> {
  HostMatrix<T> U;  ///< p x r, likewise
  /// Of each right-hand side, m x r if asked for: A^T lambda = 0 and B^T lambda = u, lambda = 2^exponent times the
  /// column here.
  HostMatrix<T> multipliers;
  std::vector<int> multiplier_exponents;
  /// If asked for, where A has rank n: L = R^-1 B1 Q', n x (p - rank_b), where Q' has orthonormal columns that span the
  /// null space of B2 (R^-1 S11 by gqr). L L^T is x's covariance for a u of variance 1, whatever B's rank.
  HostMatrix<T> spread;

  std::vector<bool> consistent;   ///< each right-hand side
  std::vector<double> distances;  ///< of each from what A x + B u can be; below its tolerance where consistent
  /// max(m, p) eps (sum_j ||a_j|| |x_j| + ||B2|| ||u|| + ||b||), with sum_j ||b_j|| |u_j| for ||B2|| ||u|| where B's
  /// columns differ in size; an rcond that was given adds what it cut.
  std::vector<double> tolerances;
  index_t rank_b = 0;      ///< Rank of B2, the m - rank rows of Q^T B that A leaves
  double condition_b = 1;  ///< Condition number of B2 with rows of unit norm: an estimate, or as ols.
  /// ||b - A x - B u|| measured on the factored problem, over what the tolerance is made of.
  Measured backward_error = {};
  GlmMethod used = GlmMethod::tiles;  ///< where the one asked for does not suit the problem, another
};

/// The general Gauss-Markov linear model, LAPACK ggglm: min ||u||_2 subject to b = A x + B u for each column b of the
/// right-hand sides, A m x n and B m x p, any m, n and p. With A = Q [R; 0], Q^T B = [B1; B2] and Q^T b = [c1; c2], u
/// is the solution of least norm of B2 u = c2, and R x = c1 - B1 u. Where cond(B2) is below 3000 (in single precision
/// below 290) and Q^T B is one row of tiles, u = B2^T w with B2 B2^T w = c2 by Cholesky, corrected until what is left
/// of c2 is rounding; elsewhere, and by tiles, u comes from QR of B2^T. (gqr: Q^T B V = S, v = V^T u is zero but for
/// its last m - n elements v2, S22 v2 = c2, R x = c1 - S12 v2.)
///
/// A's rank is decided first, on columns scaled to unit norm: of rank k, B2 has m - k rows, and x is of least norm.
/// Where B2 has not full row rank (p < m - k, or B B^T singular), c2 lies in its range to the tolerance or the status
/// is inconsistent. Where norms of B's columns differ by more than 2^6, B2's rank is that of columns of one size, and
/// each column has errors of its own size; this part runs on the host. Powers of two as factors of A, B or b are those
/// of X and U, and change nothing else.
///
/// If the sizes of B's rows differ by more than 2^13, in single precision 2^6, equations (rows of A, B and b) are first
/// divided by the sizes of B's rows; distances and tolerances are in these units. If A's rows then differ as much,
/// equations are known to very different precisions: A is factored on the host, rows sorted by size and columns pivoted
/// (Cox and Higham 1998), each equation has errors as small as itself, and A's rank is the rank of A with its rows
/// scaled to one size.
///
/// Inserts into the graph and waits for it. A, B and b are overwritten; their tile rows are the same. For givens these
/// have one tile row. Throws ArgumentError otherwise, and as Graph::wait does. Source: Paige, "Fast numerically stable
/// computations for generalized linear least squares problems" (1979); Anderson, Bai and Dongarra (1992).
template <class T>
[[nodiscard]] Glm<T> glm(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& b,
                         const GlmOptions& options = {});

/// How A and B are best cut.
struct GlmTiles {
  TileShape a, b;
};
GlmTiles suitable_glm_tiles(const Runtime& runtime, GlmMethod method, index_t m, index_t n, index_t p);

}  // namespace tesela
