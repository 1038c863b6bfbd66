#include "tools/app/arguments.hpp"
#include "tools/app/choices.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/commands/mimo/detect_results.hpp"
#include "tools/commands/mimo/rate_picture.hpp"
#include "tools/problems/mimo/mimo_problem.hpp"
#include <tesela/algorithms/mimo/mimo_soft.hpp>
#include <tesela/algorithms/mimo/mimo_tree.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <optional>

namespace tesela::cli {
namespace {

struct Options {
  CommonOptions common;
  MimoInput input;
  std::string method = "sd", order = "mmse-vblast", direction = "up", form = "auto", soft, out_s, out_points, out_llr;
  std::string out_within, svg, llr_type = "float";
  double radius = 0, llr_clip = 0, all_within = 0;
  index_t most = 1000;
  long long max_nodes = 0;
  index_t batch = 0, buffer = 0, svg_signal = 0;
  bool check = true;
};

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

/// Throws unless the alphabet of a file's signals and, for the detectors that weigh the noise, its variance are given.
void require_model(const Options& o, bool named_constellation) {
  if (o.input.h.empty()) return;
  require(named_constellation, "mimo detect", "--constellation",
          "is missing: --h and --y do not say which points were sent");
  require(o.input.n0 || !o.input.noise_cov.empty() || !weighs_noise(search_options(o, 0).method), "mimo detect", "--n0",
          "is missing: ", o.method, " needs the variance of the noise");
}

/// "sd: sphere search, exact; …"
template <class E>
std::string explained(std::span<const Named<E>> all) {
  std::string text;
  for (const auto& one : all) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", one.name, one.about);
  return text;
}

/// "float" or "int8:SCALE".
std::optional<double> parse_llr_type(const std::string& text) {
  if (text == "float") return std::nullopt;
  constexpr std::string_view bytes = "int8:";
  const char* const last = text.data() + text.size();
  double scale = 0;
  const bool read = text.starts_with(bytes) && std::from_chars(text.data() + bytes.size(), last, scale).ptr == last;
  require(read && scale > 0 && std::isfinite(scale), "mimo detect", "--llr-type",
          fmt::format("'{}' is neither float nor int8:SCALE", text));
  return scale;
}

ResultChoice result_choice(const Options& o, const MimoOptions& hard, double n0) {
  ResultChoice choice{
      o.check,  o.common.precision == "s", !o.soft.empty(), {}, parse_llr_type(o.llr_type), o.out_s, o.out_points,
      o.out_llr};
  require(choice.soft || (o.out_llr.empty() && o.llr_clip <= 0 && !choice.scale && o.input.prior.empty()),
          "mimo detect", "--out-llr, --llr-clip, --llr-type, --prior", "are of --soft");
  if (!choice.soft) return choice;
  require(n0 > 0, "mimo detect", "--n0", fmt::format("{}; --soft needs a variance above 0", n0));
  choice.soft_options = {.order = hard.order, .form = hard.form, .clip = o.llr_clip, .batch = hard.batch};
  parse_soft_kind("mimo detect", o.soft, choice.soft_options);
  return choice;
}

/// The tree of signal k of these, which is `number` of all.
template <class T>
void draw_tree(const Options& o, const MimoOptions& options, const MimoData<T>& data, index_t k, index_t number,
               Report& report) {
  const SearchTree tree = mimo_search_tree(data.shape, data.channels, data.y, data.alphabets, options, k);
  report.check("svg_nodes", static_cast<double>(tree.nodes.size()));
  AtomicFile file(o.svg);
  file.write(tree_picture(fmt::format("signal {}, {}, {}", number, o.method, o.order), tree));
  file.commit();
}

/// All signals at once, or blocks of them, which are checked and written before the next ones are read.
template <class T>
void run_detector(const Options& o, const MimoOptions& options, const ResultChoice& choice, const MimoSource<T>& source,
                  Report& report) {
  Runtime runtime(o.common.runtime());
  const auto detect = [&](Graph& g, const MimoData<T>& data) {
    return mimo_detect(g, data.shape, data.channels, data.y, data.alphabets, options);
  };
  DetectResults<T> results(choice, options, runtime, source, report);
  if (o.buffer == 0) {
    const MimoData<T> data = source.all();
    Detection found;
    run_timed(o.common, runtime, report,
              {[] {},
               [&](Graph& g, bool) {
                 found = detect(g, data);
                 return 0.0;
               }});
    results.take(data, found);
    if (!o.svg.empty()) draw_tree(o, options, data, o.svg_signal, o.svg_signal, report);
  } else {
    run_timed(o.common, runtime, report,
              {[] {},
               [&](Graph& g, bool last) {
                 const Stopwatch watch;
                 double detecting = 0;
                 for (index_t k = 0, count = 0; k < source.shape().signals; k += count) {
                   count = source.together(k, o.buffer);
                   const MimoData<T> data = source.signals(k, count);
                   const Stopwatch one;
                   const Detection found = detect(g, data);
                   detecting += one.seconds();
                   if (last) results.take(data, found);
                 }
                 return watch.seconds() - detecting;
               }});
    if (!o.svg.empty()) draw_tree(o, options, source.signals(o.svg_signal, 1), 0, o.svg_signal, report);
  }
  results.finish();
}

template <class T>
int run(const Options& o) {
  Report report("mimo detect", o.common);
  const MimoSource<T> source(o.input, o.common.seed);
  require_memory("mimo detect", "channels, signals and labels", source.bytes(o.buffer));
  const MimoOptions options = search_options(o, source.n0());
  const ResultChoice choice = result_choice(o, options, source.n0());
  report.problem() = source.problem();
  report.problem().update({{"method", o.method}, {"order", o.order}, {"precision", o.common.precision}});
  if (o.max_nodes > 0) report.problem()["max_nodes"] = o.max_nodes;
  if (choice.soft) report.problem()["soft"] = o.soft;
  if (o.buffer > 0) report.problem()["buffer"] = o.buffer;
  require(o.svg.empty() || o.svg_signal < source.shape().signals, "mimo detect", "--svg-signal",
          fmt::format("{}; there are {}, from 0 on", o.svg_signal, source.shape().signals));
  require(o.buffer <= 0 || !source.antennas_rows(), "mimo detect", "--buffer",
          "needs a row per signal (signals-rows); files with a row per antenna are read as a whole");
  require(o.out_within.empty() || o.all_within > 0, "mimo detect", "--out-within", "is of --all-within");
  if (o.all_within > 0 || source.integers()) {
    require(options.method == MimoMethod::sd && !choice.soft && o.out_s.empty() && o.svg.empty() && o.radius <= 0 &&
                o.buffer <= 0,
            "mimo detect", "--all-within, integers",
            "are sd's alone, without --soft, --radius, --buffer, --svg and --out-s (--out-points has the points)");
    if (o.all_within > 0) report.problem().update({{"all_within", o.all_within}, {"most", o.most}});
    return run_lists<T>(o.common, {o.all_within, o.most, o.out_within, o.out_points}, options, source, report);
  }
  run_detector(o, options, choice, source, report);
  return report.finish();
}

const Command detect_command(
    Command::Group::mimo, "detect", "the s of least ||y - H s|| for every signal y", [](App& app) {
      auto o = std::make_shared<Options>();
      o->input.add_to(app);
      app.add_option("--method", o->method, "the detector, by its name. " + explained(mimo_methods()))->show_default();
      app.add_option("--order", o->order,
                     "order of the columns; the last is decided first. " + explained(column_orders()))
          ->type_name("ORDER")
          ->show_default();
      app.add_option("--direction", o->direction,
                     "of norm and gradient: up, the largest last, or down, the largest first")
          ->show_default();
      app.add_option(
             "--form", o->form,
             "of the search: real (square QAM, two columns a stream), complex (one), or auto, real where possible")
          ->check(one_of({"auto", "real", "complex"}))
          ->show_default();
      app.add_option("--radius", o->radius, "of the first sphere around y; it grows while it is empty (default: none)")
          ->transform(positive_up_to(1e300));
      app.add_option("--all-within", o->all_within, "list all s with ||y - H s|| up to it, nearest first")
          ->transform(positive_up_to(1e300));
      app.add_option("--most", o->most, "of --all-within: points of a signal")->positive()->show_default();
      app.add_option("--max-nodes", o->max_nodes, "a signal that needs more ends uncertified (default: no end)")
          ->positive();
      app.add_option("--batch", o->batch, "signals of a task (default: what suits the workers)")->positive();
      app.add_option("--buffer", o->buffer,
                     "signals of the files that are in memory at a time, as far as coherence allows (default: all)")
          ->positive()
          ->needs(app.get_option("--h"));
      app.add_flag("!--no-check", o->check, "leave out the comparison with brute force or a second order");
      app.add_option("--soft", o->soft, "also L = ln P(0) / P(1) of each bit, by: " + explained(soft_kinds()));
      app.add_option("--llr-clip", o->llr_clip, "of --soft: |L| at most; list and kbest need it unless they keep all")
          ->transform(positive_up_to(1e300));
      add_input(app, "--prior", o->input.prior,
                "L of bits as known beforehand, .npy, in the form of --out-llr; --soft then returns L a posteriori");
      app.add_option("--llr-type", o->llr_type,
                     "of --out-llr: float, or int8:SCALE, which is SCALE L rounded, at most 127")
          ->show_default();
      add_output(app, Output::array, "--out-llr", o->out_llr,
                 "write L, signals x bits or by --layout bits x signals, to FILE (.npy)");
      add_output(app, Output::array, "--out-s", o->out_s,
                 "write labels, int32, signals x Nt or by --layout Nt x signals, to FILE (.npy)");
      add_output(app, Output::array, "--out-points", o->out_points, "write the points to FILE (.npy)");
      add_output(app, Output::array, "--out-within", o->out_within,
                 "write the points of --all-within to FILE (.npy): a row has its signal and its labels");
      auto* const svg = add_output(app, Output::text, "--svg", o->svg,
                                   "draw the search tree of a signal to FILE: of sd, sd-plain and babai, as on a core");
      app.add_option("--svg-signal", o->svg_signal, "which one, from 0")->non_negative()->needs(svg)->show_default();
      o->common.add_to(app);
      app.footer(
          "Examples:\n"
          "  tesela mimo detect --nt 4 --nr 4 --constellation 16qam --signals 10000 --ebn0 10 --json -\n"
          "  tesela mimo detect --h H.npy --y Y.npy --constellation 64qam --n0 0.01 --out-s s.npy");
      auto* const constellation = app.get_option("--constellation");
      return std::function<int()>([o, constellation] {
        require_model(*o, constellation->count() > 0);
        return o->common.precision == "s" ? run<float>(*o) : run<double>(*o);
      });
    });

}  // namespace
}  // namespace tesela::cli
