#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/mimo/bit_information.hpp"
#include "tools/checks/mimo/mimo_error_rate.hpp"
#include "tools/commands/mimo/rate_picture.hpp"
#include "tools/problems/mimo/mimo_problem.hpp"
#include <tesela/algorithms/mimo/error_rates.hpp>
#include <tesela/algorithms/mimo/mimo_soft.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace tesela::cli {
namespace {

struct Options {
  CommonOptions common;
  MimoInput input;
  std::string detectors = "zf,mmse-sic,kbest:16,sd", ebn0 = "0:2:20", order = "mmse-vblast", soft, csv, svg;
  double llr_clip = 0;
  index_t errors = 200, most_signals = 1000000;
};

/// Error counts of one detector at one Eb/N0.
struct Point {
  MimoErrorRate rate;
  double nodes = 0;
};

/// "0:2:20" or "7".
std::vector<double> parse_decibels(const std::string& text) {
  std::vector<double> parts;
  for (const std::string& word : split_list(text, ':')) {
    char* end = nullptr;
    parts.push_back(std::strtod(word.c_str(), &end));
    if (word.empty() || *end != '\0' || !std::isfinite(parts.back())) parts.assign(9, 0);
  }
  if (parts.size() == 1) return parts;
  require(parts.size() == 3 && parts[1] > 0 && parts[2] >= parts[0] && (parts[2] - parts[0]) / parts[1] <= 1000,
          "mimo ber", "--ebn0",
          fmt::format("'{}' is neither a number nor FIRST:STEP:LAST, upwards in at most 1000 steps", text));
  std::vector<double> all;
  for (int k = 0; parts[0] + k * parts[1] <= parts[2] + 1e-9 * parts[1]; ++k) all.push_back(parts[0] + k * parts[1]);
  return all;
}

/// Measures all detectors on the same signals, until each has enough errors.
template <class T>
std::vector<Point> measure(const Options& o, Graph& g, const std::vector<MimoOptions>& detectors, double db,
                           std::uint64_t seed, const std::vector<SoftOptions>& kinds,
                           std::vector<bench::BitInformation>& information, index_t& signals) {
  MimoInput input = o.input;
  input.ebn0 = db;
  std::vector<Point> points(detectors.size());
  information.assign(kinds.size(), {});
  for (index_t done = 0; done < o.most_signals; done += input.signals) {
    input.signals = std::min(o.input.signals, o.most_signals - done);
    const MimoData<T> data =
        MimoSource<T>(input, Generator<double>::mix(seed) + static_cast<std::uint64_t>(done)).all();
    index_t bits = 0;
    for (const Constellation& c : data.alphabets) bits += c.bits();
    bool more = false;
    for (std::size_t d = 0; d < detectors.size(); ++d) {
      MimoOptions options = detectors[d];
      options.n0 = data.n0;
      const Detection found = mimo_detect(g, data.shape, data.channels, data.y, data.alphabets, options);
      require(found.failed() <= 0, "mimo ber", "--detectors",
              "a detector cannot solve such channels: columns are dependent");
      points[d].rate.add(found.labels, data.sent, bits, data.shape.coherence);
      for (const SearchReport& r : found.reports) points[d].nodes += static_cast<double>(r.nodes);
      more = more || points[d].rate.bits() < static_cast<double>(o.errors);
    }
    for (std::size_t d = 0; d < kinds.size(); ++d) {
      SoftOptions options = kinds[d];
      options.n0 = data.n0;
      const SoftDetection<T> found = mimo_soft(g, data.shape, data.channels, data.y, data.alphabets, options);
      require(found.failed() <= 0, "mimo ber", "--soft",
              "a detector cannot solve such channels: columns are dependent");
      information[d].add(data.alphabets, data.sent, found.llrs);
    }
    signals += input.signals;
    if (!more) break;
  }
  return points;
}

/// Returns the theoretical curves for this problem: names, and values over dB.
std::vector<RateCurve> theory(const Options& o, const std::vector<Constellation>& alphabets, index_t antennas,
                              const std::vector<double>& db) {
  std::vector<RateCurve> curves;
  const index_t streams = static_cast<index_t>(alphabets.size());
  if (o.input.channel != "rayleigh") return curves;
  for (const Constellation& c : alphabets)
    if (c.points != alphabets.front().points) return curves;
  RateCurve zf{"zf, theory", {}, {}, {}, true}, alone{"one stream alone", {}, {}, {}, true},
      bound{"union bound", {}, {}, {}, true};
  for (const double x : db) {
    const double n0 = noise_variance(x, alphabets);
    const auto of = [&](index_t diversity) { return qam_bit_error(alphabets.front(), n0, diversity).value_or(0); };
    zf.rate.push_back(streams <= antennas ? of(antennas - streams + 1) : 0);
    alone.rate.push_back(of(antennas));
    bound.rate.push_back(union_bound(alphabets, n0, antennas).bits);
  }
  if (zf.rate.front() > 0) curves.push_back(zf);
  if (alone.rate.front() > 0) curves.push_back(alone);
  curves.push_back(bound);
  return curves;
}

/// Detectors and soft detectors of a command, with their names.
struct Contestants {
  std::vector<std::string> names, soft;
  std::vector<MimoOptions> detectors;
  std::vector<SoftOptions> kinds;
};

Contestants contestants(const Options& o) {
  Contestants all{split_list(o.detectors), o.soft.empty() ? std::vector<std::string>() : split_list(o.soft), {}, {}};
  for (const std::string& name : all.names) {
    MimoOptions options;
    take_order(o.order, "up", options);
    parse_mimo_method("mimo ber", name, options, "--detectors");
    require(std::ranges::count(all.names, name) == 1, "mimo ber", "--detectors", "names ", name, " twice");
    all.detectors.push_back(options);
  }
  for (const std::string& name : all.soft) {
    all.kinds.push_back({.clip = o.llr_clip});
    parse_soft_kind("mimo ber", name, all.kinds.back());
    require(std::ranges::count(all.soft, name) == 1, "mimo ber", "--soft", "names ", name, " twice");
  }
  require(!all.names.empty(), "mimo ber", "--detectors", "names none");
  return all;
}

/// Points of all detectors and information of all soft detectors, by dB.
struct Results {
  std::vector<std::vector<Point>> points;
  std::vector<std::vector<bench::BitInformation>> information;
};

/// Adds a detector's points to the rows of the report and of the CSV; returns its curve.
RateCurve add_rates(const std::string& name, const std::vector<double>& db, const Results& results, std::size_t d,
                    nlohmann::json& rows, std::string& csv) {
  RateCurve curve{name, {}, {}, {}, false};
  for (std::size_t k = 0; k < db.size(); ++k) {
    const auto& [rate, nodes] = results.points[k][d];
    const double mean = rate.signals() > 0 ? nodes / rate.signals() : 0;
    curve.rate.push_back(rate.bit_rate()), curve.low.push_back(rate.low()), curve.high.push_back(rate.high());
    rows.push_back({{"ebn0_db", db[k]},
                    {"detector", name},
                    {"signals", rate.signals()},
                    {"vector_errors", rate.vectors()},
                    {"symbol_errors", rate.symbols()},
                    {"bit_errors", rate.bits()},
                    {"ser", rate.symbol_rate()},
                    {"ber", rate.bit_rate()},
                    {"ber_low", rate.low()},
                    {"ber_high", rate.high()},
                    {"nodes", mean}});
    csv += fmt::format("{:g},{},{:.0f},{:.0f},{:.0f},{:.0f},{:.6g},{:.6g},{:.6g},{:.6g},{:.4g},\n", db[k], name,
                       rate.signals(), rate.vectors(), rate.symbols(), rate.bits(), rate.symbol_rate(), rate.bit_rate(),
                       rate.low(), rate.high(), mean);
  }
  return curve;
}

/// Reports, writes and draws the results and the theoretical curves.
void report_rates(const Options& o, const Contestants& all, const std::vector<double>& db, const Results& results,
                  const std::vector<Constellation>& alphabets, index_t antennas, Report& report) {
  const std::vector<RateCurve> known = theory(o, alphabets, antennas, db);
  nlohmann::json rows = nlohmann::json::array();
  std::string csv =
      "ebn0_db,detector,signals,vector_errors,symbol_errors,bit_errors,ser,ber,ber_low,ber_high,nodes,information\n";
  std::vector<RateCurve> curves;
  double sigmas = 0;
  for (std::size_t d = 0; d < all.names.size(); ++d) {
    curves.push_back(add_rates(all.names[d], db, results, d, rows, csv));
    if (all.detectors[d].method != MimoMethod::zf || known.empty() || known.front().name != "zf, theory") continue;
    for (std::size_t k = 0; k < db.size(); ++k)
      if (const MimoErrorRate& rate = results.points[k][d].rate; rate.bits() > 20)
        sigmas = std::fmax(sigmas, rate.sigmas(known.front().rate[k]));
  }
  for (std::size_t d = 0; d < all.kinds.size(); ++d)
    for (std::size_t k = 0; k < db.size(); ++k) {
      const std::string name = fmt::format("soft {}", all.soft[d]);
      const double mean = results.information[k][d].mean();
      rows.push_back({{"ebn0_db", db[k]}, {"detector", name}, {"information", mean}});
      csv += fmt::format("{:g},{},,,,,,,,,,{:.6g}\n", db[k], name, mean);
    }
  if (sigmas > 0) report.check_count("zf_sigmas", sigmas, 4);
  for (const RateCurve& c : known)
    for (std::size_t k = 0; k < db.size(); ++k)
      rows.push_back({{"ebn0_db", db[k]}, {"detector", c.name}, {"ber", c.rate[k]}});
  report.rates(rows);
  curves.insert(curves.end(), known.begin(), known.end());
  const auto write = [](const std::string& path, const std::string& text) {
    if (path.empty()) return;
    AtomicFile file(path);
    file.write(text);
    file.commit();
  };
  write(o.csv, csv);
  write(o.svg,
        rate_picture(fmt::format("{} streams, {} antennas, {}", alphabets.size(), antennas, o.input.constellation), db,
                     curves));
}

template <class T>
int run(const Options& o) {
  Report report("mimo ber", o.common);
  const std::vector<double> db = parse_decibels(o.ebn0);
  const Contestants all = contestants(o);
  MimoInput probe = o.input;
  probe.signals = 0;
  const MimoSource<T> source(probe, 1);
  require_memory("mimo ber", "channels, signals and labels at a time", source.bytes(o.input.signals));
  require(!source.integers(), "mimo ber", "--constellation", "integers have no bits");
  report.problem() = source.problem();
  report.problem().update({{"detectors", all.names},
                           {"ebn0_db", db},
                           {"errors", o.errors},
                           {"most_signals", o.most_signals},
                           {"order", o.order},
                           {"precision", o.common.precision},
                           {"seed", o.common.seed}});
  for (const char* const key : {"signals", "channels", "n0"}) report.problem().erase(key);
  Results results{std::vector<std::vector<Point>>(db.size()),
                  std::vector<std::vector<bench::BitInformation>>(db.size())};
  index_t signals = 0;
  {
    Runtime runtime(o.common.runtime());
    run_timed(o.common, runtime, report,
              {[&] { signals = 0; },
               [&](Graph& g, bool) {
                 for (std::size_t k = 0; k < db.size(); ++k)
                   results.points[k] = measure<T>(o, g, all.detectors, db[k], o.common.seed + k, all.kinds,
                                                  results.information[k], signals);
                 return 0.0;
               }});
  }
  report.count("signals", signals);
  report_rates(o, all, db, results, source.alphabets(), source.shape().antennas, report);
  return report.finish();
}

const Command ber_command(
    Command::Group::mimo, "ber", "error rates against Eb/N0, measured and in theory", [](App& app) {
      auto o = std::make_shared<Options>();
      app.add_option("--detectors", o->detectors, "methods of mimo detect, by commas")->show_default();
      app.add_option("--ebn0", o->ebn0, "in dB: one, or FIRST:STEP:LAST")->show_default();
      app.add_option("--nt", o->input.streams, "streams")->positive()->show_default();
      app.add_option("--nr", o->input.antennas, "antennas (default: as many)")->positive();
      app.add_option("--constellation", o->input.constellation, "as of mimo detect")->show_default();
      app.add_option("--channel", o->input.channel, "as of mimo detect")->show_default();
      app.add_option("--coherence", o->input.coherence, "signals that share a channel (default: 1)")->positive();
      app.add_option("--order", o->order, "of columns: " + order_names())->type_name("ORDER")->show_default();
      app.add_option("--soft", o->soft, "also mutual information per bit of these, as of mimo detect, by commas");
      app.add_option("--llr-clip", o->llr_clip, "of --soft: |L| at most, which kbest and list need")
          ->transform(positive_up_to(1e300));
      app.add_option("--errors", o->errors, "wrong bits, after which a point is done")->positive()->show_default();
      app.add_option("--most-signals", o->most_signals, "at a point, however few are wrong")
          ->positive()
          ->show_default();
      app.add_option("--signals", o->input.signals, "at a time")->positive()->show_default();
      add_output(app, Output::text, "--csv", o->csv, "write all points to FILE");
      add_output(app, Output::text, "--svg", o->svg, "draw bit error rates to FILE");
      o->common.add_to(app);
      app.footer(
          "Example:\n  tesela mimo ber --nt 2 --nr 2 --constellation qpsk --detectors zf,sd --ebn0 0:2:16 --svg "
          "ber.svg");
      return std::function<int()>([o] { return o->common.precision == "s" ? run<float>(*o) : run<double>(*o); });
    });

}  // namespace
}  // namespace tesela::cli
