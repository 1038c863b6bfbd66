#include "tools/commands/predict/prediction.hpp"

#include "tools/commands/predict/child.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/runtime.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace tesela::cli {
namespace {

constexpr std::array<const char*, 6> simulable{"gemm", "qr", "lu", "cholesky", "tridiag", "ols"};

std::string simulator() {
  const std::string program = program_beside_this("tesela-simulated");
  if (!std::filesystem::exists(program))
    throw EnvironmentError(
        "predict and tune need the simulator " + program +
        ": run scripts/setup --simgrid, then cmake --preset release -D TESELA_SIMGRID=ON and cmake --build build "
        "--target tesela_simulated");
  return program;
}

}  // namespace

void require_simulable(const char* routine, const std::vector<std::string>& command) {
  require(!command.empty(), routine, "COMMAND", "is missing: write it after --, such as -- qr --n 8192");
  const bool known = std::find(simulable.begin(), simulable.end(), command.front()) != simulable.end();
  require(known, routine, "COMMAND", "'", command.front(), "' cannot be predicted, only ",
          fmt::format("{}", fmt::join(simulable, ", ")),
          ": tasks of other commands depend on values, and a simulation has none");
  if (command.front() == "ols") {
    const auto method = std::find(command.begin(), command.end(), "--method");
    require(method != command.end() && method + 1 != command.end() && method[1] == "tall-skinny", routine, "COMMAND",
            "'ols' can be predicted with --method tall-skinny alone: the other methods decide a rank on values");
  }
  for (const std::string& word : command)
    for (const char* const output : {"--out", "-o", "--json", "-j", "--trace", "--report", "--plan", "--energy"})
      require(word != output && !word.starts_with(std::string(output) + "=") && !word.starts_with("--out-"), routine,
              "COMMAND", "has ", word, ": a prediction has no such output");
}

void require_free_workers(const char* routine, const std::vector<std::string>& command) {
  for (const std::string& word : command)
    for (const auto& [option, ours] : {std::pair{"--ncuda", "--gpus"}, {"--ncpu", "--cores"}, {"--sched", "--sched"}})
      require(word != option && !word.starts_with(std::string(option) + "="), routine, "COMMAND", "has ", word,
              ": write ", ours, " before --");
}

int suitable_cores(const MachineFolder& machine, int gpus) {
  return gpus == 0 ? machine.cores() : std::max(machine.cores() - gpus - 1, 0);
}

void require_workers(const char* routine, const MachineFolder& machine, int gpus, int cores) {
  const std::string record = "record a machine that has them with `tesela predict record --out FOLDER -- COMMAND`";
  require(gpus <= machine.gpus(), routine, "--gpus", gpus, ": ", machine.path, " has ", machine.gpus(), "; ", record);
  require(cores <= machine.cores(), routine, "--cores", cores, ": ", machine.path, " has ", machine.cores(), "; ",
          record);
  require(gpus <= most_simulated_gpus, routine, "--gpus", gpus, " is more than the simulator's ", most_simulated_gpus);
  require(cores <= most_simulated_cores, routine, "--cores", cores, " is more than the simulator's ",
          most_simulated_cores);
  require(gpus + cores > 0, routine, "--cores", "0 without a GPU: no worker runs the tasks");
}

void require_scheduler(const std::string& name) {
  const std::vector<std::string> all = Runtime::schedulers();
  require(name.empty() || std::find(all.begin(), all.end(), name) != all.end(), "predict", "--sched", "'", name,
          "' is none of: ", fmt::format("{}", fmt::join(all, " ")));
}

namespace {

/// Returns the report of the command in the simulator, with further variables.
nlohmann::json simulate(const std::vector<std::string>& command, const MachineFolder& machine, int gpus, int cores,
                        const std::string& scheduler, const Environment& further) {
  const SimulatedMachine simulated{.cores = cores,
                                   .gpus = gpus,
                                   .gpu_bytes = machine.about["gpu_bytes"].get<double>(),
                                   .int8 = machine.about.value("int8", false),
                                   .scheduler = scheduler,
                                   .links = machine.links};
  const ScratchFolder scratch;
  Environment variables = prepare_simulation(simulated, scratch.path(), machine.times_path());
  variables.insert(variables.end(), further.begin(), further.end());
  std::vector<std::string> words = command;
  words.insert(words.end(), {"--json", "-"});
  const std::string text = output_of(simulator(), words, variables);
  try {
    nlohmann::json report = nlohmann::json::parse(text);
    if (report.contains("simulation")) return report;
  } catch (const nlohmann::json::exception&) {
  }
  throw EnvironmentError("predict: " + command.front() + " ran no graph of tasks in the simulator");
}

}  // namespace

Prediction predict(const std::vector<std::string>& command, const MachineFolder& machine, int gpus, int cores,
                   const std::string& scheduler) {
  return {gpus, cores, simulate(command, machine, gpus, cores, scheduler, {})};
}

double bytes_of_host(const std::vector<std::string>& command, const MachineFolder& machine, int gpus, int cores,
                     int hosts) {
  constexpr int most = 8;
  const int asked = std::min(hosts, most);
  double bytes = 0;
  for (int k = 0; k < asked; ++k) {
    const int rank = static_cast<int>(static_cast<std::int64_t>(k) * hosts / asked);
    const nlohmann::json report =
        simulate(command, machine, gpus, cores, "",
                 {{"STARPU_MPI_FAKE_RANK", std::to_string(rank)}, {"STARPU_MPI_FAKE_SIZE", std::to_string(hosts)}});
    const nlohmann::json& use = report.at("ranks").at(0);
    bytes = std::max({bytes, use.at("bytes_sent").get<double>(), use.at("bytes_received").get<double>()});
  }
  return bytes;
}

}  // namespace tesela::cli
