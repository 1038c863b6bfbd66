#include "tools/app/numbers.hpp"
#include "tools/bench/least_squares/glm_rows.hpp"
#include "tools/bench/least_squares/weights_peer.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace tesela::bench {
namespace {

constexpr std::array<PublishedModel, 6> published_wls{{{64, 18.9, 30.9},
                                                       {256, 19.3, 24.3},
                                                       {512, 20.4, 26.4},
                                                       {1024, 22.8, 31.6},
                                                       {2048, 29.5, 40.0},
                                                       {4096, 49.0, 55.3}}};

struct WlsBenchOptions : FactorOptions {
  index_t m = 3000, rhs = 1;
  std::vector<index_t> n{256};
  std::string table, by = "factor";
  double spread = 1;
};

/// Weights 10^e, e uniform between -spread and spread.
template <class T>
std::vector<T> weights(const WlsBenchOptions& o) {
  const Generator<T> exponent{Pattern::uniform, T(0), 1, o.common.seed + 7, o.m};
  std::vector<T> result(static_cast<std::size_t>(o.m));
  for (index_t i = 0; i < o.m; ++i)
    result[static_cast<std::size_t>(i)] =
        static_cast<T>(std::pow(10.0, o.spread * static_cast<double>(exponent(i, 0))));
  return result;
}

/// Weighted against unweighted, on the same matrices by the same method.
template <class T>
void add_weights_rows(Report& report, Runtime& runtime, const WlsBenchOptions& o) {
  for (const index_t n : o.n) {
    cli::OlsProblem<T> problem{{}, 0, "", {o.m, n}, o.rhs, o.common.seed, &runtime};
    problem.generate_uniform(o.on_device());
    const TileShape tile = problem.tiles(problem.options("auto"));
    const std::vector<Peer> peers{tesela_weights("weights", problem, weights<T>(o)),
                                  make_peer("unweighted", find_method(cli::ols_table<T>(), "auto"), problem)};
    const Case row{fmt::format("{} x {}, weights", o.m, n), o.m,    n,     o.rhs,
                   fmt::format("{}x{}", tile.mb, tile.nb),  o.data, "GB/s"};
    const double bytes = static_cast<double>(o.m) * static_cast<double>(n + o.rhs) * sizeof(T);
    report.add(row, alternate(peers, o.common.repeat), 0, [&](double seconds) { return bytes / seconds * 1e-9; });
  }
  report.note(fmt::format("weights 10^e, e uniform in [-{0}, {0}]", o.spread));
}

template <class T>
void run(WlsBenchOptions o) {
  GlmRows rows{"bench wls", o.m, o.m, o.rhs, o.n};
  if (o.table == "published") {
    rows = {"bench wls", 6000, 6000, 1, {}, published_wls};
    for (const PublishedModel& row : published_wls) rows.n.push_back(row.n);
  }
  require_sizes(rows);
  o.resolve("wls");
  Runtime runtime(o.runtime());
  Report report("wls", o, &runtime);
  if (o.by == "weights")
    add_weights_rows<T>(report, runtime, o);
  else
    add_glm_rows<T>(report, runtime, o, rows);
  if (o.has("factor")) report.note("factor: gls_factor, B in host memory");
  report.finish();
}

const cli::Command wls_command(
    cli::Command::Group::bench, "wls", "weighted least squares as a task graph against LAPACK and cuSOLVER",
    [](CLI::App& app) {
      auto o = std::make_shared<WlsBenchOptions>();
      o->common.repeat = 3;
      o->add_to(app, "wls", {.streams = 2});
      auto* table = app.add_option("--table", o->table, "published: the sizes of a published table, with its times")
                        ->check(CLI::IsMember({"published"}));
      app.add_option("--by", o->by, "a factor of the covariance, m x m, as ggglm takes it, or weights")
          ->check(CLI::IsMember({"factor", "weights"}))
          ->capture_default_str()
          ->excludes(table);
      app.add_option("-m,--m", o->m, "rows")->transform(cli::positive())->capture_default_str()->excludes(table);
      app.add_option("-n,--n", o->n, "columns of A; several: one case each")
          ->delimiter(',')
          ->capture_default_str()
          ->excludes(table);
      app.add_option("--rhs", o->rhs, "right-hand sides")
          ->transform(cli::positive())
          ->capture_default_str()
          ->excludes(table);
      app.add_option("--spread", o->spread, "weights are 10^e, e uniform between -SPREAD and SPREAD")
          ->capture_default_str()
          ->excludes(table);
      o->add_peers(app, {"tesela", "factor", "gqr", "lapack", "cusolver", "cusolver-part"});
      return std::function<int()>(
          [o] { return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
