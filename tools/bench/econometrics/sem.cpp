#include "tools/problems/econometrics/sem.hpp"

#include "tools/app/numbers.hpp"
#include "tools/bench/harness/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

namespace tesela::bench {
namespace {

struct SemBenchOptions : Options {
  ModelSizes sizes{3000, 400, 400, -1, 0.1};
  std::vector<std::string> peers{"tesela", "lapack"};
  index_t largest = 1200;  // equations of the table
  std::string table, method = "2sls", solver = "auto";
};

struct Published {
  index_t equations, exogenous, observations;
  double lapack, rotations, cula;
};

/// Seconds, single precision, of a processor (LAPACK) and a GPU of 2010 or so.
constexpr std::array<Published, 12> published{{{400, 400, 1000, 6.33, 12.7, 10.3},
                                               {400, 400, 1500, 6.40, 12.6, 10.6},
                                               {400, 600, 1000, 15.0, 20.6, 14.9},
                                               {400, 600, 1500, 15.1, 20.7, 15.0},
                                               {800, 800, 2000, 84.2, 75.4, 45.8},
                                               {800, 800, 2500, 85.1, 75.2, 45.9},
                                               {800, 1000, 2000, 138, 102, 63.2},
                                               {800, 1000, 2500, 138, 102, 63.4},
                                               {1000, 1000, 2500, 197, 140, 84.5},
                                               {1000, 1200, 3000, 296, 183, 110},
                                               {1200, 1200, 2500, 396, 239, 139},
                                               {1200, 1200, 3000, 396, 240, 139}}};

double published_seconds(const ModelSizes& s, const std::string& peer) {
  for (const Published& row : published)
    if (row.equations == s.equations && row.exogenous == s.exogenous && row.observations == s.observations &&
        s.included == s.exogenous / 2)
      return peer == "lapack" ? row.lapack : row.rotations;
  return 0;
}

void measure(const SemBenchOptions& o, const ModelSizes& sizes, Runtime& runtime, Report& report) {
  cli::SemProblem problem = cli::generate_sem(sizes, o.common.seed);
  problem.options.method = *find_named(sem_methods(), o.method);
  problem.options.system_solver = *find_named(system_solvers(), o.solver);
  problem.runtime = &runtime;
  const auto peers = make_peers(o.peers, "auto", cli::sem_table(), problem);
  const Case row{fmt::format("N = {}, K = {}, D = {}", sizes.equations, sizes.exogenous, sizes.observations),
                 sizes.observations,
                 sizes.equations,
                 sizes.exogenous,
                 "",
                 "host",
                 "GFLOP/s",
                 "d"};
  const double flops = sem_flops(problem);
  report.add(row, alternate(peers, o.common.repeat), 0, [&](double seconds) { return flops / seconds * 1e-9; });
  for (Row& r : report.rows())
    if (r.what.title == row.title) r.published_s = published_seconds(sizes, r.timing.peer);
}

void run(SemBenchOptions o) {
  if (o.method == "3sls")
    std::erase_if(o.peers, [](const std::string& peer) { return peer == "lapack" || peer == "cusolver"; });
  std::vector<ModelSizes> cases;
  if (o.table == "published")
    for (const Published& p : published) {
      if (p.equations <= o.largest)
        cases.push_back({p.observations, p.equations, p.exogenous, p.exogenous / 2, o.sizes.noise});
    }
  else
    cases.push_back(o.sizes);
  for (ModelSizes& sizes : cases)
    if (sizes.included < 0) sizes.included = std::max<index_t>(sizes.exogenous / 2, 1);
  Runtime runtime(o.runtime());
  Report report("sem", o, &runtime);
  for (const ModelSizes& sizes : cases) measure(o, sizes, runtime, report);
  report.note(
      (o.method == "3sls" ? "3SLS" : "2SLS") +
      std::string(
          " of all equations from the data; ours with standard errors, tests and residual covariances as well"));
  report.note("rates by dense factorizations of the data and of every equation, whatever a peer does");
  if (o.table == "published")
    report.note(
        "published: in single precision, compare LAPACK's with lapack, a GPU's rotations with ours; equations have "
        "K / 2 regressors here");
  report.finish();
}

const cli::Command sem_command(
    cli::Command::Group::bench, "sem",
    "2SLS of simultaneous equations against LAPACK and cuSOLVER, equation by equation", [](CLI::App& app) {
      auto o = std::make_shared<SemBenchOptions>();
      o->common.repeat = 3;
      o->add_to(app, "sem", {.precision = false, .streams = 2});
      auto* table = app.add_option("--table", o->table, "published: the sizes of a published table, with its times")
                        ->check(CLI::IsMember({"published"}));
      app.add_option("--largest", o->largest, "of the table, the models with up to this many equations")
          ->transform(cli::positive())
          ->needs(table)
          ->capture_default_str();
      app.add_option("--peers", o->peers, "who competes; the first is whom the others are compared with")
          ->delimiter(',')
          ->check(CLI::IsMember(peer_names(cli::sem_table())))
          ->capture_default_str();
      app.add_option("--method", o->method, "2sls, or 3sls as well, which no library's peer does")
          ->check(CLI::IsMember({"2sls", "3sls"}))
          ->capture_default_str();
      cli::Choices().add(system_solvers()).add_option(app, "--system-solver", o->solver, "of 3sls");
      cli::add_sizes(app, o->sizes, table);
      return std::function<int()>([o] { return guarded([&] { run(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
