#include "tools/app/numbers.hpp"
#include "tools/app/options.hpp"
#include "tools/app/sizes.hpp"
#include "tools/bench/harness/factor_options.hpp"
#include "tools/checks/qr_error.hpp"
#include "tools/problems/least_squares/ols_data.hpp"
#include <tesela/algorithms/support/schedule.hpp>

#include <fmt/format.h>

namespace tesela::bench {
namespace {

struct OlsBenchOptions : FactorOptions {
  std::vector<index_t> m{16384};
  index_t n = 512, rhs = 8;
  std::string tile, tree;
  index_t ib = 0;
};

void settle_options(OlsBenchOptions& o) {
  for (const index_t m : o.m)
    if (m < o.n) throw ArgumentError("bench ols", "--m", std::to_string(m) + " is less than n");
  cli::parse_tile(o.tile, {});
  if (!o.tree.empty()) require_schedule_order("bench ols", "--tree", o.tree);
  o.resolve("ols");
}

template <class T>
Peer make_peer(const std::string& name, const OlsData<T>& data) {
  if (name == "tesela") return tesela_ols(data);
  if (name == "lapack") return lapack_ols(data);
  return cusolver_ols(data);
}

template <class T>
void run(OlsBenchOptions o) {
  settle_options(o);
  Runtime runtime(o.runtime());
  Report report("ols", o, &runtime);
  for (const index_t m : o.m) {
    OlsCase what{m, o.n, o.rhs, {}, {}, o.common.seed, o.on_device()};
    const bool of_tiles = !o.tree.empty() || o.ib > 0;
    what.options.method = of_tiles ? OlsMethod::tiles : suitable_ols_method(m, o.n, o.rhs);
    what.options.qr.ib = o.ib;
    if (!o.tree.empty()) what.options.qr.tree = o.tree;
    what.tile = cli::parse_tile(o.tile, suitable_ols_tile(runtime, what.options.method, m, o.n));
    const OlsData<T> data(runtime, what);
    std::vector<Peer> peers;
    for (const std::string& name : o.peers) peers.push_back(make_peer(name, data));
    const Case row{fmt::format("{} x {}, {} rhs", m, o.n, o.rhs),    m,      o.n,      o.rhs,
                   fmt::format("{}x{}", what.tile.mb, what.tile.nb), o.data, "GFLOP/s"};
    const double flops =
        qr_flops(m, o.n) + 4 * static_cast<double>(m) * static_cast<double>(o.n) * static_cast<double>(o.rhs);
    report.add(row, alternate(peers, o.common.repeat), 0, [&](double seconds) { return flops / seconds * 1e-9; });
  }
  report.note("rates by 2 m n^2 - 2 n^3 / 3 + 4 m n rhs; tesela also estimates the condition and decides the rank");
  if (o.on_device())
    report.note("A and B on the devices, put back before each run outside the time");
  else if (runtime.gpus() > 0)
    report.note("A and B in page-locked host memory, all transfers timed");
  report.finish();
}

const cli::Command ols_command(
    cli::Command::Group::bench, "ols", "least squares as a task graph against LAPACK and cuSOLVER", [](CLI::App& app) {
      auto o = std::make_shared<OlsBenchOptions>();
      o->common.repeat = 5;
      o->add_to(app, "ols", {.streams = 2});
      app.add_option("-m,--m", o->m, "rows of A; several: one case each")->delimiter(',')->capture_default_str();
      app.add_option("-n,--n", o->n, "columns of A")->transform(cli::positive())->capture_default_str();
      app.add_option("--rhs", o->rhs, "right-hand sides")->transform(cli::positive())->capture_default_str();
      cli::add_tile(app, o->tile, "MB or MBxNB");
      app.add_option("--tree", o->tree, "which tile eliminates which: " + schedule_order_list())->type_name("ORDER");
      app.add_option("--ib", o->ib, "inner block size (default: what suits the workers)")->transform(cli::positive());
      o->add_peers(app);
      return std::function<int()>(
          [o] { return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
