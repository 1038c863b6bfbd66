#pragma once

#include "tools/app/answer.hpp"
#include "tools/app/command.hpp"
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/machine/energy.hpp>
#include <tesela/runtime/trace.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
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
  std::vector<double> seconds;  ///< of each run
  Energy energy = {};           ///< of all runs together, with --energy
};

/// Returns the energy of a run with this number of operations as JSON: gpu_j, cpu_j and gflops_per_j, null if
/// unavailable. gflops_per_j uses the sum of the available energies.
nlohmann::json energy_json(const Energy& run, double flops);

/// Returns the status of a measured error: empty if it is good; "inaccurate: ..." if it exceeds its limit or if the
/// limit exceeds useful_bound, since a useless result would pass; "not finite: ..." for NaN or infinity.
std::string is_wrong(const std::string& name, const Measured& measured);

/// Results of a command, printed as a table and as JSON. The JSON's keys are command, version, problem, machine,
/// workers, links, counts, seconds, gflops, energy, bounds, answer, checks, limits, status. The status is "ok" until a
/// check exceeds its limit or the command reports another failure.
class Report {
 public:
  /// Starts to show the progress of the command on a terminal, unless it is quiet.
  Report(const std::string& command, const CommonOptions& options);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  nlohmann::json& problem() { return json_["problem"]; }

  /// Records workers, links, bounds and rates of the last run, the median time and the mean energy of the runs. The
  /// rate counts `flops` if given, otherwise the flops that the tasks declare.
  void measured(Runtime& runtime, const Graph& graph, const Timed& runs, std::optional<double> flops = std::nullopt);
  /// Adds the recorded tasks to the page of --report.
  void recorded(Trace trace) { recorded_ = std::move(trace); }
  /// Adds the rate of one kind of operations in the median run, with a name.
  void rate(const std::string& name, double flops);
  /// Adds an array of objects with `file`, `n`, `status` and `seconds`.
  void jobs(const nlohmann::json& all) { json_["jobs"] = all; }
  /// Adds an array of objects with `status` and `distance`, one per right-hand side, if they differ.
  void columns(const nlohmann::json& all) { json_["columns"] = all; }
  /// Adds error rates: an array of objects with `ebn0_db`, `detector` and `ber`; measured rates also have their counts.
  void rates(const nlohmann::json& all) { json_["error_rates"] = all; }
  /// Adds the dropped rows, given from 0, as an array that counts from 1.
  void dropped_rows(const std::vector<index_t>& rows);
  /// Adds a sentence: a line of the table and an element of `notes` in the JSON.
  void note(const std::string& text);
  /// Adds a result: a table of its first numbers, and all numbers in the JSON if there are at most 1000.
  template <class T>
  void answer(const std::string& name, const HostMatrix<T>& matrix) {
    add_answer(name, answer_table(name, matrix), answer_json(matrix));
  }
  bool has_answer() const { return !answers_.empty(); }
  /// Calls print() in place of the results' tables.
  void results(std::function<void()> print) { print_ = std::move(print); }
  /// Adds a line for a written file: "x.npy: 4 x 1, float64".
  void wrote(const std::string& path, const std::string& contents);
  /// Returns whether the errors of the result are measured.
  bool checked() const { return check_; }
  /// Adds a command's other results to the JSON under the key `name`.
  void section(const std::string& name, const nlohmann::json& value) { json_[name] = value; }
  /// Adds the planned and measured bytes to the JSON.
  void memory(const nlohmann::json& planned_and_measured) { json_["memory"] = planned_and_measured; }
  /// Adds a named count other than a kernel's tasks.
  void count(const std::string& name, index_t value);
  /// Adds a number without a limit.
  void check(const std::string& name, double value);
  /// Adds a measured error and its limit, with the status of is_wrong(). The JSON has the limit in `limits` under the
  /// check's name.
  void check(const std::string& name, const Measured& measured);
  /// Adds a count of mistakes or a number of standard deviations, and its limit.
  void check_count(const std::string& name, double number, double most);
  /// Fails the report; the first failure becomes its status.
  void fail(const std::string& status);
  /// Sets the status without failing the report.
  void remark(const std::string& status);
  bool good() const { return good_; }

  /// Completes the report after the Runtime has ended: discards the outputs of a failed run (FileBatch), writes the
  /// trace and the page, prints the table unless the JSON is printed, writes the JSON, and returns done or
  /// numerical_failure. The total time counts from the report's construction.
  [[nodiscard]] ExitCode finish();

 private:
  void measured_energy(const Timed& runs, double flops);
  void add_answer(const std::string& name, const std::string& table, const nlohmann::json& numbers);
  void write_page();
  void print() const;
  void print_failures() const;
  void print_results() const;
  void print_details() const;
  Stopwatch whole_;
  nlohmann::json json_;
  std::string json_path_, trace_dir_, page_path_, answers_;
  Trace recorded_;
  std::function<void()> print_;
  bool energy_, quiet_, verbose_, check_, good_ = true;
};

}  // namespace tesela::cli
