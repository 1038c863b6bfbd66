#include "tools/app/arguments.hpp"
#include "tools/app/choices.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/problems/eigen/eig.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/algorithms/eigen/symmetric_eig_plan.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/runtime/machine/memory.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {
namespace {

struct EigJobsOptions : Options {
  std::vector<index_t> n{2048};
  index_t count = 16, at_once = 0;
  std::string method = "auto", random = "uniform";
  bool vectors = true;
};

/// The problems, in page-locked memory: transfers are timed.
template <class T>
std::vector<cli::EigProblem<T>> make_problems(Runtime& runtime, const EigJobsOptions& o, index_t n) {
  std::vector<cli::EigProblem<T>> problems;
  const PausedWorkers paused;
  for (index_t k = 0; k < o.count; ++k) {
    cli::EigProblem<T>& p =
        problems.emplace_back(cli::EigProblem<T>{.input = {.n = n, .random = o.random},
                                                 .options = {.vectors = o.vectors},
                                                 .seed = o.common.seed + static_cast<std::uint64_t>(k),
                                                 .runtime = &runtime,
                                                 .whole = 64});
    p.load();
    p.pin();
  }
  return problems;
}

/// Returns the peer that solves `at_once` of the problems at a time by one method.
template <class T>
Peer make_peer(const char* name, std::vector<cli::EigProblem<T>>& problems, int at_once, EigMethod method) {
  const auto row = cli::find_method(cli::eig_table<T>(cli::EigRows::command), name_of(eig_methods(), method));
  const auto solvers = std::make_shared<std::vector<cli::Solver<cli::EigFound<T>>>>();
  for (cli::EigProblem<T>& problem : problems) solvers->push_back(row.solver(problem));
  const auto run = [&problems, solvers, at_once] {
    Runtime& runtime = *problems.front().runtime;
    for (const auto& solver : *solvers) solver.prepare();
    wait_for_idle_threads();
    return seconds_of([&] {
      const std::vector<index_t> sizes(problems.size(), problems.front().n());
      run_eig_jobs(runtime, sizes, at_once, [&](std::size_t k, const GraphOptions& graph) {
        Graph g(runtime, graph);
        (*solvers)[k].run(&g);
        g.wait();
        (*solvers)[k].finish();
      });
    });
  };
  return checked(name, run, [&problems, solvers, name] {
    double worst = 0;
    for (std::size_t k = 0; k < problems.size(); ++k)
      worst =
          std::max(worst, check_peer(fmt::format("{}, problem {}", name, k + 1), problems[k], (*solvers)[k].result()));
    return worst;
  });
}

template <class T>
void run(const EigJobsOptions& o) {
  RuntimeOptions options = o.runtime();
  set_eig_job_streams(options, blas::all_cores());
  Runtime runtime(options);
  Report report("eig-jobs", o, &runtime);
  const double ceiling = measure_gemm_ceiling<T>(report, runtime);
  for (const index_t n : o.n) {
    const SymmetricEigOptions alone{.method = *find_named(eig_methods(), o.method), .vectors = o.vectors},
        among_others = eig_job_options(runtime, n, alone);
    const MemoryRoom room{usable_host_bytes(),
                          static_cast<double>(runtime.device_bytes()) / std::max(runtime.gpus(), 1)};
    const int at_once = o.at_once > 0 ? static_cast<int>(o.at_once)
                                      : eig_jobs_at_once(runtime, options.streams_per_gpu.value_or(1),
                                                         plan_symmetric_eig(runtime, n, sizeof(T), among_others), room);
    auto problems = make_problems<T>(runtime, o, n);
    const double flops = static_cast<double>(o.count) * cli::eig_flops(n, o.vectors, n);
    report.add(Case{fmt::format("{} of n = {}, {} at a time", o.count, n, at_once), n, n, o.count,
                    name_of(eig_methods(), among_others.method), "host", "GFLOP/s"},
               alternate({make_peer("jobs", problems, at_once, among_others.method),
                          make_peer("one-by-one", problems, 1, alone.method),
                          make_peer("one-by-one, same method", problems, 1, among_others.method)},
                         o.common.repeat),
               ceiling, [&](double seconds) { return flops / seconds * 1e-9; });
  }
  report.note(fmt::format("{}, {}; rates by LAPACK's flops; A and X in host memory, transfers timed", o.random,
                          o.vectors ? "all pairs" : "values"));
  report.finish();
}

const cli::Command eig_jobs_command(
    cli::Command::Group::bench, "eig-jobs", "several symmetric eigenproblems at a time against one by one",
    [](cli::App& app) {
      auto o = std::make_shared<EigJobsOptions>();
      o->common.repeat = 3;
      o->add_to(app, "eig-jobs");
      app.add_list("-n,--n", o->n, "orders; several: a case each")->positive()->show_default();
      app.add_option("--count", o->count, "problems")->positive()->show_default();
      app.add_option("--at-once", o->at_once, "at a time (default: what suits)")->positive();
      cli::Choices().add(eig_methods()).add_option(app, "--method", o->method);
      app.add_flag("--vectors,!--no-vectors", o->vectors, "all pairs (default), or values alone");
      cli::add_random(app, o->random, symmetric_kinds());
      return for_reals(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
