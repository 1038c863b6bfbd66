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
  /// Returns GFLOP/s; 0 without operations.
  double rate() const { return report.at("gflops").is_number() ? report.at("gflops").get<double>() : 0; }
  double task_seconds() const { return report.at("simulation").at("task_s").get<double>(); }
  /// Share of the tasks' time that comes from shapes without a measured time.
  double interpolated() const {
    const double all = task_seconds();
    return all > 0 ? report.at("simulation").at("interpolated_s").get<double>() / all : 0;
  }
  int workers() const { return gpus > 0 ? gpus : cores; }
};

// `routine`, predict or tune, begins each message.

/// Throws ArgumentError unless these are the words of a command that can be simulated.
void require_simulable(const char* routine, const std::vector<std::string>& command);
/// Throws ArgumentError if the command chooses the workers or their scheduler, as options before -- do.
void require_free_workers(const char* routine, const std::vector<std::string>& command);
/// Throws ArgumentError if the machine has fewer GPUs or cores.
void require_workers(const char* routine, const MachineFolder& machine, int gpus, int cores);

/// Throws ArgumentError for an unknown scheduler; an empty name is the default one.
void require_scheduler(const std::string& name);

/// Returns the cores that run tasks next to these GPUs, as a Runtime chooses them: all but the GPUs' drivers and one.
int suitable_cores(const MachineFolder& machine, int gpus);

/// Runs the command in the simulator; an empty scheduler is the default.
///
/// Throws   EnvironmentError without a simulator or if the command runs no graph, ChildFailed if the command fails.
Prediction predict(const std::vector<std::string>& command, const MachineFolder& machine, int gpus, int cores,
                   const std::string& scheduler);

/// Returns the bytes that a host sends or receives if hosts with these workers share the command's tiles, a rank each:
/// the most of up to eight hosts, which insert the tasks and run none. Throws as predict() does.
double bytes_of_host(const std::vector<std::string>& command, const MachineFolder& machine, int gpus, int cores,
                     int hosts);

}  // namespace tesela::cli
