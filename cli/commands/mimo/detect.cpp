#include "bench/errors/mimo_error.hpp"
#include "cli/app/choices.hpp"
#include "cli/app/numbers.hpp"
#include "cli/app/outputs.hpp"
#include "cli/app/runs.hpp"
#include "cli/commands/mimo/lists.hpp"
#include "cli/commands/mimo/mimo_problem.hpp"
#include <tesela/algorithms/mimo/mimo_soft.hpp>
#include <tesela/tiles/io/arrays.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace tesela::cli {
namespace {

struct Options {
  CommonOptions common;
  MimoInput input;
  std::string method = "sd", order = "mmse-vblast", direction = "up", form = "auto", soft, out_s, out_points, out_llr;
  std::string out_within;
  double radius = 0, llr_clip = 0, all_within = 0;
  index_t most = 1000;
  long long max_nodes = 0;
  index_t batch = 0;
  bool check = true;
};

/// Looks at so many candidates are a reference that one waits for.
constexpr double most_looks = 1.5e9, most_soft_candidates = 1 << 16, most_soft_looks = 1e8;

MimoOptions search_options(const Options& o, double n0) {
  MimoOptions options;
  parse_mimo_method("mimo", o.method, options);
  take_order(o.order, o.direction, options);
  options.form = o.form == "real"      ? SearchForm::real
                 : o.form == "complex" ? SearchForm::complex
                                       : SearchForm::automatic;
  options.n0 = n0;
  options.radius = o.radius;
  options.max_nodes = o.max_nodes;
  options.batch = o.batch;
  return options;
}

bool has_failed(const SearchReport& r) { return (r.flags & SearchReport::failed) != 0; }

std::string method_names() {
  std::string names;
  for (const auto& one : mimo_methods())
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", one.name, one.about);
  return names;
}

/// Another way to the same answer: brute force while that is affordable, else a second order.
template <class T>
void report_errors(const Options& o, const MimoOptions& options, Runtime& runtime, const MimoData<T>& data,
                   const Detection& found, Report& report) {
  const double all = candidates(data.alphabets);
  const bool exact =
      options.method == MimoMethod::sd || options.method == MimoMethod::sd_plain || options.method == MimoMethod::brute;
  const bool brute = options.method != MimoMethod::brute && all <= most_brute_candidates &&
                     all * static_cast<double>(data.shape.signals) <= most_looks;
  MimoOptions other = options;
  other.max_nodes = exact ? options.max_nodes : 0;
  other.method = brute ? MimoMethod::brute : MimoMethod::sd;
  other.order = options.order == ColumnOrder::sqrd ? ColumnOrder::mmse_vblast : ColumnOrder::sqrd;
  report.problem()["reference"] = brute ? "brute" : other.order == ColumnOrder::sqrd ? "sd sqrd" : "sd mmse-vblast";
  Graph g(runtime);
  const Detection reference = mimo_detect(g, data.shape, data.channels, data.y, data.alphabets, other);
  const MimoError error =
      mimo_error(data.shape, data.channels, data.y, data.alphabets, found.labels, reference, data.sent);
  if (!exact) {  // a loss, no mistake
    report.check("metric_gap", error.metric_gap);
    report.check("ml_mismatches", static_cast<double>(error.mismatches));
    return;
  }
  if (found.uncertified() == 0)
    report.check("metric_gap", Measured{error.metric_gap, o.common.precision == "s" ? 1e-6 : 1e-12});
  else
    report.check("metric_gap", error.metric_gap);
  report.check("ml_mismatches",
               Measured{static_cast<double>(error.mismatches), static_cast<double>(found.uncertified())});
}

/// L of every bit beside the hard decisions, compared with a look at all candidates while that is affordable.
template <class T>
void report_soft(const Options& o, const MimoOptions& hard, Runtime& runtime, const MimoData<T>& data, Report& report) {
  const auto kind = find_named(soft_kinds(), o.soft);
  SoftOptions options{*kind, hard.order, hard.form, data.n0, o.llr_clip, hard.batch};
  Graph g(runtime);
  const Stopwatch watch;
  const SoftDetection<T> found = mimo_soft(g, data.shape, data.channels, data.y, data.alphabets, options);
  report.check("soft_seconds", watch.seconds());
  double nodes = 0;
  for (const double n : found.nodes) nodes += n;
  if (!found.nodes.empty()) report.check("soft_nodes_mean", nodes / static_cast<double>(found.nodes.size()));
  const double all = candidates(data.alphabets);
  if (o.check && all <= most_soft_candidates && all * static_cast<double>(data.shape.signals) <= most_soft_looks) {
    options.kind = SoftKind::max_log;
    const SoftDetection<T> reference = mimo_soft(g, data.shape, data.channels, data.y, data.alphabets, options);
    double gap = 0;
    for (index_t e = 0; e < found.llrs.size(); ++e) {
      const auto ours = static_cast<double>(found.llrs.data()[e]),
                 theirs = static_cast<double>(reference.llrs.data()[e]);
      const double apart = std::abs(ours - theirs) / std::fmax(1, std::abs(theirs));
      gap = apart <= gap ? gap : apart;
    }
    // Relative; single precision has about 1e-6 of a distance, which N0 divides.
    const double bound = o.common.precision == "s" ? 1e-5 / std::fmin(data.n0, 1) : 1e-9 / std::fmin(data.n0, 1);
    if (*kind == SoftKind::sts || *kind == SoftKind::rts)
      report.check("llr_gap", Measured{gap, bound});
    else
      report.check("llr_gap", gap);
  }
  if (report.good() && !o.out_llr.empty())
    write_array(o.out_llr, {data.shape.signals, found.llrs.rows()}, found.llrs.data());
}

template <class T>
int run(const Options& o) {
  Report report("mimo detect", o.common);
  const MimoData<T> data = load_mimo<T>(o.input, o.common.seed);
  const MimoOptions options = search_options(o, data.n0);
  if (o.soft.empty() && (!o.out_llr.empty() || o.llr_clip > 0))
    throw ArgumentError("mimo detect", "--out-llr, --llr-clip", "are of --soft");
  if (!o.soft.empty() && !(data.n0 > 0))
    throw ArgumentError("mimo detect", "--n0", fmt::format("{}; --soft needs a variance above 0", data.n0));
  if (!o.soft.empty() && !find_named(soft_kinds(), o.soft))
    throw ArgumentError("mimo detect", "--soft", fmt::format("'{}' is no detector of soft bits; see --help", o.soft));
  report.problem() = data.problem;
  report.problem().update({{"method", o.method}, {"order", o.order}, {"precision", o.common.precision}});
  if (o.max_nodes > 0) report.problem()["max_nodes"] = o.max_nodes;
  if (!o.out_within.empty() && !(o.all_within > 0))
    throw ArgumentError("mimo detect", "--out-within", "is of --all-within");
  if (o.all_within > 0 || data.integers) {
    if (options.method != MimoMethod::sd || !o.soft.empty() || !o.out_s.empty() || o.radius > 0)
      throw ArgumentError("mimo detect", "--all-within, integers",
                          "are sd's alone, without --soft, --radius and --out-s (--out-points has the points)");
    if (o.all_within > 0) report.problem().update({{"all_within", o.all_within}, {"most", o.most}});
    return run_lists<T>(o.common, {o.all_within, o.most, o.out_within, o.out_points}, options, data, report);
  }
  Detection found;
  {
    Runtime runtime(o.common.runtime());
    run_timed(o.common, runtime, report,
              {[] {},
               [&](Graph& g, bool) {
                 found = mimo_detect(g, data.shape, data.channels, data.y, data.alphabets, options);
                 return 0.0;
               }});
    report_nodes(found.reports, report);
    report.check("uncertified", static_cast<double>(found.uncertified()));
    report.check("ties", static_cast<double>(found.ties()));
    if (const index_t failed = found.failed(); failed > 0) {
      report.check("failed", static_cast<double>(failed));
      report.fail(fmt::format("dependent columns: {} signals have no answer, the first is {}", failed,
                              1 + std::distance(found.reports.begin(),
                                                std::find_if(found.reports.begin(), found.reports.end(), has_failed))));
    }
    if (o.check && report.good()) report_errors(o, options, runtime, data, found, report);
    if (!o.soft.empty()) report_soft(o, options, runtime, data, report);
  }
  if (data.sent.rows() > 0 && report.good()) {
    const MimoMistakes mistakes = mimo_mistakes(found.labels, data.sent);
    report.check("vector_errors", static_cast<double>(mistakes.vectors));
    report.check("symbol_errors", static_cast<double>(mistakes.symbols));
    report.check("bit_errors", static_cast<double>(mistakes.bits));
  }
  const std::vector<index_t> dims{data.shape.signals, data.shape.streams};
  if (report.good() && !o.out_s.empty()) write_array(o.out_s, dims, found.labels.data());
  if (report.good() && !o.out_points.empty()) {
    HostMatrix<std::complex<T>> points(data.shape.streams, data.shape.signals);
    for (index_t k = 0; k < points.cols(); ++k)
      for (index_t j = 0; j < points.rows(); ++j)
        points(j, k) = std::complex<T>(
            data.alphabets[static_cast<std::size_t>(j)].points[static_cast<std::size_t>(found.labels(j, k))]);
    write_array(o.out_points, dims, points.data());
  }
  return report.finish();
}

const Command detect_command(
    Command::Group::mimo, "detect", "the s of least ||y - H s|| for every signal y", [](CLI::App& app) {
      auto o = std::make_shared<Options>();
      o->input.add_to(app);
      app.add_option("--method", o->method, "the detector: " + method_names())->capture_default_str();
      app.add_option("--order", o->order, "of columns, the last one decided first: " + order_names())
          ->capture_default_str();
      app.add_option("--direction", o->direction, "up or down, of norm and gradient: the largest last, or first")
          ->capture_default_str();
      app.add_option("--form", o->form, "auto, real (square QAM, two columns a stream) or complex")
          ->check(CLI::IsMember({"auto", "real", "complex"}))
          ->capture_default_str();
      app.add_option("--radius", o->radius, "of the first sphere around y; it grows while it is empty (default: none)")
          ->transform(positive_up_to(1e300));
      app.add_option("--all-within", o->all_within, "list all s with ||y - H s|| up to it, nearest first")
          ->transform(positive_up_to(1e300));
      app.add_option("--most", o->most, "of --all-within: points of a signal")
          ->transform(positive())
          ->capture_default_str();
      app.add_option("--max-nodes", o->max_nodes, "a signal that needs more ends uncertified (default: no end)")
          ->transform(positive());
      app.add_option("--batch", o->batch, "signals of a task (default: what suits the workers)")->transform(positive());
      app.add_flag("!--no-check", o->check, "do not compare with brute force or a second order");
      std::string kinds;
      for (const auto& kind : soft_kinds())
        kinds += fmt::format("{}{} ({})", kinds.empty() ? "" : ", ", kind.name, kind.about);
      app.add_option("--soft", o->soft, "also L = ln P(0) / P(1) of each bit: " + kinds);
      app.add_option("--llr-clip", o->llr_clip, "|L| at most")->transform(positive_up_to(1e300));
      add_output(app, Output::text, "--out-llr", o->out_llr, "write L, signals x bits, to FILE (.npy)");
      add_output(app, Output::text, "--out-s", o->out_s, "write labels, int32, signals x Nt, to FILE (.npy)");
      add_output(app, Output::text, "--out-points", o->out_points, "write the points to FILE (.npy)");
      add_output(app, Output::text, "--out-within", o->out_within,
                 "write the points of --all-within to FILE (.npy): a row has its signal and its labels");
      o->common.add_to(app);
      app.footer(
          "Examples:\n"
          "  tesela mimo detect --nt 4 --nr 4 --constellation 16qam --signals 10000 --ebn0 10 --json -\n"
          "  tesela mimo detect --h H.npy --y Y.npy --constellation 64qam --n0 0.01 --out-s s.npy");
      return std::function<int()>([o] { return o->common.precision == "s" ? run<float>(*o) : run<double>(*o); });
    });

}  // namespace
}  // namespace tesela::cli
