#pragma once

#include <tesela/codelets/qr/tile_qr.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <string>
#include <vector>

namespace tesela {

struct QrOptions {
  std::string tree = "diagonal";  ///< an order of schedule.hpp: which tile eliminates which
  index_t ib = 0;                 ///< inner block size; 0 chooses: wide with a GPU, narrow without
  bool triangles = false;         ///< make every tile triangular first, so that only TT kernels join tiles
  /// Copy the vectors of each tile that a Tpqrt changes afterwards, so that the updates from it need not wait (and on
  /// GPUs all of them, zeros written out, so that updates are nothing but products): a task and a tile more for each.
  bool copy_vectors = true;
  /// A's staircase, empty or of n elements: column j is zero from row ends[j] on (column_ends reads it). Tiles of zeros
  /// take no part.
  std::vector<index_t> ends = {};
  /// Where a GPU can run them, no tasks on cores, whatever the scheduler's models say: for one factorization of a size
  /// that they do not know yet, which they would learn from on cores.
  bool on_gpu = false;
  /// Among several ranks, where not empty: `tree` joins what a rank has of a column, and this the ranks: "greedy",
  /// "binary" or "flat", as the order ranks:P:rank_tree:tree, of P rows of ranks (Runtime::grid). So a column travels
  /// between two ranks but once.
  std::string rank_tree = {};
};

/// One step of a factorization: `width` columns that have their pivots in one tile row.
struct QrStep {
  index_t head = 0, row = 0;    ///< tile row that holds the diagonal, and the step's first row in it
  index_t column = 0, col = 0;  ///< tile column, and the step's first column in it
  index_t width = 0;
  index_t begin = 0;  ///< first row and column in the whole matrix
};

/// One kernel of a factorization: a Geqrt of tile row `row` (pivot < 0), or a Tpqrt of it against tile row `pivot`.
struct QrTransformation {
  index_t step = 0, row = 0, pivot = -1;
  bool triangle = false;
};

/// A QR factorization whose tasks stand in a graph: R in A's upper triangle, Q as Householder vectors in the rest of A
/// and block factors of its own. It shares A's tiles, so A must not change while Q is wanted.
template <class T>
class QrFactorization {
 public:
  /// Inserts C = op(Q) C (left; C is m x any, its rows cut as A's) or C = C op(Q) (right; C is any x m, its columns cut
  /// as A's rows). Throws ArgumentError when shapes or tilings do not conform.
  void apply(Graph& g, Side side, Op op, const TileMatrix<T>& C) const;

  /// Inserts Q = the first Q.n() columns of the orthogonal factor (LAPACK orgqr): Q.n() = min(m, n) is the economy
  /// form, m the full one. Q is m x k with k <= m, its rows cut as A's.
  void form_q(Graph& g, const TileMatrix<T>& Q) const;

  /// Inserts R = the upper trapezoid, zeros below. R is k x n with min(m, n) <= k <= m, cut as A.
  void extract_r(Graph& g, const TileMatrix<T>& R) const;

  const TileMatrix<T>& factors() const { return a_; }
  index_t m() const { return a_.m(); }
  index_t n() const { return a_.n(); }
  index_t ib() const { return ib_; }
  /// The order of eliminations, with what ranks made of it.
  const std::string& tree() const { return tree_; }

  const std::vector<QrStep>& steps() const { return steps_; }
  /// In the order of insertion: Q is the product of their orthogonal matrices in this order.
  const std::vector<QrTransformation>& transformations() const { return transformations_; }

 private:
  QrFactorization(Graph& g, const TileMatrix<T>& A, const QrOptions& options);
  template <class U>
  friend QrFactorization<U> qr(Graph&, const TileMatrix<U>&, const QrOptions&);

  struct Update;
  void update(Graph& g, const QrTransformation& h, const Update& u) const;
  void factor(Graph& g, const QrOptions& options);
  Tile<T> scratch(Graph& g, index_t size, index_t tile) const;
  Priority placed(Priority priority) const;

  TileMatrix<T> a_;
  std::string tree_;
  std::vector<QrStep> steps_;
  std::vector<QrTransformation> transformations_;
  index_t width_;  // of the widest step
  index_t ib_;
  bool on_gpu_;
  TileMatrix<T> t_, tp_;               // block factors of each Geqrt and of each Tpqrt: tile (row, step)
  std::vector<TileMatrix<T>> copies_;  // of vectors: they live until the graph has run
};

/// LAPACK geqrf over tiles: A = Q R in place, for any m x n and any tile shape (Bouwmeester, Jacquelin, Langou and
/// Robert, "Tiled QR factorization algorithms"; compact WY: Schreiber and Van Loan). Inserts into the graph and
/// returns. Throws ArgumentError, with nothing inserted, for an unknown tree or rank_tree, a negative ib, and a tile or
/// leading dimension beyond BLAS's 31 bits, and for ends of another number or out of range.
template <class T>
[[nodiscard]] QrFactorization<T> qr(Graph& g, const TileMatrix<T>& A, const QrOptions& options = {});

/// The tiles that suit these workers for the QR factorization of an m x n matrix.
TileShape suitable_qr_tile(const WorkerCounts& workers, index_t m, index_t n);

}  // namespace tesela
