#pragma once

#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/algorithms/support/named.hpp>
#include <tesela/codelets/givens/givens.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/matrix_view.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tesela {

/// How givens_qr groups rotations into tasks.
enum class GivensMethod : std::uint8_t {
  /// One task: column after column, from the bottom up, each row against the row above. For small matrices and as a
  /// reference.
  sequential,
  stages,  ///< the stages of a schedule, for any order; the default
  /// Each block of columns computes the rotations of all columns itself, from copies: no list of rotations. For band
  /// matrices.
  chain,
};

/// Returns the methods with the names that `tesela qr --method` accepts; givens_method returns the method of a name.
std::span<const Named<GivensMethod>> givens_methods();
std::optional<GivensMethod> givens_method(std::string_view name);

/// Options of givens_qr.
struct GivensOptions {
  GivensMethod method = GivensMethod::stages;
  std::string order = "diagonal";  ///< order of the eliminations for `stages`: a name of schedule.hpp
  index_t window = 32;             ///< columns per task, 1 … max_givens_window
  int block = 128;                 ///< threads per block on a GPU: a multiple of 32 from 32 to 512
  /// A's staircase, empty or of n elements: column j is zero from row ends[j] on (column_ends computes it). `stages`
  /// skips these zeros if that saves at least half of the rotations; the other methods find them without `ends`.
  std::vector<index_t> ends = {};
};

/// Returns the operations of a QR factorization of a full m x n matrix by rotations: 6 for each rotated pair of
/// elements, 1.5 times the operations of reflectors.
double givens_flops(index_t m, index_t n);

/// A QR factorization by plane rotations: R in A's upper trapezoid, and one scalar per rotation in place of each
/// eliminated element. R's diagonal is complex if A is. It shares A's tiles: A must not change while Q is needed.
template <class T>
class GivensQr {
 public:
  /// Inserts C = op(Q) C (left; C is m x any in one tile row) or C = C op(Q) (right; C is any x m in one tile column).
  /// Throws ArgumentError for another shape or tiling, and for the transpose of a complex Q.
  void apply(Graph& g, Side side, Op op, const TileMatrix<T>& C) const;

  /// Inserts Q = the first Q.n() columns of the orthogonal factor (LAPACK orgqr): min(m, n) columns give the
  /// economy form, m the full one. Q is m x k, k <= m, in one tile row. Throws ArgumentError otherwise.
  void form_q(Graph& g, const TileMatrix<T>& Q) const;

  /// Inserts R = the upper trapezoid, zeros below: k x n with min(m, n) <= k <= m, in one tile row, its columns cut as
  /// A's. Throws ArgumentError otherwise, and for a band matrix, whose storage holds R.
  void extract_r(Graph& g, const TileMatrix<T>& R) const;

  /// Returns the number of rotations: mn - n(n + 1)/2 for a full matrix with m >= n, fewer if columns end in zeros (not
  /// if `stages` uses an order whose pivots are not the rows above). Waits for the rotations.
  index_t rotations() const;

  /// Return the rows and the columns of A.
  index_t m() const { return m_; }
  index_t n() const { return n_; }

 private:
  struct Step {
    index_t tile, col, width, begin;  // columns col … of the tile; the first one's diagonal element is in row `begin`
  };
  GivensQr(const TileMatrix<T>& A, index_t m, index_t n, const GivensOptions& options);
  template <class U>
  friend GivensQr<U> givens_qr(Graph&, const TileMatrix<U>&, const GivensOptions&,
                               const std::type_identity_t<TileMatrix<U>>*, const std::type_identity_t<TileMatrix<U>>*);
  template <class U>
  friend GivensQr<U> givens_band_qr(Graph&, const TileMatrix<U>&, index_t, index_t, index_t, const GivensOptions&);

  void make_lists(Runtime& runtime);
  void factor(Graph& g, const TileMatrix<T>* B, const TileMatrix<T>* Q);
  void factor_step(Graph& g, index_t step) const;
  enum class Source : std::uint8_t { packed, copies };
  void apply_step(Graph& g, index_t step, index_t width, Side side, Op op, const Tile<T>& c, Source source) const;
  void require_rows(const char* routine, const char* name, Side side, const TileMatrix<T>& C) const;
  Tile<index_t> info(index_t step) const { return (*info_)(0, info_->nt() == 1 ? 0 : step); }

  TileMatrix<T> a_;
  index_t m_, n_;
  GivensOptions options_;
  kernels::Pivot pivot_ = kernels::Pivot::adjacent;
  bool staircase_ = false;  // whether options_.ends is used
  index_t diagonal_ = -1;   // for a band matrix, the row of a_ that holds the diagonal
  std::vector<Step> steps_;
  std::optional<TileMatrix<index_t>> info_;      // tile (0, step), or one for all steps
  std::optional<TileMatrix<T>> copies_;          // copied columns, for `chain`
  std::vector<TileMatrix<std::int32_t>> lists_;  // rotations of each step, for orders without a closed form
  std::optional<index_t> listed_;                // rotations in all lists
};

/// Inserts the QR factorization A = Q R by plane rotations (LAPACK geqrf), for any m x n.
///
/// A        m x n in one tile row (its tiles hold all rows of some columns); overwritten by R and the rotations.
/// B        m x r in one tile row, or null; becomes Q^H B. With A it is the extended matrix [A | B], and Q is not
///          formed.
/// Q        k x m in one tile column, or null; becomes Q times the orthogonal factor. The identity becomes the factor.
/// Returns  the factorization.
/// Throws   ArgumentError, with nothing inserted, for an unknown order, options out of range, `ends` of another length,
///          or another shape or tiling.
/// Method   Givens 1958; stages: Sameh and Kuck, "On stable parallel linear system solvers" (1978); Golub and Van Loan,
///          Matrix Computations, section 5.2.5.
template <class T>
GivensQr<T> givens_qr(Graph& g, const TileMatrix<T>& A, const GivensOptions& options = {},
                      const std::type_identity_t<TileMatrix<T>>* B = nullptr,
                      const std::type_identity_t<TileMatrix<T>>* Q = nullptr);

/// Factors a matrix in memory, on the host or on one device: chooses the tiles, and waits. Returns 1 + j if column j of
/// R is the first that is not finite.
///
/// a  m x n; overwritten by R and the rotations.
/// b  m x r or empty; overwritten by Q^H B.
template <class T>
[[nodiscard]] Status givens_qr(Runtime& runtime, MatrixView<T> a, std::type_identity_t<MatrixView<T>> b = {},
                               const GivensOptions& options = {});

/// Inserts the QR factorization of an m x n band matrix, kl diagonals below and ku above: O(kl (kl + ku) n) operations
/// and O((kl + ku) n) memory. Chains of rotations go from each column's last element upwards.
///
/// A        (2 kl + ku + 1) x n, one tile, in LAPACK's band storage with room for fill (gbtrf): element (i, j) is A(kl
///          + ku + i - j, j). The first kl rows are ignored and become part of R.
/// Returns  the factorization.
/// Throws   ArgumentError, with nothing inserted, for another shape, or if kl, ku or m is negative.
template <class T>
GivensQr<T> givens_band_qr(Graph& g, const TileMatrix<T>& A, index_t m, index_t kl, index_t ku,
                           const GivensOptions& options = {});

/// Returns the memory that givens_qr needs for an m x n matrix, and form_q for `q_columns` columns after it.
///
/// element  bytes of an element.
/// nb       columns per tile.
/// Returns  memory on the host, including A and Q, and on GPUs, which are assumed to have equal shares.
/// Throws   ArgumentError for options out of range.
MemoryPlan plan_givens_qr(const WorkerCounts& workers, Shape a, std::size_t element, index_t nb, index_t q_columns,
                          const GivensOptions& options = {});

}  // namespace tesela
