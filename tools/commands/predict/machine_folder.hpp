#pragma once

#include <tesela/runtime/machine/machine_times.hpp>
#include <tesela/runtime/simulation/simulated_machine.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// A folder that describes a machine: machine.json, kernels.csv and links.csv.
struct MachineFolder {
  std::string path{};
  nlohmann::json about{};  ///< name, processor, cores, gpus, gpu, gpu_bytes, measured (by command), note …
  std::vector<KernelTime> times{};
  std::vector<LinkSpeed> links{};

  int cores() const { return about.at("cores").get<int>(); }
  int gpus() const { return about.at("gpus").get<int>(); }
  std::string times_path() const;
};

/// Reads a folder. Throws FileError, with what to record, if it is none.
MachineFolder read_machine(const std::string& path);
/// Returns whether the folder describes a machine.
bool is_machine(const std::string& path);
/// Throws the error that write_machine would cause, and leaves no trace: call it before the runs of a recording.
void require_machine_place(const std::string& path);
/// Writes the folder, which it makes if necessary.
void write_machine(const MachineFolder& machine);

}  // namespace tesela::cli
