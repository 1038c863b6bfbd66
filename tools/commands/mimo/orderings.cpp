#include "tools/app/choices.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/mimo/mimo_error.hpp"
#include "tools/problems/mimo/mimo_problem.hpp"
#include <tesela/algorithms/mimo/orderings.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <memory>

namespace tesela::cli {
namespace {

struct Options {
  CommonOptions common;
  index_t n = 8, signals = 10000;
  std::string build = "prefix", strategy = "owner", buffer = "inf", constellation = "16qam";
  double ebn0 = 7;
  index_t errors = 100000;
};

OrderingOptions ordering_options(const Options& o) {
  const auto build = find_named(ordering_builds(), o.build);
  const auto strategy = find_named(ordering_strategies(), o.strategy);
  require(build.has_value(), "mimo orderings", "--build", "'", o.build, "' is none; see --help");
  require(strategy.has_value(), "mimo orderings", "--strategy", "'", o.strategy, "' is none; see --help");
  OrderingOptions options{*build, *strategy, 0};
  if (o.buffer == "inf") return options;
  const bool whole = !o.buffer.empty() && o.buffer.size() < 10 &&
                     o.buffer.find_first_not_of("0123456789") == std::string::npos && o.buffer != "0";
  require(whole, "mimo orderings", "--buffer", "'", o.buffer, "' is neither a number nor inf");
  options.buffer = std::stol(o.buffer);
  return options;
}

int run(const Options& o) {
  Report report("mimo orderings", o.common);
  const OrderingOptions options = ordering_options(o);
  require(o.n <= 20, "mimo orderings", "--n", o.n, "; at most 20");
  const double bytes = options.strategy != OrderingStrategy::per_signal ? ordering_bytes(o.n) : 0;
  const std::vector<Constellation> one = parse_constellations("mimo orderings", o.constellation, 1);
  require(std::abs(o.ebn0) <= 1000, "mimo orderings", "--ebn0", fmt::format("{}; -1000 to 1000", o.ebn0));
  const double n0 = noise_variance(o.ebn0, one);
  report.problem() = {{"n", o.n},
                      {"signals", o.signals},
                      {"build", o.build},
                      {"strategy", o.strategy},
                      {"buffer", o.buffer},
                      {"constellation", o.constellation},
                      {"ebn0_db", o.ebn0},
                      {"table_bytes", bytes},
                      {"seed", o.common.seed}};
  const auto require_tables = [&] {
    require_memory(
        "mimo orderings",
        fmt::format("{:.0f} factorizations, {:.0f} bytes of them,", bytes / 8 / static_cast<double>(o.n * o.n), bytes),
        bytes);
  };
  if (o.common.plan) require_tables();
  const RealSignals data = random_real_signals(o.n, o.signals, one.front(), n0, o.common.seed);
  Detection found;
  {
    Runtime runtime(o.common.runtime());
    if (bytes > static_cast<double>(runtime.device_bytes()) || options.strategy == OrderingStrategy::copy_all)
      require_tables();
    OrderedDetector detector(runtime, data.h.clone(), one.front(), options);
    double built = 0, factored = 0;
    run_timed(o.common, runtime, report,
              {[] {},
               [&](Graph& g, bool) {
                 const Stopwatch watch;
                 factored = detector.factorizations();
                 detector.prepare(g);
                 built = watch.seconds();
                 found = detector.detect(g, data.x);
                 factored = detector.factorizations() - factored;
                 report.check("build_seconds", built);
                 report.check("search_seconds", watch.seconds() - built);
                 return 0.0;
               }});
    report_nodes(found.reports, report);
    report.check("ties", static_cast<double>(found.ties()));
    report.check("factorizations", factored);
    report.check("host_bytes", detector.host_bytes());
    report.check("qr_error", Measured{ordering_error(detector, data.h, o.errors), 1e-13});
    Graph g(runtime);
    report.check_count("ml_mismatches", static_cast<double>(ordering_mismatches(g, data.h, data.x, one.front(), found)),
                       0);
  }
  return report.finish();
}

template <class E>
std::string names_of(std::span<const Named<E>> all) {
  std::string names;
  for (const auto& each : all) names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", each.name, each.about);
  return names;
}

const Command orderings_command(
    Command::Group::mimo, "orderings", "signals of one channel, each with its column order, from tables", [](App& app) {
      auto o = std::make_shared<Options>();
      app.add_option("-n,--n", o->n, "columns in real form: 2 Nt")->positive()->show_default();
      app.add_option("--build", o->build, "of the factorizations: " + names_of(ordering_builds()))->show_default();
      app.add_option("--strategy", o->strategy, "where a signal's comes from: " + names_of(ordering_strategies()))
          ->show_default();
      app.add_option("--buffer", o->buffer, "signals at a time, or inf")->show_default();
      app.add_option("--signals", o->signals, "how many")->non_negative()->show_default();
      app.add_option("--constellation", o->constellation, "square QAM")->show_default();
      app.add_option("--ebn0", o->ebn0, "Eb/N0 in dB")->show_default();
      app.add_option("--errors", o->errors, "measure qr_error on all factorizations, or on about N")
          ->positive()
          ->show_default();
      o->common.add_to(app, {.precision = false});
      app.footer("Example:\n  tesela mimo orderings --n 8 --build full --strategy lazy --buffer 512 --json -");
      return std::function<int()>([o] { return run(*o); });
    });

}  // namespace
}  // namespace tesela::cli
