#pragma once

#include "tools/app/command.hpp"
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/runtime/energy.hpp>
#include <tesela/runtime/graph.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tesela::cli {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Timed runs.
struct Timed {
  std::vector<double> seconds;  ///< of each
  Energy energy = {};           ///< of all together, where --energy asks for it
};

/// The joules of a run that does so many operations, as the JSON has them: gpu_j, cpu_j and gflops_per_j, null where
/// they are unavailable. The last counts what is there of the two.
nlohmann::json energy_json(const Energy& run, double flops);

/// Returns the status of a measured error: empty for a good one, "inaccurate: ..." above its limit, or if the limit is
/// above useful_bound, since a useless result would pass; "not finite: ..." for a NaN or an infinity.
std::string is_wrong(const std::string& name, const Measured& measured);

/// What a command found out, printed as a table for a person and as JSON for a script. Keys are the CLI contract's:
/// command, version, problem, machine, workers, links, counts, seconds, gflops, energy, bounds, checks, limits, status.
/// The status is "ok" until a check exceeds its limit or the command says what else failed.
class Report {
 public:
  Report(const std::string& command, const CommonOptions& options);

  nlohmann::json& problem() { return json_["problem"]; }

  /// Takes workers, links, bounds and rates of the last run, the median of the runs' seconds and the mean of their
  /// joules. The rate is that of `flops` where they are given, else of what the tasks declare.
  void measured(Runtime& runtime, const Graph& graph, const Timed& runs, std::optional<double> flops = std::nullopt);
  /// Besides the rate of the whole: so many operations of one kind, named for a person, in the median run.
  void rate(const std::string& name, double flops);
  /// An array of objects with `file`, `n`, `status` and `seconds`.
  void jobs(const nlohmann::json& all) { json_["jobs"] = all; }
  /// Of each right-hand side, where they fare differently: an array of objects with `status` and `distance`.
  void columns(const nlohmann::json& all) { json_["columns"] = all; }
  /// Error rates: an array of objects with `ebn0_db`, `detector` and `ber`, where it was measured also with its counts.
  void rates(const nlohmann::json& all) { json_["error_rates"] = all; }
  /// Rows, counted from 0, that were left out: an array, as the first row has number 1.
  void dropped_rows(const std::vector<index_t>& rows);
  /// Adds a sentence for the reader: a line of the table, and an element of `notes` in the JSON.
  void note(const std::string& text);
  /// Adds a command's further results to the JSON below the key `name`.
  void section(const std::string& name, const nlohmann::json& value) { json_[name] = value; }
  /// Adds the planned and measured bytes to the JSON.
  void memory(const nlohmann::json& planned_and_measured) { json_["memory"] = planned_and_measured; }
  /// Adds a named count other than a kernel's tasks.
  void count(const std::string& name, index_t value);
  /// Adds a number without a limit.
  void check(const std::string& name, double value);
  /// Adds a measured error and its limit: the status is the result of is_wrong. Limits are in the JSON below `limits`,
  /// by the check's name.
  void check(const std::string& name, const Measured& measured);
  /// Adds a count of mistakes or a number of standard deviations, and its limit.
  void check_count(const std::string& name, double number, double most);
  /// Fails the report; the first failure becomes its status.
  void fail(const std::string& status);
  /// Sets the status without failing the report.
  void remark(const std::string& status);
  bool good() const { return good_; }

  /// Once the Runtime is gone: discards the outputs of a failed run (FileBatch), writes the trace, prints the table
  /// unless the JSON is printed, writes the JSON, and returns done or numerical_failure. Its total time begins with it.
  [[nodiscard]] ExitCode finish();

 private:
  void measured_energy(const Timed& runs, double flops);
  void print() const;
  Stopwatch whole_;
  nlohmann::json json_;
  std::string json_path_, trace_dir_;
  bool energy_, good_ = true;
};

}  // namespace tesela::cli
