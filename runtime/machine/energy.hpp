#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela {

/// Energies in J; empty if the counters cannot be read or did not advance.
struct Energy {
  std::optional<double> gpus, cores;  ///< of all GPUs, and of all processors
};

/// Measures the energy that all programs together use between resume() and pause(), on these CUDA devices (NVML's
/// counters, Volta or later) and on the processors' packages (RAPL, through Linux's powercap). A package's counter
/// advances every millisecond, a GPU's every 100 ms: repeat shorter work many times.
class EnergyMeter {
 public:
  /// `powercap`: the folder of Linux's RAPL counters.
  explicit EnergyMeter(const std::vector<int>& gpus, const std::string& powercap = "/sys/class/powercap");
  ~EnergyMeter();
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

  void resume();
  void pause();
  /// Energy of all intervals between resume() and pause() together.
  Energy energy() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tesela
