#include "tools/problems/eigen/eig_batch.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/sizes.hpp"
#include "tools/bench/harness/factor_options.hpp"
#include "tools/bench/harness/report.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {
namespace {

struct EigBatchBenchOptions : FactorOptions {
  std::vector<index_t> n{8, 16, 32, 64};
  index_t count = 32768;
  std::vector<std::string> jobs{"vectors"};
  std::string random = "uniform";
};

void settle_options(EigBatchBenchOptions& o) {
  parse_symmetric_kind(o.random);
  for (const index_t n : o.n)
    require(n <= largest_batch_order, "bench eig-batch", "--n",
            fmt::format("{}; a batch takes orders up to {}", n, largest_batch_order));
  o.resolve("eig-batch");
}

template <class T>
void run(EigBatchBenchOptions o) {
  settle_options(o);
  Runtime runtime(o.runtime());
  Report report("eig-batch", o, &runtime);
  const double ceiling = measure_gemm_ceiling<T>(report, runtime);
  for (const index_t n : o.n)
    for (const std::string& job : o.jobs) {
      cli::EigBatchProblem<T> problem{
          {.n = n, .random = o.random}, o.count, job == "vectors", o.common.seed, &runtime, o.on_device()};
      problem.load();
      problem.pin();
      const auto peers = make_peers(o.peers, "tesela", cli::eig_batch_table<T>(), problem);
      const auto order = static_cast<double>(n), all = static_cast<double>(o.count) * order * order;
      const double flops = problem.vectors ? 9 * all * order : 4.0 / 3 * all * order + 30 * all;
      report.add(Case{fmt::format("{} x {}, {}", o.count, n, job), n, n, o.count,
                      fmt::format("{}", eig_batch_size<T>(runtime, n)), o.data, "GFLOP/s"},
                 alternate(peers, o.common.repeat), ceiling, [&](double seconds) { return flops / seconds * 1e-9; });
    }
  report.note(
      fmt::format("{}; rates by 4/3 n^3 + 30 n^2 (values) and 9 n^3 (vectors), whatever a peer really does", o.random));
  if (o.on_device())
    report.note(
        "A stays on the devices, where the results are left, and A is put back before each run outside the time");
  else if (runtime.gpus() > 0)
    report.note("A and the results in page-locked host memory, all transfers timed");
  report.finish();
}

const cli::Command eig_batch_command(
    cli::Command::Group::bench, "eig-batch", "many small symmetric eigenproblems against LAPACK and cuSOLVER",
    [](cli::App& app) {
      auto o = std::make_shared<EigBatchBenchOptions>();
      o->common.repeat = 5;
      o->add_to(app, "eig-batch");
      app.add_list("-n,--n", o->n, "orders; several: a case each for every job")->positive()->show_default();
      app.add_option("--count", o->count, "matrices")->positive()->show_default();
      add_jobs(app, o->jobs);
      o->add_peers(app);
      cli::add_random(app, o->random, symmetric_kinds());
      return for_reals(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
