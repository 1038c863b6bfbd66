#include "tools/app/numbers.hpp"
#include "tools/bench/harness/factor_options.hpp"
#include "tools/bench/harness/published.hpp"
#include "tools/problems/least_squares/wls.hpp"
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <string_view>

// `bench glm` and `bench wls`: the models of wls have a square B.
namespace tesela::bench {
namespace {

struct ModelOptions : FactorOptions {
  index_t m = 3000, p = -1, rhs = 1;
  std::vector<index_t> n{256};
  std::string table, by = "factor";
  double spread = 1;
};

/// Returns seconds of a table of Ramiro Sánchez 2010, in single precision; 0 without them.
double published_seconds(std::string_view table, const Row& row, const std::string& precision) {
  const std::string& peer = row.timing.peer;
  if (precision != "s" || peer.starts_with("cusolver")) return 0;
  const std::string_view column = peer == "lapack" ? "SGGGLM" : table == "5.1" ? "GMC" : "PMC";
  return published_value({.source = "ramiro-2010", .table = table, .column = column, .n = row.what.n});
}

/// Returns the peers of these names: "factor" is gls_factor, any other name a row of glm.
template <class T>
std::vector<Peer> make_model_peers(const std::vector<std::string>& names, cli::WlsProblem<T>& problem) {
  cli::GlmProblem<T>& model = problem;
  std::vector<Peer> peers;
  for (const std::string& name : names)
    peers.push_back(name == "factor" ? make_peer(name, find_method(cli::wls_table<T>(), "auto"), problem)
                                     : make_peers({name}, "seminormal", cli::glm_table<T>(), model).front());
  return peers;
}

/// Adds a case for each n.
template <class T>
void add_models(Report& report, Runtime& runtime, const ModelOptions& o, const char* benchmark) {
  for (const index_t n : o.n) {
    const auto m = static_cast<double>(o.m), p = static_cast<double>(o.p), k = static_cast<double>(n + o.rhs);
    if (const auto absent = without_room(o.peers, (2 * m * k + 4 * m * p) * sizeof(T)); !absent.empty()) {
      report.add({fmt::format("{} x {}, p = {}", o.m, n, o.p), o.m, n, o.p, "", o.data, "GFLOP/s"}, absent, 0,
                 [](double) { return 0.0; });
      continue;
    }
    cli::WlsProblem<T> problem{{{{}, 0, "", {o.m, n}, o.rhs, o.common.seed, &runtime}}, "factor"};
    problem.command = benchmark;
    problem.generate_uniform(o.p, o.on_device());
    const TileShape tile = problem.glm_tiles(problem.glm_options("seminormal")).a;
    const Case row{fmt::format("{} x {}, p = {}", o.m, n, o.p), o.m,    n,        o.p,
                   fmt::format("{}x{}", tile.mb, tile.nb),      o.data, "GFLOP/s"};
    const double flops = static_cast<cli::GlmProblem<T>&>(problem).flops();
    report.add(row, alternate(make_model_peers(o.peers, problem), o.common.repeat), 0,
               [&](double seconds) { return flops / seconds * 1e-9; });
  }
  report.note("rates by R of A, Q^T [B b] and R of the rest of B^T, for every peer");
  if (o.on_device())
    report.note("A, B and b on the devices, put back before each run outside the time");
  else if (runtime.gpus() > 0)
    report.note("A, B and b in page-locked host memory, all transfers timed");
}

/// Adds weighted against unweighted solutions, on the same matrices by the same method.
template <class T>
void add_weights(Report& report, Runtime& runtime, const ModelOptions& o) {
  for (const index_t n : o.n) {
    cli::WlsProblem<T> problem{{{{}, 0, "", {o.m, n}, o.rhs, o.common.seed, &runtime}}};
    problem.command = "wls";
    problem.generate_uniform(0, o.on_device());
    problem.generate_weights(o.spread, o.common.seed + 7);
    problem.pinned.emplace_back(runtime, problem.weights.data(), problem.weights.size() * sizeof(T));
    cli::OlsProblem<T>& unweighted = problem;
    const std::vector<Peer> peers{make_peer("weights", find_method(cli::wls_table<T>(), "auto"), problem),
                                  make_peer("unweighted", find_method(cli::ols_table<T>(), "auto"), unweighted)};
    const TileShape tile = problem.tiles(problem.options("auto"));
    const Case row{fmt::format("{} x {}, weights", o.m, n), o.m,    n,     o.rhs,
                   fmt::format("{}x{}", tile.mb, tile.nb),  o.data, "GB/s"};
    const double bytes = static_cast<double>(o.m) * static_cast<double>(n + o.rhs) * sizeof(T);
    report.add(row, alternate(peers, o.common.repeat), 0, [&](double seconds) { return bytes / seconds * 1e-9; });
  }
  report.note(fmt::format("weights 10^e, e uniform in [-{0}, {0}]", o.spread));
}

/// wide: m and p of the source's table.
template <class T>
void run(ModelOptions o, const char* name, std::string_view table, Shape wide) {
  if (o.table == "published") {
    o.m = wide.rows;
    o.p = wide.cols;
    o.rhs = 1;
    o.n.clear();
    for (const Figure& f : published_figures())
      if (f.source == "ramiro-2010" && f.table == table && f.column == "SGGGLM") o.n.push_back(f.n);
  }
  if (o.p < 0) o.p = o.m;
  for (const index_t n : o.n)
    require(n <= o.m && n >= 1 && o.p >= o.m - n, std::string("bench ") + name, "--n", n,
            ": 1 <= n <= m <= n + p is needed");
  o.resolve(name);
  Runtime runtime(o.runtime());
  Report report(name, o, &runtime);
  if (o.by == "weights" && o.table.empty())
    add_weights<T>(report, runtime, o);
  else
    add_models<T>(report, runtime, o, name);
  if (o.table == "published") {
    for (Row& row : report.rows()) row.published_s = published_seconds(table, row, o.common.precision);
    report.note(
        fmt::format("source: Ramiro Sánchez 2010, Table {}, a Quadro FX 5800, and sggglm on a Xeon E5430", table));
  }
  if (o.has("factor")) report.note("factor: gls_factor, B in host memory");
  report.finish();
}

std::function<int()> setup(cli::App& app, const char* name, bool weighted) {
  auto o = std::make_shared<ModelOptions>();
  o->common.repeat = 3;
  o->add_to(app, name, {.streams = 2});
  auto* table =
      app.add_option("--table", o->table, "published: the sizes and times of Ramiro Sánchez 2010, Table 5.1 or 5.2")
          ->check(cli::one_of({"published"}));
  const auto settle = [table](cli::Option* option) { option->show_default()->excludes(table); };
  if (weighted)
    settle(app.add_option("--by", o->by, "a factor of the covariance, m x m, as ggglm takes it, or weights")
               ->check(cli::one_of({"factor", "weights"})));
  settle(app.add_option("-m,--m", o->m, "rows")->positive());
  settle(app.add_list("-n,--n", o->n, "columns of A; several: one case each"));
  if (!weighted) app.add_option("--columns-b", o->p, "columns of B (default: m)")->positive()->excludes(table);
  settle(app.add_option("--rhs", o->rhs, "right-hand sides")->positive());
  std::vector<std::string> names = peer_names(cli::glm_table<double>());
  if (weighted) {
    settle(app.add_option("--spread", o->spread, "weights are 10^e, e uniform between -SPREAD and SPREAD"));
    names.emplace_back("factor");
  }
  o->add_peers(app, names);
  return [o, name, weighted] {
    return guarded([&] {
      const std::string_view published = weighted ? "5.2" : "5.1";
      const Shape wide = weighted ? Shape{6000, 6000} : Shape{3000, 9000};
      o->common.precision == "s" ? run<float>(*o, name, published, wide) : run<double>(*o, name, published, wide);
    });
  };
}

const cli::Command glm_command(cli::Command::Group::bench, "glm",
                               "general linear models as a task graph against LAPACK and cuSOLVER",
                               [](cli::App& app) { return setup(app, "glm", false); });
const cli::Command wls_command(cli::Command::Group::bench, "wls",
                               "weighted least squares as a task graph against LAPACK and cuSOLVER",
                               [](cli::App& app) { return setup(app, "wls", true); });

}  // namespace
}  // namespace tesela::bench
