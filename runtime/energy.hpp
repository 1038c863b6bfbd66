#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela {

/// Joules; nothing where they cannot be read, or where the counters did not move.
struct Energy {
  std::optional<double> gpus, cores;
};

/// Counts the joules that are taken between resume() and pause(), by whatever runs meanwhile: those of these CUDA
/// devices (NVML's counters, since Volta) and those of the processors' packages (RAPL, by Linux's powercap). A counter
/// moves every millisecond or, on a GPU, every tenth of a second: shorter times want many repetitions.
class EnergyMeter {
 public:
  /// `powercap`: the folder in which Linux tells of RAPL.
  explicit EnergyMeter(const std::vector<int>& gpus, const std::string& powercap = "/sys/class/powercap");
  ~EnergyMeter();
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

  void resume();
  void pause();
  /// Of all times between resume() and pause() together.
  Energy energy() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tesela
