#pragma once

#include "tools/app/command.hpp"
#include "tools/bench/harness/row.hpp"
#include <tesela/runtime/runtime.hpp>

#include <nlohmann/json.hpp>

#include <complex>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tesela::bench {

/// Options of every benchmark.
struct Options {
  cli::CommonOptions common;
  std::string out = ".";
  std::string name;  ///< name of the files: NAME.csv, NAME.svg
  /// No benchmark accepts --trace, because the recording would be timed.
  void add_to(cli::App& app, const char* default_name, cli::CommonOptions::Taken taken);
  void add_to(cli::App& app, const char* default_name) { add_to(app, default_name, {}); }
  /// Options of the Runtime, without features that cost time, such as profiling.
  RuntimeOptions runtime() const;
  /// Returns whether the machine has a GPU, and --ncuda allows it.
  bool gpu() const;
};

/// Adds --peers (--methods) with these names; `about` follows in its help.
cli::Option* add_peers(cli::App& app, std::vector<std::string>& peers, const std::vector<std::string>& names,
                       const std::string& about = "");

/// Adds --jobs: values, vectors, or both.
void add_jobs(cli::App& app, std::vector<std::string>& jobs);

/// Collects rows, prints them as a table and writes NAME.csv, NAME.svg and the JSON report. A run that ends before
/// finish() leaves its rows in NAME.csv.part.
class Report {
 public:
  /// `runtime` is null for a benchmark that calls the device itself.
  Report(const char* benchmark, const Options& options, const Runtime* runtime);

  /// Adds a case's peers; the first is the reference of the ratios. The plot shows rate(seconds). complete(row) may set
  /// a source's figures, which NAME.csv.part then has as well.
  template <class Rate>
  void add(const Case& what, const std::vector<Timing>& timings, double ceiling, Rate rate,
           const std::function<void(Row&)>& complete = {}) {
    const double first = timings.empty() ? 0 : timings.front().median();
    for (const Timing& t : timings) {
      Row row{what, t};
      row.ceiling = ceiling;
      row.ratio = first > 0 ? t.median() / first : 0;
      if (!t.seconds.empty()) row.rate = rate(t.median()), row.rate_low = rate(t.max()), row.rate_high = rate(t.min());
      if (complete) complete(row);
      append(row);
    }
  }
  std::vector<Row>& rows() { return rows_; }

  /// Adds a sentence below the table and in the JSON.
  void note(const std::string& text) { notes_.push_back(text); }
  const std::vector<std::string>& notes() const { return notes_; }

  /// Adds a named measurement of a result to the checks in the JSON.
  void check(const std::string& name, double value) { checks_.emplace_back(name, value); }

  /// Prints the table and the notes, and writes the files.
  void finish() const;

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
  std::unique_ptr<EnergyScope> energy_;  // with --energy
  std::vector<Row> rows_;
  std::vector<std::string> notes_;
  std::vector<std::pair<std::string, double>> checks_;
};

/// Draws the result of chart_of() for the rows, and next to it source_figures(): NAME-figure-11.svg. Returns the paths.
/// Throws EnvironmentError if gnuplot is not installed.
std::vector<std::string> write_charts(const std::string& benchmark, const std::vector<Row>& rows,
                                      const std::string& where, const std::string& path);

/// Runs a benchmark's body; a WrongResult becomes the exit code of a numerical failure.
int guarded(const std::function<void()>& body);

/// Runs body.operator()<T>() for the T of the precision, real or complex.
template <class Body>
int guarded_in_precision(const Options& options, const Body& body) {
  return guarded([&] {
    const std::string& precision = options.common.precision;
    if (precision == "c")
      body.template operator()<std::complex<float>>();
    else if (precision == "z")
      body.template operator()<std::complex<double>>();
    else if (precision == "s")
      body.template operator()<float>();
    else
      body.template operator()<double>();
  });
}

/// Returns a command's function: body.operator()<T>(options) for the T of the precision, real or complex.
template <class O, class Body>
std::function<int()> for_numbers(const std::shared_ptr<O>& o, const Body& body) {
  return [o, body] { return guarded_in_precision(*o, [&]<class T>() { body.template operator()<T>(*o); }); };
}

/// Does the same for real numbers.
template <class O, class Body>
std::function<int()> for_reals(const std::shared_ptr<O>& o, const Body& body) {
  return [o, body] {
    return guarded([&] {
      o->common.precision == "s" ? body.template operator()<float>(*o) : body.template operator()<double>(*o);
    });
  };
}

/// Returns the function of a study, which sets both_precisions unless --precision chooses, and adds a line to the help.
template <class O, class Body>
std::function<int()> for_both_precisions(cli::App& app, const std::shared_ptr<O>& o, const Body& body) {
  app.footer("Both precisions in one run, unless --precision chooses.");
  return [o, &app, body] {
    o->both_precisions = app.count("--precision") == 0;
    return guarded([&] { body(*o); });
  };
}

/// Measures the copy rate in GB/s of the memory that holds a benchmark's data, on the runtime's devices or on the host
/// by all cores, and notes it below the table.
double measure_copy_ceiling(Report& report, const Runtime& runtime, bool on_device);

/// Measures and notes the rate of a product of square matrices in GFLOP/s: cuBLAS on the runtime's devices, or OpenBLAS
/// on all cores.
template <class T>
double measure_gemm_ceiling(Report& report, const Runtime& runtime);

}  // namespace tesela::bench
