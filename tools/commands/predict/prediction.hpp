#pragma once

#include "tools/commands/predict/machine_folder.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// One prediction: workers, and the report of tesela-simulated.
struct Prediction {
  int gpus, cores;
  nlohmann::json report;
  double seconds() const { return report.at("seconds").at("compute").get<double>(); }
  double task_seconds() const { return report.at("simulation").at("task_s").get<double>(); }
  /// Share of the tasks' time that comes from shapes without a measured time.
  double interpolated() const {
    const double all = task_seconds();
    return all > 0 ? report.at("simulation").at("interpolated_s").get<double>() / all : 0;
  }
  int workers() const { return gpus > 0 ? gpus : cores; }
};

/// Throws ArgumentError unless these are the words of a command that can be simulated.
void require_simulable(const std::vector<std::string>& command);
/// Throws ArgumentError if the command chooses the workers or their scheduler, as options before -- do.
void require_free_workers(const std::vector<std::string>& command);
/// Throws ArgumentError if the machine has fewer GPUs or cores.
void require_workers(const MachineFolder& machine, int gpus, int cores);

/// Returns the cores that run tasks next to these GPUs, as a Runtime chooses them: all but the GPUs' drivers and one.
int suitable_cores(const MachineFolder& machine, int gpus);

/// Runs the command in the simulator; an empty scheduler is the default.
///
/// Throws   EnvironmentError without a simulator or if the command runs no graph, ChildFailed if the command fails.
Prediction predict(const std::vector<std::string>& command, const MachineFolder& machine, int gpus, int cores,
                   const std::string& scheduler);

}  // namespace tesela::cli
