#include "tools/problems/svd/svd.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/numbers.hpp"
#include "tools/bench/harness/factor_options.hpp"
#include "tools/bench/harness/report.hpp"
#include <tesela/algorithms/svd/svd_matrices.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {
namespace {

struct SvdBenchOptions : FactorOptions {
  std::vector<index_t> n{2048};
  index_t m = 0, band = 0;
  std::vector<std::string> jobs{"vectors", "values"};
  std::string random = "uniform";
};

template <class T>
void run(SvdBenchOptions o) {
  static_cast<void>(svd_matrix<T>({0, 0}, o.random, 1));  // throws for a wrong kind
  for (const index_t n : o.n) require(n >= 1, "bench svd", "--n", n, " is less than 1");
  o.devices_alone = false;  // some kernels run on cores alone
  const auto rows = cli::svd_table<T>(true);
  const std::vector<std::string> known = cli::peer_names(rows);
  for (const std::string& peer : o.peers)
    require(std::find(known.begin(), known.end(), peer) != known.end(), "bench svd", "--peers", peer,
            " has no complex numbers");
  o.resolve("svd");
  Runtime runtime(o.runtime());
  Report report("svd", o, &runtime);
  const double ceiling = measure_gemm_ceiling<T>(report, runtime);
  for (const index_t n : o.n)
    for (const std::string& job : o.jobs) {
      const index_t m = o.m > 0 ? o.m : n;
      const SvdVectors vectors = job == "values" ? SvdVectors::none : SvdVectors::economic;
      cli::SvdProblem<T> problem{
          {m, n}, {.vectors = vectors, .band = o.band}, "", o.random, 1, o.common.seed, &runtime, o.on_device()};
      problem.load();
      const auto peers = make_peers(o.peers, "auto", rows, problem);
      report.add(Case{m == n ? fmt::format("n = {}, {}", n, job) : fmt::format("{} x {}, {}", m, n, job), m, n, 0, "",
                      o.data, "GFLOP/s"},
                 alternate(peers, o.common.repeat), ceiling,
                 [&](double seconds) { return flops_each<T> * svd_flops(m, n, vectors) / seconds * 1e-9; });
    }
  report.note(
      fmt::format("{}; rates by {}4 m n^2 - 4/3 n^3 (values) and three times as many (vectors), whatever a peer "
                  "really does",
                  o.random, is_complex<T> ? "4 times " : ""));
  if (o.on_device()) report.note("A is on a GPU before a run, U and V after it");
  report.finish();
}

const cli::Command svd_command(
    cli::Command::Group::bench, "svd", "the singular value decomposition against LAPACK and cuSOLVER",
    [](cli::App& app) {
      auto o = std::make_shared<SvdBenchOptions>();
      o->common.repeat = 5;
      o->add_to(app, "svd", {.complex = true});
      app.add_list("-n,--n", o->n, "columns of A (and rows without --m); several: one case each for every job")
          ->show_default();
      app.add_option("-m,--m", o->m, "rows of A (default: n)")->positive();
      add_jobs(app, o->jobs);
      app.add_option("--band", o->band, "half-width of the band between the stages (default: what suits)")->positive();
      o->add_peers(app, peer_names(cli::svd_table<double>(true)));
      cli::add_random(app, o->random, svd_kinds());
      return for_numbers(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
