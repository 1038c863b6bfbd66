#include "tools/problems/dense/gemm.hpp"

#include "tools/app/sizes.hpp"
#include "tools/checks/reference.hpp"
#include "tools/peers/device.hpp"
#include "tools/peers/gemm_peers.hpp"
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::cli {

void GemmMethod::add_to(App& app) {
  add_tile(
      app, tile, "MB, MBxNB or MBxNBxKB",
      "C's tiles are MB x NB, op(A)'s MB x KB, op(B)'s KB x NB; KB is NB unless given; default: suits the workers");
  Choices().add(gemm_kernels()).add_option(app, "--kernel", kernel, "kernel on GPUs: ");
  Choices().add(gemm_accuracies()).add_option(app, "--accuracy", accuracy, "error of products by residues: ");
  app.add_option("--block", block, "thread-block edge of naive, shared and coarse")
      ->check(one_of({"16", "32"}))
      ->show_default();
}

GemmOptions GemmMethod::options(const std::string& command, const Runtime& runtime, index_t m, index_t n, index_t k,
                                bool on_devices) const {
  if (kernel != "automatic" && kernel != "cublas" && runtime.gpus() == 0)
    throw EnvironmentError(fmt::format("{}: --kernel {} is what GPUs run, and this run has none", command, kernel));
  return {.kernel = *find_named(gemm_kernels(), kernel),
          .block = block,
          .tile = parse_gemm_tile(tile, gemm_tile(runtime, m, n, k, on_devices)),
          .accuracy = *find_named(gemm_accuracies(), accuracy)};
}

namespace {

/// Returns one entry of each cell of a 16 x 16 grid over C, and C's last entry, so that up to as many tiles all have
/// one.
template <class T>
std::vector<std::pair<index_t, index_t>> samples(const GemmProblem<T>& p) {
  std::vector<std::pair<index_t, index_t>> all;
  constexpr index_t cells = 16;
  const auto in_cell = [&](index_t cell, index_t size, std::uint64_t salt) {
    const index_t first = cell * size / cells, last = (cell + 1) * size / cells;
    if (last <= first) return std::min(first, size - 1);
    const std::uint64_t random = Generator<double>::mix(p.seed ^ salt ^ static_cast<std::uint64_t>(cell) << 20);
    return first + static_cast<index_t>(random % static_cast<std::uint64_t>(last - first));
  };
  for (index_t i = 0; i < cells; ++i)
    for (index_t j = 0; j < cells; ++j)
      all.emplace_back(in_cell(i, p.m, static_cast<std::uint64_t>(j)),
                       in_cell(j, p.n, static_cast<std::uint64_t>(i) + 99));
  all.emplace_back(p.m - 1, p.n - 1);
  return all;
}

constexpr std::size_t bytes_of(const auto& matrix) {
  return static_cast<std::size_t>(matrix.size()) * sizeof(*matrix.data());
}

}  // namespace

template <class T>
void GemmProblem<T>::generate_uniform(bool on_devices) {
  resident = on_devices;
  sampled = true;
  if (resident) return;
  a = HostMatrix<T>(m, k);
  b = HostMatrix<T>(k, n);
  c = HostMatrix<T>(m, n);
  for (HostMatrix<T>* matrix : {&a, &b, &c}) pinned.emplace_back(*runtime, matrix->data(), bytes_of(*matrix));
  const auto [mb, nb, kb] = options.tile;
  Graph g(*runtime);
  const MatrixView<T> of_a = a, of_b = b;
  const auto A = of_a.in_tiles(*runtime, {mb, kb}), B = of_b.in_tiles(*runtime, {kb, nb});
  fill(g, A, generator(false));
  fill(g, B, generator(true));
  g.wait();
  A.bring_home();
  B.bring_home();
}

template <class T>
void GemmProblem<T>::restore(bool in_tiles) {
  if (in_tiles && !tiles) {
    const auto [mb, nb, kb] = options.tile;
    const auto matrix = [&](HostMatrix<T>& local, Shape shape, Shape tile, const char* label) {
      if (resident) return TileMatrix<T>(*runtime, shape.rows, shape.cols, {tile.rows, tile.cols}, label);
      return TileMatrix<T>::map_block_cyclic(*runtime, local.data(), shape.rows, shape.cols, local.ld(),
                                             {tile.rows, tile.cols}, label);
    };
    tiles.emplace(Tiles{matrix(a, apply(op_a, {m, k}), apply(op_a, {mb, kb}), "A"),
                        matrix(b, apply(op_b, {k, n}), apply(op_b, {kb, nb}), "B"), matrix(c, {m, n}, {mb, nb}, "C")});
    if (resident) {
      Graph g(*runtime);
      fill(g, tiles->A, generator(false));
      fill(g, tiles->B, generator(true));
      g.wait();
    }
  }
  const T poison = std::numeric_limits<real_t<T>>::quiet_NaN();
  if (resident) {
    if (!tiles) return;
    Graph g(*runtime);
    fill(g, tiles->C, Generator<T>{Pattern::constant, poison, n, 0});
    g.wait();
    return;
  }
  if (beta != T(0)) copy_elements(before, c);
  if (sampled)
    for (const auto& [i, j] : samples(*this)) c(i, j) = poison;
  if (!tiles) return;
  for (const TileMatrix<T>* matrix : {&tiles->A, &tiles->B, &tiles->C}) matrix->home_changed();
}

namespace {

/// Runs multiply(graph, tiles), which inserts into the graph or waits for its tasks.
template <class T, class Multiply>
Solver<GemmResult<T>> by_graph(GemmProblem<T>& p, const Multiply& multiply) {
  const auto result = [&p]() -> GemmResult<T> {
    if (!p.resident) return [&p](index_t i, index_t j) { return p.c(i, j); };
    return [&p](index_t i, index_t j) {
      const auto [mb, nb, kb] = p.options.tile;
      return bench::element(p.tiles->C(i / mb, j / nb), i % mb, j % nb);
    };
  };
  return {[&p] { p.restore(true); }, [&p, multiply](Graph* g) { multiply(*g, *p.tiles); },
          [&p] {
            if (!p.resident) p.tiles->C.bring_home();
          },
          result};
}

template <class T>
Solver<GemmResult<T>> by_tiles(GemmProblem<T>& p) {
  return by_graph(p, [&p](Graph& g, const auto& tiles) {
    GemmOptions options = p.options;
    options.bring_home = !p.resident;
    gemm(g, p.op_a, p.op_b, p.alpha, tiles.A, tiles.B, p.beta, tiles.C, options);
  });
}

template <class T>
Solver<GemmResult<T>> by_starpu(GemmProblem<T>& p) {
  return by_graph(p, [](Graph&, const auto& tiles) { bench::starpu_gemm(tiles.A, tiles.B, tiles.C); });
}

/// Runs a library's call on host memory.
template <class T, class Call>
Solver<GemmResult<T>> by_call(GemmProblem<T>& p, const std::function<void()>& prepare, const Call& call) {
  return {[&p, prepare] {
            p.restore(false);
            if (prepare) prepare();
          },
          [call](Graph*) { call(); },
          {},
          [&p]() -> GemmResult<T> { return [&p](index_t i, index_t j) { return p.c(i, j); }; }};
}

template <class T>
Solver<GemmResult<T>> by_openblas(GemmProblem<T>& p) {
  return by_call(p, {}, [&p] {
    blas::gemm<T>(Op::none, Op::none, p.m, p.n, p.k, T(1), p.a.data(), p.a.ld(), p.b.data(), p.b.ld(), T(0), p.c.data(),
                  p.c.ld());
  });
}

template <class T>
Solver<GemmResult<T>> by_cublas(GemmProblem<T>& p) {
  const auto device = std::make_shared<bench::CublasGemm<T>>(p.m, p.n, p.k);
  if (!p.resident)
    return by_call(p, {}, [&p, device] {
      device->upload(p.a.data(), p.b.data());
      device->multiply();
      device->download(p.c.data());
    });
  bench::generate(device->a(), p.m, p.k, p.generator(false));
  bench::generate(device->b(), p.k, p.n, p.generator(true));
  return {[device] { device->poison(); },
          [device](Graph*) { device->multiply(); },
          {},
          [device]() -> GemmResult<T> { return [device](index_t i, index_t j) { return device->element(i, j); }; }};
}

/// cublasXt's speed depends on its block size: the fastest of three is chosen before the first run.
template <class T>
Solver<GemmResult<T>> by_cublasxt(GemmProblem<T>& p) {
  const auto call = std::make_shared<bench::CublasXtGemm<T>>(p.runtime->gpus(), p.m, p.n, p.k);
  const auto multiply = [&p, call] { call->multiply(p.a.data(), p.b.data(), p.c.data()); };
  const auto choose_block = [call, multiply, chosen = false]() mutable {
    if (!chosen) call->choose_block(multiply);
    chosen = true;
  };
  return by_call(p, choose_block, multiply);
}

}  // namespace

template <class T>
std::vector<Method<GemmProblem<T>, GemmResult<T>>> gemm_table() {
  using Row = Method<GemmProblem<T>, GemmResult<T>>;
  using Place = typename Row::Place;
  std::vector<Row> rows{{"tiles", "task graph of tiles", Place::graph, by_tiles<T>},
                        {"openblas", "OpenBLAS on all cores", Place::cores, by_openblas<T>}};
  if constexpr (is_complex<T>)
    rows.push_back({"starpu", "", Place::graph, {}, "gemm: the method starpu has no complex numbers: use tiles"});
  else
    rows.insert(rows.begin() + 1, {"starpu", "the same graph by starpu_task_insert", Place::graph, by_starpu<T>});
  if constexpr (config::have_cuda) {
    rows.push_back({"cublas", "one call of cuBLAS on one GPU", Place::gpu, by_cublas<T>});
    rows.push_back({"cublasxt", "cublasXt on all GPUs", Place::gpu, by_cublasxt<T>});
  } else {
    for (const char* name : {"cublas", "cublasxt"})
      rows.push_back({name, "", Place::gpu, {}, "cuBLAS: this build has no CUDA: build where nvcc is"});
  }
  return rows;
}

template <class T>
double check_peer(const std::string& peer, const GemmProblem<T>& p, const GemmResult<T>& c) {
  const Generator<T> a = p.generator(false), b = p.generator(true);
  double worst = 0;
  for (const auto& [i, j] : samples(p)) {
    const auto [sum, bound] = product_entry<T>(
        p.k, [&, row = i](index_t l) { return a(row, l); }, [&, column = j](index_t l) { return b(l, column); });
    const with_parts<T, double> found(c(i, j));
    const double error = std::abs(found - sum) / bound;
    if (!(error <= 1))
      throw bench::WrongResult(fmt::format("bench gemm: {}: C({}, {}) differs by {:.3g} from {:.9g}, more than {:.3g}",
                                           peer, i, j, std::abs(found - sum), std::abs(sum), bound));
    worst = std::max(worst, error);
  }
  return worst;
}

TESELA_FUNCTIONS_FOR_NUMBERS(gemm_table, check_peer)
TESELA_STRUCTS_FOR_NUMBERS(GemmProblem)

}  // namespace tesela::cli
