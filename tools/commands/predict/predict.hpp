#pragma once

#include <string>
#include <vector>

namespace tesela::cli {

/// Options of `tesela predict`.
struct PredictOptions {
  std::vector<std::string> command;  ///< words after --; "record" comes first for a recording
  std::string machine, json_path;
  std::string gpus, cores, schedulers;  ///< lists
  std::string out, name, note;          ///< of a recording
  bool quiet = false;
};

/// Runs the command on this machine until each of its tasks' shapes has enough samples, and writes or completes the
/// folder. Returns an exit code.
int record_machine(const PredictOptions& options);

}  // namespace tesela::cli
