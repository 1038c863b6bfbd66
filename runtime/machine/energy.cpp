#include <tesela/runtime/internal/energy_counters.hpp>
#include <tesela/runtime/machine/energy.hpp>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

namespace tesela {
namespace {

/// A package's counter wraps around after 262 kJ, 20 minutes at 200 W.
constexpr auto at_least_every = std::chrono::seconds(60);

std::optional<double> number_in(const std::filesystem::path& file) {
  double number = 0;
  std::ifstream stream(file);
  return stream >> number ? std::optional(number) : std::nullopt;
}

std::optional<double> sum_of(const std::vector<detail::EnergyCounter>& counters) {
  double all = 0;
  for (const detail::EnergyCounter& counter : counters) {
    const std::optional<double> sum = counter.sum();
    if (!sum) return std::nullopt;
    all += *sum;
  }
  return all > 0 ? std::optional(all) : std::nullopt;
}

}  // namespace

std::vector<detail::EnergyCounter> detail::package_counters(const std::string& powercap) {
  constexpr double micro = 1e-6;
  std::vector<EnergyCounter> counters;
  std::error_code unknown;
  for (const auto& entry : std::filesystem::directory_iterator(powercap, unknown)) {
    // intel-rapl:0 is a package (or a whole laptop), intel-rapl:0:1 a part of one; AMD processors use the same names.
    const std::string file = entry.path().filename().string();
    constexpr std::string_view domain = "intel-rapl:";
    if (!file.starts_with(domain) || file.find(':', domain.size()) != std::string::npos) continue;
    std::string name;
    std::ifstream(entry.path() / "name") >> name;
    if (!name.starts_with("package")) continue;
    const std::filesystem::path joules = entry.path() / "energy_uj";
    const std::optional<double> range = number_in(entry.path() / "max_energy_range_uj");
    if (!range || !number_in(joules)) return {};
    counters.emplace_back(
        [joules]() -> std::optional<double> {
          const std::optional<double> now = number_in(joules);
          return now ? std::optional(*now * micro) : std::nullopt;
        },
        *range* micro);
  }
  return counters;
}

struct EnergyMeter::Impl {
  Impl(const std::vector<int>& devices, const std::string& powercap)
      : gpus(detail::gpu_counters(devices)), packages(detail::package_counters(powercap)) {
    if (packages.empty()) return;
    watch = std::jthread([this](const std::stop_token& stop) {
      std::unique_lock lock(mutex);
      while (!wake_up.wait_for(lock, stop, at_least_every, [&] { return stop.stop_requested(); }))
        if (counting) advance();
    });
  }

  void advance() {
    for (auto* const counters : {&gpus, &packages})
      for (detail::EnergyCounter& counter : *counters) counter.advance();
  }

  mutable std::mutex mutex;
  std::condition_variable_any wake_up;
  std::vector<detail::EnergyCounter> gpus, packages;
  bool counting = false;
  std::jthread watch;  // last member, so that it is destroyed first
};

EnergyMeter::EnergyMeter(const std::vector<int>& gpus, const std::string& powercap)
    : impl_(std::make_unique<Impl>(gpus, powercap)) {}
EnergyMeter::~EnergyMeter() = default;

void EnergyMeter::resume() {
  const std::lock_guard lock(impl_->mutex);
  for (auto* const counters : {&impl_->gpus, &impl_->packages})
    for (detail::EnergyCounter& counter : *counters) counter.begin();
  impl_->counting = true;
}

void EnergyMeter::pause() {
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->counting) return;
  impl_->advance();
  impl_->counting = false;
}

Energy EnergyMeter::energy() const {
  const std::lock_guard lock(impl_->mutex);
  return {sum_of(impl_->gpus), sum_of(impl_->packages)};
}

}  // namespace tesela
