#pragma once

#include "tools/app/arguments.hpp"
#include <tesela/runtime/runtime.hpp>

#include <nlohmann/json.hpp>

#include <complex>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace tesela::cli {

/// Exit codes of the command; after a signal, interrupted() of program.hpp.
enum ExitCode : int { done = 0, numerical_failure = 1, wrong_use = 2, environment = 3 };

/// Adds a sub-command's options to `app` and returns the function that runs it after parsing and returns an ExitCode.
using Setup = std::function<int()> (*)(App& app);

/// A namespace-scope object of this type registers a sub-command of the program that contains it: `tesela NAME`,
/// `tesela bench NAME`, `tesela toeplitz NAME` or `tesela mimo NAME`.
struct Command {
  enum class Group : std::uint8_t { top, bench, toeplitz, mimo };
  Command(Group group, const char* name, const char* summary, Setup setup);
  Group group;
  const char* name;
  const char* summary;
  Setup setup;
};
const std::vector<Command>& commands();

/// The options that commands share.
struct CommonOptions {
  /// Selects the options of a command.
  struct Taken {
    bool precision = true, mixed = false;  ///< mixed: --precision mixed as well
    bool complex = false;                  ///< --precision c and z as well
    bool seed = true, trace = true;
    bool cores = true;  ///< --sched and --ncpu
    bool gpus = true;   ///< --ncuda and --streams
    bool energy = true;
    bool report = true;  ///< --quiet, --verbose, --no-check and --plan, unless the command has its own
    bool plan = true;    ///< --plan, for commands that call require_memory()
    int streams = 1;     ///< default; short urgent tasks next to long ones need several tasks at a time on a GPU
  };

  std::string precision = "d";
  std::uint64_t seed = 1;
  int repeat = 1;
  bool energy = false;
  bool quiet = false, verbose = false;
  bool check = true;  ///< measure the errors of the result
  bool plan = false;  ///< print the memory, and do nothing else
  std::string json_path;
  std::string trace_dir;
  std::string page_path;  ///< --report
  std::string scheduler;
  std::string grid;  ///< PxQ ranks
  int ncpu = -1, ncuda = -1;
  int streams = 0;  ///< 0: StarPU's environment variable, otherwise default_streams
  int default_streams = 1;
  std::string note = {};  ///< for the report

  void add_to(App& app, const Taken& taken);
  void add_to(App& app) { add_to(app, Taken{}); }
  /// Whether the precision is complex, and the bytes of its numbers.
  bool complex() const { return precision == "c" || precision == "z"; }
  std::size_t number_bytes() const { return precision == "s" ? 4 : precision == "z" ? 16 : 8; }
  /// Whether a run is recorded, after a warm-up.
  bool records() const { return !trace_dir.empty() || !page_path.empty(); }
  /// Options of the Runtime from the command line, with profiling.
  RuntimeOptions runtime() const;
};

/// Adds --quiet.
void add_quiet(App& app, bool& quiet);

/// Returns single(), or wide() unless the precision is s. If single() finds a file with a number that single precision
/// does not hold, returns wide() in double precision, with a note in its report.
int run_single_or_wide(CommonOptions& common, const std::function<int()>& single, const std::function<int()>& wide);

/// Returns single(options) or wide(options), as run_single_or_wide().
template <class Options, class Single, class Wide>
int run_in_precision(Options& options, const Single& single, const Wide& wide) {
  return run_single_or_wide(
      options.common, [&] { return single(options); }, [&] { return wide(options); });
}

/// Returns run.operator()<T>(options) for the T of the precision, also if it is complex, with the rule of
/// run_single_or_wide() for complex numbers, too.
template <class Options, class Run>
int run_for_number_type(Options& options, const Run& run) {
  if (!options.common.complex())
    return run_in_precision(
        options, [&](Options& o) { return run.template operator()<float>(o); },
        [&](Options& o) { return run.template operator()<double>(o); });
  return run_in_precision(
      options, [&](Options& o) { return run.template operator()<std::complex<float>>(o); },
      [&](Options& o) { return run.template operator()<std::complex<double>>(o); });
}

/// Throws ArgumentError, of this command and option, for a file of plain text, which holds no complex numbers, if the
/// precision is complex.
void require_holds_numbers(const char* command, const CommonOptions& common,
                           std::initializer_list<std::pair<const char*, const std::string*>> outputs);

/// Host and versions, with the names in reports and benchmark files.
nlohmann::json machine_json(const Runtime& runtime);

/// Workers, links and kernels, with the names in the JSON.
nlohmann::json workers_json(const Statistics& statistics);

/// Writes the object to FILE, or to standard output for "-"; does nothing for an empty path.
void write_json(const nlohmann::json& object, const std::string& path);

}  // namespace tesela::cli
