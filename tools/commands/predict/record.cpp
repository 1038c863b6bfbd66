#include "tools/app/command.hpp"
#include "tools/app/median.hpp"
#include "tools/app/standard_streams.hpp"
#include "tools/commands/predict/child.hpp"
#include "tools/commands/predict/predict.hpp"
#include "tools/commands/predict/prediction.hpp"
#include <tesela/codelets/dense/int8_gemm.hpp>
#include <tesela/host/vector_target.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/machine/topology.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <set>
#include <tuple>

namespace tesela::cli {
namespace {

constexpr index_t enough_samples = 10;
constexpr int most_rounds = 12;
constexpr const char* host = "recorded";

bool has_word(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Returns the shapes with too few samples.
index_t scarce(const std::vector<KernelTime>& times) {
  return std::count_if(times.begin(), times.end(), [](const KernelTime& t) { return t.samples < enough_samples; });
}

/// Returns the median time of the runs in these reports, and the workers that ran them.
nlohmann::json measured(const std::string& command, const std::vector<nlohmann::json>& reports) {
  std::vector<double> seconds;
  for (const nlohmann::json& report : reports) seconds.push_back(report.at("seconds").at("compute").get<double>());
  const nlohmann::json& machine = reports.back().at("machine");
  return {{"command", command},
          {"seconds", bench::median(seconds)},
          {"fastest", *std::min_element(seconds.begin(), seconds.end())},
          {"slowest", *std::max_element(seconds.begin(), seconds.end())},
          {"cores", machine.at("cpu_workers")},
          {"gpus", machine.at("cuda_devices")},
          {"scheduler", machine.at("scheduler")}};
}

/// Returns the command without the options that a prediction states by itself: workers, scheduler and repeats.
std::string without_workers(std::vector<std::string> words) {
  for (const char* const option : {"--ncpu", "--ncuda", "--sched", "--repeat", "-r"})
    if (const auto at = std::find(words.begin(), words.end(), option); at != words.end())
      words.erase(at, std::min(at + 2, words.end()));
  return fmt::format("{}", fmt::join(words, " "));
}

/// Adds a measured run. It replaces an earlier run of the same command on the same workers.
void add_measured(nlohmann::json& about, const nlohmann::json& run) {
  nlohmann::json kept = nlohmann::json::array({run});
  for (const auto& other : about.value("measured", nlohmann::json::array())) {
    bool same = true;
    for (const char* const key : {"command", "cores", "gpus", "scheduler"}) same = same && other.at(key) == run.at(key);
    if (!same) kept.push_back(other);
  }
  std::sort(kept.begin(), kept.end());
  about["measured"] = std::move(kept);
}

/// Describes this machine, in the words of an earlier description if there is one.
void describe(MachineFolder& folder, const PredictOptions& o) {
  const Machine machine = describe_machine();
  nlohmann::json& about = folder.about;
  const std::string present = machine.cpu_model;
  const std::string gpu = machine.gpus.empty() ? "" : machine.gpus.front().name;
  for (const auto& [key, here] : {std::pair{"processor", present}, {"gpu", gpu}})
    if (about.contains(key) && about[key] != here)
      throw EnvironmentError(fmt::format(
          "predict record: {} describes a machine with the {} '{}', and this one has '{}': choose another --out",
          folder.path, key, about[key].get<std::string>(), here));
  about["processor"] = present;
  about["cores"] = machine.cores;
  about["memory_bytes"] = machine.memory_bytes;
  about["vector_unit"] = vector_target();
  about["gpus"] = std::ssize(machine.gpus);
  about["gpu"] = gpu;
  about["gpu_bytes"] = machine.gpus.empty() ? index_t{0} : machine.gpus.front().memory_bytes;
  about["int8"] = kernels::has_int8_devices();
  about["starpu"] = Runtime::starpu_version();
  about["tesela"] = config::version;
  about["recorded"] = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  if (!o.name.empty() || !about.contains("name"))
    about["name"] = o.name.empty() ? (gpu.empty() ? present : gpu) : o.name;
  if (!o.note.empty()) about["note"] = o.note;
}

/// Replaces the times of recorded shapes, and adds the others.
index_t merge(std::vector<KernelTime>& times, const std::vector<KernelTime>& recorded) {
  index_t added = 0;
  for (const KernelTime& one : recorded) {
    const auto known = std::find_if(times.begin(), times.end(), [&](const KernelTime& t) { return t.is_of_same(one); });
    if (known != times.end())
      *known = one;
    else
      times.push_back(one), ++added;
  }
  std::sort(times.begin(), times.end(), [](const KernelTime& a, const KernelTime& b) {
    return std::tie(a.kernel, a.on_gpu, a.flops, a.bytes, a.shape) <
           std::tie(b.kernel, b.on_gpu, b.flops, b.bytes, b.shape);
  });
  return added;
}

/// Returns the speeds of this machine's links, as StarPU measured them.
std::vector<LinkSpeed> links_here(const Environment& variables) {
  for (const auto& [variable, value] : variables)
    value.empty() ? unsetenv(variable.c_str()) : setenv(variable.c_str(), value.c_str(), 1);
  const Runtime runtime;
  return measured_links(runtime);
}

/// Runs the command and returns its standard output. If it fails, prints its exit code and, from its report, its
/// status, and throws ChildFailed.
std::string recorded_output(const std::string& program, const std::vector<std::string>& words,
                            const Environment& variables, const std::string& command) {
  try {
    return output_of(program, words, variables);
  } catch (const ChildFailed& failed) {
    const nlohmann::json report = nlohmann::json::parse(failed.output, nullptr, false);
    const bool known = report.is_object() && report.contains("status") && report["status"].is_string();
    print_error(fmt::format("tesela: predict record: `{}` failed with exit code {}{}; nothing is recorded", command,
                            failed.code, known ? ": " + report["status"].get<std::string>() : ""));
    throw;
  }
}

}  // namespace

int record_machine(const PredictOptions& o) {
  std::vector<std::string> words = o.command;
  require(!o.out.empty(), "predict record", "--out", "is missing: it names the folder to write");
  if (!o.program) require_simulable("predict record", words);
  require(!words.empty(), "predict record", "PROGRAM", "is missing: write it after --, such as -- python3 mine.py");
  MachineFolder folder{.path = o.out};
  if (is_machine(o.out)) folder = read_machine(o.out);
  const std::string command = without_workers(words);
  describe(folder, o);
  require_machine_place(o.out);
  std::string program = program_beside_this("tesela");
  if (o.program) {
    program = words.front();
    words.erase(words.begin());
  } else {
    if (!has_word(words, "--no-check")) words.emplace_back("--no-check");
    words.insert(words.end(), {"--json", "-"});
    // Many runs for each start, because the first run's times of tasks are longer and count as well.
    if (!has_word(words, "--repeat") && !has_word(words, "-r")) words.insert(words.end(), {"--repeat", "9"});
  }

  const ScratchFolder scratch;
  const Environment variables = recording_environment(scratch.path(), host);
  std::vector<KernelTime> recorded;
  std::vector<nlohmann::json> reports;
  int rounds = 0;
  do {
    const std::string printed = recorded_output(program, words, variables, command);
    if (!o.program) reports.push_back(nlohmann::json::parse(printed));
    recorded = modelled_times(scratch.path(), host);
    ++rounds;
    if (!o.quiet)
      fmt::print("round {:<2} {} shapes, {} with fewer than {} samples\n", rounds, recorded.size(), scarce(recorded),
                 enough_samples);
  } while (scarce(recorded) > 0 && rounds < most_rounds);
  if (recorded.empty())
    throw ArgumentError("predict record", "COMMAND", "runs no task of a graph, so there is nothing to record");
  Environment usual = variables;  // tasks overlap on GPUs
  std::erase_if(usual, [](const auto& variable) { return variable.first == "STARPU_CUDA_PIPELINE"; });
  if (!o.program) {
    if (reports.back().at("machine").at("cuda_devices") > 0)
      reports.assign(1, nlohmann::json::parse(recorded_output(program, words, usual, command)));
    add_measured(folder.about, measured(command, reports));
  }
  folder.links = links_here(usual);
  const index_t added = merge(folder.times, recorded);
  write_machine(folder);
  if (o.quiet) return done;
  fmt::print(
      "wrote   {}: {} shapes of {} kernels, {} of them new\n", o.out, folder.times.size(),
      [&] {
        std::set<std::string> names;
        for (const KernelTime& t : folder.times) names.insert(t.kernel);
        return names.size();
      }(),
      added);
  if (const index_t few = scarce(recorded); few > 0)
    fmt::print("note    {} shapes have fewer than {} samples: their tasks are rare, or their times vary\n", few,
               enough_samples);
  return done;
}

}  // namespace tesela::cli
