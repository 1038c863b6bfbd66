#include "tools/commands/predict/predict.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/command.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/commands/predict/child.hpp"
#include "tools/commands/predict/machine_folder.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

namespace tesela::cli {
namespace {

constexpr std::array<const char*, 4> simulable{"gemm", "qr", "lu", "cholesky"};

/// One prediction: workers and scheduler, and the report of tesela-simulated.
struct Prediction {
  int gpus, cores;
  nlohmann::json report;
  double seconds() const { return report.at("seconds").at("compute").get<double>(); }
  double task_seconds() const { return report.at("simulation").at("task_s").get<double>(); }
  double interpolated() const {
    const double all = task_seconds();
    return all > 0 ? report["simulation"]["interpolated_s"].get<double>() / all : 0;
  }
  int workers() const { return gpus > 0 ? gpus : cores; }
};

std::string simulator() {
  const std::string program = program_beside_this("tesela-simulated");
  if (!std::filesystem::exists(program))
    throw EnvironmentError("predict needs the simulator " + program +
                           ": run scripts/setup --simgrid, then cmake --preset release and cmake --build build "
                           "--target tesela_simulated");
  return program;
}

/// Returns the cores that run tasks next to these GPUs, as a Runtime chooses them: all but the GPUs' drivers and one.
int suitable_cores(const MachineFolder& machine, int gpus) {
  return gpus == 0 ? machine.cores() : std::max(machine.cores() - gpus - 1, 0);
}

void require_workers(const MachineFolder& machine, int gpus, int cores) {
  const std::string record = "record a machine that has them with `tesela predict record`";
  require(gpus <= machine.gpus(), "predict", "--gpus", gpus, ": ", machine.path, " has ", machine.gpus(), "; ", record);
  require(cores <= machine.cores(), "predict", "--cores", cores, ": ", machine.path, " has ", machine.cores(), "; ",
          record);
  require(gpus <= most_simulated_gpus, "predict", "--gpus", gpus, " is more than the simulator's ",
          most_simulated_gpus);
  require(cores <= most_simulated_cores, "predict", "--cores", cores, " is more than the simulator's ",
          most_simulated_cores);
  require(gpus + cores > 0, "predict", "--cores", "0 without a GPU: no worker runs the tasks");
}

Prediction predict(const PredictOptions& o, const MachineFolder& machine, int gpus, int cores,
                   const std::string& scheduler) {
  const ScratchFolder scratch;
  const SimulatedMachine simulated{cores, gpus, machine.about["gpu_bytes"].get<double>(), scheduler, machine.links};
  std::vector<std::string> words = o.command;
  words.insert(words.end(), {"--json", "-"});
  const std::string text =
      output_of(simulator(), words, prepare_simulation(simulated, scratch.path(), machine.times_path()));
  try {
    Prediction prediction{gpus, cores, nlohmann::json::parse(text)};
    if (prediction.report.contains("simulation")) return prediction;
  } catch (const nlohmann::json::exception&) {
  }
  throw EnvironmentError("predict: " + o.command.front() + " ran no graph of tasks in the simulator");
}

/// Returns the measured seconds of the same command with the same workers, or null.
nlohmann::json measured_seconds(const MachineFolder& machine, const PredictOptions& o, const Prediction& p) {
  const auto all = machine.about.find("measured");
  if (all == machine.about.end()) return {};
  const auto run = all->find(fmt::format("{}", fmt::join(o.command, " ")));
  if (run == all->end() || run->at("cores") != p.cores || run->at("gpus") != p.gpus ||
      run->at("scheduler") != p.report["machine"]["scheduler"])
    return {};
  return run->at("seconds");
}

nlohmann::json json_of(const MachineFolder& machine, const PredictOptions& o, const Prediction& p,
                       const Prediction& first) {
  const double speed_up = first.seconds() / p.seconds();
  const nlohmann::json measured = measured_seconds(machine, o, p);
  const nlohmann::json error = measured.is_null() ? measured : nlohmann::json(p.seconds() / measured.get<double>() - 1);
  return {{"gpus", p.gpus},
          {"cores", p.cores},
          {"scheduler", p.report["machine"]["scheduler"]},
          {"seconds", p.seconds()},
          {"measured_s", measured},
          {"error", error},
          {"gflops", p.report["gflops"]},
          {"tasks", p.report["bounds"]["tasks"]},
          {"bound",
           {{"seconds", p.report["bounds"]["lower_bound_s"]},
            {"path_s", p.report["bounds"]["path_s"]},
            {"area_s", p.report["bounds"]["area_s"]}}},
          {"speed_up", speed_up},
          {"efficiency", speed_up * first.workers() / p.workers()},
          {"task_s", p.task_seconds()},
          {"interpolated_share", p.interpolated()},
          {"interpolated_kernels", p.report["simulation"]["interpolated_kernels"]},
          {"links", p.report["links"]}};
}

void print(const PredictOptions& o, const MachineFolder& machine, const nlohmann::json& runs) {
  fmt::print("predict: {} on {}\n", fmt::join(o.command, " "), machine.about["name"].get<std::string>());
  fmt::print("{:>4} {:>5} {:<8} {:>11} {:>16} {:>10} {:>11} {:>8} {:>10} {:>12}\n", "gpus", "cores", "sched", "time s",
             "measured", "GFLOP/s", "bound s", "speed-up", "efficiency", "interpolated");
  for (const auto& run : runs) {
    const std::string measured =
        run["measured_s"].is_null()
            ? ""
            : fmt::format("{:.4g} ({:+.1f} %)", run["measured_s"].get<double>(), 100 * run["error"].get<double>());
    fmt::print("{:>4} {:>5} {:<8} {:>11.5g} {:>16} {:>10.1f} {:>11.5g} {:>8.2f} {:>8.0f} % {:>10.1f} %\n",
               run["gpus"].get<int>(), run["cores"].get<int>(), run["scheduler"].get<std::string>(),
               run["seconds"].get<double>(), measured, run["gflops"].get<double>(),
               run["bound"]["seconds"].get<double>(), run["speed_up"].get<double>(),
               100 * run["efficiency"].get<double>(), 100 * run["interpolated_share"].get<double>());
  }
  for (const auto& run : runs)
    for (const auto& link : run["links"])
      fmt::print("link    {} GPUs, {}: {} -> {} {:.3f} GB in {} transfers\n", run["gpus"].get<int>(),
                 run["scheduler"].get<std::string>(), link["from"].get<std::string>(), link["to"].get<std::string>(),
                 1e-9 * link["bytes"].get<double>(), link["transfers"].get<index_t>());
  if (machine.about.contains("note")) fmt::print("note    {}\n", machine.about["note"].get<std::string>());
}

int run_predictions(const PredictOptions& o) {
  require_simulable(o.command);
  require(!o.machine.empty(), "predict", "--machine",
          "is missing: name the folder of a machine, or record this one "
          "with `tesela predict record --out FOLDER -- COMMAND`");
  const MachineFolder machine = read_machine(o.machine);
  const std::vector<int> gpus = o.gpus.empty() ? std::vector{machine.gpus()} : o.gpus;
  for (const int g : gpus)
    for (const int c : o.cores.empty() ? std::vector{suitable_cores(machine, g)} : o.cores)
      require_workers(machine, g, c);
  std::vector<Prediction> predictions;
  nlohmann::json runs = nlohmann::json::array();
  for (const int g : gpus)
    for (const int c : o.cores.empty() ? std::vector{suitable_cores(machine, g)} : o.cores)
      for (const std::string& scheduler : o.schedulers.empty() ? std::vector<std::string>{""} : o.schedulers) {
        predictions.push_back(predict(o, machine, g, c, scheduler));
        runs.push_back(json_of(machine, o, predictions.back(), predictions.front()));
      }
  if (!o.quiet && o.json_path != "-") print(o, machine, runs);
  write_json({{"command", "predict"},
              {"version", config::version},
              {"predicted", o.command},
              {"problem", predictions.front().report["problem"]},
              {"machine", machine.about},
              {"runs", runs},
              {"status", "ok"}},
             o.json_path);
  return done;
}

const Command predict_command(
    Command::Group::top, "predict", "time of a run on a recorded machine, by simulation", [](App& app) {
      auto o = std::make_shared<PredictOptions>();
      app.add_option("COMMAND", o->command,
                     "after --, the command to predict: gemm, qr, lu or cholesky with its options; with record before "
                     "--, the command that is run on this machine")
          ->required();
      app.add_option("--machine", o->machine, "folder of the machine, such as docs/machines/two-cores")
          ->type_name("DIR");
      app.add_option("--gpus", o->gpus, "numbers of GPUs, such as 1,2,4,8 (default: the machine's)")
          ->delimiter(',')
          ->transform(non_negative());
      app.add_option("--cores", o->cores, "numbers of CPU workers (default: as the machine would choose)")
          ->delimiter(',')
          ->transform(non_negative());
      app.add_option("--sched", o->schedulers, "schedulers, such as dmdas,lws (default: as the machine would choose)")
          ->delimiter(',')
          ->type_name("POLICY");
      add_output(app, Output::report, "-j,--json", o->json_path,
                 "write the predictions as one JSON object to FILE (- for standard output)");
      add_quiet(app, o->quiet);
      app.add_option("--out", o->out, "record: folder that gets the machine, or more times of it")->type_name("DIR");
      app.add_option("--name", o->name, "record: name of the machine (default: its GPU's or processor's)");
      app.add_option("--note", o->note, "record: a remark, which predictions repeat");
      app.footer(
          "Examples:\n"
          "  tesela predict --machine docs/machines/two-cores -- qr --n 4096\n"
          "  tesela predict --machine docs/machines/two-cores --sched lws,dmdas,eager -- cholesky --n 4096\n"
          "  tesela predict record --out here -- qr --n 4096");
      return std::function<int()>([o] {
        try {
          if (o->command.front() != "record") return run_predictions(*o);
          require(!o->out.empty(), "predict record", "--out", "is missing: it names the folder to write");
          return record_machine(*o);
        } catch (const ChildFailed& failed) {
          return failed.code;  // it has printed the reason
        }
      });
    });

}  // namespace

void require_simulable(const std::vector<std::string>& command) {
  require(!command.empty(), "predict", "COMMAND", "is missing: write it after --, such as -- qr --n 8192");
  const bool known = std::find(simulable.begin(), simulable.end(), command.front()) != simulable.end();
  require(known, "predict", "COMMAND", "'", command.front(), "' cannot be predicted: it is not one of ",
          fmt::format("{}", fmt::join(simulable, ", ")),
          ". What other commands do depends on values, and a simulation has none");
  for (const std::string& word : command)
    for (const char* const output : {"--out", "-o", "--json", "-j", "--trace", "--report", "--plan", "--energy"})
      require(word != output && !word.starts_with(std::string(output) + "=") && !word.starts_with("--out-"), "predict",
              "COMMAND", "has ", word, ": a prediction has no such output");
}

}  // namespace tesela::cli
