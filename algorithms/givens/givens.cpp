#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/support/column_ends.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/algorithms/support/schedule.hpp>
#include <tesela/codelets/givens/givens_list.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/scalar.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

void require_options(const char* routine, const GivensOptions& o) {
  require(o.window >= 1 && o.window <= max_givens_window, routine, "options.window", o.window, " is not in 1 … ",
          max_givens_window);
  require(o.block >= 32 && o.block <= 512 && o.block % 32 == 0, routine, "options.block", o.block,
          " is not a multiple of 32 in 32 … 512");
}

/// Returns whether the staircase saves at least half of the rotations; the lists of the rest are then small.
bool use_staircase(const std::vector<index_t>& ends, index_t m, index_t n) {
  constexpr index_t most_listed = 10'000'000;
  if (ends.empty()) return false;
  index_t all = 0, some = 0, end = 0;
  for (index_t j = 0; j < std::min(m - 1, n); ++j) {
    // rotations fill a column down to the longest end of the columns left of it
    end = std::max(end, ends[static_cast<std::size_t>(j)]);
    all += m - 1 - j;
    some += std::max<index_t>(end - 1 - j, 0);
  }
  return all > 0 && some <= most_listed && 2 * some <= all;
}

constexpr index_t copies_in_flight = 4;  // steps of a chain whose copied columns are kept

}  // namespace

std::span<const Named<GivensMethod>> givens_methods() {
  static constexpr std::array<Named<GivensMethod>, 3> all{{
      {GivensMethod::sequential, "givens", "plane rotations, one after another"},
      {GivensMethod::stages, "givens-stages", "plane rotations in the stages of a schedule"},
      {GivensMethod::chain, "givens-chain", "plane rotations, one chain per column"},
  }};
  return all;
}

std::optional<GivensMethod> givens_method(std::string_view name) { return find_named(givens_methods(), name); }

template <class T>
GivensQr<T>::GivensQr(const TileMatrix<T>& A, index_t m, index_t n, const GivensOptions& options)
    : a_(A), m_(m), n_(n), options_(options) {
  options_.window = std::min(options.window, std::max<index_t>(n, 1));
}

/// Cuts the schedule into lists for the steps. The order within a step is kept; no elimination waits for one in a later
/// step.
template <class T>
void GivensQr<T>::make_lists(Runtime& runtime) {
  const Schedule schedule =
      make_schedule(options_.order, m_, n_, {}, staircase_ ? options_.ends : std::vector<index_t>{});
  std::vector<index_t> step_of(static_cast<std::size_t>(n_));
  for (std::size_t s = 0; s < steps_.size(); ++s)
    std::fill_n(step_of.begin() + steps_[s].begin, steps_[s].width, static_cast<index_t>(s));
  struct List {
    std::vector<std::int32_t> starts, entries;
    index_t stage = 0;
  };
  std::vector<List> lists(steps_.size());
  for (const Elimination& e : schedule.eliminations) {
    const auto s = static_cast<std::size_t>(step_of[static_cast<std::size_t>(e.column)]);
    List& list = lists[s];
    if (std::exchange(list.stage, e.stage) != e.stage)
      list.starts.push_back(static_cast<std::int32_t>(list.entries.size() / 3));
    for (const index_t x : {e.row, e.pivot, e.column - steps_[s].begin})
      list.entries.push_back(static_cast<std::int32_t>(x));
  }
  for (const List& list : lists) {
    std::vector<std::int32_t> all{static_cast<std::int32_t>(list.starts.size())};
    all.insert(all.end(), list.starts.begin(), list.starts.end());
    all.push_back(static_cast<std::int32_t>(list.entries.size() / 3));
    all.insert(all.end(), list.entries.begin(), list.entries.end());
    const auto size = static_cast<index_t>(all.size());
    lists_.emplace_back(runtime, size, 1, TileShape{size, 1}, "list");
    lists_.back().copy_from(all.data(), size);
  }
  listed_ = static_cast<index_t>(schedule.eliminations.size());
}

template <class T>
void GivensQr<T>::factor_step(Graph& g, index_t step) const {
  const Step& s = steps_[static_cast<std::size_t>(step)];
  const Tile<T> a = a_(0, s.tile);
  if (listed_) {
    g.insert<GivensListPanel<T>>(urgent, {s.col, s.width, m_ - s.begin, options_.block}, a,
                                 lists_[static_cast<std::size_t>(step)](0, 0));
    return;
  }
  const typename GivensPanel<T>::Args args{pivot_, s.begin, s.col, s.width, m_ - s.begin, options_.block};
  const Tile<T> work = g.scratch<T>(givens_work_size(a.cols(), options_.window), 1);
  if (copies_)
    g.insert<GivensChainPanel<T>>(urgent, args, a, (*copies_)(0, step % copies_->nt()), info(step), work);
  else
    g.insert<GivensPanel<T>>(urgent, args, a, info(step), work);
}

template <class T>
void GivensQr<T>::apply_step(Graph& g, index_t step, index_t width, Side side, Op op, const Tile<T>& c,
                             Source source) const {
  const Step& s = steps_[static_cast<std::size_t>(step)];
  if (listed_) {
    g.insert<GivensListApply<T>>({side, op, s.col, width, m_ - s.begin, options_.block}, a_(0, s.tile),
                                 lists_[static_cast<std::size_t>(step)](0, 0), c);
    return;
  }
  const bool chain = source == Source::copies && copies_;
  typename GivensApply<T>::Args args{side, op, pivot_, chain};
  args.row = s.begin;
  args.col = chain ? 0 : s.col;
  args.width = width;
  args.window = options_.window;
  args.rows = m_ - s.begin;
  args.diagonal = diagonal_;
  args.block = options_.block;
  const index_t columns = side == Side::left ? c.cols() : c.rows();
  g.insert<GivensApply<T>>(args, chain ? (*copies_)(0, step % copies_->nt()) : a_(0, s.tile), info(step), c,
                           g.scratch<T>(givens_work_size(columns, options_.window), 1));
}

template <class T>
void GivensQr<T>::factor(Graph& g, const TileMatrix<T>* B, const TileMatrix<T>* Q) {
  const bool sequential = options_.method == GivensMethod::sequential;
  const auto steps = static_cast<index_t>(steps_.size());
  if (steps == 0) return;
  if (!listed_) info_.emplace(g.runtime(), 2, sequential ? 1 : steps, TileShape{2, 1}, "info");
  if (options_.method == GivensMethod::chain)
    copies_.emplace(g.runtime(), m_, std::min(steps, copies_in_flight) * options_.window,
                    TileShape{m_, options_.window}, "L");
  if (sequential) {
    std::vector<Tile<T>> tiles;
    for (index_t j = 0; j < a_.nt(); ++j) tiles.push_back(a_(0, j));
    g.insert<GivensSweep<T>>({a_.tile_shape().nb, options_.block}, info(0), g.scratch<T>(2 * m_, 1), tiles);
  }
  for (index_t step = 0; step < steps; ++step) {
    const Step& s = steps_[static_cast<std::size_t>(step)];
    if (!sequential) factor_step(g, step);
    for (index_t j = s.tile + 1; !sequential && j < a_.nt(); ++j)
      apply_step(g, step, s.width, Side::left, adjoint<T>, a_(0, j), Source::copies);
    for (index_t j = 0; B != nullptr && j < B->nt(); ++j)
      apply_step(g, step, s.width, Side::left, adjoint<T>, (*B)(0, j), Source::copies);
    for (index_t i = 0; Q != nullptr && i < Q->mt(); ++i)
      apply_step(g, step, s.width, Side::right, Op::none, (*Q)(i, 0), Source::copies);
  }
}

template <class T>
void GivensQr<T>::require_rows(const char* routine, const char* name, Side side, const TileMatrix<T>& C) const {
  const bool left = side == Side::left;
  require((left ? C.m() : C.n()) == m_, routine, name, C, " does not have ", m_, left ? " rows" : " columns");
  require((left ? C.mt() : C.nt()) <= 1, routine, name, "has ", Shape{C.mt(), C.nt()},
          " tiles; rotations need one tile ", left ? "row (mb >= m)" : "column (nb >= m)");
}

template <class T>
void GivensQr<T>::apply(Graph& g, Side side, Op op, const TileMatrix<T>& C) const {
  const char* const routine = "GivensQr::apply";
  op = op_for<T>(op);
  require(op == Op::none || op == adjoint<T>, routine, "op", "transpose",
          ": a complex Q has its adjoint Q^H, conjugate");
  require_rows(routine, "C", side, C);
  const auto steps = static_cast<index_t>(steps_.size());
  const bool forward = (side == Side::left) == (op != Op::none);
  for (index_t n = 0; n < steps; ++n) {
    const index_t step = forward ? n : steps - 1 - n;
    C.for_each_tile([&](const Tile<T>& c, index_t, index_t) {
      apply_step(g, step, steps_[static_cast<std::size_t>(step)].width, side, op, c, Source::packed);
    });
  }
}

template <class T>
void GivensQr<T>::form_q(Graph& g, const TileMatrix<T>& Q) const {
  require_rows("GivensQr::form_q", "Q", Side::left, Q);
  require(Q.n() <= m_, "GivensQr::form_q", "Q", Q.n(), " columns of ", m_);
  Q.for_each_tile([&](const Tile<T>& q, index_t row, index_t column) { g.insert<Laset<T>>({T(1), row - column}, q); });
  for (auto step = static_cast<index_t>(steps_.size()) - 1; step >= 0; --step) {
    const Step& s = steps_[static_cast<std::size_t>(step)];
    Q.for_each_tile([&](const Tile<T>& q, index_t, index_t column) {
      // In the rows of eliminations to its right, a column of the identity is zero.
      const index_t width = std::min(s.width, column + q.cols() - s.begin);
      if (width > 0) apply_step(g, step, listed_ ? s.width : width, Side::left, Op::none, q, Source::packed);
    });
  }
}

template <class T>
void GivensQr<T>::extract_r(Graph& g, const TileMatrix<T>& R) const {
  const index_t nb = a_.tile_shape().nb;
  const char* const routine = "GivensQr::extract_r";
  require(diagonal_ < 0, routine, "A", "is a band matrix, whose storage holds R");
  require(R.n() == n_ && R.m() >= std::min(m_, n_) && R.m() <= m_, routine, "R", R, " for a ", Shape{m_, n_},
          " matrix; it must be k x n, min(m, n) <= k <= m");
  require(R.mt() <= 1 && (R.tile_shape().nb == nb || n_ <= std::min(nb, R.tile_shape().nb)), routine, "R",
          "must be one tile row whose columns are cut as A's");
  R.for_each_tile([&](const Tile<T>& r, index_t, index_t column) {
    g.insert<Lacpy<T>>({Part::upper, -column}, a_(0, column / R.tile_shape().nb), r);
  });
}

double givens_flops(index_t m, index_t n) {
  double flops = 0;
  for (index_t j = 0; j < std::min(m - 1, n); ++j)
    flops += 6 * static_cast<double>(m - 1 - j) * static_cast<double>(n - j);
  return flops;
}

template <class T>
index_t GivensQr<T>::rotations() const {
  if (listed_) return *listed_;
  index_t sum = 0;
  for (index_t j = 0; info_ && j < info_->nt(); ++j) sum += (*info_)(0, j).read()(1, 0);
  return sum;
}

MemoryPlan plan_givens_qr(const WorkerCounts& workers, Shape a, std::size_t element, index_t nb, index_t q_columns,
                          const GivensOptions& options) {
  require_options("plan_givens_qr", options);
  const bool gpu = workers.gpus > 0;
  const index_t m = a.rows, columns = std::min(a.rows, a.cols);
  MemoryPlan plan({"factor", "Q"}, workers.gpus, element);
  plan.hold({MemoryPlan::host, a, 1, 0, 1});
  plan.hold({MemoryPlan::host, {m, q_columns}, 1, 1, 1});
  if (m == 0 || a.cols == 0) return plan;
  const index_t wide = std::min(nb, a.cols), window = std::min(options.window, a.cols);
  const auto tiles = [&](index_t cols) {
    return static_cast<double>(cols) / static_cast<double>(wide) / std::max(workers.gpus, 1);
  };
  if (gpu) {
    plan.hold_on_each({.shape = {m, wide}, .at_once = tiles(a.cols), .last = 1});
    plan.hold_on_each({.shape = {m, wide}, .at_once = tiles(q_columns), .first = 1, .last = 1});
  }
  if (options.method == GivensMethod::chain)
    plan.hold_on_each({.shape = {m, window}, .at_once = static_cast<double>(copies_in_flight), .last = 1});
  plan.hold_on_each({.shape = {givens_work_size(wide, window), 1}, .at_once = gpu ? 1.0 : workers.cpus, .last = 1});
  if (options.method == GivensMethod::stages && options.order != "column" && !closed_form(options.order, m)) {
    // Each rotation in a list is three integers of four bytes, from the schedule.
    const auto k = static_cast<double>(columns), size = static_cast<double>(element);
    const double rotations = static_cast<double>(m) * k - k * (k + 1) / 2, elements = 3 * 4 * rotations / size,
                 schedule = sizeof(Elimination) * rotations / size;
    plan.hold({MemoryPlan::host, {1, 1}, elements, 0, 1});
    plan.hold({MemoryPlan::host, {1, 1}, schedule, 0, 0});
    if (gpu) plan.hold_on_each({.shape = {1, 1}, .at_once = elements, .last = 1});
  }
  plan.task(2 * static_cast<double>(m) * static_cast<double>(wide));
  return plan;
}

template <class T>
GivensQr<T> givens_qr(Graph& g, const TileMatrix<T>& A, const GivensOptions& options,
                      const std::type_identity_t<TileMatrix<T>>* B, const std::type_identity_t<TileMatrix<T>>* Q) {
  require_options("givens_qr", options);
  require_column_ends("givens_qr", options.ends, A.m(), A.n());
  GivensQr<T> qr(A, A.m(), A.n(), options);
  qr.require_rows("givens_qr", "A", Side::left, A);
  if (B != nullptr) qr.require_rows("givens_qr", "B", Side::left, *B);
  if (Q != nullptr) qr.require_rows("givens_qr", "Q", Side::right, *Q);
  require((B == nullptr || !B->shares_tiles(A)) && (Q == nullptr || !Q->shares_tiles(A)), "givens_qr", "B, Q",
          "share tiles with A");
  bool list = false;
  if (options.method == GivensMethod::stages) {
    const auto form = closed_form(options.order, A.m());
    qr.staircase_ = use_staircase(options.ends, A.m(), A.n()) && !(form && form->adjacent) && options.order != "column";
    list = qr.staircase_ || (!form && options.order != "column");
    if (form && !form->adjacent) qr.pivot_ = Pivot::diagonal;
    require(!list || A.m() <= std::numeric_limits<std::int32_t>::max() / (3 * max_givens_window), "givens_qr", "A",
            A.m(), " rows are too many for an order without formula");
  }
  const index_t nb = A.tile_shape().nb;
  for (index_t begin = 0; begin < std::min(A.m() - 1, A.n());) {
    const index_t tile = begin / nb, col = begin % nb, width = std::min({options.window, nb - col, A.n() - begin});
    qr.steps_.push_back({tile, col, width, begin});
    begin += width;
  }
  if (list) qr.make_lists(g.runtime());
  qr.factor(g, B, Q);
  return qr;
}

template <class T>
GivensQr<T> givens_band_qr(Graph& g, const TileMatrix<T>& A, index_t m, index_t kl, index_t ku,
                           const GivensOptions& options) {
  require_options("givens_band_qr", options);
  for (const auto& [value, name] : {std::pair{m, "m"}, std::pair{kl, "kl"}, std::pair{ku, "ku"}})
    require(value >= 0, "givens_band_qr", name, value, " is negative");
  require(A.m() == 2 * kl + ku + 1 && A.mt() <= 1 && A.nt() <= 1, "givens_band_qr", "A", A, " in ",
          Shape{A.mt(), A.nt()}, " tiles is not one tile with ", 2 * kl + ku + 1, " rows");
  GivensQr<T> qr(A, m, A.n(), options);
  qr.diagonal_ = kl + ku;
  if (m == 0 || A.n() == 0) return qr;
  qr.steps_ = {{0, 0, std::min(m - 1, A.n()), 0}};
  if (qr.steps_[0].width == 0) qr.steps_.clear();
  qr.info_.emplace(g.runtime(), 2, 1, TileShape{2, 1}, "info");
  g.insert<GivensBand<T>>({m, kl, ku}, A(0, 0), qr.info(0));
  return qr;
}

template <class T>
Status givens_qr(Runtime& runtime, MatrixView<T> a, std::type_identity_t<MatrixView<T>> b,
                 const GivensOptions& options) {
  // A GPU applies the rotations to all columns in one launch; cores share the columns.
  const index_t rows = std::max<index_t>(a.rows, 1), columns = runtime.gpus() > 0 ? std::max<index_t>(a.cols, 1) : 64;
  const auto A = a.in_tiles(runtime, {rows, columns}, "A");
  std::optional<TileMatrix<T>> B;
  if (b.cols > 0) B.emplace(b.in_tiles(runtime, {rows, 64}, "B"));
  Graph g(runtime);
  givens_qr(g, A, options, B ? &*B : nullptr);
  report_not_finite(g, A, FinitePart::upper);
  const Status status = g.wait();
  A.bring_home();
  if (B) B->bring_home();
  return status;
}

#define TESELA_INSTANTIATE(T)                                                                              \
  template class GivensQr<T>;                                                                              \
  template GivensQr<T> givens_qr(Graph&, const TileMatrix<T>&, const GivensOptions&, const TileMatrix<T>*, \
                                 const TileMatrix<T>*);                                                    \
  template Status givens_qr(Runtime&, MatrixView<T>, MatrixView<T>, const GivensOptions&);                 \
  template GivensQr<T> givens_band_qr(Graph&, const TileMatrix<T>&, index_t, index_t, index_t, const GivensOptions&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
