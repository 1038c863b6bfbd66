#include "tools/app/choices.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/options.hpp"
#include "tools/bench/harness/noted_ceiling.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/bench/tridiagonal/tridiag_peers.hpp"
#include "tools/peers/device.hpp"
#include "tools/problems/tridiagonal/tridiag_problem.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/topology.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace tesela::bench {
namespace {

const std::vector<std::string> cusparse_single{"gtsv2", "gtsv2-nopivot"};
const std::vector<std::string> cusparse_batch{"strided", "interleaved-0", "interleaved-1", "interleaved-2"};
const std::vector<std::string> reductions{"cr", "pcr", "rd", "cr-pcr", "cr-rd"};

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
  const bool gpu = config::have_cuda && count_cuda_devices() > 0 && o.common.ncuda != 0;
  if (o.data.empty()) o.data = gpu || std::any_of(o.peers.begin(), o.peers.end(), of_cusparse) ? "device" : "host";
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
  }
  for (const index_t n : o.n) {
    if (n < 1) throw ArgumentError("bench tridiag", "--n", std::to_string(n) + " is less than 1");
    if (n < 3 && std::any_of(o.peers.begin(), o.peers.end(), of_cusparse))
      throw ArgumentError("bench tridiag", "--n", std::to_string(n) + " is less than cuSPARSE's 3");
    if (n > std::numeric_limits<int>::max() / o.batch && o.peers != std::vector<std::string>{"tesela"})
      throw ArgumentError("bench tridiag", "--n",
                          fmt::format("{} systems of {} equations exceed the peers' integers", o.batch, n));
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

template <class T>
TridiagSolvers<T> make_solvers(const TridiagOptions& o, const TridiagData<T>& data, index_t solves) {
  std::shared_ptr<const HostSystems<T>> columns, rows;
  const auto host = [&](SystemsIn systems) {
    auto& arrays = systems == SystemsIn::columns ? columns : rows;
    if (!arrays && !o.on_device()) arrays = std::make_shared<const HostSystems<T>>(data, systems, solves);
    return arrays;
  };
  TridiagSolvers<T> solvers;
#if TESELA_HAVE_CUDA
  std::vector<std::string> names;
  std::copy_if(o.peers.begin(), o.peers.end(), std::back_inserter(names), of_cusparse);
  TridiagSolvers<T> cusparse;
  if (!names.empty()) cusparse = cusparse_tridiag(data, names, solves);
  auto next = cusparse.begin();
#endif
  for (const std::string& name : o.peers)
    if (name == "lapack")
      solvers.push_back(lapack_tridiag(data, host(SystemsIn::columns)));
    else if (name == "thomas")
      solvers.push_back(thomas_tridiag(data, host(SystemsIn::columns)));
    else if (name == "tesela")
      solvers.push_back(tesela_tridiag(data, SystemsIn::columns, solves, host(SystemsIn::columns)));
    else if (name == "tesela-rows")
      solvers.push_back(tesela_tridiag(data, SystemsIn::rows, solves, host(SystemsIn::rows)));
    else if (contains(reductions, name))
      solvers.push_back(reduction_tridiag(data, name, solves, host(SystemsIn::columns)));
#if TESELA_HAVE_CUDA
    else if (next != cusparse.end() && (*next)->name() == name)  // the next solver was not left out
      solvers.push_back(std::move(*next++));
#endif
  return solvers;
}

/// StarPU's workers sleep while somebody else solves.
template <class T>
std::unique_ptr<PausedWorkers> pause_for(const TridiagSolver<T>& solver) {
  return solver.uses_workers() ? nullptr : std::make_unique<PausedWorkers>();
}

/// Solves all copies at once and answers the error of the first and the last, relative to the bound.
template <class T>
double verify(const TridiagData<T>& data, TridiagSolver<T>& solver) {
  {
    const auto paused = pause_for(solver);
    solver.restore();
    for (index_t c = 0; c < solver.solves(); ++c) solver.start(c);
    solver.wait();
  }
  std::vector<T> x(static_cast<std::size_t>(data.what().n * data.what().batch));
  double worst = 0;
  const index_t last = solver.solves() - 1;
  for (index_t copy = 0; copy <= last; copy += std::max<index_t>(last, 1)) {
    solver.copy_solution(copy, x.data());
    const double residual = data.residual(solver.systems(), x.data());
    if (!(residual <= data.bound()))
      throw WrongResult(fmt::format("bench tridiag: {}: the residual is {:.3g}, above {:.3g}", solver.name(), residual,
                                    data.bound()));
    worst = std::max(worst, residual / data.bound());
  }
  return worst;
}

/// Returns the seconds of one solve from its start to its end: the mean of several, after a first one that transfers
/// the data. If transfers belong to the time, it is the first solve's.
template <class T>
double latency(TridiagSolver<T>& solver, bool with_transfers) {
  const auto paused = pause_for(solver);
  solver.restore();
  wait_for_idle_threads();
  const auto solve = [&](index_t copy) {
    solver.start(copy);
    solver.wait();
  };
  if (with_transfers || solver.solves() == 1) return seconds_of([&] { solve(0); });
  solve(0);
  const double seconds = seconds_of([&] {
    for (index_t c = 1; c < solver.solves(); ++c) solve(c);
  });
  return seconds / static_cast<double>(solver.solves() - 1);
}

/// Seconds a solve when all copies are begun at once.
template <class T>
double throughput(TridiagSolver<T>& solver) {
  const auto paused = pause_for(solver);
  solver.restore();
  wait_for_idle_threads();
  const double seconds = seconds_of([&] {
    for (index_t c = 0; c < solver.solves(); ++c) solver.start(c);
    solver.wait();
  });
  return seconds / static_cast<double>(solver.solves());
}

/// Who solves these systems; a peer that does not is named below the table instead of being timed.
template <class T>
std::vector<double> keep_the_right(const TridiagData<T>& data, TridiagSolvers<T>& solvers, Report& report,
                                   const std::string& title) {
  std::vector<double> errors;
  TridiagSolvers<T> kept;
  for (auto& solver : solvers) {
    try {
      errors.push_back(verify(data, *solver));
      kept.push_back(std::move(solver));
    } catch (const WrongResult& wrong) {
      if (solver->uses_workers() && !contains(reductions, solver->name())) throw;
      report.note(fmt::format("{}: not timed: {}", title, wrong.what()));
    }
  }
  solvers = std::move(kept);
  return errors;
}

template <class T>
void run_case(const TridiagOptions& o, Runtime& runtime, Report& report, index_t n, double ceiling) {
  const index_t tiles = suitable_tiles(runtime, o, n);
  const TridiagData<T> data(runtime, {n, o.batch, tiles, *find_named(tridiagonal_kinds(), o.random), o.common.seed,
                                      o.on_device(), o.one_pass});
  const index_t solves = suitable_solves(o, data.bytes() / 5);
  auto solvers = make_solvers(o, data, solves);
  const std::string title = o.batch > 1 ? fmt::format("{} x {}", o.batch, n) : fmt::format("n = {}", n);
  const std::vector<double> errors = keep_the_right(data, solvers, report, title);
  for (const bool alone : {true, false}) {
    if (solvers.empty() || (!alone && solves == 1)) break;
    std::vector<Peer> peers;
    for (std::size_t p = 0; p < solvers.size(); ++p) {
      const auto run = [&solver = *solvers[p], alone, with_transfers = !o.on_device() && runtime.gpus() > 0] {
        return alone ? latency(solver, with_transfers) : throughput(solver);
      };
      peers.push_back({solvers[p]->name(), run, [error = errors[p]] { return error; }});
    }
    const TileShape tile = data.what().tile(SystemsIn::columns);
    report.add({title + (alone ? ", one at a time" : fmt::format(", {} at once", solves)), 0, n, o.batch,
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
    [](CLI::App& app) {
      auto o = std::make_shared<TridiagOptions>();
      o->common.repeat = 9;
      o->add_to(app, "tridiag");
      app.add_option("-n,--n", o->n, "equations of a system; several: one case each")->delimiter(',');
      app.add_option("--batch", o->batch, "systems")->transform(cli::positive())->capture_default_str();
      app.add_option("--tiles", o->tiles, "of the rows of one system, of the systems of a batch (default: what suits)")
          ->transform(cli::positive());
      app.add_option("--solves", o->solves, "with as many copies of B, fewer where they are large")
          ->transform(cli::positive())
          ->capture_default_str();
      cli::Choices().add(tridiagonal_kinds()).add_option(app, "--random", o->random)->type_name("KIND");
      app.add_flag("--one-pass", o->one_pass, "tesela tries to read a GPU's rows once");
      app.add_option("--peers", o->peers, "who competes; the first is whom the others are compared with")
          ->delimiter(',')
          ->check(
              CLI::IsMember({"tesela", "tesela-rows", "lapack", "thomas", "gtsv2", "gtsv2-nopivot", "strided",
                             "interleaved-0", "interleaved-1", "interleaved-2", "cr", "pcr", "rd", "cr-pcr", "cr-rd"}));
      app.add_option("--data", o->data,
                     "host: transfers are timed; device: everything stays on the GPUs (default with one)")
          ->check(CLI::IsMember({"host", "device"}));
      return std::function<int()>(
          [o] { return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
