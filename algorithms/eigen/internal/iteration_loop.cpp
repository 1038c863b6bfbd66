#include <tesela/algorithms/eigen/internal/iteration_loop.hpp>

namespace tesela::detail {

using namespace kernels;
namespace {

/// The loop for one matrix, in tasks of many steps each.
template <class T>
class OneTask {
 public:
  OneTask(Graph& g, const IteratedMatrix<T>& a, const EigIterationOptions& o)
      : g_(g),
        a_(a),
        o_(o),
        n_(a.n()),
        band_(o.method == EigIteration::qr && o.factor == QrFactor::givens && stays_a_band(n_, a.half_width())),
        half_(band_ ? std::max<index_t>(a.half_width(), 1) : std::max<index_t>(n_ - 1, 0)),
        D_(g.runtime(), band_ ? 3 * half_ + 1 : n_, n_, {band_ ? 3 * half_ + 1 : n_, n_}, "D"),
        P_(g.runtime(), forms_p() ? n_ : 1, forms_p() ? n_ : 1, {forms_p() ? n_ : 1, forms_p() ? n_ : 1}, "P"),
        progress_(g.runtime(), 1, 1, {1, 1}, "progress") {
    const auto p = P_(0, 0).write();
    for (index_t j = 0; j < p.cols; ++j)
      for (index_t i = 0; i < p.rows; ++i) p(i, j) = T(i == j ? 1 : 0);
  }

  Iterated<T> run() {
    Iterated<T> end;
    begin(0);
    IterationProgress progress = iterate();
    // The first factorization detects an indefinite matrix.
    if (o_.method == EigIteration::cholesky_lr && progress.broken > 0 && progress.steps == 0) {
      end.shift = a_.positive_shift();
      begin(static_cast<T>(end.shift));
      progress = iterate();
    }
    end.progress = progress;
    end.kernels = kernels_;
    end.half_width = band_ ? half_ : 0;
    read(end);
    return end;
  }

 private:
  bool forms_p() const { return o_.vectors && o_.method == EigIteration::qr; }

  void begin(T shift) {
    *progress_(0, 0).write().data = {};
    const auto d = D_(0, 0).write();
    if (!band_) {
      for (index_t j = 0; j < n_; ++j)
        for (index_t i = 0; i < n_; ++i) d(i, j) = a_(i, j) + (i == j ? shift : T(0));
      return;
    }
    for (index_t j = 0; j < n_; ++j)
      for (index_t r = 0; r < d.rows; ++r) {
        const index_t i = j + r - half_;
        d(r, j) = i >= 0 && i < n_ ? a_(i, j) : T(0);
      }
  }

  /// Returns the number of steps that take about a tenth of a second, so that the loop can be interrupted.
  index_t steps_at_once() const {
    const auto n = static_cast<double>(n_), b = static_cast<double>(half_);
    const double flops = (band_ ? 40 * b * b * n : 8 * n * n * n) + (forms_p() ? 6 * b * n * n : 0);
    return std::clamp<index_t>(static_cast<index_t>(2e8 / (flops + 100)), 1, 100000);
  }

  IterationProgress iterate() {
    const Priority where = n_ <= largest_small_iteration ? on_gpu : on_core;
    const double negligible = o_.tolerance * a_.frobenius();
    for (IterationProgress progress;;) {
      ++kernels_;
      insert(where, std::min(steps_at_once(), o_.max_iterations - progress.steps), negligible);
      progress = *progress_(0, 0).read().data;
      if (progress.ended() || progress.steps >= o_.max_iterations) return progress;
    }
  }

  void insert(const Priority& where, index_t steps, double negligible) {
    const Tile<T> work = g_.scratch<T>(iteration_work_size(n_, half_, P_.m()), 1);
    if (o_.method != EigIteration::qr) {
      g_.insert<LrSteps<T>>(where, {o_.method == EigIteration::cholesky_lr, o_.stop, steps, negligible}, D_(0, 0),
                            progress_(0, 0), work);
      return;
    }
    g_.insert<QrSteps<T>>(
        where,
        {.factor = o_.factor == QrFactor::tiles ? StepFactor::householder : static_cast<StepFactor>(o_.factor),
         .stop = o_.stop,
         .wilkinson = o_.shift == QrShift::wilkinson,
         .deflate = o_.deflate,
         .vectors = o_.vectors,
         .positive = o_.positive_diagonal,
         .half_width = band_ ? half_ : -1,
         .steps = steps,
         .negligible = negligible},
        D_(0, 0), P_(0, 0), progress_(0, 0), work);
  }

  void read(Iterated<T>& end) const {
    const auto d = D_(0, 0).read();
    // The elements below the diagonal should vanish; those above converge to U's in LR steps.
    const auto element = [&](index_t i, index_t j) { return band_ ? d(half_ + i - j, j) : d(i, j); };
    end.remaining.negligible = o_.tolerance * a_.frobenius();
    for (index_t j = 0; j < n_; ++j) {
      end.values.push_back(element(j, j) - static_cast<T>(end.shift));
      for (index_t i = j + 1; i < std::min(n_, j + half_ + 1); ++i)
        end.remaining.add({i, j, static_cast<double>(element(i, j))});
    }
    if (forms_p()) end.p = P_.to_host();
  }

  Graph& g_;
  const IteratedMatrix<T>& a_;
  const EigIterationOptions& o_;
  index_t n_;
  bool band_;
  index_t half_, kernels_ = 0;
  TileMatrix<T> D_, P_;
  TileMatrix<IterationProgress> progress_;
};

}  // namespace

template <class T>
Iterated<T> run_iteration(Graph& g, const IteratedMatrix<T>& a, const EigIterationOptions& options) {
  return supports_tiles(a.n(), a.half_width(), options) ? iterate_by_tiles(g, a, options)
                                                        : OneTask<T>(g, a, options).run();
}

TESELA_FUNCTIONS_FOR_REALS(run_iteration)

}  // namespace tesela::detail
