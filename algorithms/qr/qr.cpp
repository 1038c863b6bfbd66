#include <tesela/algorithms/dense/products.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/column_ends.hpp>
#include <tesela/algorithms/support/internal/column_blocks.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/algorithms/support/schedule.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {

using namespace kernels;
namespace {

/// Cuts the columns at the borders of tile rows and of tile columns, so that each step's diagonal block lies in one
/// tile, and after `width` columns.
std::vector<QrStep> cut_into_steps(Shape a, TileShape tile, index_t width) {
  const auto [mb, nb] = tile;
  const index_t k = std::min(a.rows, a.cols);
  std::vector<QrStep> steps;
  for (index_t begin = 0; begin < k; begin += steps.back().width) {
    const index_t row = begin % mb, col = begin % nb;
    steps.push_back({begin / mb, row, begin / nb, col, std::min({mb - row, nb - col, k - begin, width}), begin});
  }
  return steps;
}

/// Returns the kernels of all steps. A pivot row must be triangular before another row is joined to it. With
/// `triangles` all rows must be triangular.
std::vector<QrTransformation> plan(const std::vector<QrStep>& steps, index_t mt, const QrOptions& options,
                                   const std::vector<index_t>& ends = {}) {
  std::vector<index_t> heads;
  heads.reserve(steps.size());
  for (const QrStep& step : steps) heads.push_back(step.head);
  const auto columns = static_cast<index_t>(steps.size());
  const Schedule schedule = make_schedule(options.tree, mt, columns, heads, ends);
  std::vector<std::vector<Elimination>> of_step(steps.size());
  for (const Elimination& e : schedule.eliminations) of_step[static_cast<std::size_t>(e.column)].push_back(e);

  std::vector<QrTransformation> result;
  std::vector<bool> triangular(static_cast<std::size_t>(mt));
  for (index_t s = 0; s < columns; ++s) {
    const auto& eliminations = of_step[static_cast<std::size_t>(s)];
    std::fill(triangular.begin(), triangular.end(), options.triangles);
    triangular[static_cast<std::size_t>(heads[static_cast<std::size_t>(s)])] = true;
    for (const Elimination& e : eliminations) triangular[static_cast<std::size_t>(e.pivot)] = true;
    const index_t head = heads[static_cast<std::size_t>(s)],
                  end = schedule.ends.empty() ? mt : std::max(schedule.ends[static_cast<std::size_t>(s)], head + 1);
    for (index_t i = head; i < end; ++i)
      if (triangular[static_cast<std::size_t>(i)]) result.push_back({s, i, -1, false});
    for (const Elimination& e : eliminations)
      result.push_back({s, e.row, e.pivot, static_cast<bool>(triangular[static_cast<std::size_t>(e.row)])});
  }
  return result;
}

/// Returns the staircase of each step's columns, in tile rows.
std::vector<index_t> tile_ends(const std::vector<QrStep>& steps, Shape a, index_t mb, const QrOptions& options) {
  require_column_ends("qr", options.ends, a.rows, a.cols);
  std::vector<index_t> ends;
  for (const QrStep& step : steps) {
    if (options.ends.empty()) break;
    const auto first = options.ends.begin() + step.begin;
    ends.push_back(ceil_div(*std::max_element(first, first + step.width), mb));
  }
  return ends;
}

/// Returns whether the vectors of a Geqrt are copied. All its updates read them, while a Tpqrt writes the triangle
/// above them. A GPU needs them with explicit zeros, so that an update consists of products only.
bool copies(const QrOptions& options, const QrTransformation& h, const QrStep& s, index_t mt, bool gpu) {
  return options.copy_vectors && h.pivot < 0 && (s.head + 1 < mt || gpu);
}

/// Widths of steps and of their inner blocks.
struct Widths {
  index_t step, ib;
  Widths(const WorkerCounts& workers, Shape a, TileShape tile, const QrOptions& options) {
    const bool gpu = workers.gpus > 0;
    const index_t most = std::min({tile.mb, tile.nb, std::max<index_t>(1, std::min(a.rows, a.cols))});
    step = std::min(most, options.step > 0 ? options.step : gpu ? 2048 : most);
    const GemmKernel kernel =
        gemm_kernel(workers, GemmKernel::automatic, std::min(a.rows, tile.mb), std::min(a.cols, tile.nb), step);
    ib = std::min(step, options.ib > 0 ? options.ib : !gpu ? 32 : kernel == GemmKernel::int8 ? 2048 : 1024);
  }
};

/// Returns a shape of the same proportions with at most about 2^16 transformations, for counting.
Shape sample_shape(Shape a, TileShape tile, index_t width) {
  constexpr double most = 1 << 16;
  const index_t k = std::min(a.rows, a.cols), step = std::min({tile.mb, tile.nb, width});
  const double down = std::max(1.0, static_cast<double>(a.rows) / static_cast<double>(tile.mb)),
               across = std::max(1.0, static_cast<double>(k) / static_cast<double>(step));
  if (down * across <= most) return a;
  const double fewer = std::sqrt(down * across / most);
  double rows = std::max(1.0, down / fewer), steps = std::max(1.0, across / fewer);
  (rows > steps ? rows : steps) = std::min(std::max(rows, steps), most / std::min(rows, steps));
  const auto cut = [](double blocks, index_t block, index_t all) {
    const double size = blocks * static_cast<double>(block);
    return size < static_cast<double>(all) ? static_cast<index_t>(size) : all;
  };
  return {cut(rows, tile.mb, a.rows), cut(steps, step, k)};
}

/// Returns the number of elements on and below the diagonal, which is proportional to the number of transformations.
double trapezoid(Shape a) {
  const double m = static_cast<double>(a.rows), k = std::min(m, static_cast<double>(a.cols));
  return m * k - k * k / 2;
}

/// Returns the columns of a work space of `width` rows that hold the one for products.
index_t columns_for_products(index_t doubles, index_t width, std::size_t element) {
  constexpr index_t alignment = 256;
  if (doubles <= 1) return 0;
  return ceil_div(doubles * static_cast<index_t>(sizeof(double)) + alignment, width * static_cast<index_t>(element));
}

}  // namespace

/// A pass of the transformations over the tiles of C: its side, operator, workspace, placement and priorities are
/// decided before the loop. The factorization itself is a pass over A.
template <class T>
struct QrFactorization<T>::Pass {
  /// The Householder vectors of one transformation: in A, or copied with explicit zeros.
  struct Vectors {
    Tile<T> tile;
    bool copied = false;
  };

  const QrFactorization& f;
  Graph& g;
  Side side;
  Op op;
  const TileMatrix<T>& C;
  bool over_a = &C == &f.a_;
  index_t begin = 0;  ///< first tile column of the block (ColumnBlock)
  Products products = products_of_updates();
  Tile<T> work = workspace(over_a ? rows() : f.width_, true);  ///< of updates
  Tile<T> panel_work = work;
  bool saves_memory = false;

  Pass(const QrFactorization& factorization, Graph& graph, Side where, Op which, const TileMatrix<T>& c)
      : f(factorization), g(graph), side(where), op(which), C(c) {}

  index_t rows() const { return std::min(f.m(), f.a_.tile_shape().mb); }
  /// Returns the size of a tile of C in the dimension that Q does not change.
  index_t across() const {
    return side == Side::left ? std::min(C.n(), C.tile_shape().nb) : std::min(C.m(), C.tile_shape().mb);
  }
  Products products_of_updates() const { return tesela::products<T>(g, rows(), across(), f.ib_); }
  Tile<T> workspace(index_t height, bool with_products) const {
    Shape shape = qr_work(f.width_, across(), height, g.runtime().gpus() > 0);
    if (with_products) shape.cols += columns_for_products(products.work.rows(), f.width_, sizeof(T));
    return g.scratch<T>(shape.rows, shape.cols);
  }
  /// Gives updates and panels work spaces of their sizes, since only one panel runs at a time.
  void save_memory() {
    saves_memory = true;
    work = workspace(f.width_, true);
    panel_work = workspace(rows(), false);
  }

  /// Returns the priority of a task of step s in tile column j of A: earlier columns first, and the panel before its
  /// updates. The steps of earlier blocks come last, one after the other.
  Priority priority(const QrStep& s, index_t j, bool panel = false) const {
    Priority priority;
    if (over_a)
      priority.value =
          static_cast<int>(s.column < begin ? C.nt() - 1 - s.column : C.nt() + 2 * (C.nt() - j) + (panel ? 1 : 0));
    priority.gpu = f.on_gpu_ || products.kernel != GemmKernel::cublas;
    return priority;
  }

  static index_t first_row(const QrStep& s, index_t i) { return i == s.head ? s.row : 0; }

  /// Inserts the kernel that computes h. Returns its vectors, which `kept` owns if they are copied.
  Vectors factor(const QrTransformation& h, const QrOptions& options, std::vector<TileMatrix<T>>& kept) const {
    const QrStep& s = f.step(h);
    const Tile<T> a = C(h.row, s.column);
    const index_t row = first_row(s, h.row);
    const Priority panel = priority(s, s.column, true);
    if (h.pivot < 0)
      g.insert<Geqrt<T>>(panel, {row, s.col, s.width, f.ib_, a.rows() - row, products.kernel}, a, f.t_(h.row, h.step),
                         panel_work);
    else
      g.insert<Tpqrt<T>>(panel, {first_row(s, h.pivot), s.col, s.width, f.ib_, h.triangle}, C(h.pivot, s.column), a,
                         f.tp_(h.row, h.step), panel_work);
    if (s.column + 1 == C.nt() || !copies(options, h, s, C.mt(), g.runtime().gpus() > 0)) return {a};
    kept.emplace_back(g.runtime(), a.rows(), s.width, TileShape{a.rows(), s.width}, "V");
    const Vectors copy{kept.back()(0, 0), true};
    g.insert<Lacpy<T>>(panel, {Part::unit_lower, -row, s.col}, a, copy.tile);
    return copy;
  }

  /// Inserts the update of tile column (or row) j by h.
  void update(const QrTransformation& h, index_t j, const Vectors& v) const {
    const QrStep& s = f.step(h);
    const auto c = [&](index_t i) { return side == Side::left ? C(i, j) : C(j, i); };
    if (h.pivot < 0) {
      const index_t row = first_row(s, h.row), col = v.copied ? 0 : s.col;
      g.insert<Unmqr<T>>(priority(s, j),
                         {side, op, row, col, s.width, f.ib_, v.tile.rows() - row, v.copied, products.kernel}, v.tile,
                         f.t_(h.row, h.step), c(h.row), work);
    } else {
      g.insert<Tpmqrt<T>>(priority(s, j), {side, op, first_row(s, h.pivot), s.col, s.width, f.ib_, h.triangle}, v.tile,
                          f.tp_(h.row, h.step), c(h.pivot), c(h.row), work);
    }
  }
  void update(const QrTransformation& h, index_t j) const { update(h, j, {f.a_(h.row, f.step(h).column)}); }

  /// Returns the blocks of C's tile columns (or rows) that are updated one after the other.
  std::vector<ColumnBlock> blocks() const {
    const index_t count = side == Side::left ? C.nt() : C.mt(), along = side == Side::left ? C.m() : C.n();
    if (along == 0 || count == 0 || lives_on_gpu(C(0, 0))) return {{0, count}};
    constexpr int at_once = 2, passing = 3;
    const auto bytes = [](index_t rows, index_t cols) {
      return static_cast<double>(sizeof(T)) * static_cast<double>(rows) * static_cast<double>(cols);
    };
    double reserved = at_once * bytes(work.rows(), work.cols());
    if (!over_a)
      reserved += passing * bytes(f.m(), f.a_.tile_shape().nb);
    else if (saves_memory)
      reserved += bytes(panel_work.rows(), panel_work.cols());
    else
      reserved += at_once * bytes(f.m(), f.width_);  // copies of vectors
    return column_blocks(
        GpuRoom(g.runtime()), count, [&](index_t) { return bytes(along, across()); }, reserved);
  }
  /// Waits until a part of a block that is not the last one is done.
  void finish(const ColumnBlock& block) const {
    if (side == Side::left && block.end < C.nt()) wait_for_writes(C(C.mt() - 1, block.begin));
    if (side == Side::right && block.end < C.mt()) wait_for_writes(C(block.begin, C.nt() - 1));
  }

  void forget(const Vectors& v) const {
    if (v.copied) g.forget(v.tile);
  }
};

template <class T>
QrFactorization<T>::QrFactorization(Graph& g, const TileMatrix<T>& A, const QrOptions& options)
    : a_(A),
      tree_(options.tree),
      width_(Widths(workers_for<T>(g.runtime()), {A.m(), A.n()}, A.tile_shape(), options).step),
      ib_(Widths(workers_for<T>(g.runtime()), {A.m(), A.n()}, A.tile_shape(), options).ib),
      steps_(cut_into_steps({A.m(), A.n()}, A.tile_shape(), width_)),
      transformations_(plan(steps_, A.mt(), options, tile_ends(steps_, {A.m(), A.n()}, A.tile_shape().mb, options))),
      on_gpu_(options.on_gpu),
      t_(g.runtime(), A.mt() * ib_, static_cast<index_t>(steps_.size()) * width_, {ib_, width_}, "T"),
      tp_(g.runtime(), A.mt() * ib_, static_cast<index_t>(steps_.size()) * width_, {ib_, width_}, "Tp") {
  Pass pass(*this, g, Side::left, adjoint<T>, a_);
  QrOptions settled = options;
  const bool fits = pass.blocks().size() == 1;
  settled.copy_vectors = options.copy_vectors && fits;
  if (!fits) pass.save_memory();
  for (const auto [begin, end] : pass.blocks()) {
    pass.begin = begin;
    for (const QrTransformation& h : transformations_)
      for (index_t j = begin; j < end && step(h).column < begin; ++j) pass.update(h, j);
    if (begin > 0) wait_for_writes(A(A.mt() - 1, begin));
    for (const QrTransformation& h : transformations_) {
      if (step(h).column < begin || step(h).column >= end) continue;
      const auto vectors = pass.factor(h, settled, copies_);
      for (index_t j = step(h).column + 1; j < end; ++j) pass.update(h, j, vectors);
      pass.forget(vectors);
    }
    for (index_t j = begin; j < end && end < A.nt(); ++j)
      for (index_t i = 0; i < A.mt(); ++i) g.bring_home(A(i, j));
  }
}

template <class T>
void QrFactorization<T>::apply(Graph& g, Side side, Op op, const TileMatrix<T>& C) const {
  const char* const routine = "QrFactorization::apply";
  const bool left = side == Side::left;
  op = op_for<T>(op);
  require(op == Op::none || op == adjoint<T>, routine, "op", "transpose",
          ": a complex Q has its adjoint Q^H, conjugate");
  const index_t along = left ? C.m() : C.n(), cut = left ? C.tile_shape().mb : C.tile_shape().nb,
                mb = a_.tile_shape().mb;
  require(along == m() && (cut == mb || (cut >= m() && mb >= m())), routine, "C", C, " in tiles of ", C.tile_shape(),
          "; Q has order ", m(), " and tiles of ", mb);
  require(!C.shares_tiles(a_), routine, "C", "shares tiles with the factorization");
  require_blas_sizes(routine, "C", C);
  const index_t tiles = left ? C.nt() : C.mt();
  if (tiles == 0 || transformations_.empty()) return;
  const Pass pass(*this, g, side, op, C);
  for (const ColumnBlock& block : pass.blocks()) {
    const auto apply_one = [&](const QrTransformation& h) {
      for (index_t j = block.begin; j < block.end; ++j) pass.update(h, j);
    };
    // Q = H_1 H_2 … H_k: Q^H C and C Q begin with H_1, Q C and C Q^H with H_k.
    if (left == (op != Op::none))
      std::for_each(transformations_.begin(), transformations_.end(), apply_one);
    else
      std::for_each(transformations_.rbegin(), transformations_.rend(), apply_one);
    pass.finish(block);
  }
}

template <class T>
void QrFactorization<T>::form_q(Graph& g, const TileMatrix<T>& Q) const {
  const char* const routine = "QrFactorization::form_q";
  const index_t mb = Q.tile_shape().mb, tile_rows = a_.tile_shape().mb;
  require(Q.m() == m() && Q.n() <= m() && (mb == tile_rows || std::min(mb, tile_rows) >= m()), routine, "Q", Q,
          " in tiles of ", Q.tile_shape(), "; it must have ", m(),
          " rows, at most as many columns, and A's tile rows of ", tile_rows);
  require(!Q.shares_tiles(a_), routine, "Q", "shares tiles with the factorization");
  const index_t nb = Q.tile_shape().nb;
  const auto set = [&](index_t begin, index_t end) {
    for (index_t j = begin; j < end; ++j)
      for (index_t i = 0; i < Q.mt(); ++i) g.insert<Laset<T>>({T(1), i * mb - j * nb}, Q(i, j));
  };
  if (Q.nt() == 0 || transformations_.empty()) return set(0, Q.nt());
  const Pass pass(*this, g, Side::left, Op::none, Q);
  for (const ColumnBlock& block : pass.blocks()) {
    set(block.begin, block.end);
    // Left of a step's first row the columns are columns of the identity, with zeros in the rows of this step.
    for (auto h = transformations_.rbegin(); h != transformations_.rend(); ++h)
      for (index_t j = std::max(step(*h).begin / nb, block.begin); j < block.end; ++j) pass.update(*h, j);
    pass.finish(block);
  }
}

template <class T>
void QrFactorization<T>::extract_r(Graph& g, const TileMatrix<T>& R) const {
  const auto [mb, nb] = a_.tile_shape();
  require(R.n() == n() && R.m() <= m() && R.m() >= std::min(m(), n()) && R.tile_shape().nb == nb &&
              (R.tile_shape().mb == mb || R.m() <= std::min(mb, R.tile_shape().mb)),
          "QrFactorization::extract_r", "R", R, " in tiles of ", R.tile_shape(),
          "; it must have from min(m, n) to m rows, ", n(), " columns and tiles of ", a_.tile_shape());
  for (index_t j = 0; j < R.nt() && R.mt() > 0; ++j)
    for (index_t i = 0; i < R.mt(); ++i)
      g.insert<Lacpy<T>>({.gpu = on_gpu_}, {Part::upper, i * mb - j * nb}, a_(i, j), R(i, j));
}

MemoryPlan plan_qr(const WorkerCounts& workers, Shape a, std::size_t element, TileShape tile, index_t q_columns,
                   const QrOptions& options) {
  const bool gpu = workers.gpus > 0;
  const auto [width, ib] = Widths(workers, a, tile, options);
  MemoryPlan result({"factor", "Q"}, workers.gpus, element);
  result.hold({MemoryPlan::host, a, 1, 0, 1});
  result.hold({MemoryPlan::host, {a.rows, q_columns}, 1, 1, 1});
  if (a.rows == 0 || a.cols == 0) return result;
  const double share = 1.0 / std::max(workers.gpus, 1),
               tile_size = static_cast<double>(tile.mb) * static_cast<double>(tile.nb);
  const auto tiles = [&](index_t cols) {
    return static_cast<double>(a.rows) * static_cast<double>(cols) / tile_size * share;
  };
  const Shape counted = sample_shape(a, tile, width);
  const std::vector<QrStep> steps = cut_into_steps(counted, tile, width);
  const index_t mt = ceil_div(counted.rows, tile.mb);
  double factors = 0, copied = 0;
  for (const QrTransformation& h : plan(steps, mt, options)) {
    const QrStep& s = steps[static_cast<std::size_t>(h.step)];
    ++factors;
    if (copies(options, h, s, mt, gpu) && s.column + 1 < ceil_div(a.cols, tile.nb))
      copied = std::min<double>(copied + 1, static_cast<double>(2 * mt));
  }
  factors *= trapezoid(a) / trapezoid(counted);
  copied *= static_cast<double>(ceil_div(a.rows, tile.mb)) / static_cast<double>(mt);
  const Shape of_tile{tile.mb, tile.nb};
  if (gpu) {
    result.hold_on_each({.shape = of_tile, .at_once = tiles(a.cols), .last = 1});
    result.hold_on_each({.shape = of_tile, .at_once = tiles(q_columns), .first = 1, .last = 1});
  }
  result.hold_on_each({.shape = {ib, width}, .at_once = factors * share, .last = 1});
  // At most two steps' copies exist at a time: the next panel writes its copies while updates read those of the last
  // one.
  result.hold_on_each({.shape = {tile.mb, width}, .at_once = std::ceil(copied * share)});
  Shape work = qr_work(width, std::min(a.cols, tile.nb), std::min(a.rows, tile.mb), gpu);
  const index_t rows = std::min(a.rows, tile.mb), across = std::min(a.cols, tile.nb);
  work.cols += columns_for_products(product_work(workers, rows, across, ib, element), width, element);
  result.hold_on_each({.shape = work, .at_once = gpu ? 2.0 : workers.cpus, .last = 1});
  result.task(3 * tile_size);
  return result;
}

template <class T>
QrFactorization<T> qr(Graph& g, const TileMatrix<T>& A, const QrOptions& options) {
  require_blas_sizes("qr", "A", A);
  require(options.ib >= 0, "qr", "options.ib", options.ib, " is negative");
  require(options.step >= 0, "qr", "options.step", options.step, " is negative");
  if (options.rank_tree.empty()) return QrFactorization<T>(g, A, options);
  QrOptions over_ranks = options;
  over_ranks.tree = "ranks:" + std::to_string(g.runtime().grid()[0]) + ":" + options.rank_tree + ":" + options.tree;
  return QrFactorization<T>(g, A, over_ranks);
}

#define TESELA_INSTANTIATE(T)        \
  template class QrFactorization<T>; \
  template QrFactorization<T> qr(Graph&, const TileMatrix<T>&, const QrOptions&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
