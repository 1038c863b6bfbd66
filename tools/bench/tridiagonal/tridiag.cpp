#include "tools/app/arguments.hpp"
#include "tools/app/choices.hpp"
#include "tools/app/standard_streams.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/peers/device.hpp"
#include "tools/problems/tridiagonal/tridiag_methods.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal_matrices.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace tesela::bench {

using namespace kernels;
namespace {

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}
bool of_cusparse(const std::string& peer) { return contains(cusparse_single, peer) || contains(cusparse_batch, peer); }
bool of_host(const std::string& peer) { return peer == "lapack" || peer == "thomas"; }

struct TridiagOptions : Options {
  std::vector<index_t> n;
  index_t batch = 1, tiles = 0, solves = 20;
  std::string data, random = "dominant";
  std::vector<std::string> peers;
  bool one_pass = false;
  bool on_device() const { return data == "device"; }
};

/// Refuses what cannot be before anything is allocated.
void settle_options(TridiagOptions& o) {
  if (o.data.empty()) o.data = o.gpu() || std::any_of(o.peers.begin(), o.peers.end(), of_cusparse) ? "device" : "host";
  if (o.n.empty() && o.batch > 1)
    o.n = {512};
  else if (o.n.empty())
    o.n = o.on_device() ? std::vector<index_t>{1 << 20, 1 << 23, 1 << 25} : std::vector<index_t>{1 << 24};
  if (o.peers.empty()) {
    o.peers = {"tesela"};
    if (o.batch > 1) o.peers.emplace_back("tesela-rows");
    for (const std::string& peer :
         o.on_device() ? o.batch > 1 ? cusparse_batch : cusparse_single : std::vector<std::string>{"lapack", "thomas"})
      o.peers.push_back(peer);
  }
  const auto refuse = [](const std::string& peer, const std::string& why) {
    throw ArgumentError("bench tridiag", "--peers", peer + " " + why);
  };
  for (const std::string& peer : o.peers) {
    if (of_cusparse(peer) && !o.on_device()) refuse(peer, "solves on the device: use --data device");
    if (of_host(peer) && o.on_device()) refuse(peer, "solves in host memory: use --data host");
    if (contains(cusparse_single, peer) && o.batch > 1) refuse(peer, "solves one system: use --batch 1");
    if (contains(cusparse_batch, peer) && o.batch == 1) refuse(peer, "solves batches: use --batch");
    if (contains(reductions, peer) && o.batch == 1) refuse(peer, "solves small systems here: use --batch");
    if (o.common.complex() && contains(reductions, peer)) refuse(peer, "has no complex numbers");
    if (peer == "mixed" && (o.common.precision == "s" || o.common.precision == "c"))
      refuse(peer, "refines to double precision: use --precision d or z");
  }
  for (const index_t n : o.n) {
    require(n >= 1, "bench tridiag", "--n", n, " is less than 1");
    require(n >= 3 || !std::any_of(o.peers.begin(), o.peers.end(), of_cusparse), "bench tridiag", "--n", n,
            " is less than cuSPARSE's 3");
    require(n <= std::numeric_limits<int>::max() / o.batch || o.peers == std::vector<std::string>{"tesela"},
            "bench tridiag", "--n", fmt::format("{} systems of {} equations exceed the peers' integers", o.batch, n));
  }
  if (o.on_device()) require_gpu("tridiag");
  if (o.on_device() && o.common.ncuda == 0)
    throw EnvironmentError("bench tridiag: --ncuda 0 leaves no device for --data device");
  // Tiles on the devices are worked on there: a core would only fetch them.
  if (o.on_device() && o.common.ncpu < 0) o.common.ncpu = 0;
}

/// One tile for each device that holds data; elsewhere enough of them to keep all cores, or a link, busy.
index_t suitable_tiles(const Runtime& runtime, const TridiagOptions& o, index_t n) {
  if (o.tiles > 0) return o.tiles;
  if (o.on_device()) return runtime.gpus();
  constexpr index_t unknowns_worth_a_task = 1 << 15;
  const index_t most = std::max<index_t>(n * o.batch / unknowns_worth_a_task, 1);
  return std::min(most, 4 * static_cast<index_t>(runtime.workers().size()));
}

/// As many copies of B as were asked for and fit.
index_t suitable_solves(const TridiagOptions& o, double bytes_of_b) {
  const double room = o.on_device() ? 8e9 : 5e8;
  return std::clamp(static_cast<index_t>(room / bytes_of_b), index_t{1}, o.solves);
}

/// A method that is set up for these systems.
template <class T>
struct Entrant {
  TridiagMethod<T> method;
  TridiagSolver<T> solver;
  TridiagAnswer<T> answer;
  TridiagProblem<T>& problem;
  double error = 0;  ///< of the first and the last copy, relative to the bound

  /// Solves copies of B, one at a time or all at once. StarPU's workers sleep while a library solves.
  void run(index_t first, index_t last) {
    problem.first = first;
    problem.last = last;
    if (method.library()) return solver.run(nullptr);
    Graph g(*problem.runtime);
    solver.run(&g);
    if (const Status status = g.wait(); !status.ok()) throw WrongResult(fmt::format("status {}", status.info));
    solver.finish();
  }
  std::unique_ptr<PausedWorkers> prepare() {
    auto paused = method.library() ? std::make_unique<PausedWorkers>() : nullptr;
    solver.prepare();
    return paused;
  }

  /// Solves all copies at once and checks the first and the last.
  void verify() {
    try {
      const auto paused = prepare();
      run(0, answer.solves);
    } catch (const WrongResult& wrong) {
      throw WrongResult(fmt::format("bench: {}: {}", method.name, wrong.what()));
    }
    error = check_peer(method.name, problem, solver.result());
  }

  /// Returns the seconds of one solve from its start to its end: of the first one if transfers belong to the time,
  /// otherwise the mean of all others.
  double latency(bool with_transfers) {
    const auto paused = prepare();
    wait_for_idle_threads();
    if (with_transfers || answer.solves == 1) return seconds_of([&] { run(0, 1); });
    run(0, 1);
    const double seconds = seconds_of([&] {
      for (index_t c = 1; c < answer.solves; ++c) run(c, c + 1);
    });
    return seconds / static_cast<double>(answer.solves - 1);
  }

  /// Returns the seconds per solve if all copies begin at once.
  double throughput() {
    const auto paused = prepare();
    wait_for_idle_threads();
    return seconds_of([&] { run(0, answer.solves); }) / static_cast<double>(answer.solves);
  }
};

/// Returns the methods that solve these systems; notes the others.
template <class T>
std::vector<Entrant<T>> able_methods(const TridiagOptions& o, TridiagProblem<T>& problem, Report& report,
                                     const std::string& title) {
  std::vector<Entrant<T>> able;
  for (const std::string& name : o.peers) {
    const auto method = find_method(tridiag_bench_table<T>(), name);
    try {
      const TridiagSolver<T> solver = method.solver(problem);
      Entrant<T> entrant{method, solver, solver.result(), problem};
      entrant.verify();
      able.push_back(std::move(entrant));
    } catch (const WrongResult& wrong) {
      if (!method.library() && !contains(reductions, name) && !contains(refinements, name)) throw;
      report.note(fmt::format("{}: not timed: {}", title, wrong.what()));
    } catch (const EnvironmentError& error) {  // the workspace of cuSPARSE may be larger than the device
      if (!of_cusparse(name)) throw;
      cli::print_error(fmt::format("tesela: {} is left out: {}", name, error.what()));
    }
  }
  return able;
}

template <class T>
void run_case(const TridiagOptions& o, Runtime& runtime, Report& report, index_t n, double ceiling) {
  const index_t tiles = suitable_tiles(runtime, o, n);
  const TridiagData<T> data(runtime, {n, o.batch, tiles, *find_named(tridiagonal_kinds(), o.random), o.common.seed,
                                      o.on_device(), o.one_pass});
  TridiagProblem<T> problem{data, suitable_solves(o, data.bytes() / 5)};
  const std::string title = o.batch > 1 ? fmt::format("{} x {}", o.batch, n) : fmt::format("n = {}", n);
  auto methods = able_methods(o, problem, report, title);
  for (const bool alone : {true, false}) {
    if (methods.empty() || (!alone && problem.solves == 1)) break;
    std::vector<Peer> peers;
    for (Entrant<T>& one : methods) {
      const auto run = [&one, alone, with_transfers = !o.on_device() && runtime.gpus() > 0] {
        return alone ? one.latency(with_transfers) : one.throughput();
      };
      peers.push_back({one.method.name, run, [error = one.error] { return error; }});
    }
    const TileShape tile = data.what().tile(SystemsIn::columns);
    report.add({title + (alone ? ", one at a time" : fmt::format(", {} at once", problem.solves)), 0, n, o.batch,
                fmt::format("{}x{}", tile.mb, tile.nb), o.data, "GB/s"},
               alternate(peers, o.common.repeat), ceiling,
               [&](double seconds) { return data.bytes() / seconds * 1e-9; });
  }
}

template <class T>
void run(TridiagOptions o) {
  settle_options(o);
  Runtime runtime(o.runtime());
  Report report("tridiag", o, &runtime);
  const double ceiling = measure_copy_ceiling(report, runtime, o.on_device());
  for (const index_t n : o.n) run_case<T>(o, runtime, report, n, ceiling);
  report.note(
      fmt::format("rates: {} bytes an unknown (four arrays read, one written) over the time, whatever a peer "
                  "moves; matrices are {}; times are of one solve",
                  5 * sizeof(T), o.random));
  if (o.on_device())
    report.note(
        "everything stays on the devices, B and overwritten input are restored outside the time; cuSPARSE runs on "
        "device 0, its interleaved solvers on a quarter as many copies");
  else if (runtime.gpus() > 0)
    report.note("everything in page-locked host memory, transfers timed; at once: the bands' transfers are shared");
  else
    report.note("cuSPARSE's solvers are left out: they need --data device and a CUDA device");
  report.finish();
}

const cli::Command tridiag_command(
    cli::Command::Group::bench, "tridiag", "tridiagonal systems against cuSPARSE, LAPACK and Thomas's elimination",
    [](cli::App& app) {
      auto o = std::make_shared<TridiagOptions>();
      o->common.repeat = 9;
      o->add_to(app, "tridiag", {.complex = true});
      app.add_list("-n,--n", o->n, "equations of a system; several: one case each");
      app.add_option("--batch", o->batch, "systems")->positive()->show_default();
      app.add_option("--tiles", o->tiles, "of the rows of one system, of the systems of a batch (default: what suits)")
          ->positive();
      app.add_option("--solves", o->solves, "with as many copies of B, fewer where they are large")
          ->positive()
          ->show_default();
      cli::Choices().add(tridiagonal_kinds()).add_option(app, "--random", o->random)->type_name("KIND");
      app.add_flag("--one-pass", o->one_pass, "tesela tries to read a GPU's rows once");
      add_peers(app, o->peers, choices(tridiag_bench_table<double>()).names());
      app.add_option("--data", o->data,
                     "host: transfers are timed; device: everything stays on the GPUs (default with one)")
          ->check(cli::one_of({"host", "device"}));
      return for_numbers(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
