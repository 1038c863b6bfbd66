#include "tools/problems/qr/qr.hpp"

#include "tools/app/arguments.hpp"
#include "tools/bench/harness/factor_options.hpp"
#include "tools/bench/harness/report.hpp"
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {
namespace {

struct QrBenchOptions : FactorOptions {
  std::vector<index_t> n{4096};
  index_t m = 0;
  std::string tile;
  cli::QrMethod method;
};

void complete_options(QrBenchOptions& o) {
  for (const index_t n : o.n) require(n >= 1, "bench qr", "--n", n, " is less than 1");
  cli::require_known("bench qr", o.method, o.tile);
  o.resolve("qr");
}

template <class T>
void run(QrBenchOptions o) {
  complete_options(o);
  Runtime runtime(o.runtime());
  Report report("qr", o, &runtime);
  const double ceiling = measure_gemm_ceiling<T>(report, runtime);
  for (const index_t n : o.n) {
    cli::QrProblem<T> problem{o.method, o.tile, {o.m > 0 ? o.m : n, n}, o.common.seed, &runtime};
    problem.checked_whole = index_t{1} << 27;  // all of 32768 x 32768 would take minutes on the host
    problem.generate_uniform(o.on_device());
    const auto peers = make_peers(o.peers, "tiles", cli::qr_table<T>(), problem);
    const index_t m = problem.shape.rows;
    const TileShape tile = cli::qr_tile({}, o.tile, runtime, problem.shape, is_complex<T>, !o.on_device());
    const Case row{m == n ? fmt::format("n = {}", n) : fmt::format("{} x {}", m, n),
                   m,
                   n,
                   0,
                   fmt::format("{}x{}", tile.mb, tile.nb),
                   o.data,
                   "GFLOP/s"};
    report.add(row, alternate(peers, o.common.repeat), ceiling,
               [&](double seconds) { return flops_each<T> * qr_flops(m, n) / seconds * 1e-9; });
    if (problem.sampled())
      report.note(fmt::format("{}: A - QR was measured on {} columns of A", row.title, problem.sampled_columns));
  }
  report.note(fmt::format("tree {}, ib {}, {} kernels; rates by {}2 m n^2 - 2 n^3 / 3, whatever a peer really does",
                          qr_options(o.method).tree, o.method.ib > 0 ? std::to_string(o.method.ib) : "chosen",
                          o.method.kernels, is_complex<T> ? "4 times " : ""));
  if (o.on_device())
    report.note("A and its factors stay on the devices, and A is put back before each run outside the time");
  else if (runtime.gpus() > 0)
    report.note("A and its factors in page-locked host memory, all transfers timed");
  report.finish();
}

const cli::Command qr_command(
    cli::Command::Group::bench, "qr", "A = Q R as a task graph against LAPACK and cuSOLVER", [](cli::App& app) {
      auto o = std::make_shared<QrBenchOptions>();
      o->common.repeat = 5;
      o->add_to(app, "qr", {.complex = true, .streams = 2});
      app.add_list("-n,--n", o->n, "columns of A (and rows without --m); several: one case each")->show_default();
      app.add_option("-m,--m", o->m, "rows of A (default: n)")->positive();
      cli::add_tile(app, o->tile, "MB or MBxNB");
      add_to(app, o->method);
      o->add_peers(app, peer_names(cli::qr_table<double>()));
      return for_numbers(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
