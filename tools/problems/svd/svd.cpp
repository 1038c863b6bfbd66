#include "tools/problems/svd/svd.hpp"

#include "tools/app/numbers.hpp"
#include "tools/peers/cusolver_svd.hpp"
#include <tesela/algorithms/svd/svd_matrices.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/host/lapack/lapack_svd.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace tesela::cli {

template <class T>
void SvdProblem<T>::load() {
  const PausedWorkers paused;
  if (!file.empty()) {
    a = read_matrix<T>(file);
    return;
  }
  a = svd_matrix<T>(shape, random, seed);
  const auto factor = in_precision<real_t<T>>("svd", "--scale", scale);
  if (factor == 1) return;
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) {
      a(i, j) *= factor;
      if (!is_finite(a(i, j))) throw ArgumentError("svd", "--scale", fmt::format("A({}, {}) overflows", i + 1, j + 1));
    }
}

namespace {

/// Largest order whose benchmark computes all values and measures all triples on the host, and number of triples beyond
/// it.
constexpr index_t measured_whole = 4096, sampled = 64;

template <class T>
Solver<Svd<T>> by_graph(SvdProblem<T>& p, SvdMethod method) {
  struct State {
    std::optional<TileMatrix<T>> A;  // on a GPU
    Svd<T> found;
  };
  const auto state = std::make_shared<State>();
  const auto prepare = [&p, state] {
    state->found = {};
    if (!p.resident || state->A) return;
    const auto home = MatrixView<T>(p.a).in_one_tile(*p.runtime);
    state->A.emplace(*p.runtime, home.m(), home.n(), home.tile_shape(), "A");
    Graph g(*p.runtime);
    g.insert<kernels::Lacpy<T>>(on_gpu, {}, home(0, 0), (*state->A)(0, 0));
    g.wait();
  };
  const auto run = [&p, state, method](Graph* g) {
    SvdOptions options = p.options;
    options.method = method;
    options.in_tiles = p.resident;
    state->found = p.resident ? svd(*g, *state->A, options) : svd(*g, MatrixView<T>(p.a), options);
  };
  const auto result = [state] {
    Svd<T> found = std::move(state->found);
    if (found.u_tiles) found.u.emplace(found.u_tiles->to_host()), found.u_tiles.reset();
    if (found.v_tiles) found.v.emplace(found.v_tiles->to_host()), found.v_tiles.reset();
    return found;
  };
  return {prepare, run, {}, result};
}

template <class T>
Solver<Svd<T>> by_gesdd(SvdProblem<T>& p) {
  struct State {
    std::vector<real_t<T>> s;
    HostMatrix<T> u, vt;
  };
  const auto state = std::make_shared<State>();
  const index_t m = p.a.rows(), n = p.a.cols(), k = std::min(m, n);
  const SvdVectors vectors = p.options.vectors;
  const auto prepare = [&p, state, m, n, k, vectors] {
    state->s.resize(static_cast<std::size_t>(k));
    if (p.work.size() == 0) p.work = HostMatrix<T>(m, n);
    copy_elements(p.a, p.work);
    if (vectors == SvdVectors::none) return;
    const bool all = vectors == SvdVectors::all;
    state->u = HostMatrix<T>::zeros(m, all ? m : k), state->vt = HostMatrix<T>::zeros(all ? n : k, n);
  };
  const auto run = [&p, state, m, n, vectors](Graph*) {
    lapack::gesdd(static_cast<lapack::SingularVectors>(vectors), m, n, p.work.data(), p.work.ld(), state->s.data(),
                  state->u.data(), state->u.ld(), state->vt.data(), state->vt.ld());
  };
  const auto result = [state] {
    Svd<T> found;
    found.method = SvdMethod::lapack;
    for (const real_t<T> s : state->s) found.values.push_back(static_cast<double>(s));
    if (!found.values.empty()) found.norm = found.values.front();
    HostMatrix<T> v(state->vt.cols(), state->vt.rows());
    for (index_t j = 0; j < v.cols(); ++j)
      for (index_t i = 0; i < v.rows(); ++i) v(i, j) = conj(state->vt(j, i));
    found.u.emplace(state->u.clone());
    found.v.emplace(std::move(v));
    return found;
  };
  return {prepare, run, {}, result};
}

/// Solves by a routine of cuSOLVER on GPU 0; times the transfers unless the data are resident.
template <class T>
Solver<Svd<T>> by_cusolver(SvdProblem<T>& p, CusolverSvdRoutine routine) {
  const index_t m = p.a.rows(), n = p.a.cols();
  const bool vectors = p.options.vectors != SvdVectors::none;
  struct State {
    State(CusolverSvdRoutine routine, index_t m, index_t n, bool vectors)
        : device(routine, m, n, vectors),
          s(static_cast<std::size_t>(n)),
          u(vectors ? m : 0, vectors ? n : 0),
          v(vectors ? n : 0, vectors ? n : 0) {}
    CusolverSvd<T> device;
    std::vector<real_t<T>> s;
    HostMatrix<T> u, v;
  };
  const auto state = std::make_shared<State>(routine, m, n, vectors);
  const auto prepare = [&p, state] {
    if (p.resident) state->device.upload(p.a.data());
  };
  const auto run = [&p, state, vectors](Graph*) {
    if (!p.resident) state->device.upload(p.a.data());
    state->device.solve(state->s.data());
    if (vectors && !p.resident) state->device.download(state->u.data(), state->v.data());
  };
  const auto result = [&p, state, vectors] {
    if (vectors && p.resident) state->device.download(state->u.data(), state->v.data());
    Svd<T> found;
    for (const real_t<T> s : state->s) found.values.push_back(static_cast<double>(s));
    if (!found.values.empty()) found.norm = found.values.front();
    if (!vectors) return found;
    found.u.emplace(state->u.clone());
    HostMatrix<T> v = state->v.clone();
    if (!state->device.transposed()) {
      found.v.emplace(std::move(v));
      return found;
    }
    found.v.emplace(v.cols(), v.cols());
    for (index_t j = 0; j < v.cols(); ++j)
      for (index_t i = 0; i < v.cols(); ++i) (*found.v)(i, j) = conj(v(j, i));
    return found;
  };
  return {prepare, run, {}, result};
}

}  // namespace

template <class T>
std::vector<Method<SvdProblem<T>, Svd<T>>> svd_table(bool benchmark) {
  using Row = Method<SvdProblem<T>, Svd<T>>;
  std::vector<Row> rows;
  for (const Named<SvdMethod>& method : svd_methods())
    rows.push_back({method.name, method.about, Row::Place::graph,
                    [value = method.value](SvdProblem<T>& p) { return by_graph(p, value); }});
  if (!benchmark) return rows;
  rows.back().place = Row::Place::cores;
  rows.back().solver = by_gesdd<T>;
  const auto add = [&](const char* name, const char* about, CusolverSvdRoutine routine) {
    add_cusolver(rows, name, about, [routine](auto& p) { return by_cusolver(p, routine); });
  };
  add("cusolver", "Xgesvd on a GPU", CusolverSvdRoutine::gesvd);
  add("cusolver-p", "its Xgesvdp, by a polar decomposition", CusolverSvdRoutine::gesvdp);
  if constexpr (!is_complex<T>) add("cusolver-j", "its gesvdj, by Jacobi rotations", CusolverSvdRoutine::gesvdj);
  return rows;
}

template <class T>
double check_peer(const std::string& peer, SvdProblem<T>& p, const Svd<T>& found) {
  if (!found.status.ok()) throw bench::WrongResult(peer + ": " + to_string(found.status));
  const PausedWorkers paused;
  const SvdBounds bounds = svd_bounds<T>(p.a.rows(), p.a.cols());
  const bool whole = std::min(p.a.rows(), p.a.cols()) <= measured_whole;
  double largest = norm_drift(p.a, found.values) / bounds.value;
  if (p.options.largest) largest = 0;
  const auto add = [&](double error, double bound) { largest = error / bound <= largest ? largest : error / bound; };
  if (p.options.vectors == SvdVectors::none) {
    if (p.values.empty()) p.values = whole ? reference_singular_values(p.a) : found.values;
    add(singular_value_error(found.values, p.values), bounds.value);
  } else {
    const SvdError error =
        svd_error(p.a, found.values, *found.u, *found.v, whole ? found.u->rows() + found.v->rows() : sampled);
    add(error.residual, bounds.value);
    add(error.orthogonality_u, bounds.orthogonality);
    add(error.orthogonality_v, bounds.orthogonality);
  }
  if (!(largest <= 1))
    throw bench::WrongResult(
        fmt::format("{}: {}: an error is {:.3g} times its bound", peer, to_string(p.shape), largest));
  return largest;
}

TESELA_FUNCTIONS_FOR_NUMBERS(svd_table, check_peer)
TESELA_STRUCTS_FOR_NUMBERS(SvdProblem)

}  // namespace tesela::cli
