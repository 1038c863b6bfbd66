#include "tools/problems/svd/svd_batch.hpp"

#include "tools/app/arguments.hpp"
#include "tools/bench/harness/factor_options.hpp"
#include "tools/bench/harness/report.hpp"
#include <tesela/algorithms/svd/svd_matrices.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {
namespace {

struct SvdBatchBenchOptions : FactorOptions {
  std::vector<index_t> n{8, 16, 32, 64};
  index_t m = 0, count = 4096;
  std::vector<std::string> jobs{"vectors"};
  std::string random = "uniform";
};

template <class T>
void run(SvdBatchBenchOptions o) {
  static_cast<void>(svd_matrix<T>({0, 0}, o.random, 1));  // throws for a wrong kind
  for (const index_t n : o.n)
    require(std::min(n, o.m > 0 ? o.m : n) <= largest_svd_batch_side, "bench svd-batch", "--n", n, " is more than ",
            largest_svd_batch_side);
  o.resolve("svd-batch");
  Runtime runtime(o.runtime());
  Report report("svd-batch", o, &runtime);
  const double ceiling = measure_gemm_ceiling<T>(report, runtime);
  for (const index_t n : o.n)
    for (const std::string& job : o.jobs) {
      const Shape shape{o.m > 0 ? o.m : n, n};
      const SvdVectors vectors = job == "values" ? SvdVectors::none : SvdVectors::economic;
      cli::SvdBatchProblem<T> problem{shape, o.count, vectors, "", o.random, 1, o.common.seed, &runtime, o.on_device()};
      problem.load();
      std::vector<std::string> names = o.peers;
      if (std::max(shape.rows, shape.cols) > 32) std::erase(names, "cusolver");  // the library's largest
      const auto peers = make_peers(names, "tesela", cli::svd_batch_table<T>(), problem);
      const double flops = static_cast<double>(o.count) * svd_flops(shape.rows, n, vectors);
      report.add(Case{fmt::format("{} of {}, {}", o.count, to_string(shape), job), shape.rows, n, o.count,
                      fmt::format("{}", svd_batch_size<T>(runtime, shape)), o.data, "GFLOP/s"},
                 alternate(peers, o.common.repeat), ceiling, [&](double seconds) { return flops / seconds * 1e-9; });
    }
  report.note(
      fmt::format("{}; rates by 4 m n^2 - 4/3 n^3 (values), three times as much with vectors, whatever a peer "
                  "really does",
                  o.random));
  if (o.on_device()) report.note("A is on a GPU before a run, the results after it");
  report.finish();
}

const cli::Command svd_batch_command(
    cli::Command::Group::bench, "svd-batch", "many small singular value decompositions against LAPACK and cuSOLVER",
    [](cli::App& app) {
      auto o = std::make_shared<SvdBatchBenchOptions>();
      o->common.repeat = 5;
      o->add_to(app, "svd-batch");
      app.add_list("-n,--n", o->n, "columns; several: a case each for every job")->positive()->show_default();
      app.add_option("-m,--m", o->m, "rows (default: n)")->positive();
      app.add_option("--count", o->count, "matrices")->positive()->show_default();
      add_jobs(app, o->jobs);
      o->add_peers(app, cli::peer_names(cli::svd_batch_table<double>()));
      cli::add_random(app, o->random, svd_kinds());
      return for_reals(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
