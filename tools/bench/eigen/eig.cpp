#include "tools/app/choices.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/options.hpp"
#include "tools/app/sizes.hpp"
#include "tools/bench/eigen/elpa_peer.hpp"
#include "tools/bench/harness/factor_options.hpp"
#include "tools/bench/harness/noted_ceiling.hpp"
#include "tools/problems/eigen/eig_data.hpp"
#include "tools/problems/eigen/generalized_eig_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::bench {
namespace {

struct EigOptions : FactorOptions {
  std::vector<index_t> n{2048};
  std::vector<std::string> jobs{"values", "vectors"};
  std::string random = "uniform", random_b;
  index_t band = 0, block = 0;
  double fraction = 1;
  bool generalized = false, check = true;
};

void settle_options(EigOptions& o) {
  const auto refuse = [](const char* option, const std::string& why) { throw ArgumentError("bench eig", option, why); };
  if (!parse_symmetric_kind(o.random).file.empty()) refuse("--random", "spectrum:FILE is for tesela eig alone");
  if (!(o.fraction > 0 && o.fraction <= 1)) refuse("--fraction", fmt::format("{} is not in (0, 1]", o.fraction));
  if (o.has("cusolver-x") && o.fraction == 1) refuse("--peers", "cusolver-x solves for a part: --fraction says which");
  if (o.has("elpa") && (o.common.precision != "d" || o.random != "uniform" || o.fraction < 1 || o.on_device() ||
                        o.generalized || !o.random_b.empty()))
    refuse("--peers", "elpa takes all of one uniform matrix on the host in double precision");
  if (o.generalized && o.random_b.empty()) o.random_b = "geometric:100";
  if (!o.random_b.empty() && std::find(o.jobs.begin(), o.jobs.end(), "band") != o.jobs.end())
    refuse("--jobs", "band is of one matrix alone");
  if (!o.random_b.empty() && o.fraction < 1) refuse("--fraction", "a pair is solved for all of its spectrum");
  o.devices_alone = false;  // some kernels run on cores alone
  o.resolve("eig");
}

/// A row of the table: its name, its flops, and its peers.
struct Problem {
  std::string title;
  index_t part = 0;
  double flops = 0;
  std::vector<Peer> peers;
};

/// Returns a peer, or an absent peer with the missing requirement.
template <class Make>
Peer if_room(const std::string& name, const Make& make) {
  try {
    return make();
  } catch (const OutOfDeviceMemory&) {
    return Peer{.name = name, .run = {}, .absent = "no room"};
  }
}

template <class T>
Peer make_peer(const std::string& name, const EigData<T>& data) {
  if (name == "lapack") return lapack_eig(data);
  if (name.starts_with("cusolver")) return cusolver_eig(data, name, name == "cusolver-x");
  return graph_eig(data, name, *find_named(eig_methods(), name));
}

template <class T>
Peer make_peer(const std::string& name, const GeneralizedEigData<T>& data) {
  if (name == "lapack") return lapack_generalized_eig(data);
  if (name == "cusolver") return cusolver_generalized_eig(data);
  return graph_generalized_eig(data, name, *find_named(eig_methods(), name));
}

/// Rates count what LAPACK does itself, whatever a peer really does.
double flops_of(const std::string& job, double n, double found) {
  return 4.0 / 3 * n * n * n + (job == "vectors" ? (4.0 / 3 + 2) * n * n * found : 0);
}

template <class T>
class Problems {
 public:
  Problems(Runtime& runtime, const EigOptions& o) : runtime_(runtime), o_(o), kind_(parse_symmetric_kind(o.random)) {
    if (!o.random_b.empty()) kind_b_ = parse_symmetric_kind(o.random_b);
  }

  /// Its data live until the next call.
  Problem make(index_t n, const std::string& job) {
    const bool vectors = job == "vectors";
    pair_.reset();  // before the next one takes room
    one_.reset();
    if (!o_.random_b.empty()) return generalized(n, vectors);
    EigCase what{
        .n = n, .vectors = vectors, .band = o_.band, .block = o_.block, .on_device = o_.on_device(), .check = o_.check};
    if (vectors && o_.fraction < 1)
      what.part = std::max<index_t>(1, static_cast<index_t>(std::llround(o_.fraction * static_cast<double>(n))));
    one_ = std::make_unique<EigData<T>>(runtime_, what, matrix(kind_, n, 0));
    const std::string some = what.part > 0 ? fmt::format(" of the smallest {}", what.part) : "";
    Problem problem{fmt::format("n = {}, {}{}", n, job, some),
                    what.part,
                    flops_of(job, static_cast<double>(n), static_cast<double>(what.wanted())),
                    {}};
    if (job == "band") {
      problem.peers.push_back(graph_band(*one_, "two-stage"));
      return problem;
    }
    for (const std::string& name : o_.peers)
      if (name == "elpa")
        problem.peers.push_back(elpa_eig(n, vectors, o_.common.seed));
      else if (name != "cusolver-x" || what.part > 0)
        problem.peers.push_back(if_room(name, [&] { return make_peer(name, *one_); }));
    return problem;
  }

 private:
  SymmetricMatrix matrix(const SymmetricChoice& kind, index_t n, std::uint64_t further) const {
    return {kind.kind, n, kind.parameter, o_.common.seed + further};
  }
  Problem generalized(index_t n, bool vectors) {
    pair_ = std::make_unique<GeneralizedEigData<T>>(
        runtime_, GeneralizedEigCase{n, vectors, o_.band, o_.block, o_.on_device()}, matrix(kind_, n, 0),
        matrix(kind_b_, n, 1));  // with A's seed both would have the same eigenvectors
    const std::string job = vectors ? "vectors" : "values";
    const auto order = static_cast<double>(n);
    Problem problem{fmt::format("n = {}, {} of a pair", n, job),
                    0,
                    flops_of(job, order, order) + (1.0 / 3 + 4.0 / 3 + (vectors ? 1 : 0)) * order * order * order,
                    {}};
    for (const std::string& name : o_.peers)
      problem.peers.push_back(if_room(name, [&] { return make_peer(name, *pair_); }));
    return problem;
  }

  Runtime& runtime_;
  const EigOptions& o_;
  SymmetricChoice kind_, kind_b_;
  std::unique_ptr<EigData<T>> one_;
  std::unique_ptr<GeneralizedEigData<T>> pair_;
};

void note_all(Report& report, const EigOptions& o, bool gpus) {
  const std::string pair = o.random_b.empty() ? "" : fmt::format(", and B {}", o.random_b);
  report.note(fmt::format("{}{}; rates by 4/3 n^3 (values) and 10/3 n^2 more a vector{}, whatever a peer really does",
                          o.random, pair, pair.empty() ? "" : ", 5/3 n^3 and n^2 a vector for B"));
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
void run(EigOptions o) {
  settle_options(o);
  Runtime runtime(o.runtime());
  Report report("eig", o, &runtime);
  const double ceiling = measure_gemm_ceiling<T>(report, runtime);
  Problems<T> problems(runtime, o);
  for (const index_t n : o.n)
    for (const std::string& job : o.jobs) {
      Problem p = problems.make(n, job);
      if (p.peers.empty()) continue;
      if (!o.check)
        for (Peer& peer : p.peers) peer.verify = {};
      std::vector<Timing> timings = alternate(p.peers, o.common.repeat);
      for (Timing& timing : timings)
        if (!o.check && timing.remark.empty()) timing.remark = "unchecked";
      const index_t tile = suitable_eig_tile(runtime, n, o.band);
      report.add(Case{p.title, n, n, p.part, fmt::format("{}x{}", n, tile), o.data, "GFLOP/s"}, timings, ceiling,
                 [&](double seconds) { return p.flops / seconds * 1e-9; });
    }
  note_all(report, o, runtime.gpus() > 0);
  report.finish();
}

const cli::Command eig_command(
    cli::Command::Group::bench, "eig", "dense symmetric eigenproblems as a graph against LAPACK and cuSOLVER",
    [](CLI::App& app) {
      auto o = std::make_shared<EigOptions>();
      o->common.repeat = 3;
      o->add_to(app, "eig");
      app.add_option("-n,--n", o->n, "orders; several: two cases each")
          ->delimiter(',')
          ->transform(cli::positive())
          ->capture_default_str();
      app.add_option("--jobs,--job", o->jobs, "values, vectors (default: both), band: the reduction to a band alone")
          ->delimiter(',')
          ->check(CLI::IsMember({"values", "vectors", "band"}));
      app.add_option("--fraction", o->fraction, "of the vectors, the smallest; cusolver-x takes a part alone")
          ->capture_default_str();
      o->add_peers(app, {"two-stage", "one-stage", "auto", "lapack", "cusolver", "cusolver-x", "elpa"});
      cli::add_random(app, o->random, symmetric_kinds());
      app.add_flag("--generalized", o->generalized, "A x = lambda B x, against sygvd");
      app.add_option("--random-b", o->random_b, "its B, positive definite (default: geometric:100, of condition 100)")
          ->type_name("KIND");
      app.add_flag("!--no-check", o->check, "do not check results before they are timed; the rows note it");
      app.add_option("--band", o->band, "half-width of the band between the stages")->transform(cli::positive());
      app.add_option("--block", o->block, "columns that are gathered before A takes them")->transform(cli::positive());
      return std::function<int()>(
          [o] { return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
