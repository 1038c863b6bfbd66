#include "tools/problems/dense/direct.hpp"

#include "tools/app/sizes.hpp"
#include "tools/checks/factor_error.hpp"
#include "tools/peers/cusolver_factor.hpp"
#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/dense/factor_stages.hpp>
#include <tesela/algorithms/dense/lu.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/simulation/simulation.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tesela::cli {

template <class T>
void DirectProblem<T>::generate_uniform(std::uint64_t seed, bool on_workers) {
  const Generator<T> random{Pattern::uniform, T(0), n, seed, n};
  const bool symmetric = kind == DirectKind::cholesky;
  const auto order = static_cast<double>(n);
  const double shift = symmetric ? 2 * std::sqrt(order) + 1 : kind == DirectKind::lu ? 0 : order;
  a = filled<T>({n, n}, [&](index_t i, index_t j) {
    const T element = symmetric ? random(std::min(i, j), std::max(i, j)) : random(i, j);
    if (i != j) return symmetric && i > j ? conj(element) : element;
    return (symmetric ? T(real_part(element)) : element) + static_cast<real_t<T>>(shift);
  });
  resident = on_workers;
  work = HostMatrix<T>(n, n);
  if (!resident) pinned.emplace(*runtime, work.data(), static_cast<std::size_t>(work.size()) * sizeof(T));
}

template <class T>
void DirectProblem<T>::restore() {
  if (work.shape() != a.shape()) work = HostMatrix<T>(n, n);
  if (x.shape() != b.shape()) x = HostMatrix<T>(b.rows(), b.cols());
  bench::RestoredMatrix<T>::release(work.data());
  if (is_simulated()) return;
  copy_elements(a, work);
  copy_elements(b, x);
}

template <class T>
void DirectProblem<T>::restore(bench::RestoredMatrix<T>& matrix, TileShape tiles) {
  if (resident) {
    matrix.on_devices(
        *runtime, {n, n}, tiles, [&](Graph&, const TileMatrix<T>& original) { original.copy_from(a.data(), a.ld()); },
        [&](index_t i, index_t j) {
          return kind == DirectKind::cholesky ? cholesky_place(*runtime, n, tiles, i, j)
                                              : on_gpu_number(static_cast<std::size_t>(j));
        });
    return;
  }
  restore();
  matrix.on_host(*runtime, work.data(), {n, n}, tiles);
}

void require_tile(const std::string& tile, bool symmetric) {
  if (!tile.empty()) parse_sizes("--tile", tile, symmetric ? "NB or NBxWIDTH" : "NB, columns,", symmetric ? 2 : 1);
}

template <class T>
TileShape DirectProblem<T>::tile_shape() const {
  if (kind == DirectKind::cholesky) return parse_tile(tile, cholesky_tile(*runtime, n, !resident, is_complex<T>));
  return {std::max<index_t>(n, 1), parse_tile(tile, lu_tile(*runtime, n, is_complex<T>)).nb};
}

std::vector<index_t> rows_of(index_t n, const std::vector<int>& swaps) {
  std::vector<index_t> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), index_t{0});
  for (std::size_t i = 0; i < swaps.size(); ++i) std::swap(rows[i], rows[static_cast<std::size_t>(swaps[i] - 1)]);
  return rows;
}

namespace {

/// Waits. Returns the pivot or minor that stopped a factorization, from 1, or 0.
template <class Factors>
index_t stop_of(const Factors& factors) {
  if constexpr (requires { factors.minor(); })
    return factors.minor();
  else if constexpr (requires { factors.zero_pivot(); })
    return factors.zero_pivot();
  else
    return factors.stop();
}

/// Runs factor(graph, A), which returns a factorization; X has tiles of `height` rows.
template <class T, class Factor>
Solver<DirectFactors> by_graph(DirectProblem<T>& p, TileShape tile, index_t height, const Factor& factor) {
  struct State {
    bench::RestoredMatrix<T> A;
    std::optional<TileMatrix<T>> X;
    std::optional<std::invoke_result_t<Factor, Graph&, const TileMatrix<T>&>> factors;
  };
  const auto state = std::make_shared<State>();
  const auto prepare = [&p, state, tile, height] {
    state->factors.reset();
    state->X.reset();
    p.restore(state->A, tile);
    if (p.b.cols() > 0)
      state->X = TileMatrix<T>::map(*p.runtime, p.x.data(), p.n, p.x.cols(), p.x.ld(), {height, 128}, "X");
  };
  const auto run = [state, factor](Graph* g) {
    const TileMatrix<T>& A = *state->A;
    state->factors.emplace(factor(*g, A));
    if (state->X && stop_of(*state->factors) == 0) state->factors->solve(*g, *state->X);
    if (A.mapped()) A.for_each_tile([&](const Tile<T>& t, index_t, index_t) { g->bring_home(t); });
  };
  const auto finish = [state] {
    if (state->A->mapped()) state->A->bring_home();
    if (state->X) state->X->bring_home();
  };
  const auto result = [&p, state] {
    if (p.resident) state->A->copy_to(p.work.data(), p.work.ld());
    DirectFactors found{.stop = stop_of(*state->factors)};
    if constexpr (requires { state->factors->rows(); }) found.rows = state->factors->rows();
    return found;
  };
  return {prepare, run, finish, result};
}

template <class T>
Solver<DirectFactors> by_tiles(DirectProblem<T>& p) {
  const TileShape tile = p.tile_shape();
  if (p.kind == DirectKind::cholesky)
    return by_graph(p, tile, tile.mb, [](Graph& g, const TileMatrix<T>& A) { return cholesky(g, A); });
  const Pivoting pivoting = p.kind == DirectKind::lu ? Pivoting::tournament : Pivoting::none;
  return by_graph(p, tile, tile.mb, [pivoting](Graph& g, const TileMatrix<T>& A) { return lu(g, A, pivoting); });
}

template <class T>
Solver<DirectFactors> by_stages(DirectProblem<T>& p) {
  const index_t n = std::max<index_t>(p.n, 1);
  return by_graph(p, {n, n}, n, [symmetric = p.kind == DirectKind::cholesky](Graph& g, const TileMatrix<T>& A) {
    return StageFactorization<T>(g, A, symmetric);
  });
}

template <class T>
Solver<DirectFactors> by_lapack(DirectProblem<T>& p) {
  const auto swaps = std::make_shared<std::vector<int>>(p.kind == DirectKind::cholesky ? 0 : p.n);
  const auto run = [&p, swaps](Graph*) {
    if (p.kind == DirectKind::cholesky)
      lapack::potrf(p.n, p.work.data(), p.work.ld());
    else
      lapack::getrf(p.n, p.n, p.work.data(), p.work.ld(), swaps->data());
  };
  return {[&p] { p.restore(); }, run, {}, [&p, swaps] { return DirectFactors{rows_of(p.n, *swaps)}; }};
}

template <class T>
Solver<DirectFactors> by_cusolver(DirectProblem<T>& p) {
  using By = typename CusolverFactor<T>::By;
  const By by = p.kind == DirectKind::cholesky ? By::cholesky
                : p.kind == DirectKind::lu     ? By::lu
                                               : By::lu_without_pivots;
  const auto device = std::make_shared<CusolverFactor<T>>(p.n, by, p.resident);
  if (p.resident) device->keep(p.a.data());
  const auto prepare = [&p, device] { p.resident ? device->put_back() : p.restore(); };
  const auto run = [&p, device](Graph*) {
    if (!p.resident) device->upload(p.work.data());
    device->factor();
    if (!p.resident) device->download(p.work.data());
  };
  const auto result = [&p, device] {
    if (p.resident) device->download(p.work.data());
    return DirectFactors{rows_of(p.n, device->swaps())};
  };
  return {prepare, run, {}, result};
}

}  // namespace

template <class T>
std::vector<Method<DirectProblem<T>, DirectFactors>> direct_table() {
  using Row = Method<DirectProblem<T>, DirectFactors>;
  using Place = typename Row::Place;
  std::vector<Row> rows{{"tiles", "task graph of tiles", Place::graph, by_tiles<T>},
                        {"stages", "entry by entry along a wavefront, for studies", Place::graph, by_stages<T>},
                        {"lapack", "the library's potrf or getrf", Place::cores, by_lapack<T>}};
  add_cusolver(rows, "cusolver", "the library's potrf or getrf on a GPU, transfers timed",
               [](auto& p) { return by_cusolver(p); });
  return rows;
}

template <class T>
double check_peer(const std::string& peer, DirectProblem<T>& p, const DirectFactors& factors) {
  const bool cholesky = p.kind == DirectKind::cholesky;
  const FactorError error = cholesky ? cholesky_error(p.a, p.work) : lu_error<T>(p.a, p.work, factors.rows);
  p.growth = error.growth;
  const double ratio = error.backward / factor_bound<T>(p.n, !cholesky);
  if (!(ratio <= 1))
    throw bench::WrongResult(
        fmt::format("bench: {}: the backward error {:.3g} is {:.3g} times its bound", peer, error.backward, ratio));
  return ratio;
}

TESELA_FUNCTIONS_FOR_NUMBERS(direct_table, check_peer)
TESELA_STRUCTS_FOR_NUMBERS(DirectProblem)

}  // namespace tesela::cli
