#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/eigen/internal/iteration_loop.hpp>
#include <tesela/algorithms/eigen/internal/lr_tiles.hpp>
#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>
#include <tesela/tiles/parallel_zeros.hpp>

#include <deque>

namespace tesela::detail {

using namespace kernels;
namespace {

constexpr index_t steps_between_tests = 8;

template <class T>
class TileSteps {
 public:
  TileSteps(Graph& g, const IteratedMatrix<T>& a, const EigIterationOptions& o)
      : g_(g),
        a_(a),
        o_(o),
        n_(a.n()),
        nb_(std::min(n_, tile())),
        D_(matrix("D", columns())),
        next_(matrix("D'", columns())),
        found_(g.runtime(), D_.mt(), D_.nt(), {1, 1}, "found") {
    if (whole_columns()) r_.emplace(matrix("R", columns()));
    if (lr()) lr_.emplace(g, n_, nb_, steps_between_tests);
    if (forms_p()) P_.emplace(matrix("P", chains() ? TileShape{nb_, n_} : columns()));
    if (P_) P_->for_each_tile([&](const Tile<T>& t, index_t i, index_t j) { g.insert<Laset<T>>({T(1), i - j}, t); });
  }

  Iterated<T> run() {
    Iterated<T> end;
    begin(0);
    iterate(end.progress);
    if (cholesky() && end.progress.broken > 0 && end.progress.steps == 0) {
      end.shift = a_.positive_shift();
      end.progress = {};
      begin(static_cast<T>(end.shift));
      iterate(end.progress);
    }
    read(end);
    return end;
  }

 private:
  bool cholesky() const { return o_.method == EigIteration::cholesky_lr; }
  bool lr() const { return o_.method == EigIteration::lr; }
  bool forms_p() const { return o_.vectors && o_.method == EigIteration::qr; }
  index_t tile() const {
    // A launch of rotations has a thread a column: a GPU needs all of its columns in one tile.
    if (chains() && g_.runtime().gpus() > 0) return ceil_div(n_, g_.runtime().gpus());
    if (whole_columns() && !chains()) return qr_tile(WorkerCounts(g_.runtime()), n_, n_).nb;
    if (g_.runtime().gpus() > 0) return std::clamp<index_t>(n_ / 4, 64, 1024);
    // A task computes every rotation that it applies; therefore few wide tasks are best.
    if (chains()) return std::clamp<index_t>(n_ / (2 * std::max(g_.runtime().cpus(), 1)), 64, 512);
    return std::clamp<index_t>(n_ / 8, 16, 192);
  }
  bool chains() const { return o_.method == EigIteration::qr && o_.factor == QrFactor::givens; }
  /// Returns whether tiles hold whole columns: rotations need them, and panels of reflectors on a GPU.
  bool whole_columns() const { return chains() || (o_.method == EigIteration::qr && g_.runtime().gpus() > 0); }
  /// Returns whether P is stored as its transpose, which gets the same reflectors from the left as D.
  bool transposes_p() const { return whole_columns() && !chains(); }
  TileShape columns() const { return {whole_columns() ? n_ : nb_, nb_}; }
  TileMatrix<T> matrix(const char* name, TileShape tile) const {
    return TileMatrix<T>(g_.runtime(), n_, n_, tile, name);
  }

  void begin(T shift) {
    D_.for_each_tile([&](Tile<T> tile, index_t row, index_t column) {
      const auto d = tile.write();
      parallel_for(d.cols, 64, [&](index_t first, index_t end) {
        for (index_t j = first; j < end; ++j)
          for (index_t i = 0; i < d.rows; ++i)
            d(i, j) = a_(row + i, column + j) + (row + i == column + j ? shift : T(0));
      });
    });
  }

  void iterate(IterationProgress& progress) {
    const double negligible = o_.tolerance * a_.frobenius();
    while (!(progress.converged = largest() <= negligible) && progress.steps < o_.max_iterations) {
      const index_t first = progress.steps;
      for (index_t step = 0; step < steps_between_tests && progress.steps < o_.max_iterations; ++step) {
        progress.broken = cholesky() ? cholesky_step() : lr() ? lr_step(step) : chains() ? chain_step() : qr_step();
        if (progress.broken > 0) return;
        ++progress.steps;
      }
      for (index_t step = 0; lr() && first + step < progress.steps; ++step)
        if ((progress.broken = lr_->broken(step)) > 0) progress.steps = first + step;
      if (progress.broken > 0) return;
      g_.wait();
      factors_.clear();
      for (const GivensQr<T>& factor : chains_) progress.rotations += factor.rotations();
      chains_.clear();
    }
  }

  index_t chain_step() {
    turn(chains_.emplace_back(givens_qr(g_, D_, {.method = GivensMethod::chain}, nullptr, P_ ? &*P_ : nullptr)));
    return 0;
  }

  /// Computes the next D = Q^T R^T from D = Q R, in tiles of whole columns. It is the transpose of R Q, which is
  /// symmetric up to rounding errors; the off-diagonal part of these errors shrinks in every second step.
  template <class Factors>
  void turn(const Factors& f) {
    f.extract_r(g_, *r_);
    for (index_t i = 0; i < D_.nt(); ++i) {
      g_.insert<Laset<T>>({T(0), 0}, next_(0, i));
      for (index_t j = i; j < D_.nt(); ++j)
        g_.insert<CopyBlock<T>>({.a_row = 0,
                                 .a_column = i * nb_,
                                 .b_row = j * nb_,
                                 .b_column = 0,
                                 .rows = D_(0, j).cols(),
                                 .columns = D_(0, i).cols(),
                                 .op = Op::transpose},
                                (*r_)(0, j), next_(0, i));
    }
    f.apply(g_, Side::left, Op::transpose, next_);
    std::swap(D_, next_);
  }

  /// Computes D = Q R, P = P Q, D = R Q. With square tiles only the lower triangle of D is used.
  index_t qr_step() {
    const QrFactorization<T>& f = factors_.emplace_back(qr(g_, D_));
    if (whole_columns()) {
      if (P_) f.apply(g_, Side::left, Op::transpose, *P_);
      turn(f);
      return 0;
    }
    if (P_) f.apply(g_, Side::right, Op::none, *P_);
    f.extract_r(g_, next_);
    f.apply(g_, Side::right, Op::none, next_);
    std::swap(D_, next_);
    for (index_t j = 0; j < D_.nt(); ++j) {
      g_.insert<MirrorTile<T>>({}, D_(j, j));
      for (index_t i = j + 1; i < D_.nt(); ++i) g_.insert<Transpose<T>>({}, D_(i, j), D_(j, i));
    }
    return 0;
  }

  /// Computes D = R^T R with R upper triangular, and D = R R^T. Only the upper triangle of D is used.
  index_t cholesky_step() {
    const CholeskyFactorization<T> factor(g_, D_);
    if (const index_t minor = factor.minor(); minor > 0) return minor;
    const TileMatrix<T>& R = factor.r();
    for (index_t j = 0; j < D_.nt(); ++j)
      for (index_t i = 0; i <= j; ++i)
        for (index_t m = j; m < D_.nt(); ++m)
          if (m == j)
            g_.insert<Gemm<T, Out>>({.op_b = Op::transpose}, R(i, m), R(j, m), next_(i, j));
          else
            g_.insert<Gemm<T>>({.op_b = Op::transpose, .beta = 1}, R(i, m), R(j, m), next_(i, j));
    std::swap(D_, next_);
    g_.wait();
    return 0;
  }

  /// Computes D = L U, D = U L. A breakdown is read after the last step before a test.
  index_t lr_step(index_t step) {
    lr_->insert_step(g_, step, D_, next_);
    std::swap(D_, next_);
    return 0;
  }

  /// Returns whether tile (i, j) belongs to the part of D that is used.
  bool counts(index_t i, index_t j) const { return whole_columns() || (cholesky() ? i <= j : i >= j); }

  /// Returns the largest off-diagonal element of D; for LR steps, of the part below the diagonal.
  double largest() {
    const Counted counted = o_.stop == StopTest::subdiagonal ? Counted::next_to_diagonal : Counted::beside_diagonal;
    for (index_t j = 0; j < D_.nt(); ++j)
      for (index_t i = 0; i < D_.mt(); ++i)
        if (counts(i, j))
          g_.insert<LargestElement<T>>({counted, i * nb_, j * nb_},
                                       lr() && i == j ? lr_->below_diagonal(g_, D_, j) : D_(i, j), found_(i, j));
    double all = 0;
    for (index_t j = 0; j < D_.nt(); ++j)
      for (index_t i = 0; i < D_.mt(); ++i) {
        if (!counts(i, j)) continue;
        const double one = *found_(i, j).read().data;
        if (!(one <= all)) all = one;
        if (std::isnan(all)) return all;
      }
    return all;
  }

  void read(Iterated<T>& end) const {
    end.kernels = g_.tasks();
    auto d = parallel_zeros<T>(n_, n_);
    for (index_t tj = 0; tj < D_.nt(); ++tj)
      for (index_t ti = 0; ti < D_.mt(); ++ti)
        if (counts(ti, tj)) D_.view(ti, tj, 1, 1).copy_to(&d(ti * nb_, tj * nb_), n_);
    end.remaining.negligible = o_.tolerance * a_.frobenius();
    for (index_t j = 0; j < n_; ++j) {
      end.values.push_back(d(j, j) - static_cast<T>(end.shift));
      for (index_t i = j + 1; i < n_; ++i)
        end.remaining.add({i, j, static_cast<double>(cholesky() ? d(j, i) : d(i, j))});
    }
    if (!P_) return;
    end.p = parallel_zeros<T>(n_, n_);
    P_->copy_to(end.p.data(), n_);
    if (!transposes_p()) return;
    parallel_for(n_, 64, [&](index_t first, index_t last) {
      for (index_t j = first; j < n_; ++j)
        for (index_t i = first; i < std::min(last, j); ++i) std::swap(end.p(i, j), end.p(j, i));
    });
  }

  Graph& g_;
  const IteratedMatrix<T>& a_;
  const EigIterationOptions& o_;
  index_t n_, nb_;
  TileMatrix<T> D_, next_;
  std::optional<TileMatrix<T>> P_, r_;
  std::optional<LrTiles<T>> lr_;
  TileMatrix<double> found_;
  std::deque<QrFactorization<T>> factors_;  // kept until their tasks have run
  std::deque<GivensQr<T>> chains_;
};

}  // namespace

bool supports_tiles(index_t n, index_t half_width, const EigIterationOptions& o) {
  if (n <= largest_small_iteration && o.factor != QrFactor::tiles) return false;
  if (o.method != EigIteration::qr) return true;
  if (o.shift != QrShift::none || o.deflate || o.positive_diagonal) return false;
  if (o.factor == QrFactor::givens) return !stays_a_band(n, half_width);
  return o.factor == QrFactor::tiles || o.factor == QrFactor::householder;
}

template <class T>
Iterated<T> iterate_by_tiles(Graph& g, const IteratedMatrix<T>& a, const EigIterationOptions& options) {
  return TileSteps<T>(g, a, options).run();
}

TESELA_FUNCTIONS_FOR_REALS(iterate_by_tiles)

}  // namespace tesela::detail
