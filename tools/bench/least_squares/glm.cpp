#include "tools/app/numbers.hpp"
#include "tools/bench/least_squares/glm_rows.hpp"

#include <array>

namespace tesela::bench {
namespace {

constexpr std::array<PublishedModel, 5> published_glm{
    {{64, 9.18, 18.4}, {256, 9.43, 14.2}, {512, 9.96, 15.7}, {1024, 11.5, 18.3}, {2048, 16.6, 22.4}}};

struct GlmBenchOptions : FactorOptions {
  index_t m = 3000, p = -1, rhs = 1;
  std::vector<index_t> n{256};
  std::string table;
};

template <class T>
void run(GlmBenchOptions o) {
  GlmRows rows{"bench glm", o.m, o.p < 0 ? o.m : o.p, o.rhs, o.n};
  if (o.table == "published") {
    rows = {"bench glm", 3000, 9000, 1, {}, published_glm};
    for (const PublishedModel& row : published_glm) rows.n.push_back(row.n);
  }
  require_sizes(rows);
  o.resolve("glm");
  Runtime runtime(o.runtime());
  Report report("glm", o, &runtime);
  add_glm_rows<T>(report, runtime, o, rows);
  report.finish();
}

const cli::Command glm_command(
    cli::Command::Group::bench, "glm", "general linear models as a task graph against LAPACK and cuSOLVER",
    [](CLI::App& app) {
      auto o = std::make_shared<GlmBenchOptions>();
      o->common.repeat = 3;
      o->add_to(app, "glm", {.streams = 2});
      auto* table = app.add_option("--table", o->table, "published: the sizes of a published table, with its times")
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
      o->add_peers(app, {"tesela", "tiles", "gqr", "lapack", "cusolver", "cusolver-part"});
      return std::function<int()>(
          [o] { return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
