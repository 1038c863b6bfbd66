#include "tools/problems/dense/direct.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/sizes.hpp"
#include "tools/bench/harness/factor_options.hpp"
#include "tools/bench/harness/report.hpp"
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <memory>

namespace tesela::bench {

using cli::DirectKind;
namespace {

struct DirectBenchOptions : FactorOptions {
  bool symmetric = false;
  std::vector<index_t> n{4096};
  std::vector<std::string> pivots{"tournament", "none"};
  std::string tile;
  const char* command() const { return symmetric ? "cholesky" : "lu"; }
};

template <class T>
void run_case(const DirectBenchOptions& o, Runtime& runtime, Report& report, double ceiling, DirectKind kind,
              index_t n) {
  const bool symmetric = kind == DirectKind::cholesky, pivots = kind == DirectKind::lu;
  cli::DirectProblem<T> problem{kind, o.tile, n, &runtime};
  problem.generate_uniform(o.common.seed, o.on_device());
  std::vector<std::string> names = o.peers;
  if (kind == DirectKind::lu_without_pivots) std::erase(names, "lapack");
  const auto peers = make_peers(names, "tiles", cli::direct_table<T>(), problem);
  const TileShape tile = problem.tile_shape();
  const Case row{fmt::format("{}n = {}",
                             symmetric ? ""
                             : pivots  ? "pivots, "
                                       : "no pivots, ",
                             n),
                 n,
                 n,
                 0,
                 fmt::format("{}x{}", tile.mb, tile.nb),
                 o.data,
                 "GFLOP/s"};
  const double order = static_cast<double>(n), flops = flops_each<T> * order * order * order * (symmetric ? 1 : 2) / 3;
  report.add(row, alternate(peers, o.common.repeat), ceiling, [&](double seconds) { return flops / seconds * 1e-9; });
  if (pivots) report.note(fmt::format("{}: max |U| / max |A| of the last check: {:.3g}", row.title, problem.growth));
}

template <class T>
void run(DirectBenchOptions o) {
  for (const index_t n : o.n) require(n >= 1, fmt::format("bench {}", o.command()), "--n", n, " is less than 1");
  cli::require_tile(o.tile, o.symmetric);
  o.resolve(o.command());
  Runtime runtime(o.runtime());
  Report report(o.command(), o, &runtime);
  const double ceiling = measure_gemm_ceiling<T>(report, runtime);
  for (const index_t n : o.n) {
    if (o.symmetric) run_case<T>(o, runtime, report, ceiling, DirectKind::cholesky, n);
    for (const std::string& pivot : o.pivots)
      if (!o.symmetric)
        run_case<T>(o, runtime, report, ceiling, pivot == "none" ? DirectKind::lu_without_pivots : DirectKind::lu, n);
  }
  const std::string rates = is_complex<T> ? "rates by 4 times " : "rates by ";
  report.note(rates + (o.symmetric
                           ? "n^3 / 3; every peer leaves R in the upper triangle"
                           : "2 n^3 / 3; tesela selects pivots by a tournament, the libraries by columns; "
                             "without pivots A has n added to its diagonal, and LAPACK has no such factorization"));
  if (o.on_device())
    report.note("A and its factors stay on the devices, and A is put back before each run outside the time");
  else if (runtime.gpus() > 0)
    report.note("A and its factors in page-locked host memory, all transfers timed");
  report.finish();
}

std::function<int()> set_up(cli::App& app, bool symmetric) {
  auto o = std::make_shared<DirectBenchOptions>();
  o->symmetric = symmetric;
  o->common.repeat = 5;
  o->add_to(app, o->command(), {.complex = true, .streams = 2});
  app.add_list("-n,--n", o->n, "order of A; several: one case each")->show_default();
  if (!symmetric)
    app.add_list("--pivot", o->pivots, "which factorizations")
        ->check(cli::one_of({"none", "tournament"}))
        ->show_default();
  cli::add_tile(app, o->tile, symmetric ? "NB or NBxWIDTH, a multiple of NB" : "NB, columns");
  o->add_peers(app);
  return [o] { return guarded_in_precision(*o, [&]<class T>() { run<T>(*o); }); };
}

const cli::Command lu_command(cli::Command::Group::bench, "lu", "P A = L U as a task graph against LAPACK and cuSOLVER",
                              [](cli::App& app) { return set_up(app, false); });

const cli::Command cholesky_command(cli::Command::Group::bench, "cholesky",
                                    "A = R^H R as a task graph against LAPACK and cuSOLVER",
                                    [](cli::App& app) { return set_up(app, true); });

}  // namespace
}  // namespace tesela::bench
