#pragma once

#include "cli/app/report.hpp"
#include <tesela/algorithms/mimo/mimo_channel.hpp>
#include <tesela/algorithms/mimo/mimo_detect.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tesela::cli {

/// H and y of --h and --y, or generated ones.
struct MimoInput {
  std::string h, y, sent, noise_cov;
  index_t streams = 4, antennas = 0, signals = 10000;
  index_t coherence = -1;  ///< -1: as the files have it, else a channel each
  std::string constellation = "16qam", channel = "rayleigh";
  double ebn0 = 10;
  std::optional<double> n0;

  void add_to(CLI::App& app);
};

template <class T>
struct MimoData {
  MimoShape shape;
  std::vector<Constellation> alphabets;
  HostMatrix<std::complex<T>> channels, y;
  HostMatrix<int> sent;  ///< without columns where it is not known
  double n0 = 0;
  bool integers = false;  ///< the alphabet is that of Gaussian integers; `alphabets` only say what was sent
  nlohmann::json problem;
};

/// Reads or generates all of it. Throws ArgumentError and FileError.
template <class T>
MimoData<T> load_mimo(const MimoInput& input, std::uint64_t seed);

/// "gradient:babai", "up" and their like, as options of a search.
void take_order(const std::string& order, const std::string& direction, MimoOptions& options);
std::string order_names();

/// nodes_mean, _median, _p99 and _max.
void report_nodes(const std::vector<SearchReport>& reports, Report& report);

}  // namespace tesela::cli
