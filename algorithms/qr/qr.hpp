#pragma once

#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/codelets/qr/tile_qr.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/matrix_view.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <string>
#include <type_traits>
#include <vector>

namespace tesela {

/// Options of qr.
struct QrOptions {
  std::string tree = "diagonal";  ///< order of the eliminations: a name of schedule.hpp
  index_t ib = 0;                 ///< inner block size; 0 selects it (wide with a GPU, narrow without)
  bool triangles = false;         ///< make every tile triangular first, so that only TT kernels join tiles
  /// Copies the vectors of each tile that a Tpqrt overwrites, so that their updates need not wait. On GPUs copies all
  /// vectors with explicit zeros, so that updates consist of products only. Costs one task and one tile per copy.
  /// Without effect if A exceeds the GPUs' memory.
  bool copy_vectors = true;
  /// A's staircase, empty or of n elements: column j is zero from row ends[j] on (column_ends computes it). Zero tiles
  /// are skipped.
  std::vector<index_t> ends = {};
  /// Runs all tasks that have a GPU variant on GPUs, whatever the scheduler's models predict. For a single
  /// factorization of a size without models, which the scheduler would measure on cores.
  bool on_gpu = false;
  /// With several ranks, the tree between ranks: "greedy", "binary" or "flat"; `tree` then joins the tiles within a
  /// rank. The order is "ranks:P:rank_tree:tree" for P rows of ranks (Runtime::grid), so that a column travels between
  /// two ranks only once. Empty: `tree` for all tiles.
  std::string rank_tree = {};
  /// Columns of a tile that are factored before the rest of the tile is updated; 0 selects all on cores, at most 2048
  /// on GPUs. Narrow steps in wide tiles make large products.
  index_t step = 0;
  TileShape tile = {0, 0};  ///< of a matrix in memory; 0 x 0 selects it
};

/// One step of a factorization: `width` columns whose pivots lie in one tile row.
struct QrStep {
  index_t head = 0, row = 0;    ///< tile row that holds the diagonal, and the step's first row within it
  index_t column = 0, col = 0;  ///< tile column, and the step's first column within it
  index_t width = 0;
  index_t begin = 0;  ///< first row and column in the whole matrix
};

/// One kernel of a factorization: Geqrt of tile row `row` (pivot < 0), or Tpqrt of it against tile row `pivot`.
struct QrTransformation {
  index_t step = 0, row = 0, pivot = -1;  ///< numbers of tile columns and rows, from 0
  bool triangle = false;                  ///< whether the tile of `row` is already triangular (TT)
};

/// A QR factorization: R in A's upper triangle, Q as Householder vectors in the rest of A and as separate block
/// factors. It shares A's tiles: A must not change while Q is needed.
template <class T>
class QrFactorization {
 public:
  /// Inserts C = op(Q) C (left; C is m x any, its rows cut as A's) or C = C op(Q) (right; C is any x m, its columns cut
  /// as A's rows). Throws ArgumentError if shapes or tilings do not conform, and for the transpose of a complex Q,
  /// whose adjoint is Op::conjugate.
  void apply(Graph& g, Side side, Op op, const TileMatrix<T>& C) const;
  /// Computes it for a matrix in memory; waits. Returns 1 + j if column j of the product is the first that is not
  /// finite.
  Status apply(Runtime& runtime, Side side, Op op, MatrixView<T> c) const;

  /// Inserts Q = the first Q.n() columns of the orthogonal factor (LAPACK orgqr): min(m, n) columns give the
  /// economy form, m the full one. Q is m x k with k <= m, its rows cut as A's. Throws ArgumentError otherwise.
  void form_q(Graph& g, const TileMatrix<T>& Q) const;
  /// Writes it to memory; waits. Returns 1 + j if column j of Q is the first that is not finite.
  Status form_q(Runtime& runtime, MatrixView<T> q) const;

  /// Inserts R = the upper trapezoid, zeros below. R is k x n with min(m, n) <= k <= m, cut as A. Throws ArgumentError
  /// otherwise.
  void extract_r(Graph& g, const TileMatrix<T>& R) const;

  const TileMatrix<T>& factors() const { return a_; }
  /// Return the rows and columns of A, and the inner block size.
  index_t m() const { return a_.m(); }
  index_t n() const { return a_.n(); }
  index_t ib() const { return ib_; }
  /// Returns the order of the eliminations, including the tree between ranks.
  const std::string& tree() const { return tree_; }

  const std::vector<QrStep>& steps() const { return steps_; }  ///< eliminations of tiles, in order
  /// Returns the kernels in the order of insertion. Q is the product of their orthogonal matrices in this order.
  const std::vector<QrTransformation>& transformations() const { return transformations_; }

 private:
  QrFactorization(Graph& g, const TileMatrix<T>& A, const QrOptions& options);
  template <class U>
  friend QrFactorization<U> qr(Graph&, const TileMatrix<U>&, const QrOptions&);

  struct Pass;
  const QrStep& step(const QrTransformation& h) const { return steps_[static_cast<std::size_t>(h.step)]; }

  TileMatrix<T> a_;
  std::string tree_;
  index_t width_;  // width of the widest step
  index_t ib_;
  std::vector<QrStep> steps_;
  std::vector<QrTransformation> transformations_;
  bool on_gpu_;
  TileMatrix<T> t_, tp_;               // block factors of each Geqrt and of each Tpqrt: tile (row, step)
  std::vector<TileMatrix<T>> copies_;  // copies of vectors, kept until the graph has run
};

/// Inserts the QR factorization A = Q R (LAPACK geqrf).
///
/// A        m x n in tiles of any shape; overwritten by R and the Householder vectors.
/// Returns  the factorization, which applies and forms Q and extracts R.
/// Throws   ArgumentError, with nothing inserted, for an unknown tree or rank_tree, a negative ib or step, a tile or
///          leading dimension beyond the 31 bits of BLAS, or `ends` of wrong length or range.
/// Waits    for earlier blocks of columns if A exceeds the GPUs' memory.
/// Method   Tiled QR (Bouwmeester, Jacquelin, Langou and Robert, "Tiled QR factorization algorithms") with compact WY
///          block reflectors (Schreiber and Van Loan).
template <class T>
[[nodiscard]] QrFactorization<T> qr(Graph& g, const TileMatrix<T>& A, const QrOptions& options = {});

/// The QR factorization of a matrix in memory.
template <class T>
struct FactoredQr {
  QrFactorization<T> factors;  ///< R and Q
  Status status;               ///< 1 + j: column j of R is the first that is not finite
};

/// Factors a matrix in memory: chooses the tiles, and waits.
///
/// a  m x n, on the host or on one device; overwritten by R and the Householder vectors. On the host a power of two
///    scales an A near the ends of the range.
template <class T>
[[nodiscard]] FactoredQr<T> qr(Runtime& runtime, MatrixView<T> a, const QrOptions& options = {});

/// Computes Q and R of a matrix in memory; waits. Returns 1 + j if column j of R is the first that is not finite.
///
/// a  m x n; overwritten, by R with zeros below the diagonal if q and r are empty.
/// q  m x k, the first k columns of the orthogonal factor, min(m, n) <= k <= m.
/// r  k x n.
template <class T>
[[nodiscard]] Status qr(Runtime& runtime, MatrixView<T> a, std::type_identity_t<MatrixView<T>> q,
                        std::type_identity_t<MatrixView<T>> r, const QrOptions& options = {});

/// Inserts A = R, with zeros below the diagonal, into the matrix that was factored. Q is lost. extract_r copies R into
/// another matrix instead.
template <class T>
void keep_r(Graph& g, const QrFactorization<T>& factorization);

/// Returns the tile shape for the QR factorization of an m x n matrix: for these workers with memory enough, or for a
/// Runtime, the memory of its GPUs, and real or `complex` elements. `from_host`: GPUs receive the matrix from the host
/// during the factorization.
TileShape qr_tile(const WorkerCounts& workers, index_t m, index_t n, bool from_host = false);
TileShape qr_tile(const Runtime& runtime, index_t m, index_t n, bool complex = false, bool from_host = false);

/// Returns the operations on which rates are based, for any method: 2 m n^2 - 2 n^3 / 3 for m >= n (LAPACK's count of
/// geqrf).
inline double qr_flops(index_t m, index_t n) {
  const auto rows = static_cast<double>(m), columns = static_cast<double>(n), k = static_cast<double>(m < n ? m : n);
  return 4 * rows * columns * k - 2 * (rows + columns) * k * k + 4 * k * k * k / 3;
}

/// Returns the memory that qr needs for an m x n matrix, and form_q for `q_columns` columns after it.
///
/// element  bytes of an element.
/// tile     tile shape of A.
/// Returns  memory on the host, including A and Q, and on GPUs, which are assumed to have equal shares.
/// Throws   ArgumentError for an unknown tree.
MemoryPlan plan_qr(const WorkerCounts& workers, Shape a, std::size_t element, TileShape tile, index_t q_columns,
                   const QrOptions& options = {});

}  // namespace tesela
