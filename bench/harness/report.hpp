#pragma once

#include "bench/harness/harness.hpp"
#include "cli/app/command.hpp"
#include <tesela/runtime/runtime.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tesela::bench {

/// The options every benchmark takes.
struct Options {
  cli::CommonOptions common;
  std::string out = ".";
  std::string name;  ///< of the files: NAME.csv, NAME.svg
  void add_to(CLI::App& app, const char* default_name, int streams_unless_told = 1);
  /// Options for the Runtime: nothing in it that costs time, such as profiling.
  RuntimeOptions runtime() const;
};

/// What was measured: the peers' times for one case. The columns of the CSV are those of this and of Row.
struct Case {
  std::string title;            ///< in tables and plots, "n = 4096"
  index_t m = 0, n = 0, k = 0;  ///< 0: does not apply
  std::string tile, data;
  std::string rate_unit;       ///< what Row::rate counts
  std::string precision = {};  ///< empty: the option's
};

/// One peer in one case.
struct Row {
  Case what;
  Timing timing;
  double ratio = 1;  ///< its median time over that of the case's first peer
  double rate = 0;   ///< from the median
  double rate_low = 0, rate_high = 0;
  double ceiling = 0;         ///< the same rate as measured for the machine's ceiling in the same run; 0: not measured
  double published_s = 0;     ///< the classic study's figure; 0: none
  double published_rate = 0;  ///< the same, where the study gives the rate
  std::vector<std::pair<std::string, double>> more = {};  ///< columns that only this benchmark has, at the end
};

struct Plot {
  std::string title, y_label;
  bool logarithmic = false;
};

/// Draws the rates of these rows as SVG: a group of bars a case, a bar a peer, whiskers from the slowest to the fastest
/// run. Throws EnvironmentError where gnuplot is not installed.
void write_chart(const std::vector<Row>& rows, const Plot& plot, const std::string& path);

/// Collects rows, shows them as a table and writes NAME.csv, NAME.svg and the JSON report.
class Report {
 public:
  /// `runtime` is null for a benchmark that calls the device itself.
  Report(const char* benchmark, const Options& options, const Runtime* runtime);

  /// Adds a case's peers, the first of them the one that the others are compared with. rate(seconds) is what the plot
  /// shows.
  template <class Rate>
  void add(const Case& what, const std::vector<Timing>& timings, double ceiling, Rate rate) {
    for (const Timing& t : timings)
      append({what,
              t,
              t.median() / timings.front().median(),
              rate(t.median()),
              rate(t.max()),
              rate(t.min()),
              ceiling,
              0,
              0,
              {}});
  }
  std::vector<Row>& rows() { return rows_; }

  /// A sentence below the table, also in the JSON.
  void note(const std::string& text) { notes_.push_back(text); }
  const std::vector<std::string>& notes() const { return notes_; }

  /// What was measured of a result, by name: in the JSON beside the errors.
  void check(const std::string& name, double value) { checks_.emplace_back(name, value); }

  void finish(const Plot& plot) const;

  std::string csv() const;

 private:
  void append(const Row& row);
  void print() const;
  nlohmann::json json() const;
  std::string path(const char* extension) const;

  std::string benchmark_;
  Options options_;
  std::string scheduler_, machine_, gpu_, cuda_;
  int cpus_ = 0, gpus_ = 0;
  std::vector<Row> rows_;
  std::vector<std::string> notes_;
  std::vector<std::pair<std::string, double>> checks_;
};

/// Runs a benchmark's body; a WrongResult becomes the exit code of a numerical failure.
int guarded(const std::function<void()>& body);

}  // namespace tesela::bench
