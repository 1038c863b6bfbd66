#include "tools/app/arguments.hpp"
#include "tools/app/median.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/problems/qr/qr.hpp"
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/schedule.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {
namespace {

struct QrTreesOptions : Options {
  index_t p = 32, q = 8, nb = 192;
  cli::QrMethod method;
  std::vector<std::string> trees;
};

/// What one run took, and what it could not have gone below.
struct Run {
  double makespan = 0, path = 0, area = 0;
  double bound() const { return std::max(path, area); }
};

/// Factors by one tree and compares the makespan, insertion included, with the bound of the same run: work / workers,
/// where work is all workers' time inside kernels, or the critical path. The path is that of the performance models
/// (each kernel's mean time at its shape), scaled by work over the models' sum for it, so that both are of this run.
template <class T>
class TreeRuns {
 public:
  TreeRuns(cli::QrProblem<T>& problem, std::string tree) : problem_(&problem), tree_(std::move(tree)) {}

  double run() { return run(solver()); }

  double verify() {
    const cli::Solver<cli::QrFactors<T>> tiles = solver();
    run(tiles);
    return check_peer(tree_, *problem_, tiles.result());
  }

  /// The latest runs.
  std::vector<Run> last(int count) const { return {runs_.end() - count, runs_.end()}; }
  /// Tasks of the last run that the performance models know too little of.
  index_t untimed() const { return untimed_; }

 private:
  /// Sets the method up for one run: memory holds the tiles of one tree at a time.
  cli::Solver<cli::QrFactors<T>> solver() const {
    problem_->method.tree = tree_;
    return find_method(cli::qr_table<T>(), "tiles").solver(*problem_);
  }

  double run(const cli::Solver<cli::QrFactors<T>>& tiles) {
    Runtime& runtime = *problem_->runtime;
    tiles.prepare();
    runtime.reset_statistics();
    wait_for_idle_threads();
    Run run;
    Graph g(runtime, {.record = true});
    run.makespan = seconds_of([&] {
      tiles.run(&g);
      g.wait();
    });
    double work = 0;
    for (const WorkerUse& worker : runtime.statistics().workers)
      for (const KernelUse& kernel : worker.kernels) work += kernel.busy_seconds;
    run.area = work / runtime.cpus();
    const Bounds model = g.bounds();
    untimed_ = model.untimed;
    if (model.area_seconds > 0) run.path = model.path_seconds * run.area / model.area_seconds;
    runs_.push_back(run);
    return run.makespan;
  }

  cli::QrProblem<T>* problem_;
  std::string tree_;
  std::vector<Run> runs_;
  index_t untimed_ = 0;
};

template <class F>
double median_of(const std::vector<Run>& runs, F figure) {
  std::vector<double> figures;
  for (const Run& run : runs) figures.push_back(figure(run));
  return median(std::move(figures));
}

template <class T>
void run(QrTreesOptions o) {
  if (o.trees.empty()) {
    o.trees = schedule_orders();
    std::replace(o.trees.begin(), o.trees.end(), std::string("domain"), std::string("domain:4"));
  }
  for (const std::string& tree : o.trees) require_schedule_order("bench qr-trees", "--trees", tree);
  require(o.q <= o.p, "bench qr-trees", "--nt", o.q, " is more than --mt ", o.p);
  if (o.common.ncpu == 0) throw EnvironmentError("bench qr-trees: --ncpu 0 leaves no core to measure");
  o.common.ncuda = 0;
  RuntimeOptions profiled = o.runtime();
  profiled.profile = true;
  Runtime runtime(profiled);
  Report report("qr-trees", o, &runtime);

  const index_t m = o.p * o.nb, n = o.q * o.nb;
  cli::QrProblem<T> problem{o.method, std::to_string(o.nb), {m, n}, o.common.seed, &runtime};
  problem.generate_uniform(true);
  std::vector<TreeRuns<T>> trees;
  for (const std::string& tree : o.trees) trees.emplace_back(problem, tree);
  std::vector<Peer> peers;
  for (TreeRuns<T>& tree : trees)
    peers.push_back({"tesela", [&tree] { return tree.run(); }, [&tree] { return tree.verify(); }});
  const std::vector<Timing> makespans = alternate(peers, o.common.repeat);

  for (std::size_t t = 0; t < trees.size(); ++t) {
    const std::vector<Run> runs = trees[t].last(o.common.repeat);
    Timing bound{"bound", {}, 0};
    for (const Run& r : runs) bound.seconds.push_back(r.bound());
    report.add({o.trees[t], m, n, 0, fmt::format("{0}x{0}", o.nb), "host", "GFLOP/s"}, {bound, makespans[t]}, 0,
               [&](double seconds) { return qr_flops(m, n) / seconds * 1e-9; });
    report.note(fmt::format(
        "{}: critical path {:.4f} s, work / workers {:.4f} s{}", o.trees[t],
        median_of(runs, [](const Run& r) { return r.path; }), median_of(runs, [](const Run& r) { return r.area; }),
        trees[t].untimed() > 0 ? fmt::format("; {} tasks have no model yet: run again", trees[t].untimed()) : ""));
  }
  report.note(
      "bound: max(critical path, work / workers) of the same run, work being the workers' time inside kernels; ratio: "
      "makespan over bound");
  report.finish();
}

const cli::Command qr_trees_command(
    cli::Command::Group::bench, "qr-trees", "every tree's makespan over the cores against its lower bound",
    [](cli::App& app) {
      auto o = std::make_shared<QrTreesOptions>();
      o->common.repeat = 5;
      o->add_to(app, "qr-trees", {.gpus = false});
      app.add_option("--mt", o->p, "tile rows")->positive()->show_default();
      app.add_option("--nt", o->q, "tile columns")->positive()->show_default();
      auto* tile = app.add_option("-t,--tile", o->nb, "rows and columns of a tile")->positive()->show_default();
      cli::add_deprecated_alias(app, "--nb", o->nb, tile)->positive();
      app.add_option("--ib", o->method.ib, "inner block size (default: what suits the workers)")->positive();
      app.add_option("--kernels", o->method.kernels, "tt makes every tile triangular before tiles are joined")
          ->check(cli::one_of({"auto", "tt"}))
          ->show_default();
      app.add_list("--trees", o->trees, "which (default: all, domain:4 for domain); of " + schedule_order_list())
          ->type_name("ORDER");
      return for_reals(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
