#include "tools/problems/svd/svd_batch.hpp"

#include "tools/app/numbers.hpp"
#include "tools/checks/svd_error.hpp"
#include "tools/peers/cusolver_svd.hpp"
#include <tesela/algorithms/svd/svd_matrices.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/host/lapack/lapack_svd.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace tesela::cli {

template <class T>
void SvdBatchProblem<T>::load() {
  const PausedWorkers paused;
  if (!file.empty()) {
    a = read_matrix<T>(file);
    return;
  }
  const auto factor = in_precision<real_t<T>>("svd", "--scale", scale);
  a = HostMatrix<T>(shape.rows, shape.cols * count);
  parallel_for(count, 16, [&](index_t first, index_t end) {
    for (index_t k = first; k < end; ++k) {
      const HostMatrix<T> one = svd_matrix<T>(shape, random, seed + static_cast<std::uint64_t>(k));
      for (index_t j = 0; j < shape.cols; ++j)
        for (index_t i = 0; i < shape.rows; ++i) a(i, k * shape.cols + j) = factor * one(i, j);
    }
  });
}

namespace {

template <class T>
Solver<SvdBatch<T>> by_graph(SvdBatchProblem<T>& p) {
  const auto found = std::make_shared<SvdBatch<T>>();
  const auto run = [&p, found](Graph* g) { *found = svd_batch<T>(*g, MatrixView<T>(p.a), p.count, p.vectors); };
  return {[found] { *found = {}; }, run, {}, [found] { return std::move(*found); }};
}

/// Solves with A and the results on a GPU.
template <class T>
Solver<SvdBatch<T>> by_resident_graph(SvdBatchProblem<T>& p) {
  const auto [m, n] = p.shape;
  const index_t k = std::min(m, n), at_once = std::min(svd_batch_size<T>(*p.runtime, p.shape), p.count);
  struct State {
    TileMatrix<T> A, U, V;
    TileMatrix<real_t<T>> S;
    std::vector<SvdBatchFailure> failures;
  };
  const auto tiles = [&]<class Element>(index_t rows, index_t columns, const char* name) {
    return TileMatrix<Element>(*p.runtime, rows, columns * p.count, {rows, columns * at_once}, name);
  };
  const auto state = std::make_shared<State>(State{tiles.template operator()<T>(m, n, "A"),
                                                   tiles.template operator()<T>(m, k, "U"),
                                                   tiles.template operator()<T>(n, k, "V"),
                                                   tiles.template operator()<real_t<T>>(k, 1, "S"),
                                                   {}});
  const bool some = p.vectors != SvdVectors::none;
  const auto home = MatrixView<T>(p.a).in_tiles(*p.runtime, state->A.tile_shape());
  Graph g(*p.runtime);
  for (index_t t = 0; t < home.nt(); ++t) g.insert<kernels::Lacpy<T>>(on_gpu, {}, home(0, t), state->A(0, t));
  g.wait();
  const auto run = [state, some](Graph* graph) {
    state->failures = svd_batch<T>(*graph, state->A, state->S, some ? &state->U : nullptr, some ? &state->V : nullptr);
  };
  const auto result = [state, some] {
    SvdBatch<T> found{std::move(state->failures), state->S.to_host(), {}, {}};
    if (some) found.u.emplace(state->U.to_host()), found.v.emplace(state->V.to_host());
    return found;
  };
  return {[] {}, run, {}, result};
}

template <class T>
Solver<SvdBatch<T>> by_lapack(SvdBatchProblem<T>& p) {
  struct State {
    HostMatrix<T> work, vt;
    SvdBatch<T> found;
  };
  const auto state = std::make_shared<State>();
  const index_t m = p.shape.rows, n = p.shape.cols, k = std::min(m, n);
  const bool some = p.vectors != SvdVectors::none, all = p.vectors == SvdVectors::all;
  const index_t of_u = !some ? 0 : all ? m : k, of_v = !some ? 0 : all ? n : k;
  const auto prepare = [&p, state, m, n, k, some, of_u, of_v] {
    state->work = p.a.clone();
    state->found = {{}, HostMatrix<real_t<T>>(k, p.count), {}, {}};
    if (!some) return;
    state->found.u.emplace(m, of_u * p.count);
    state->vt = HostMatrix<T>(of_v, n * p.count);
  };
  const auto run = [&p, state, m, n, k, some, of_u, of_v](Graph*) {
    const blas::Threads alone(1);
    parallel_for(p.count, 16, [&](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i)
        lapack::gesdd(static_cast<lapack::SingularVectors>(p.vectors), m, n, state->work.data() + i * m * n, m,
                      state->found.values.data() + i * k, some ? state->found.u->data() + i * m * of_u : nullptr,
                      std::max<index_t>(m, 1), state->vt.data() + i * of_v * n, std::max<index_t>(of_v, 1));
    });
  };
  const auto result = [&p, state, n, some, of_v] {
    if (some) {
      HostMatrix<T> v(n, of_v * p.count);
      for (index_t i = 0; i < p.count; ++i)
        for (index_t j = 0; j < of_v; ++j)
          for (index_t r = 0; r < n; ++r) v(r, i * of_v + j) = conj(state->vt(j, i * n + r));
      state->found.v.emplace(std::move(v));
    }
    return std::move(state->found);
  };
  return {prepare, run, {}, result};
}

/// Solves by gesvdjBatched on GPU 0; times the transfers unless the data are resident.
template <class T>
Solver<SvdBatch<T>> by_cusolver(SvdBatchProblem<T>& p) {
  const index_t m = p.shape.rows, n = p.shape.cols, k = std::min(m, n), count = p.count;
  const bool some = p.vectors != SvdVectors::none;
  struct State {
    State(index_t rows, index_t cols, index_t matrices, bool vectors)
        : device(rows, cols, matrices, vectors),
          s(std::min(rows, cols), matrices),
          u(vectors ? rows : 0, vectors ? rows * matrices : 0),
          v(vectors ? cols : 0, vectors ? cols * matrices : 0) {}
    CusolverSvdBatch<T> device;
    HostMatrix<T> s, u, v;
  };
  const auto state = std::make_shared<State>(m, n, count, some);
  const auto upload = [&p, state] { state->device.upload(p.a.data()); };
  const auto download = [state] { state->device.download(state->s.data(), state->u.data(), state->v.data()); };
  const auto prepare = [&p, upload] {
    if (p.resident) upload();
  };
  const auto run = [&p, state, upload, download](Graph*) {
    if (!p.resident) upload();
    state->device.solve();
    if (!p.resident) download();
  };
  const auto result = [&p, state, download, m, n, k, count, some] {
    if (p.resident) download();
    SvdBatch<T> found{{}, state->s.clone(), {}, {}};
    if (!some) return found;
    const bool all = p.vectors == SvdVectors::all;
    const auto part = [&](const HostMatrix<T>& x, index_t rows) {
      const index_t columns = all ? rows : k;
      HostMatrix<T> y(rows, columns * count);
      for (index_t i = 0; i < count; ++i) std::copy_n(&x(0, i * rows), rows * columns, &y(0, i * columns));
      return y;
    };
    found.u.emplace(part(state->u, m));
    found.v.emplace(part(state->v, n));
    return found;
  };
  return {prepare, run, {}, result};
}

}  // namespace

template <class T>
std::vector<Method<SvdBatchProblem<T>, SvdBatch<T>>> svd_batch_table() {
  using Row = Method<SvdBatchProblem<T>, SvdBatch<T>>;
  std::vector<Row> rows{Row{"tesela", "svd_batch", Row::Place::graph,
                            [](SvdBatchProblem<T>& p) { return p.resident ? by_resident_graph(p) : by_graph(p); }},
                        Row{"lapack", "gesdd, matrix by matrix, on all cores", Row::Place::cores, by_lapack<T>}};
  if constexpr (!is_complex<T>)
    add_cusolver(rows, "cusolver", "gesvdjBatched on a GPU, up to 32 x 32", [](auto& p) { return by_cusolver(p); });
  return rows;
}

template <class T>
double check_peer(const std::string& peer, const SvdBatchProblem<T>& p, const SvdBatch<T>& f) {
  constexpr index_t measured = 256;
  if (!f.ok()) throw bench::WrongResult(peer + ": " + to_string(f.failures.front()));
  const PausedWorkers paused;
  const SvdBounds bounds = svd_bounds<T>(p.shape.rows, p.shape.cols);
  const SvdBatchError e = svd_batch_error(p.a, f.values, f.u ? &*f.u : nullptr, f.v ? &*f.v : nullptr, measured);
  double worst = 0;
  for (const double part :
       {e.value / bounds.value, e.vectors.residual / bounds.value, e.vectors.orthogonality_u / bounds.orthogonality,
        e.vectors.orthogonality_v / bounds.orthogonality})
    worst = part <= worst ? worst : part;  // NaN stays
  if (!(worst <= 1))
    throw bench::WrongResult(
        fmt::format("{}: {} of {}: an error is {:.3g} times its bound", peer, p.count, to_string(p.shape), worst));
  return worst;
}

TESELA_FUNCTIONS_FOR_NUMBERS(svd_batch_table)
TESELA_STRUCTS_FOR_NUMBERS(SvdBatchProblem)
TESELA_FUNCTIONS_FOR_REALS(check_peer)

}  // namespace tesela::cli
