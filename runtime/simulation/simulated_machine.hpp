#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tesela {

class Runtime;

/// Speed of the transfers from one memory to another: RAM, GPU0, GPU1 and so on.
struct LinkSpeed {
  std::string from, to;         ///< the memories
  double bytes_per_second = 0;  ///< speed of a long transfer
  double seconds = 0;           ///< time of an empty one
  double column_seconds = 0;    ///< added by each column of a block in a larger matrix in host memory
};

/// First line of a file of links.
inline constexpr const char* heading_of_links = "from,to,bytes_per_second,seconds,column_seconds";
/// Reads a CSV file with a line for each link. Throws FileError for an unreadable file or a wrong line.
std::vector<LinkSpeed> read_links(const std::string& path);

/// Returns the speeds of the links that StarPU measured, and the measured time of columns between the host and GPUs.
std::vector<LinkSpeed> measured_links(const Runtime& runtime);

/// A machine of a simulation.
struct SimulatedMachine {
  int cores = 1, gpus = 0;         ///< workers
  double gpu_bytes = 0;            ///< memory of each GPU
  bool int8 = false;               ///< GPUs are fast at products of 8-bit integers
  std::string scheduler{};         ///< empty: the default
  std::vector<LinkSpeed> links{};  ///< between each two memories that it has
};
/// The most workers that the simulator accepts.
inline constexpr int most_simulated_gpus = 16, most_simulated_cores = 256;

/// Writes a platform for SimGrid into an existing folder. Returns the environment of the program tesela-simulated:
/// variables with their values; those with an empty one must be unset.
///
/// times    path of the machine's kernel times.
/// Throws   ArgumentError if the speed of a link between the GPUs and the host is missing.
std::vector<std::pair<std::string, std::string>> prepare_simulation(const SimulatedMachine& machine,
                                                                    const std::string& folder,
                                                                    const std::string& times);
/// Returns the environment in which StarPU keeps its models in this folder, under the name `host`, all GPUs together.
/// Tasks of a stream do not overlap: StarPU would count the launches of a task's kernels as time of the task before it.
std::vector<std::pair<std::string, std::string>> recording_environment(const std::string& folder,
                                                                       const std::string& host);

}  // namespace tesela
