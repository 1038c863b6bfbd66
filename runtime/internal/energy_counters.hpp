#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tesela::detail {

/// One of the machine's counters of energy, and what it counted since begin().
class EnergyCounter {
 public:
  /// `read` answers joules, or nothing; `range`: where it goes round to 0 again, 0 for never.
  EnergyCounter(std::function<std::optional<double>()> read, double range) : read_(std::move(read)), range_(range) {}

  void begin() { before_ = read_(); }
  /// Adds what was counted since the last time, in which the counter may have gone round once.
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

/// Those of the processors' packages; none where one of them cannot be read.
std::vector<EnergyCounter> package_counters(const std::string& powercap);

/// Those of the CUDA devices of these numbers; none where one of them has none.
std::vector<EnergyCounter> gpu_counters(const std::vector<int>& devices);

}  // namespace tesela::detail
