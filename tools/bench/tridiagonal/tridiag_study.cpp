#include "tools/app/arguments.hpp"
#include "tools/bench/harness/published.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/problems/tridiagonal/tridiag_methods.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {

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

/// Returns the peer that solves by cyclic reduction.
template <class T>
Peer reduction(const std::string& name, TridiagProblem<T>& problem, const CyclicReductionOptions& options) {
  using Place = typename TridiagMethod<T>::Place;
  return make_peer(name,
                   TridiagMethod<T>{name, "", Place::graph,
                                    [options](TridiagProblem<T>& p) { return by_cyclic_reduction(p, options); }},
                   problem);
}

template <class T>
void run_precision(const StudyOptions& o, Runtime& runtime, Report& report) {
  const bool gpu = runtime.gpus() > 0, single = sizeof(T) == 4;
  for (const index_t n : o.n) {
    const index_t mb = o.mb > 0 ? o.mb : gpu ? n : tile_on_cores;
    const auto data_of = [&](index_t rows, bool on_device) {
      return TridiagData<T>(runtime,
                            {.n = n, .tiles = ceil_div(n, rows), .seed = o.common.seed, .on_device = on_device});
    };
    const TridiagData<T> on_host = data_of(mb, false), cut_for_cores = data_of(o.mb > 0 ? o.mb : tile_on_cores, false),
                         resident = data_of(mb, true);
    TridiagProblem<T> with_transfers{on_host}, on_cores{cut_for_cores}, on_device{resident};
    std::vector<Peer> peers{make_peer("thomas", find_method(tridiag_bench_table<T>(), "thomas"), with_transfers)};
    std::vector<std::size_t> hybrids;
    for (const std::string& name : o.peers) {
      if (name == "cores") {
        const CyclicReductionOptions cores{CyclicReduction::plain, 1, false, true};
        peers.push_back(reduction("cr, all cores", on_cores, cores));
        continue;
      }
      const bool several = name == "hybrid" && o.cut.size() > 1;
      for (const index_t cut : name == "hybrid" ? o.cut : std::vector<index_t>{1}) {
        const CyclicReductionOptions options{variant_of(name), cut, true};
        const std::string who = several ? fmt::format("{} {}", name, cut) : name;
        if (several) hybrids.push_back(peers.size());
        peers.push_back(reduction(who, with_transfers, options));
        if (gpu) peers.push_back(reduction(who + ", on device", on_device, options));
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
  const bool gpu = o.gpu();
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
      app.add_list("-n,--n", o->n, "unknowns, several with commas (default: the table's)")->positive();
      auto* tile =
          app.add_option("-t,--tile", o->mb, "rows of a tile (default: all with a GPU, else 16384)")->positive();
      cli::add_deprecated_alias(app, "--mb", o->mb, tile)->positive();
      app.add_list("--cut", o->cut, "unknowns that hybrid leaves to a core; several: a peer each, and the best named")
          ->positive()
          ->show_default();
      app.add_list("--peers", o->peers, "who competes with thomas; cores: cr on all cores of the host")
          ->check(cli::one_of({"cr", "shared", "coalesced", "hybrid", "cores"}));
      return for_both_precisions(app, o, run);
    });

}  // namespace
}  // namespace tesela::bench
