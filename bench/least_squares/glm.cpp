#include "bench/errors/qr_error.hpp"
#include "bench/harness/factor_options.hpp"
#include "bench/least_squares/glm_data.hpp"
#include "cli/app/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tesela::bench {
namespace {

struct GlmBenchOptions : FactorOptions {
  index_t m = 3000, p = -1, rhs = 1;
  std::vector<index_t> n{256};
  std::string table;
};

/// m = 3000, p = 9000, single precision, on a GPU and by sggglm: 0 where it is not given.
double published_glm_seconds(const GlmCase& what, const std::string& precision, const std::string& peer) {
  struct Published {
    index_t n;
    double ours, lapack;
  };
  constexpr std::array<Published, 5> table{
      {{64, 9.18, 18.4}, {256, 9.43, 14.2}, {512, 9.96, 15.7}, {1024, 11.5, 18.3}, {2048, 16.6, 22.4}}};
  if (what.m != 3000 || what.p != 9000 || what.rhs != 1 || precision != "s") return 0;
  for (const Published& row : table)
    if (row.n == what.n) return peer == "lapack" ? row.lapack : peer == "tesela" || peer == "gqr" ? row.ours : 0;
  return 0;
}

template <class T>
Peer make_peer(const std::string& name, const GlmData<T>& data) {
  if (name == "lapack") return lapack_glm(data);
  if (name == "cusolver") return cusolver_glm(name, true, data);
  if (name == "cusolver-part") return cusolver_glm(name, false, data);
  return tesela_glm(name, name == "gqr" ? GlmMethod::gqr : GlmMethod::tiles, data);
}

void settle_options(GlmBenchOptions& o) {
  if (o.table == "published") {
    o.m = 3000;
    o.p = 9000;
    o.rhs = 1;
    o.n = {64, 256, 512, 1024, 2048};
  }
  if (o.p < 0) o.p = o.m;
  for (const index_t n : o.n)
    if (n > o.m || n < 1 || o.p < o.m - n)
      throw ArgumentError("bench glm", "--n", std::to_string(n) + ": 1 <= n <= m <= n + p is needed");
  o.settle("glm");
}

template <class T>
void run(GlmBenchOptions o) {
  settle_options(o);
  Runtime runtime(o.runtime());
  Report report("glm", o, &runtime);
  for (const index_t n : o.n) {
    GlmCase what{o.m,          n, o.p, o.rhs, suitable_glm_tiles(runtime, GlmMethod::tiles, o.m, n, o.p), o.common.seed,
                 o.on_device()};
    const GlmData<T> data(runtime, what);
    std::vector<Peer> peers;
    for (const std::string& name : o.peers) peers.push_back(make_peer(name, data));
    const Case row{fmt::format("{} x {}, p = {}", o.m, n, o.p),
                   o.m,
                   n,
                   o.p,
                   fmt::format("{}x{}", what.tiles.a.mb, what.tiles.a.nb),
                   o.data,
                   "GFLOP/s"};
    const auto m = static_cast<double>(o.m), k = static_cast<double>(n), columns = static_cast<double>(o.p + o.rhs);
    const double flops = qr_flops(o.m, n) + 2 * k * columns * (2 * m - k) + qr_flops(o.p, o.m - n);
    report.add(row, alternate(peers, o.common.repeat), 0, [&](double seconds) { return flops / seconds * 1e-9; });
    for (Row& r : report.rows())
      if (r.what.title == row.title) r.published_s = published_glm_seconds(what, o.common.precision, r.timing.peer);
  }
  report.note("rates by R of A, Q^T [B b] and R of what A leaves of B^T, whatever a peer does");
  if (o.table == "published") report.note("published: a GPU of 2014 or before, and sggglm, single precision");
  if (o.on_device())
    report.note("A, B and b on the devices, put back before each run outside the time");
  else if (runtime.gpus() > 0)
    report.note("A, B and b in page-locked host memory, all transfers timed");
  report.finish();
}

const cli::Command glm_command(
    cli::Command::Group::bench, "glm", "general linear models as a task graph against LAPACK and cuSOLVER",
    [](CLI::App& app) {
      auto o = std::make_shared<GlmBenchOptions>();
      o->common.repeat = 3;
      o->add_to(app, "glm", {.streams = 2});
      auto* table =
          app.add_option("--table", o->table, "published: the sizes of a published table, its times beside ours")
              ->check(CLI::IsMember({"published"}));
      app.add_option("-m,--m", o->m, "rows")->transform(cli::positive())->capture_default_str()->excludes(table);
      app.add_option("-n,--n", o->n, "columns of A; several: one case each")
          ->delimiter(',')
          ->capture_default_str()
          ->excludes(table);
      app.add_option("--columns-b", o->p, "columns of B (default: m)")->transform(cli::positive())->excludes(table);
      app.add_option("--rhs", o->rhs, "right-hand sides")
          ->transform(cli::positive())
          ->capture_default_str()
          ->excludes(table);
      o->add_peers(app, {"tesela", "gqr", "lapack", "cusolver", "cusolver-part"});
      return std::function<int()>(
          [o] { return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
