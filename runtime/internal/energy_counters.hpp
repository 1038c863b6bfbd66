#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tesela::detail {

/// One of the machine's energy counters, and the energy since begin().
class EnergyCounter {
 public:
  /// `read` returns J, or nothing on failure; `range`: the value at which the counter wraps to 0, or 0 if it never
  /// does.
  EnergyCounter(std::function<std::optional<double>()> read, double range) : read_(std::move(read)), range_(range) {}

  void begin() { before_ = read_(); }
  /// Adds the energy since the previous call. The counter may have wrapped once.
  void advance() {
    const std::optional<double> now = read_();
    if (!before_ || !now || (*now < *before_ && range_ == 0)) broken_ = true;
    if (broken_) return;
    sum_ += *now - *before_ + (*now < *before_ ? range_ : 0);
    before_ = now;
  }
  std::optional<double> sum() const { return broken_ ? std::nullopt : std::optional(sum_); }

 private:
  std::function<std::optional<double>()> read_;
  double range_, sum_ = 0;
  std::optional<double> before_;
  bool broken_ = false;
};

/// Returns the processor packages' counters; none if one of them cannot be read.
std::vector<EnergyCounter> package_counters(const std::string& powercap);

/// Returns the counters of these CUDA devices; none if a device has no counter.
std::vector<EnergyCounter> gpu_counters(const std::vector<int>& devices);

}  // namespace tesela::detail
