#pragma once

#include <string>
#include <vector>

namespace tesela::cli {

/// Options of `tesela predict`.
struct PredictOptions {
  std::vector<std::string> command;  ///< words after --
  std::string machine, json_path, plot_path;
  std::string gpus, cores, schedulers, hosts;  ///< lists
  std::string link;                            ///< between hosts: GB/s, or GB/s and µs
  bool weak = false;                           ///< also problems that grow with the workers
  std::string out, name, note;                 ///< of a recording
  bool program = false;                        ///< of a recording: the words are any program with its arguments
  bool quiet = false;
};

/// Runs the command on this machine until each of its tasks' shapes has enough samples, and writes or completes the
/// folder. Returns an exit code.
int record_machine(const PredictOptions& options);

}  // namespace tesela::cli
