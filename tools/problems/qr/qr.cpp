#include "tools/problems/qr/qr.hpp"

#include "tools/app/sizes.hpp"
#include "tools/checks/qr_parts_error.hpp"
#include "tools/peers/cusolver_qr.hpp"
#include "tools/peers/device.hpp"
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/qr/orthogonalize.hpp>
#include <tesela/algorithms/support/column_ends.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/range_exponent.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/simulation/simulation.hpp>
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace tesela::cli {

template <class T>
void QrProblem<T>::generate_uniform(bool on_workers) {
  resident = on_workers;
  if (half_width >= 0 || !resident || !sampled()) a = generate<T>(shape, generator());
  if (resident) return;
  work = HostMatrix<T>(shape.rows, shape.cols);
  pinned.emplace(*runtime, work.data(), static_cast<std::size_t>(work.size()) * sizeof(T));
}

template <class T>
void QrProblem<T>::unscale(QrFactors<T>& factors) {
  if (exponent == 0 || factors.r == nullptr) return;
  r = upper_trapezoid(*factors.r, order());
  static_cast<void>(scale_in_memory(MatrixView<T>(r), exponent));
  factors.r = &r;
}

template <class T>
void QrProblem<T>::restore() {
  bench::RestoredMatrix<T>::release(work.data());
  if (is_simulated()) return;
  copy_elements(a, work);
  static_cast<void>(scale_in_memory(MatrixView<T>(work), -exponent));
}

template <class T>
void QrProblem<T>::restore(bench::RestoredMatrix<T>& matrix, TileShape tiles) {
  if (resident) {
    matrix.on_devices(
        *runtime, shape, tiles, [&](Graph& g, const TileMatrix<T>& original) { fill(g, original, generator()); },
        [&](index_t, index_t j) { return q_wanted ? on_gpu_number(static_cast<std::size_t>(j)) : Priority{}; });
    return;
  }
  restore();
  if (in_parts)
    matrix.on_ranks(*runtime, work.data(), shape, tiles, work.ld());
  else
    matrix.on_host(*runtime, work.data(), shape, tiles);
}

namespace {

/// Copies R's columns from `first` on; only the tiles that hold them come to the host.
template <class T>
void copy_r(const TileMatrix<T>& A, index_t first, HostMatrix<T>& to) {
  A.for_each_tile([&](Tile<T> tile, index_t row, index_t col) {
    const index_t begin = std::max(col, first), end = std::min(col + tile.cols(), first + to.cols());
    if (begin >= end || row >= end) return;
    const auto block = tile.read();
    for (index_t j = begin; j < end; ++j)
      std::copy_n(block.data + (j - col) * block.ld, std::clamp<index_t>(j + 1 - row, 0, block.rows),
                  to.data() + row + (j - first) * to.ld());
  });
}

/// Runs factor(graph, A), which returns a factorization: of tiles or by rotations. describe(factorization) returns its
/// choices for reports.
template <class T, class Factor, class Describe>
Solver<QrFactors<T>> by_graph(QrProblem<T>& p, TileShape tile, const Factor& factor, const Describe& describe) {
  struct State {
    bench::RestoredMatrix<T> A;
    std::optional<std::invoke_result_t<Factor, Graph&, const TileMatrix<T>&>> factors;
  };
  const auto state = std::make_shared<State>();
  const auto prepare = [&p, state, tile] {
    state->factors.reset();
    p.restore(state->A, tile);
  };
  const auto run = [state, factor](Graph* g) {
    const TileMatrix<T>& A = *state->A;
    state->factors.emplace(factor(*g, A));
    if (A.mapped()) A.for_each_tile([&](const Tile<T>& t, index_t, index_t) { g->bring_home(t); });  // when it is final
  };
  const auto finish = [state] {
    if (state->A->mapped()) state->A->bring_home();
  };
  const auto at_home = [&p, tile](HostMatrix<T>& c, index_t columns, const auto& insert) {
    const auto C = TileMatrix<T>::map_block_cyclic(*p.runtime, c.data(), p.shape.rows, columns, c.ld(), tile, "Q");
    Graph g(*p.runtime);
    insert(g, C);
    g.wait();
    C.bring_home();
  };
  const auto result = [&p, state, tile, at_home, describe] {
    QrFactors<T> f;
    if (p.resident) {
      f.read = [state](index_t first, HostMatrix<T>& to) { copy_r(*state->A, first, to); };
      f.multiply_r = [&p, state](const HostMatrix<T>& c) {
        const TileMatrix<T> R(*p.runtime, p.order(), p.shape.cols, state->A->tile_shape(), "R");
        Graph g(*p.runtime);
        state->factors->extract_r(g, R);
        g.wait();
        return product(*p.runtime, R, c);
      };
    } else {
      f.r = &p.work;
    }
    f.multiply_q = [state, at_home](HostMatrix<T>& c, index_t columns) {
      at_home(c, columns, [&](Graph& g, const auto& C) { state->factors->apply(g, Side::left, Op::none, C); });
    };
    f.form_q = [state, at_home](HostMatrix<T>& q, index_t columns) {
      at_home(q, columns, [&](Graph& g, const auto& Q) { state->factors->form_q(g, Q); });
    };
    f.tile = tile;
    f.about = describe(*state->factors);
    f.about.update({{"mb", tile.mb}, {"nb", tile.nb}});
    if constexpr (requires { state->factors->rotations(); }) f.rotations = state->factors->rotations();
    return f;
  };
  return {prepare, run, finish, result};
}

/// Returns the last nonzero row of each column, for methods that skip zeros.
template <class T>
std::vector<index_t> staircase(const QrProblem<T>& p, TileShape tile) {
  if (p.resident || is_simulated()) return {};
  if (p.in_parts) return column_ends(*p.runtime, p.a, BlockCyclic(*p.runtime, p.shape, tile));
  return column_ends(p.a);
}

template <class T>
Solver<QrFactors<T>> by_tiles(QrProblem<T>& p) {
  QrOptions options = qr_options(p.method);
  const TileShape tile = qr_tile({}, p.tile, *p.runtime, p.shape, is_complex<T>, !p.resident);
  if (!is_complex<T>) options.ends = staircase(p, tile);
  const auto factor = [options](Graph& g, const TileMatrix<T>& A) { return qr(g, A, options); };
  return by_graph(p, tile, factor, [options](const QrFactorization<T>& f) -> nlohmann::json {
    return {{"tree", f.tree()},
            {"kernels", options.triangles ? "tt" : "auto"},
            {"ib", f.ib()},
            {"copy_vectors", options.copy_vectors}};
  });
}

}  // namespace

template <class T>
HostMatrix<T> product(Runtime& runtime, const TileMatrix<T>& M, const HostMatrix<T>& c) {
  const auto [mb, nb] = M.tile_shape();
  HostMatrix<T> result(M.m(), c.cols());
  const auto C = TileMatrix<T>::map(runtime, c.data(), c.rows(), c.cols(), c.ld(),
                                    {nb, std::max<index_t>(c.cols(), 1)}),
             P = TileMatrix<T>::map(runtime, result.data(), result.rows(), result.cols(), result.ld(),
                                    {mb, std::max<index_t>(c.cols(), 1)});
  Graph g(runtime);
  gemm(g, Op::none, Op::none, T(1), M, C, T(0), P, {.kernel = GemmKernel::cublas});
  g.wait();
  P.bring_home();
  return result;
}

template <class T>
Solver<QrFactors<T>> by_rotations(QrProblem<T>& p, const GivensOptions& given) {
  GivensOptions options = given;
  const TileShape tile{std::max<index_t>(p.shape.rows, 1),
                       qr_tile({}, p.tile, *p.runtime, p.shape, is_complex<T>, !p.resident).nb};
  options.ends = staircase(p, tile);
  const auto describe = [options](const GivensQr<T>&) {
    nlohmann::json about{{"window", options.window}};
    if (options.method == GivensMethod::stages) about["order"] = options.order;
    return about;
  };
  if (!p.q_wanted)
    return by_graph(
        p, tile, [options](Graph& g, const TileMatrix<T>& A) { return givens_qr(g, A, options); }, describe);
  const index_t m = p.shape.rows;
  const auto Q =
      std::make_shared<TileMatrix<T>>(*p.runtime, m, m, TileShape{parse_tile(p.tile, {256, 0}).mb, tile.mb}, "Q");
  const auto factor = [options, Q](Graph& g, const TileMatrix<T>& A) {
    Q->for_each_tile([&](const Tile<T>& q, index_t row, index_t column) {
      g.insert<kernels::Laset<T>>({T(1), row - column}, q);
    });
    return givens_qr(g, A, options, nullptr, &*Q);
  };
  Solver<QrFactors<T>> solver = by_graph(p, tile, factor, describe);
  solver.result = [&p, factors = solver.result, Q] {
    QrFactors<T> f = factors();
    f.form_q = [Q](HostMatrix<T>& q, index_t) { std::copy_n(Q->to_host().data(), q.size(), q.data()); };
    f.multiply_q = [&p, Q](HostMatrix<T>& c, index_t) { c = product(*p.runtime, *Q, c); };
    return f;
  };
  return solver;
}

namespace {

/// Runs a method that forms Q in A's place.
template <class T>
Solver<QrFactors<T>> by_orthogonalization(QrProblem<T>& p, Orthogonalization method) {
  struct State {
    bench::RestoredMatrix<T> A;
    std::optional<Orthogonalized<T>> found;
  };
  const auto [m, n] = p.shape;
  TileShape tile = parse_tile(p.tile, orthogonalization_tile(*p.runtime, method, m, n));
  if (method == Orthogonalization::cholesky_qr2)
    tile.nb = std::max<index_t>(n, 1);
  else if (method != Orthogonalization::householder)
    tile.mb = std::max<index_t>(m, 1);
  const auto state = std::make_shared<State>();
  const auto prepare = [&p, state, tile] {
    state->found.reset();
    p.restore(state->A, tile);
  };
  const auto run = [state, method](Graph* g) { state->found = orthogonalize(*g, *state->A, method); };
  const auto finish = [state] {
    if (state->A->mapped()) state->A->bring_home();
  };
  const auto result = [&p, state, tile, method] {
    QrFactors<T> f;
    f.about = {{"mb", tile.mb}, {"nb", tile.nb}};
    if (method == Orthogonalization::cholesky_qr2) f.about["shifted"] = state->found->shifted;
    if (state->found->broken > 0) {
      f.failure = fmt::format("dependent column: {}", state->found->broken);
      return f;
    }
    const TileMatrix<T>& R = state->found->R;
    p.r = R.to_host();
    f.r = &p.r;
    f.form_q = [state](HostMatrix<T>& q, index_t) { state->A->copy_to(q.data(), q.ld()); };
    return f;
  };
  return {prepare, run, finish, result};
}

template <class T>
Solver<QrFactors<T>> by_lapack(QrProblem<T>& p) {
  struct State {
    std::vector<T> tau;
    HostMatrix<T> q;
  };
  const auto state = std::make_shared<State>();
  state->tau.resize(static_cast<std::size_t>(p.order()));
  const auto prepare = [&p, state] {
    p.restore();
    if (p.q_wanted) state->q = HostMatrix<T>(p.shape.rows, p.order());
  };
  const auto multiply = [&p, state](HostMatrix<T>& c, index_t columns) {
    const blas::Threads threads(blas::all_cores());
    lapack::ormqr(Op::none, c.rows(), columns, p.order(), p.work.data(), p.work.ld(), state->tau.data(), c.data(),
                  c.ld());
  };
  const auto run = [&p, state](Graph*) {
    const blas::Threads threads(blas::all_cores());
    lapack::geqrf(p.shape.rows, p.shape.cols, p.work.data(), p.work.ld(), state->tau.data());
    if (!p.q_wanted) return;
    std::copy_n(p.work.data(), state->q.size(), state->q.data());
    lapack::orgqr(p.shape.rows, p.order(), state->q.data(), state->q.ld(), state->tau.data());
  };
  const auto result = [&p, state, multiply] {
    QrFactors<T> f{.r = &p.work, .multiply_q = multiply};
    if (p.q_wanted) f.form_q = [state](HostMatrix<T>& q, index_t) { q = state->q.clone(); };
    return f;
  };
  return {prepare, run, {}, result};
}

template <class T>
Solver<QrFactors<T>> by_cusolver(QrProblem<T>& p) {
  const auto device = std::make_shared<CusolverQr<T>>(p.shape.rows, p.shape.cols);
  const auto generate_there = [&p, device] { bench::generate(device->a(), p.shape.rows, p.shape.cols, p.generator()); };
  const auto prepare = [&p, generate_there] { p.resident ? generate_there() : p.restore(); };
  const auto run = [&p, device](Graph*) {
    if (!p.resident) device->upload(p.work.data());
    device->factor();
    if (p.q_wanted)
      device->form_q();
    else if (!p.resident)
      device->download(p.work.data());
  };
  const auto result = [&p, device, generate_there] {
    QrFactors<T> f{
        .multiply_q = [device](HostMatrix<T>& c, index_t columns) { device->multiply(Op::none, c.data(), columns); }};
    if (p.q_wanted) {  // Q replaced the factors: they are computed again
      const auto q = std::make_shared<HostMatrix<T>>(p.shape.rows, p.order());
      device->download(q->data(), 0, q->cols());
      p.resident ? generate_there() : device->upload(p.a.data());
      device->factor();
      f.form_q = [q](HostMatrix<T>& to, index_t) { to = q->clone(); };
    }
    if (!p.resident && !p.q_wanted)
      f.r = &p.work;
    else
      f.read = [device](index_t first, HostMatrix<T>& to) { device->download(to.data(), first, to.cols()); };
    return f;
  };
  return {prepare, run, {}, result};
}

}  // namespace

template <class T>
std::vector<Method<QrProblem<T>, QrFactors<T>>> qr_table() {
  using Row = Method<QrProblem<T>, QrFactors<T>>;
  using Place = typename Row::Place;
  std::vector<Row> rows{{"tiles", "Householder reflectors of tiles", Place::graph, by_tiles<T>}};
  for (const auto& method : givens_methods())
    rows.push_back({method.name, method.about, Place::graph, [name = method.name](QrProblem<T>& p) {
                      QrMethod rotations = p.method;
                      rotations.name = name;
                      return by_rotations(p, givens_options(rotations));
                    }});
  for (const auto& method : orthogonalizations())
    rows.push_back({method.name, method.about, Place::graph,
                    [which = method.value](QrProblem<T>& p) { return by_orthogonalization(p, which); }});
  rows.push_back({"lapack", "the library's geqrf", Place::cores, by_lapack<T>});
  add_cusolver(rows, "cusolver", "the library's geqrf on a GPU, transfers timed",
               [](auto& p) { return by_cusolver(p); });
  return rows;
}

std::optional<index_t> checked_columns(Shape a) {
  const index_t k = std::min(a.rows, a.cols);
  const double work = static_cast<double>(a.rows) * static_cast<double>(a.cols) * static_cast<double>(k);
  constexpr double quick = 2560.0 * 2560.0 * 2560.0;
  return work <= quick ? std::optional(k) : std::nullopt;
}

TESELA_FUNCTIONS_FOR_NUMBERS(qr_table, product, by_rotations)
TESELA_STRUCTS_FOR_NUMBERS(QrProblem)

}  // namespace tesela::cli
