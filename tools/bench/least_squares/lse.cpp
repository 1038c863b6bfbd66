#include "tools/problems/least_squares/lse.hpp"

#include "tools/bench/harness/factor_options.hpp"
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

namespace tesela::bench {
namespace {

struct LseBenchOptions : FactorOptions {
  index_t m = 16384, n = 512, p = 128, rhs = 1;
};

template <class T>
void run(LseBenchOptions o) {
  require(o.p < o.n && o.n <= o.m, "bench lse", "--rows-c", "p < n <= m is needed");
  o.resolve("lse");
  Runtime runtime(o.runtime());
  Report report("lse", o, &runtime);
  cli::LseProblem<T> problem{{{}, 0, "", {o.m, o.n}, o.rhs, o.common.seed, &runtime}};
  problem.command = "lse";
  problem.generate_uniform(o.p, o.on_device());
  const TileShape tile = problem.tiles(problem.options("auto"));
  const Case row{fmt::format("{} x {}, C {} x {}, {} rhs", o.m, o.n, o.p, o.n, o.rhs),
                 o.m,
                 o.n,
                 o.p,
                 fmt::format("{}x{}", tile.mb, tile.nb),
                 o.data,
                 "GFLOP/s"};
  const auto peers = make_peers(o.peers, "auto", cli::lse_table<T>(), problem);
  report.add(row, alternate(peers, o.common.repeat), 0,
             [work = problem.flops()](double seconds) { return work / seconds * 1e-9; });
  report.note(
      "rates by R of A and of C^T, Q^T b, R P and R of what C leaves; lapack factors A for each right-hand side");
  if (o.on_device())
    report.note("A and b on the devices, put back before each run outside the time; C and d in host memory");
  else if (runtime.gpus() > 0)
    report.note("A and b in page-locked host memory, all transfers timed");
  report.finish();
}

const cli::Command lse_command(cli::Command::Group::bench, "lse",
                               "constrained least squares as a task graph against LAPACK and cuSOLVER",
                               [](cli::App& app) {
                                 auto o = std::make_shared<LseBenchOptions>();
                                 o->common.repeat = 3;
                                 o->add_to(app, "lse", {.streams = 2});
                                 app.add_option("-m,--m", o->m, "rows of A")->positive()->show_default();
                                 app.add_option("-n,--n", o->n, "columns of A")->positive()->show_default();
                                 app.add_option("--rows-c", o->p, "rows of C")->positive()->show_default();
                                 app.add_option("--rhs", o->rhs, "right-hand sides")->positive()->show_default();
                                 o->add_peers(app, peer_names(cli::lse_table<double>()));
                                 return for_reals(o, []<class T>(const auto& options) { run<T>(options); });
                               });

}  // namespace
}  // namespace tesela::bench
