#include "tools/bench/givens/givens_rows.hpp"

#include "tools/app/sizes.hpp"
#include "tools/peers/lapack_qr.hpp"
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/codelets/givens/givens.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/filled.hpp>

#include <algorithm>

namespace tesela::bench {

using cli::QrFactors, cli::QrProblem, cli::Solver;
namespace {

template <class T>
Solver<QrFactors<T>> by_band(QrProblem<T>& p) {
  const index_t n = p.shape.cols, k = p.half_width, rows = 3 * k + 1;
  struct State {
    HostMatrix<T> band, factors;  // in band storage
    RestoredMatrix<T> A;
    std::optional<TileMatrix<T>> Q;
  };
  const auto state = std::make_shared<State>();
  state->band = HostMatrix<T>::zeros(rows, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = std::max<index_t>(0, j - k); i <= std::min(n - 1, j + k); ++i)
      state->band(2 * k + i - j, j) = p.a(i, j);
  state->Q.emplace(*p.runtime, n, n, TileShape{n, cli::parse_tile(p.tile, {0, 64}).nb}, "Q");
  const auto prepare = [&p, state, rows, n] {
    state->A.on_devices(
        *p.runtime, {rows, n}, {rows, n},
        [&](Graph&, const TileMatrix<T>& A) { A.copy_from(state->band.data(), state->band.ld()); },
        [](index_t, index_t) { return Priority{}; });
  };
  const auto run = [&p, state, n, k](Graph* g) {
    givens_band_qr(*g, *state->A, n, k, k, {GivensMethod::chain}).form_q(*g, *state->Q);
  };
  const auto result = [&p, state, n, k] {
    state->factors = HostMatrix<T>(state->band.rows(), n);
    state->A->copy_to(state->factors.data(), state->factors.ld());
    // Calls f(i, j, element) for the band of R in columns first … first + count - 1.
    const auto for_each = [state, k](index_t first, index_t count, const auto& f) {
      for (index_t j = first; j < first + count; ++j)
        for (index_t i = std::max<index_t>(0, j - 2 * k); i <= j; ++i) f(i, j, state->factors(2 * k + i - j, j));
    };
    QrFactors<T> f;
    f.read = [for_each](index_t first, HostMatrix<T>& to) {
      std::fill_n(to.data(), to.size(), T(0));
      for_each(first, to.cols(), [&](index_t i, index_t j, T element) { to(i, j - first) = element; });
    };
    f.multiply_r = [for_each, n](const HostMatrix<T>& c) {
      auto product = HostMatrix<T>::zeros(n, c.cols());
      for (index_t v = 0; v < c.cols(); ++v)
        for_each(0, n, [&](index_t i, index_t j, T element) { product(i, v) += times(element, c(j, v)); });
      return product;
    };
    f.multiply_q = [&p, state](HostMatrix<T>& c, index_t) { c = cli::product(*p.runtime, *state->Q, c); };
    f.form_q = [state](HostMatrix<T>& q, index_t) { state->Q->copy_to(q.data(), q.ld()); };
    return f;
  };
  return {prepare, run, {}, result};
}

/// Computes Q from R and the rotations below it, blocks of columns at a time: zeros of the identity stay untouched.
template <class T>
void form_q(HostMatrix<T>& r, const Out<index_t>& counts, HostMatrix<T>& q) {
  constexpr index_t columns = 64, window = 32;
  const index_t m = r.rows(), n = r.cols();
  std::vector<T> memory(static_cast<std::size_t>(kernels::givens_work_size(columns, window)));
  Scratch<T> work;
  work.data = memory.data();
  for (index_t first = 0; first < m; first += columns) {
    const InOut<T> block{{q.data() + first * m, m, std::min(columns, m - first), m}};
    for (index_t j = 0; j < block.cols; ++j)
      for (index_t i = 0; i < m; ++i) block(i, j) = T(i == first + j ? 1 : 0);
    typename kernels::GivensApply<T>::Args args{Side::left, Op::none};
    args.width = std::min({first + block.cols, n, m - 1});
    args.window = window;
    args.rows = m;
    kernels::GivensApply<T>::cpu(args, {{r.data(), m, n, m}}, {{counts.data, counts.rows, counts.cols, counts.ld}},
                                 block, work);
  }
}

template <class T>
Solver<QrFactors<T>> by_one_core(QrProblem<T>& p) {
  const auto q = std::make_shared<HostMatrix<T>>();
  const auto run = [&p, q](Graph*) {
    const auto [m, n] = p.shape;
    std::vector<T> work(static_cast<std::size_t>(2 * m));
    index_t counts[2] = {};
    Out<index_t> info;
    info.data = counts;
    info.rows = info.ld = 2;
    info.cols = 1;
    Scratch<T> scratch;
    scratch.data = work.data();
    InOut<T> a;
    a.data = p.work.data();
    a.rows = a.ld = m;
    a.cols = n;
    kernels::GivensSweep<T>::cpu({n}, info, scratch, {&a, 1});
    if (p.q_wanted) form_q(p.work, info, *q);
  };
  const auto prepare = [&p, q] {
    if (p.work.shape() != p.shape) p.work = HostMatrix<T>(p.shape.rows, p.shape.cols);
    p.restore();
    if (p.q_wanted) *q = HostMatrix<T>(p.shape.rows, p.shape.rows);
  };
  const auto result = [&p, q] {
    QrFactors<T> f{.r = &p.work};
    if (p.q_wanted)
      f.form_q = [q](HostMatrix<T>& c, index_t columns) { std::copy_n(q->data(), q->rows() * columns, c.data()); };
    return f;
  };
  return {prepare, run, {}, result};
}

template <class T>
Solver<QrFactors<T>> by_library(QrProblem<T>& p, const LapackQr<T>& library, int threads) {
  struct State {
    std::vector<T> tau, work;
    HostMatrix<T> q;
  };
  const auto state = std::make_shared<State>();
  const auto [m, n] = p.shape;
  state->tau.resize(static_cast<std::size_t>(p.order()));
  state->work.resize(static_cast<std::size_t>(64 * std::max(m, n)));
  const auto prepare = [&p, state] {
    if (p.work.shape() != p.shape) p.work = HostMatrix<T>(p.shape.rows, p.shape.cols);
    p.restore();
    if (p.q_wanted) state->q = HostMatrix<T>(p.shape.rows, p.order());
  };
  const auto run = [&p, state, library, threads](Graph*) {
    const int rows = static_cast<int>(p.shape.rows), cols = static_cast<int>(p.shape.cols),
              k = static_cast<int>(p.order()), size = static_cast<int>(state->work.size());
    int info = 0;
    std::optional<blas::Threads> ours;
    library.set_threads != nullptr ? library.set_threads(threads) : static_cast<void>(ours.emplace(threads));
    library.geqrf(&rows, &cols, p.work.data(), &rows, state->tau.data(), state->work.data(), &size, &info);
    if (!p.q_wanted) return;
    std::copy_n(p.work.data(), state->q.size(), state->q.data());
    library.orgqr(&rows, &k, &k, state->q.data(), &rows, state->tau.data(), state->work.data(), &size, &info);
  };
  const auto result = [&p, state] {
    QrFactors<T> f{.r = &p.work};
    if (p.q_wanted)
      f.form_q = [state](HostMatrix<T>& c, index_t columns) {
        std::copy_n(state->q.data(), state->q.rows() * columns, c.data());
      };
    f.multiply_q = [&p, state](HostMatrix<T>& c, index_t columns) {
      lapack::ormqr(Op::none, c.rows(), columns, p.order(), p.work.data(), p.work.ld(), state->tau.data(), c.data(),
                    c.ld());
    };
    return f;
  };
  return {prepare, run, {}, result};
}

double timed_graph(Runtime& runtime, const std::function<void(Graph&)>& insert) {
  return seconds_of([&] {
    Graph g(runtime);
    insert(g);
    g.wait();
  });
}

template <class T>
void copy(Graph& g, const TileMatrix<T>& from, const TileMatrix<T>& to) {
  const auto [mb, nb] = to.tile_shape();
  to.for_each_tile([&, mb = mb, nb = nb](const Tile<T>& tile, index_t row, index_t column) {
    g.insert<kernels::Lacpy<T>>({}, from(row / mb, column / nb), tile);
  });
}

}  // namespace

template <class T>
QrRow<T> band_row() {
  return {"chain, band", "chains of rotations in band storage", QrRow<T>::Place::graph, by_band<T>};
}

template <class T>
QrRow<T> rotation_row(const GivensOptions& options) {
  return {"rotations", "a graph of rotations", QrRow<T>::Place::graph,
          [options](QrProblem<T>& p) { return by_rotations(p, options); }};
}

template <class T>
QrRow<T> threads_row(const std::string& name, int threads, const std::string& mkl) {
  const LapackQr<T> library = mkl.empty() ? own_lapack_qr<T>() : mkl_qr<T>(mkl);
  return {name, "geqrf and orgqr", QrRow<T>::Place::cores,
          [library, threads](QrProblem<T>& p) { return by_library(p, library, threads); }};
}

template <class T>
QrRow<T> sequential_row() {
  return {"givens, one core", "rotation after rotation on one core", QrRow<T>::Place::cores, by_one_core<T>};
}

template <class T>
std::vector<Timing> time_transfers(const QrProblem<T>& p, TileShape of_a, index_t rows_of_q, int repeat) {
  Runtime& runtime = *p.runtime;
  const auto [m, n] = p.shape;
  const index_t q_rows = p.q_wanted ? m : 0;
  HostMatrix<T> a(m, n), q = generate<T>({q_rows, m}, {});  // all cores touch the pages
  copy_elements(p.a, a);
  const TileMatrix<T> W(runtime, m, n, of_a, "W"), Q(runtime, q_rows, m, {rows_of_q, m}, "Q");
  std::vector<Timing> timings{{"in", {}, 0}, {"out", {}, 0}};
  for (int r = 0; r < repeat; ++r) {
    const MatrixView<T> on_host = a, of_q = q;
    const auto A = on_host.in_tiles(runtime, of_a), home = of_q.in_tiles(runtime, {rows_of_q, m});
    timings[0].seconds.push_back(timed_graph(runtime, [&](Graph& g) { copy(g, A, W); }));
    if (r == 0) timed_graph(runtime, [&](Graph& g) { fill(g, Q, Generator<T>{}); });
    timings[1].seconds.push_back(timed_graph(runtime, [&](Graph& g) {
      copy(g, W, A);
      copy(g, Q, home);
      A.bring_home();
      home.bring_home();
    }));
  }
  return timings;
}

TESELA_FUNCTIONS_FOR_NUMBERS(band_row, sequential_row, time_transfers)
TESELA_FUNCTIONS_FOR_REALS(rotation_row, threads_row)

}  // namespace tesela::bench
