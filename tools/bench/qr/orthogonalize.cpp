#include "tools/bench/harness/report.hpp"
#include "tools/problems/qr/qr.hpp"
#include <tesela/algorithms/qr/orthogonalize.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <vector>

namespace tesela::bench {
namespace {

struct OrthogonalizeOptions : Options {
  index_t m = 131072, n = 512, nb = 0;
  std::vector<std::string> peers;
};

template <class T>
void run(const OrthogonalizeOptions& o) {
  Runtime runtime(o.runtime());
  Report report("qr-orthogonalize", o, &runtime);
  const bool gpu = runtime.gpus() > 0;
  cli::QrProblem<T> problem{{}, "", {o.m, o.n}, o.common.seed, &runtime, true};
  const index_t mb = orthogonalization_tile(runtime, Orthogonalization::householder, o.m, o.n).mb;
  if (o.nb > 0) problem.tile = fmt::format("{}x{}", mb, o.nb);
  problem.generate_uniform(gpu);
  std::vector<std::string> names = o.peers;
  if (names.empty()) names = {"cholesky-qr2", "cgs2", "mgs", "householder", gpu ? "cusolver" : "lapack"};
  const auto peers = make_peers(names, "", cli::qr_table<T>(), problem);
  const double flops = 2 * qr_flops(o.m, o.n);
  report.add({fmt::format("{} x {}", o.m, o.n), o.m, o.n, 0, "", gpu ? "device" : "host", "GFLOP/s"},
             alternate(peers, o.common.repeat), 0, [&](double seconds) { return flops / seconds * 1e-9; });
  report.note(
      "Q and R of uniform elements; rates by 4 m n^2 - 4/3 n^3, as of geqrf and orgqr, whatever a peer really does");
  if (gpu) report.note("A is on the device before, and Q stays there");
  report.finish();
}

const cli::Command orthogonalize_command(
    cli::Command::Group::bench, "qr-orthogonalize", "Q and R by Gram-Schmidt and Cholesky QR beside geqrf and orgqr",
    [](cli::App& app) {
      auto o = std::make_shared<OrthogonalizeOptions>();
      o->common.repeat = 5;
      o->add_to(app, "qr-orthogonalize");
      app.add_option("-m,--m", o->m, "rows")->positive()->show_default();
      app.add_option("-n,--n", o->n, "columns, at most m")->positive()->show_default();
      app.add_option("--nb", o->nb, "columns of a tile, but for cholesky-qr2 (default: what suits)")->positive();
      std::vector<std::string> names{"lapack", "cusolver"};
      for (const auto& method : orthogonalizations()) names.emplace_back(method.name);
      add_peers(app, o->peers, names);
      return std::function<int()>([o] {
        require(o->m >= o->n, "bench qr-orthogonalize", "--m", "is less than n");
        return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); });
      });
    });

}  // namespace
}  // namespace tesela::bench
