#include "tools/problems/eigen/eig.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/numbers.hpp"
#include "tools/bench/eigen/eig_peers.hpp"
#include "tools/bench/harness/factor_options.hpp"
#include "tools/bench/harness/report.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::bench {
namespace {

struct EigBenchOptions : FactorOptions {
  std::vector<index_t> n{2048};
  std::vector<std::string> jobs{"values", "vectors"};
  cli::EigInput input;
  index_t band = 0, block = 0;
  double fraction = 1;
  bool generalized = false, check = true;
};

void settle_options(EigBenchOptions& o) {
  const auto refuse = [](const char* option, const std::string& why) { throw ArgumentError("bench eig", option, why); };
  if (!parse_symmetric_kind(o.input.random).file.empty()) refuse("--random", "spectrum:FILE is for tesela eig alone");
  if (!(o.fraction > 0 && o.fraction <= 1)) refuse("--fraction", fmt::format("{} is not in (0, 1]", o.fraction));
  if (o.has("cusolver-x") && o.fraction == 1) refuse("--peers", "cusolver-x solves for a part: --fraction says which");
  if (o.generalized && o.input.random_b.empty()) o.input.random_b = "geometric:100";
  const bool pair = o.input.generalized();
  if (o.common.complex()) {
    for (const std::string& peer : o.peers)
      if (peer != "two-stage" && peer != "lapack" && peer != "cusolver")
        refuse("--peers", peer + " has no complex numbers");
    if (pair || std::find(o.jobs.begin(), o.jobs.end(), "band") != o.jobs.end())
      refuse("--precision", "pairs and the job band have no complex numbers");
  }
  if (o.has("elpa") &&
      (o.common.precision != "d" || o.input.random != "uniform" || o.fraction < 1 || o.on_device() || pair))
    refuse("--peers", "elpa takes all of one uniform matrix on the host in double precision");
  if (pair) {
    parse_symmetric_kind(o.input.random_b);
    if (std::find(o.jobs.begin(), o.jobs.end(), "band") != o.jobs.end())
      refuse("--jobs", "band is of one matrix alone");
    if (o.fraction < 1) refuse("--fraction", "a pair is solved for all of its spectrum");
    for (const std::string& peer : o.peers)
      if (find_named(eig_iterations(), peer)) refuse("--peers", peer + " is not there for generalized problems");
  }
  o.devices_alone = false;  // some kernels run on cores alone
  o.resolve("eig");
}

template <class T>
cli::EigProblem<T> make_problem(Runtime& runtime, const EigBenchOptions& o, index_t n, const std::string& job) {
  cli::EigProblem<T> p{.input = o.input, .seed = o.common.seed, .runtime = &runtime, .resident = o.on_device()};
  p.input.n = n;
  p.options = {.vectors = job == "vectors", .band = o.band, .block = o.block};
  if (p.options.vectors && o.fraction < 1)
    p.options.positions = IndexRange{0, std::max<index_t>(1, std::llround(o.fraction * static_cast<double>(n)))};
  const PausedWorkers paused;
  p.load();
  return p;
}

/// Returns the peers; a peer without enough device memory is absent.
template <class T>
std::vector<Peer> peers_of(const EigBenchOptions& o, const std::string& job, cli::EigProblem<T>& p) {
  if constexpr (!is_complex<T>)
    if (job == "band") return {graph_band(p, "two-stage")};
  std::vector<Peer> peers;
  for (const std::string& name : o.peers) {
    if (name == "elpa") {
      peers.push_back(elpa_eig(p.n(), p.options.vectors, p.seed));
    } else if (name != "cusolver-x" || p.options.positions) {
      try {
        peers.push_back(make_peer(name, find_method(cli::eig_table<T>(cli::EigRows::bench), name), p));
      } catch (const OutOfDeviceMemory&) {
        peers.push_back({.name = name, .run = {}, .absent = "no room"});
      }
    }
  }
  for (Peer& peer : peers)
    if (!o.check) peer.verify = {};
  return peers;
}

void note_all(Report& report, const EigBenchOptions& o, bool gpus) {
  const std::string pair = o.input.generalized() ? fmt::format(", and B {}", o.input.random_b) : "";
  report.note(fmt::format("{}{}; rates by {}4/3 n^3 (values) and 10/3 n^2 more a vector{}, whatever a peer really does",
                          o.input.random, pair, o.common.complex() ? "4 times " : "",
                          pair.empty() ? "" : ", 5/3 n^3 and n^2 a vector for B"));
  if (o.on_device())
    report.note("A stays on the devices, where X is left, and A is put back before each run outside the time");
  else if (gpus)
    report.note("A and X in page-locked host memory, all transfers timed");
  if (!o.check)
    report.note("nothing was checked");
  else if (std::any_of(o.n.begin(), o.n.end(), [](index_t n) { return n > 4096; }))
    report.note(
        "beyond order 4096 a sample of the vectors is measured, and values by their sum, the sum of their "
        "squares, and the other peers' values");
}

template <class T>
void run(EigBenchOptions o) {
  settle_options(o);
  Runtime runtime(o.runtime());
  Report report("eig", o, &runtime);
  const double ceiling = measure_gemm_ceiling<T>(report, runtime);
  for (const index_t n : o.n)
    for (const std::string& job : o.jobs) {
      auto p = make_problem<T>(runtime, o, n, job);
      p.pin();
      const std::vector<Peer> peers = peers_of(o, job, p);
      if (peers.empty()) continue;
      const index_t part = p.options.positions ? p.wanted() : 0;
      const auto order = static_cast<double>(n);
      double flops = flops_each<T> * cli::eig_flops(n, p.options.vectors, p.wanted());
      std::string title =
          part > 0 ? fmt::format("n = {}, {} of the smallest {}", n, job, part) : fmt::format("n = {}, {}", n, job);
      if (o.input.generalized()) {
        title += " of a pair";
        flops += (1.0 / 3 + 4.0 / 3 + (p.options.vectors ? 1 : 0)) * order * order * order;
      }
      std::vector<Timing> timings = alternate(peers, o.common.repeat);
      for (Timing& timing : timings)
        if (!o.check && timing.remark.empty()) timing.remark = "unchecked";
      report.add(Case{title, n, n, part, fmt::format("{}x{}", n, eig_tile(runtime, n, {.band = o.band}).nb), o.data,
                      "GFLOP/s"},
                 timings, ceiling, [&](double seconds) { return flops / seconds * 1e-9; });
    }
  note_all(report, o, runtime.gpus() > 0);
  report.finish();
}

const cli::Command eig_command(
    cli::Command::Group::bench, "eig", "dense symmetric eigenproblems as a graph against LAPACK and cuSOLVER",
    [](cli::App& app) {
      auto o = std::make_shared<EigBenchOptions>();
      o->common.repeat = 3;
      o->add_to(app, "eig", {.complex = true});
      app.add_list("-n,--n", o->n, "orders; several: two cases each")->positive()->show_default();
      app.add_list("--jobs,--job", o->jobs, "values, vectors (default: both), band: the reduction to a band alone")
          ->check(cli::one_of({"values", "vectors", "band"}));
      app.add_option("--fraction", o->fraction, "of the vectors, the smallest; cusolver-x takes a part alone")
          ->show_default();
      std::vector<std::string> names{"two-stage"};
      for (const auto& row : cli::eig_table<double>(cli::EigRows::bench))
        if (row.name != names.front()) names.push_back(row.name);
      names.emplace_back("elpa");
      o->add_peers(app, names);
      cli::add_random(app, o->input.random, symmetric_kinds());
      app.add_flag("--generalized", o->generalized, "A x = lambda B x, against sygvd");
      app.add_option("--random-b", o->input.random_b,
                     "its B, positive definite (default: geometric:100, of condition 100)")
          ->type_name("KIND");
      app.add_flag("!--no-check", o->check, "do not check results before they are timed; the rows note it");
      app.add_option("--band", o->band, "half-width of the band between the stages")->positive();
      app.add_option("--block", o->block, "columns that are gathered before A takes them")->positive();
      return for_numbers(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
