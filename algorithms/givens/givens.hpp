#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/codelets/givens/givens.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tesela {

enum class GivensMethod : std::uint8_t {
  sequential,  ///< one task, column after column, each from the bottom upwards against the row above
  stages,      ///< in the stages of a schedule
  chain,       ///< every block of columns computes each column's chain of rotations itself
};

/// All of them, as `tesela qr --method` names them, and the method of such a name.
std::span<const Named<GivensMethod>> givens_methods();
std::optional<GivensMethod> givens_method(std::string_view name);

struct GivensOptions {
  GivensMethod method = GivensMethod::stages;
  std::string order = "diagonal";  ///< of `stages`: any order of schedule.hpp
  index_t window = 32;             ///< columns whose stages or chains are one task, 1 … max_givens_window
  int block = 128;                 ///< threads of a block on a GPU: a multiple of 32 from 32 to 512
  /// A's staircase, empty or of n elements: column j is zero from row ends[j] on (column_ends reads it). `stages` skips
  /// these zeros where at least half of the rotations go; the other methods find them by themselves.
  std::vector<index_t> ends = {};
};

/// What the rotations of an m x n matrix that has no zeros compute: 6 operations for each pair of elements. It is half
/// as much again as reflectors do.
double givens_flops(index_t m, index_t n);

/// A QR factorization by plane rotations whose tasks stand in a graph: R in A's upper trapezoid, and below it the
/// rotations, one scalar each, where they annihilated. It shares A's tiles, so A must not change while Q is wanted.
template <class T>
class GivensQr {
 public:
  /// Inserts C = op(Q) C (left; C is m x any in one tile row) or C = C op(Q) (right; any x m in one tile column).
  /// Throws ArgumentError when C has another shape or is cut otherwise.
  void apply(Graph& g, Side side, Op op, const TileMatrix<T>& C) const;

  /// Inserts Q = the first Q.n() columns of the orthogonal factor (LAPACK orgqr): Q.n() = min(m, n) is the economy
  /// form, m the full one. Q is m x k, k <= m, in one tile row. Throws ArgumentError otherwise.
  void form_q(Graph& g, const TileMatrix<T>& Q) const;

  /// Inserts R = the upper trapezoid, zeros below: k x n with min(m, n) <= k <= m, in one tile row, its columns cut as
  /// A's. Throws ArgumentError otherwise, and for a band, whose R stands in its storage.
  void extract_r(Graph& g, const TileMatrix<T>& R) const;

  /// How many rotations there were; waits for the tasks that compute them. mn - n(n + 1)/2 for m >= n, less where
  /// columns end in zeros (all but `stages` with an order whose pivots are not the rows above).
  index_t rotations() const;

  index_t m() const { return m_; }
  index_t n() const { return n_; }

 private:
  struct Step {
    index_t tile, col, width, begin;  // columns col … of the tile; the first one's diagonal is in row `begin`
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
  bool staircase_ = false;  // options_.ends are used
  index_t diagonal_ = -1;   // a_ is a band: the row that holds the diagonal
  std::vector<Step> steps_;
  std::optional<TileMatrix<index_t>> info_;      // tile (0, step), or one for all steps
  std::optional<TileMatrix<T>> copies_;          // of columns, for `chain`
  std::vector<TileMatrix<std::int32_t>> lists_;  // of each step, for orders without a closed form
  std::optional<index_t> listed_;                // rotations in all of them
};

/// LAPACK geqrf by plane rotations: A = Q R in place, for any m x n. A is one tile row: its tiles hold all rows of some
/// columns. With B (m x any, one tile row) B becomes Q^T B as the rotations are made: with A it is the extended matrix
/// [A | B], and Q is never formed. With Q (any x m, one tile column) Q becomes Q times the orthogonal factor: the
/// identity becomes the factor itself.
///
/// Sources: Givens 1958; stages: Sameh and Kuck, "On stable parallel linear system solvers" (1978); Golub and Van Loan,
/// Matrix Computations, section 5.2.5.
/// Inserts into the graph and returns. Throws ArgumentError, with nothing inserted, for an unknown order, options out
/// of their range, ends of another number, and matrices cut or shaped otherwise.
template <class T>
GivensQr<T> givens_qr(Graph& g, const TileMatrix<T>& A, const GivensOptions& options = {},
                      const std::type_identity_t<TileMatrix<T>>* B = nullptr,
                      const std::type_identity_t<TileMatrix<T>>* Q = nullptr);

/// The same for an m x n band with kl diagonals below and ku above, chains from each column's last element upwards:
/// O(kl (kl + ku) n) operations and O((kl + ku) n) memory. A is (2 kl + ku + 1) x n, one tile, in LAPACK's band
/// storage with room for fill (gbtrf): element (i, j) in A(kl + ku + i - j, j); the first kl rows are ignored and
/// become part of R. Throws ArgumentError, with nothing inserted, for another shape, and for kl < 0, ku < 0 or m < 0.
template <class T>
GivensQr<T> givens_band_qr(Graph& g, const TileMatrix<T>& A, index_t m, index_t kl, index_t ku,
                           const GivensOptions& options = {});

}  // namespace tesela
