#include "tools/problems/econometrics/sem.hpp"

#include "tools/bench/harness/factor_options.hpp"
#include "tools/bench/harness/published.hpp"
#include "tools/bench/harness/report.hpp"
#include <tesela/algorithms/econometrics/reuse_tree.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace tesela::bench {
namespace {

struct SemBenchOptions : Options {
  ModelSizes sizes{3000, 400, 400, -1, 0.1};
  std::vector<std::string> peers{"tesela", "lapack"};
  index_t largest = 1200;  // equations of the table
  std::string table, method = "2sls", solver = "auto";
};

/// Returns the models of Table 5.3 of Ramiro Sánchez 2010 with up to this many equations, K / 2 regressors in each.
std::vector<ModelSizes> published_models(index_t largest, double noise) {
  std::vector<ModelSizes> models;
  for (const Figure& f : published_figures()) {
    if (f.source != "ramiro-2010" || f.table != "5.3" || f.column != "LAPACK" || f.n > largest) continue;
    long exogenous = 0, observations = 0;
    if (std::sscanf(std::string(f.row).c_str(), "K = %ld D = %ld", &exogenous, &observations) != 2)
      throw std::logic_error("published figures: " + std::string(f.row));
    models.push_back({observations, f.n, exogenous, exogenous / 2, noise});
  }
  return models;
}

/// Returns the seconds of a model of that table for 2SLS; 0 without them.
double published_seconds(const ModelSizes& s, const std::string& peer) {
  if (s.included != s.exogenous / 2) return 0;
  const std::string row = fmt::format("K = {} D = {}", s.exogenous, s.observations);
  const std::string_view column = peer.starts_with("lapack") ? "LAPACK" : peer == "cusolver" ? "CULA-MES" : "DQR-MES";
  return published_value({.source = "ramiro-2010", .table = "5.3", .row = row, .column = column, .n = s.equations});
}

/// A model. In groups of `together` equations each has the regressors of the group's first without some exogenous ones.
struct SemCase {
  ModelSizes sizes;
  index_t together = 1;
};

/// Returns the models of the table of minimum-cost trees: equations with half of the variables, at random and in
/// groups.
std::vector<SemCase> reuse_models(index_t largest, double noise) {
  std::vector<SemCase> cases;
  for (const index_t n : {50, 100, 200, 400})
    for (const index_t together : {1, 5, 10})
      if (n <= largest) cases.push_back({{3 * n, n, n, n / 2, noise}, together});
  return cases;
}

/// Equation j of a group gets the regressors of the group's first, without j exogenous ones and its own variable.
void share_regressors(SimultaneousModel& model, index_t together) {
  for (std::size_t i = 0; i < model.equations.size(); ++i) {
    const std::size_t j = i % static_cast<std::size_t>(together);
    if (j == 0) continue;
    Equation& e = model.equations[i];
    e.regressors = model.equations[i - j].regressors;
    e.regressors.erase(e.regressors.begin() + 1, e.regressors.begin() + 1 + static_cast<std::ptrdiff_t>(j));
    std::erase(e.regressors, e.dependent);
  }
}

void measure(const SemBenchOptions& o, const SemCase& what, Runtime& runtime, Report& report) {
  const ModelSizes& sizes = what.sizes;
  const Case row{fmt::format("N = {}, K = {}, D = {}{}", sizes.equations, sizes.exogenous, sizes.observations,
                             what.together > 1 ? fmt::format(", groups of {}", what.together) : ""),
                 sizes.observations,
                 sizes.equations,
                 sizes.exogenous,
                 "",
                 "host",
                 "GFLOP/s",
                 "d"};
  const double variables = static_cast<double>(sizes.equations) + static_cast<double>(sizes.exogenous);
  if (const auto absent =
          without_room(o.peers, 16 * (static_cast<double>(sizes.observations) + 3 * variables) * variables);
      !absent.empty())
    return report.add(row, absent, 0, [](double) { return 0.0; });
  cli::SemProblem problem = cli::generate_sem(sizes, o.common.seed);
  share_regressors(problem.model, what.together);
  problem.options.method = *find_named(sem_methods(), o.method);
  problem.options.system_solver = *find_named(system_solvers(), o.solver);
  problem.runtime = &runtime;
  const auto peers = make_peers(o.peers, "auto", cli::sem_table(), problem);
  const double flops = sem_flops(problem);
  report.add(row, alternate(peers, o.common.repeat), 0, [&](double seconds) { return flops / seconds * 1e-9; });
  const bool along_tree = o.table == "reuse";
  const ReuseTree tree = along_tree ? reuse_tree(problem.model) : ReuseTree{};
  for (Row& r : report.rows()) {
    if (r.what.title != row.title) continue;
    if (o.method == "2sls") r.published_s = published_seconds(sizes, r.timing.peer);
    if (r.timing.peer == "lapack-single") r.what.precision = "s";
    if (along_tree)
      r.more = {{"rotation_gflop", 1e-9 * tree.flops_alone}, {"along_tree_gflop", 1e-9 * tree.flops_reused}};
  }
}

void run(SemBenchOptions o) {
  if (o.method == "3sls")
    std::erase_if(o.peers, [](const std::string& peer) { return peer.starts_with("lapack") || peer == "cusolver"; });
  std::vector<SemCase> cases;
  if (o.table == "published")
    for (const ModelSizes& sizes : published_models(o.largest, o.sizes.noise)) cases.push_back({sizes});
  else if (o.table == "reuse")
    cases = reuse_models(o.largest, o.sizes.noise);
  else
    cases.push_back({o.sizes});
  require(!cases.empty(), "bench sem", "--largest",
          fmt::format("no model of the table has {} equations or fewer", o.largest));
  for (SemCase& what : cases)
    if (what.sizes.included < 0) what.sizes.included = std::max<index_t>(what.sizes.exogenous / 2, 1);
  Runtime runtime(o.runtime());
  Report report("sem", o, &runtime);
  for (const SemCase& what : cases) measure(o, what, runtime, report);
  report.note(
      (o.method == "3sls" ? "3SLS" : "2SLS") +
      std::string(
          " of all equations from the data; ours with standard errors, tests and residual covariances as well"));
  report.note("rates by dense factorizations of the data and of every equation, whatever a peer does");
  if (o.table == "reuse")
    report.note(
        "groups of G: equation j of a group has the regressors of the group's first without j exogenous ones; "
        "rotation_gflop: operations of rotations from the data, along_tree_gflop: along the minimum-cost tree");
  if (o.table == "published")
    report.note(
        "source: Ramiro Sánchez 2010, Table 5.3, 2SLS: LAPACK on a Xeon E5430 (precision not stated) with lapack "
        "and lapack-single, CULA on a Quadro FX 5800 "
        "(single precision) with cusolver, rotations on that GPU with ours; equations have K / 2 regressors here");
  report.finish();
}

const cli::Command sem_command(
    cli::Command::Group::bench, "sem",
    "2SLS of simultaneous equations against LAPACK and cuSOLVER, equation by equation", [](cli::App& app) {
      auto o = std::make_shared<SemBenchOptions>();
      o->common.repeat = 3;
      o->add_to(app, "sem", {.precision = false, .streams = 2});
      auto* table =
          app.add_option("--table", o->table,
                         "published: the sizes and times of Ramiro Sánchez 2010, Table 5.3; reuse: equations that "
                         "share columns (default peers: givens, reuse, tesela)")
              ->check(cli::one_of({"published", "reuse"}));
      app.add_option("--largest", o->largest, "of the table, the models with up to this many equations")
          ->positive()
          ->needs(table)
          ->show_default();
      auto* peers = add_peers(app, o->peers, peer_names(cli::sem_table()))->show_default();
      app.add_option("--method", o->method, "2sls, or 3sls as well, which no library's peer does")
          ->check(cli::one_of({"2sls", "3sls"}))
          ->show_default();
      cli::Choices().add(system_solvers()).add_option(app, "--system-solver", o->solver, "of 3sls");
      cli::add_sizes(app, o->sizes, table);
      return std::function<int()>([o, peers] {
        if (o->table == "reuse" && peers->count() == 0) o->peers = {"givens", "reuse", "tesela"};
        return guarded([&] { run(*o); });
      });
    });

}  // namespace
}  // namespace tesela::bench
