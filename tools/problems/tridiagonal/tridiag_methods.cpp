#include "tools/problems/tridiagonal/tridiag_methods.hpp"

#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_matrices.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>

namespace tesela::bench {

using namespace kernels;

template <class T>
HostSystems<T>::HostSystems(const TridiagData<T>& data, SystemsIn systems, index_t copies) {
  const Shape shape = data.what().shape(systems);
  bytes_ = static_cast<std::size_t>(shape.rows * shape.cols) * sizeof(T);
  for (int a = 0; a < 4; ++a) arrays_.push_back(std::make_unique<HostBuffer>(data.runtime(), bytes_));
  parallel_for(shape.rows * shape.cols, [&](index_t first, index_t last) {
    const auto row_of = data.bands();
    const auto b = data.b();
    for (index_t e = first; e < last; ++e) {
      const index_t i = e % shape.rows, j = e / shape.rows;
      const auto row = systems == SystemsIn::columns ? row_of(i, j) : row_of(j, i);
      array(0)[e] = row.dl;
      array(1)[e] = row.d;
      array(2)[e] = row.du;
      array(3)[e] = b(i, j);
    }
  });
  for (index_t c = 0; c < copies; ++c) work_.push_back(std::make_unique<HostBuffer>(data.runtime(), bytes_));
}

template <class T>
void HostSystems<T>::restore() const {
  for (const auto& copy : work_) std::memcpy(copy->data(), array(3), bytes_);
}

namespace {

/// Does nothing on the worker that runs it: the tile then has no other valid copy.
template <class T>
struct Touch {
  static constexpr auto name = "touch";
  struct Args {};
  static void cuda(CudaContext&, const Args&, InOut<T>) {}
};

/// The parts of a benchmark in one layout: A and each copy of B.
template <class T>
struct BenchTiles {
  using Parts = typename TridiagProblem<T>::Parts;
  const TridiagData<T>& data;
  SystemsIn systems;

  /// Generates the parts on the devices.
  void generate(Parts& parts, index_t solves) const {
    Graph g(data.runtime());
    const bool first = parts.empty();
    if (first) {
      const Tridiagonal<T> A{matrix("dl"), matrix("d"), matrix("du")};
      fill(g, A, data.what().kind, data.what().seed, {.systems = systems});
      for (index_t c = 0; c < solves; ++c) parts.push_back(part(A, matrix("B")));
    }
    for (const auto& part : parts) fill(g, part.X, data.b());
    if (first)
      for (const TileMatrix<T>& band : {parts[0].A.dl, parts[0].A.d, parts[0].A.du}) place(g, band);
    for (const auto& part : parts) place(g, part.X);
    g.wait();
  }

  /// Registers host memory again, so that no device has a copy.
  void map(Parts& parts, const HostSystems<T>& host, index_t solves) const {
    parts.clear();
    host.restore();
    const auto mapped = [&](T* a, const char* name) {
      const auto [rows, columns] = data.what().shape(systems);
      return TileMatrix<T>::map(data.runtime(), a, rows, columns, rows, data.what().tile(systems), name);
    };
    const TridiagonalRow<T*> bands = host.bands();
    const Tridiagonal<T> A{mapped(bands.dl, "dl"), mapped(bands.d, "d"), mapped(bands.du, "du")};
    for (index_t c = 0; c < solves; ++c) parts.push_back(part(A, mapped(host.b(c), "B")));
  }

 private:
  static cli::TridiagTiles<T> part(const Tridiagonal<T>& A, const TileMatrix<T>& B) { return {A, B, B}; }
  TileMatrix<T> matrix(const char* name) const {
    const auto [rows, columns] = data.what().shape(systems);
    return TileMatrix<T>(data.runtime(), rows, columns, data.what().tile(systems), name);
  }

  /// Places the tiles: device g alone has the g-th share of each matrix, since the scheduler might use another copy.
  void place(Graph& g, const TileMatrix<T>& matrix) const {
    const index_t gpus = data.runtime().gpus(), tiles = matrix.mt() * matrix.nt();
    index_t t = 0;
    matrix.for_each_tile([&](Tile<T> tile, index_t, index_t) {
      g.insert<Touch<T>>(on_gpu_number(static_cast<std::size_t>(t++ * gpus / tiles)), {}, tile);
    });
  }
};

/// Returns the solver whose tasks insert(graph, A, X) inserts for each part.
template <class T, class Insert>
TridiagSolver<T> in_tiles(TridiagProblem<T>& p, SystemsIn systems, const Insert& insert) {
  struct State {
    typename TridiagProblem<T>::Parts parts = {};
    std::vector<RefinedSolve> refined = {};
    std::span<cli::TridiagTiles<T>> chosen(const TridiagProblem<T>& p) {
      const auto first = static_cast<std::size_t>(p.first);
      return std::span(parts).subspan(first, std::min(static_cast<std::size_t>(p.last), parts.size()) - first);
    }
  };
  const auto state = std::make_shared<State>();
  const auto run = [&p, state, insert](Graph* g) {
    const bool copy = p.data != nullptr && p.comes_home();
    state->refined.clear();
    for (const auto& [A, B, X] : state->chosen(p)) {
      if constexpr (std::is_same_v<std::invoke_result_t<Insert, Graph&, decltype(A), decltype(X)>, RefinedSolve>)
        state->refined.push_back(insert(*g, A, X));
      else
        insert(*g, A, X);
      if (copy) X.for_each_tile([&](Tile<T> tile, index_t, index_t) { g->bring_home(tile); });
    }
  };
  const auto finish = [&p, state] {
    if (!p.comes_home()) return;
    for (const auto& part : state->chosen(p)) part.X.bring_home();
  };
  const auto result = [&p, systems, state] {
    const auto copy_to = [systems, state, what = p.data ? p.data->what() : TridiagCase{}](index_t copy, T* x) {
      state->parts[static_cast<std::size_t>(copy)].X.copy_to(x, what.shape(systems).rows);
    };
    return TridiagAnswer<T>{systems, p.solves, copy_to, state->refined};
  };
  return {[&p, systems, state] { p.restore(systems, state->parts); }, run, finish, result};
}

/// Returns the solver by a method of the library; `cut` replaces the problem's if it is positive.
template <class T>
TridiagSolver<T> by_method(TridiagProblem<T>& p, TridiagonalMethod method, SystemsIn systems, index_t cut = 0) {
  TridiagonalMethodOptions options{method, {}, cut > 0 ? cut : p.options.cut};
  if (method == TridiagonalMethod::automatic) options.systems = p.options.systems;
  options.systems.systems = systems;
  return in_tiles(p, systems, [options](Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& X) {
    tridiagonal_solve_by(g, A, X, options);
  });
}

/// Refines each part in turn, since each correction waits for a residual.
template <class T>
TridiagSolver<T> by_refinement(TridiagProblem<T>& p, bool mixed) {
  RefinementOptions options = p.refinement;
  options.mixed = mixed;
  return in_tiles(p, options.systems, [options](Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& X) {
    return tridiagonal_solve_refined(g, A, X, options);
  });
}

/// Returns the solver that calls solve(copy, offset, b) for each system in columns; its bands begin at `offset`.
template <class T, class Restore, class Solve>
TridiagSolver<T> by_columns(TridiagProblem<T>& p, const Restore& restore, const Solve& solve) {
  const auto host = p.host(SystemsIn::columns);
  const auto prepare = [host, restore] {
    host->restore();
    restore();
  };
  const auto run = [&p, host, solve](Graph*) {
    const index_t n = p.data->what().n;
    std::atomic<int> worst = 0;
    for (index_t c = p.first; c < p.last; ++c)
      parallel_for(p.data->what().batch, [&](index_t first, index_t last) {
        for (index_t s = first; s < last; ++s)
          if (const int info = solve(c, s * n, host->b(c) + s * n); info != 0) worst = info;
      });
    if (worst != 0) throw WrongResult(fmt::format("info {}", worst.load()));
  };
  const auto result = [&p, host] {
    return TridiagAnswer<T>{SystemsIn::columns, p.solves,
                            [host](index_t copy, T* x) { std::memcpy(x, host->b(copy), host->bytes()); }};
  };
  return {prepare, run, {}, result};
}

template <class T>
TridiagSolver<T> by_lapack(TridiagProblem<T>& p) {
  const auto host = p.host(SystemsIn::columns);
  // dl, d and du of each copy, which gtsv overwrites
  const auto copies = std::make_shared<std::vector<std::array<std::unique_ptr<HostBuffer>, 3>>>();
  copies->resize(static_cast<std::size_t>(p.solves));
  for (auto& copy : *copies)
    for (auto& band : copy) band = std::make_unique<HostBuffer>(p.data->runtime(), host->bytes());
  const auto restore = [host, copies] {
    const TridiagonalRow<T*> from = host->bands();
    for (const auto& [dl, d, du] : *copies)
      for (const auto& [to, band] : {std::pair{&dl, from.dl}, std::pair{&d, from.d}, std::pair{&du, from.du}})
        std::memcpy((*to)->data(), band, host->bytes());
  };
  return by_columns(p, restore, [copies, n = p.data->what().n](index_t copy, index_t offset, T* b) {
    const auto band = [&](std::size_t which) {
      return static_cast<T*>((*copies)[static_cast<std::size_t>(copy)][which]->data()) + offset;
    };
    return lapack::gtsv(n, 1, band(0) + 1, band(1), band(2), b, n);
  });
}

/// The textbook's elimination without pivoting.
template <class T>
TridiagSolver<T> by_thomas(TridiagProblem<T>& p) {
  const auto host = p.host(SystemsIn::columns);
  const auto upper = std::make_shared<HostBuffer>(p.data->runtime(), host->bytes());
  std::memset(upper->data(), 0, host->bytes());
  return by_columns(
      p, [] {},
      [host, upper, n = p.data->what().n](index_t, index_t offset, T* b) {
        const TridiagonalRow<T*> bands = host->bands();
        const T *dl = bands.dl + offset, *d = bands.d + offset, *du = bands.du + offset;
        T* const u = static_cast<T*>(upper->data()) + offset;
        T above = 0, x = 0;  // of the row before, whose diagonal is 1
        for (index_t i = 0; i < n; ++i) {
          const T left = i > 0 ? dl[i] : T(0);
          const T pivot = T(1) / (d[i] - left * above);
          u[i] = above = du[i] * pivot;
          b[i] = x = (b[i] - left * x) * pivot;
        }
        for (index_t i = n - 2; i >= 0; --i) b[i] = x = b[i] - u[i] * x;
        return 0;
      });
}

}  // namespace

template <class T>
void TridiagProblem<T>::restore(SystemsIn systems, Parts& parts) {
  if (data == nullptr) return restore_parts(parts);
  const BenchTiles<T> tiles{*data, systems};
  if (const auto arrays = host(systems))
    tiles.map(parts, *arrays, solves);
  else
    tiles.generate(parts, solves);
}

template <class T>
std::vector<TridiagMethod<T>> tridiag_table() {
  using Place = typename TridiagMethod<T>::Place;
  std::vector<TridiagMethod<T>> rows;
  for (const auto& one : tridiagonal_methods())
    rows.push_back({std::string(one.name), std::string(one.about), Place::graph,
                    [method = one.value](auto& p) { return by_method(p, method, p.options.systems.systems); }});
  for (const std::string& name : refinements)
    rows.push_back({name, "tridiagonal_solve_refined", Place::graph,
                    [name](TridiagProblem<T>& p) { return by_refinement(p, name == "mixed"); }});
  return rows;
}

template <class T>
std::vector<TridiagMethod<T>> tridiag_bench_table() {
  using Place = typename TridiagMethod<T>::Place;
  using enum TridiagonalMethod;
  std::vector<TridiagMethod<T>> rows{
      {"tesela", "row blocks", Place::graph, [](auto& p) { return by_method(p, automatic, SystemsIn::columns); }},
      {"tesela-rows", "row blocks of systems in rows", Place::graph,
       [](auto& p) { return by_method(p, automatic, SystemsIn::rows); }},
      {"lapack", "the library's gtsv", Place::cores, by_lapack<T>},
      {"thomas", "elimination without pivoting", Place::cores, by_thomas<T>}};
  for (const auto* names : {&cusparse_single, &cusparse_batch})
    for (const std::string& name : *names) {
      rows.push_back({name, "cuSPARSE on device 0", Place::gpu});
#if TESELA_HAVE_CUDA
      rows.back().solver = [name](TridiagProblem<T>& p) { return by_cusparse(p, name); };
#else
      rows.back().absent = "cuSPARSE: this build has no CUDA: build where nvcc is (cmake --preset cuda)";
#endif
    }
  if constexpr (!is_complex<T>)
    for (const auto& [name, method, part] :
         {std::tuple{"cr", cr_pcr, 0}, {"pcr", pcr, 1}, {"rd", rd, 1}, {"cr-pcr", cr_pcr, 2}, {"cr-rd", cr_rd, 4}})
      rows.push_back({name, "parallel_reduction", Place::graph, [method, part](auto& p) {
                        const index_t cut = part > 0 ? p.data->what().n / part : 1;
                        return by_method(p, method, SystemsIn::columns, std::max<index_t>(cut, 1));
                      }});
  for (const std::string& name : refinements) rows.push_back(cli::find_method(tridiag_table<T>(), name));
  return rows;
}

template <class T>
TridiagSolver<T> by_cyclic_reduction(TridiagProblem<T>& p, const CyclicReductionOptions& options) {
  const auto graph = std::make_shared<Graph>(*p.runtime);
  TridiagSolver<T> solver = in_tiles(
      p, SystemsIn::columns,
      [options](Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& X) { cyclic_reduction(g, A, X, options); });
  solver.run = [run = solver.run, graph](Graph*) {
    run(graph.get());
    const Status status = graph->wait();
    if (!status.ok()) throw WrongResult(fmt::format("status {}", status.info));
  };
  return solver;
}

template <class T>
double check_peer(const std::string& peer, const TridiagProblem<T>& p, const TridiagAnswer<T>& answer) {
  for (const RefinedSolve& solve : answer.refined)
    if (!solve.converged)
      throw WrongResult(fmt::format("bench: {}: not converged: backward error {:.1e}", peer, solve.backward_error));
  std::vector<T> x(static_cast<std::size_t>(p.data->what().n * p.data->what().batch));
  double worst = 0;
  for (const index_t copy : {index_t{0}, answer.solves - 1}) {
    answer.copy_to(copy, x.data());
    const double residual = p.data->residual(answer.systems, x.data());
    if (!(residual <= p.data->bound()))
      throw WrongResult(
          fmt::format("bench: {}: the residual is {:.3g}, above {:.3g}", peer, residual, p.data->bound()));
    worst = std::max(worst, residual / p.data->bound());
  }
  return worst;
}

TESELA_FUNCTIONS_FOR_NUMBERS(tridiag_table, tridiag_bench_table, check_peer)
#define TESELA_INSTANTIATE(T)        \
  template struct TridiagProblem<T>; \
  template class HostSystems<T>;
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)
TESELA_FUNCTIONS_FOR_REALS(by_cyclic_reduction)

}  // namespace tesela::bench
