#include "tools/app/arguments.hpp"
#include "tools/app/numbers.hpp"
#include "tools/bench/harness/published.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/problems/tridiagonal/tridiag_study_data.hpp"
#include <tesela/algorithms/tridiagonal/cyclic_reduction.hpp>
#include <tesela/codelets/tridiagonal/thomas.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/topology.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {

using namespace kernels;
namespace {

struct StudyOptions : Options {
  std::vector<index_t> n{524288, 1048576, 2097152, 4194304, 8388608};
  index_t mb = 0;
  std::vector<index_t> cut{256};
  std::vector<std::string> peers{"cr", "shared", "coalesced", "hybrid"};
  bool both_precisions = true;
  bool on_cores() const { return std::find(peers.begin(), peers.end(), "cores") != peers.end(); }
};

constexpr index_t tile_on_cores = 16384;

CyclicReduction variant_of(const std::string& peer) {
  if (peer == "shared") return CyclicReduction::shared;
  if (peer == "coalesced") return CyclicReduction::coalesced;
  return peer == "hybrid" ? CyclicReduction::hybrid : CyclicReduction::plain;
}

/// The kernel itself on this thread, with the workers asleep.
template <class T>
Peer thomas_on_host(const StudyData<T>& data) {
  const auto work = std::make_shared<std::vector<T>>(static_cast<std::size_t>(data.n()));
  const auto run = [&data, work] {
    const auto block = [&](auto as, T* column) {
      as.data = column, as.rows = as.ld = data.n(), as.cols = 1;
      return as;
    };
    int info = 0;
    Out<int> status;
    status.data = &info, status.rows = status.cols = status.ld = 1;
    data.copy_b_to_x();
    const PausedWorkers paused;
    wait_for_idle_threads();
    const double seconds = seconds_of([&] {
      Thomas<T>::cpu({}, block(In<T>{}, data.column(0)), block(In<T>{}, data.column(1)), block(In<T>{}, data.column(2)),
                     block(InOut<T>{}, data.x()), block(Scratch<T>{}, work->data()), status);
    });
    if (info != 0) throw WrongResult(fmt::format("bench tridiag-study: thomas: status {}", info));
    return seconds;
  };
  return {"thomas", run, [&data, run] {
            run();
            return data.check("thomas");
          }};
}

/// One graph, whose work space stays where it is from run to run.
template <class T>
double solve_seconds(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& X, const CyclicReductionOptions& options,
                     bool bring_home) {
  wait_for_idle_threads();
  Status status;
  const double seconds = seconds_of([&] {
    cyclic_reduction(g, A, X, options);
    status = g.wait();
    if (bring_home) X.bring_home();
  });
  if (!status.ok()) throw WrongResult(fmt::format("bench tridiag-study: status {}", status.info));
  return seconds;
}

/// Solves from host memory to host memory: the matrices are registered again, so that no device has a copy.
template <class T>
Peer with_transfers(const StudyData<T>& data, const std::string& name, index_t mb,
                    const CyclicReductionOptions& options) {
  const auto graph = std::make_shared<Graph>(data.runtime());
  const auto run = [&data, mb, options, graph] {
    data.copy_b_to_x();
    const auto map = [&](index_t j) {
      return TileMatrix<T>::map(data.runtime(), data.column(j), data.n(), 1, data.n(), {mb, 1});
    };
    return solve_seconds<T>(*graph, {map(0), map(1), map(2)}, map(4), options, true);
  };
  return {name, run, [&data, name, run] {
            run();
            return data.check(name);
          }};
}

/// From the GPU's memory to the GPU's memory.
template <class T>
Peer on_device(const StudyData<T>& data, const std::string& name, index_t mb, const CyclicReductionOptions& options) {
  struct State {
    State(Runtime& runtime, const TileMatrix<T>& dl, const TileMatrix<T>& d, const TileMatrix<T>& du,
          const TileMatrix<T>& x)
        : A{dl, d, du}, X(x), graph(runtime) {}
    Tridiagonal<T> A;
    TileMatrix<T> X;
    Graph graph;
  };
  const auto column = [&] { return TileMatrix<T>(data.runtime(), data.n(), 1, {mb, 1}); };
  const auto state = std::make_shared<State>(data.runtime(), column(), column(), column(), column());
  state->A.dl.copy_from(data.column(0), data.n());
  state->A.d.copy_from(data.column(1), data.n());
  state->A.du.copy_from(data.column(2), data.n());
  const auto run = [&data, options, state] {
    state->X.copy_from(data.column(3), data.n());
    for (const TileMatrix<T>* matrix : {&state->A.dl, &state->A.d, &state->A.du, &state->X})
      matrix->for_each_tile([&](Tile<T> tile, index_t, index_t) { state->graph.prefetch_to_gpu(tile, 0); });
    return solve_seconds<T>(state->graph, state->A, state->X, options, false);
  };
  return {name, run, [&data, name, run, state] {
            run();
            state->X.copy_to(data.x(), data.n());
            return data.check(name);
          }};
}

template <class T>
void run_precision(const StudyOptions& o, Runtime& runtime, Report& report) {
  const bool gpu = runtime.gpus() > 0, single = sizeof(T) == 4;
  for (const index_t n : o.n) {
    const StudyData<T> data(runtime, n, o.common.seed);
    const index_t mb = o.mb > 0 ? o.mb : gpu ? n : tile_on_cores;
    std::vector<Peer> peers{thomas_on_host(data)};
    std::vector<std::size_t> hybrids;
    for (const std::string& name : o.peers) {
      if (name == "cores") {
        const CyclicReductionOptions cores{CyclicReduction::plain, 1, false, true};
        peers.push_back(with_transfers(data, "cr, all cores", o.mb > 0 ? o.mb : tile_on_cores, cores));
        continue;
      }
      const bool several = name == "hybrid" && o.cut.size() > 1;
      for (const index_t cut : name == "hybrid" ? o.cut : std::vector<index_t>{1}) {
        const CyclicReductionOptions options{variant_of(name), cut, true};
        const std::string who = several ? fmt::format("{} {}", name, cut) : name;
        if (several) hybrids.push_back(peers.size());
        peers.push_back(with_transfers(data, who, mb, options));
        if (gpu) peers.push_back(on_device(data, who + ", on device", mb, options));
      }
    }
    const std::vector<Timing> timings = alternate(peers, o.common.repeat);
    const std::string size = n % 1024 == 0 ? fmt::format("{} Ki", n / 1024) : std::to_string(n);
    report.add({fmt::format("{}, {}", size, single ? "single" : "double"), 0, n, 0, fmt::format("{}x1", mb),
                gpu ? "host, device" : "host", "x", single ? "s" : "d"},
               timings, 0, [&](double seconds) { return timings.front().median() / seconds; });
    if (hybrids.empty()) continue;
    const std::size_t best = *std::min_element(hybrids.begin(), hybrids.end(), [&](std::size_t a, std::size_t b) {
      return timings[a].median() < timings[b].median();
    });
    report.note(fmt::format("{}, {}: the best cut of hybrid is that of \"{}\"", size, single ? "single" : "double",
                            timings[best].peer));
  }
}

void run(StudyOptions o) {
  const bool gpu = config::have_cuda && count_cuda_devices() > 0 && o.common.ncuda != 0;
  // The source's times are one GPU's, with a core for what hybrid does there.
  if (gpu && o.common.ncpu < 0 && !o.on_cores()) o.common.ncpu = 1;
  if (gpu && o.common.ncuda < 0) o.common.ncuda = 1;
  Runtime runtime(o.runtime());
  Report report("tridiag-study", o, &runtime);
  if (o.both_precisions || o.common.precision == "s") run_precision<float>(o, runtime, report);
  if (o.both_precisions || o.common.precision == "d") run_precision<double>(o, runtime, report);
  for (Row& row : report.rows())
    for (const auto& [peer, column] : {std::pair{"cr", "RC-GPU"}, {"shared", "RC-GPU-S"}, {"coalesced", "RC-GPU-C"}})
      if (gpu && row.what.precision == "s" && row.timing.peer == peer)
        row.published_rate = published_value(
            {.source = "cyclic-reduction-2010", .column = column, .n = row.what.n, .quantity = "ratio"});
  report.note("x: times as fast as Thomas's method on one core of the host, in the same precision");
  if (gpu) {
    report.note("transfers of A, B and X are in a time unless it says \"on device\"");
    report.note(
        "source: Table 3 of the paper on cyclic reduction (docs/sources.md), on a GeForce 9800 GTX+ and its host, "
        "transfers included, precision not stated");
  }
  report.finish();
}

const cli::Command tridiag_study_command(
    cli::Command::Group::bench, "tridiag-study",
    "cyclic reduction against Thomas's method: Table 3 of the cyclic reduction paper", [](cli::App& app) {
      auto o = std::make_shared<StudyOptions>();
      o->common.repeat = 5;
      o->add_to(app, "tridiag-study");
      app.add_option("-n,--n", o->n, "unknowns, several with commas (default: the table's)")
          ->delimiter(',')
          ->transform(cli::positive());
      auto* tile = app.add_option("-t,--tile", o->mb, "rows of a tile (default: all with a GPU, else 16384)")
                       ->transform(cli::positive());
      cli::add_deprecated_alias(app, "--mb", o->mb, tile)->transform(cli::positive());
      app.add_option("--cut", o->cut, "unknowns that hybrid leaves to a core; several: a peer each, and the best named")
          ->delimiter(',')
          ->transform(cli::positive())
          ->capture_default_str();
      app.add_option("--peers", o->peers, "who competes with thomas; cores: cr on all cores of the host")
          ->delimiter(',')
          ->check(cli::one_of({"cr", "shared", "coalesced", "hybrid", "cores"}));
      app.footer("Both precisions in one run, unless --precision chooses.");
      return std::function<int()>([o, &app] {
        o->both_precisions = app.get_option("--precision")->count() == 0;
        return guarded([&] { run(*o); });
      });
    });

}  // namespace
}  // namespace tesela::bench
