#include "tools/problems/least_squares/ols.hpp"

#include "tools/app/arguments.hpp"
#include "tools/bench/harness/factor_options.hpp"
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {
namespace {

struct OlsBenchOptions : FactorOptions {
  std::vector<index_t> m{16384};
  index_t n = 512, rhs = 8;
  std::string tile;
  cli::QrMethod method;
};

void settle_options(OlsBenchOptions& o) {
  for (const index_t m : o.m) require(m >= o.n, "bench ols", "--m", m, " is less than n");
  cli::require_known("bench ols", o.method, o.tile);
  const std::vector<std::string> complex = peer_names(cli::ols_table<std::complex<double>>());
  for (const std::string& peer : o.peers)
    require(!o.common.complex() || std::find(complex.begin(), complex.end(), peer) != complex.end(), "bench ols",
            "--peers", peer, " has no complex numbers");
  o.method.name = "auto";
  choose_tiles_for_options(o.method);
  o.resolve("ols");
}

template <class T>
void run(OlsBenchOptions o) {
  settle_options(o);
  Runtime runtime(o.runtime());
  Report report("ols", o, &runtime);
  for (const index_t m : o.m) {
    cli::OlsProblem<T> problem{o.method, 0, o.tile, {m, o.n}, o.rhs, o.common.seed, &runtime};
    problem.generate_uniform(o.on_device());
    const TileShape tile = problem.tiles(problem.options(o.method.name));
    const auto peers = make_peers(o.peers, o.method.name, cli::ols_table<T>(), problem);
    const Case row{fmt::format("{} x {}, {} rhs", m, o.n, o.rhs), m,      o.n,      o.rhs,
                   fmt::format("{}x{}", tile.mb, tile.nb),        o.data, "GFLOP/s"};
    const double flops = flops_each<T> * ols_flops(problem.shape, o.rhs);
    report.add(row, alternate(peers, o.common.repeat), 0, [&](double seconds) { return flops / seconds * 1e-9; });
  }
  report.note(fmt::format(
      "rates by {}2 m n^2 - 2 n^3 / 3 + 4 m n rhs; tesela also estimates the condition and decides the rank",
      is_complex<T> ? "4 times " : ""));
  if (o.on_device())
    report.note("A and B on the devices, put back before each run outside the time");
  else if (runtime.gpus() > 0)
    report.note("A and B in page-locked host memory, all transfers timed");
  report.finish();
}

const cli::Command ols_command(cli::Command::Group::bench, "ols",
                               "least squares as a task graph against LAPACK and cuSOLVER", [](cli::App& app) {
                                 auto o = std::make_shared<OlsBenchOptions>();
                                 o->common.repeat = 5;
                                 o->add_to(app, "ols", {.complex = true, .streams = 2});
                                 app.add_list("-m,--m", o->m, "rows of A; several: one case each")->show_default();
                                 app.add_option("-n,--n", o->n, "columns of A")->positive()->show_default();
                                 app.add_option("--rhs", o->rhs, "right-hand sides")->positive()->show_default();
                                 cli::add_tile(app, o->tile, "MB or MBxNB");
                                 add_to(app, o->method);
                                 o->add_peers(app, peer_names(cli::ols_table<double>()));
                                 return for_numbers(o, []<class T>(const auto& options) { run<T>(options); });
                               });

}  // namespace
}  // namespace tesela::bench
