#include "tools/app/numbers.hpp"
#include "tools/app/options.hpp"
#include "tools/app/sizes.hpp"
#include "tools/bench/harness/factor_options.hpp"
#include "tools/bench/harness/noted_ceiling.hpp"
#include "tools/checks/qr_error.hpp"
#include "tools/problems/qr/qr_data.hpp"
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/schedule.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {
namespace {

struct QrBenchOptions : FactorOptions {
  std::vector<index_t> n{4096};
  index_t m = 0;
  std::string tile, kernels = "auto";
  QrOptions qr;
};

void settle_options(QrBenchOptions& o) {
  for (const index_t n : o.n)
    if (n < 1) throw ArgumentError("bench qr", "--n", std::to_string(n) + " is less than 1");
  cli::parse_tile(o.tile, {});
  require_schedule_order("bench qr", "--tree", o.qr.tree);
  o.qr.triangles = o.kernels == "tt";
  o.resolve("qr");
}

template <class T>
Peer make_peer(const std::string& name, const QrData<T>& data) {
  if (name == "tesela") return tesela_qr(data);
  if (name == "lapack") return lapack_qr(data);
  return cusolver_qr(data);
}

template <class T>
void run(QrBenchOptions o) {
  settle_options(o);
  Runtime runtime(o.runtime());
  Report report("qr", o, &runtime);
  const double ceiling = measure_gemm_ceiling<T>(report, runtime);
  for (const index_t n : o.n) {
    QrCase what{o.m > 0 ? o.m : n, n, {}, o.qr, o.common.seed, o.on_device()};
    what.tile = cli::parse_tile(o.tile, suitable_qr_tile(runtime, what.m, n));
    const QrData<T> data(runtime, what);
    std::vector<Peer> peers;
    for (const std::string& name : o.peers) peers.push_back(make_peer(name, data));
    const Case row{what.m == n ? fmt::format("n = {}", n) : fmt::format("{} x {}", what.m, n),
                   what.m,
                   n,
                   0,
                   fmt::format("{}x{}", what.tile.mb, what.tile.nb),
                   o.data,
                   "GFLOP/s"};
    report.add(row, alternate(peers, o.common.repeat), ceiling,
               [&](double seconds) { return qr_flops(what.m, n) / seconds * 1e-9; });
    if (what.sampled())
      report.note(fmt::format("{}: A - QR was measured on {} columns of A", row.title, QrCase::sampled_columns));
  }
  report.note(fmt::format("tree {}, ib {}, {} kernels; rates by 2 m n^2 - 2 n^3 / 3, whatever a peer really does",
                          o.qr.tree, o.qr.ib > 0 ? std::to_string(o.qr.ib) : "chosen", o.kernels));
  if (o.on_device())
    report.note("A and its factors stay on the devices, and A is put back before each run outside the time");
  else if (runtime.gpus() > 0)
    report.note("A and its factors in page-locked host memory, all transfers timed");
  report.finish();
}

const cli::Command qr_command(
    cli::Command::Group::bench, "qr", "A = Q R as a task graph against LAPACK and cuSOLVER", [](CLI::App& app) {
      auto o = std::make_shared<QrBenchOptions>();
      o->common.repeat = 5;
      o->add_to(app, "qr", {.streams = 2});
      app.add_option("-n,--n", o->n, "columns of A (and rows without --m); several: one case each")
          ->delimiter(',')
          ->capture_default_str();
      app.add_option("-m,--m", o->m, "rows of A (default: n)")->transform(cli::positive());
      cli::add_tile(app, o->tile, "MB or MBxNB");
      app.add_option("--tree", o->qr.tree, "which tile eliminates which: " + schedule_order_list())
          ->type_name("ORDER")
          ->capture_default_str();
      app.add_option("--kernels", o->kernels, "tt makes every tile triangular before tiles are joined")
          ->check(CLI::IsMember({"auto", "tt"}))
          ->capture_default_str();
      app.add_option("--ib", o->qr.ib, "inner block size (default: what suits the workers)")
          ->transform(cli::positive());
      app.add_flag("--copy-vectors,!--no-copy-vectors", o->qr.copy_vectors,
                   "copy the vectors of tiles that later tasks change (default)");
      o->add_peers(app);
      return std::function<int()>(
          [o] { return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
