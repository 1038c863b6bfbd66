#include "tools/peers/harness.hpp"

#include "tools/app/median.hpp"
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cstring>
#include <thread>

namespace tesela::bench {

namespace {

EnergyMeter* current = nullptr;

/// Adds the energy that f() uses within seconds_of().
template <class F>
void add_energy(Energy& sum, const F& f) {
  const Energy before = current != nullptr ? current->energy() : Energy{};
  f();
  if (current == nullptr) return;
  const Energy after = current->energy();
  const auto add = [](std::optional<double>& to, const std::optional<double>& from,
                      const std::optional<double>& until) {
    if (until) to = to.value_or(0) + *until - from.value_or(0);
  };
  add(sum.gpus, before.gpus, after.gpus);
  add(sum.cores, before.cores, after.cores);
}

}  // namespace

EnergyScope::EnergyScope(const std::vector<int>& gpus) : meter_(gpus) { current = &meter_; }
EnergyScope::~EnergyScope() { current = nullptr; }
EnergyMeter* EnergyScope::meter() { return current; }

double Timing::median() const { return bench::median(seconds); }

double Timing::min() const { return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end()); }
double Timing::max() const { return seconds.empty() ? 0 : *std::max_element(seconds.begin(), seconds.end()); }

std::vector<Timing> alternate(const std::vector<Peer>& peers, int repeat) {
  constexpr double long_run = 20;
  std::vector<Timing> timings;
  for (const Peer& peer : peers) {
    Timing& timing = timings.emplace_back(Timing{peer.name, {}, 0, peer.absent});
    if (!peer.absent.empty()) continue;
    Energy energy;
    if (peer.verify) add_energy(energy, [&] { timing.error = peer.verify(); });
    if (peer.verify && peer.verified_seconds && *peer.verified_seconds > long_run) {
      timing.seconds.push_back(*peer.verified_seconds);
      timing.energy = energy;
    } else {
      peer.run();
    }
    if (Runtime::cancelled()) throw Cancelled();
  }
  for (std::size_t r = 0; r < static_cast<std::size_t>(std::max(repeat, 0)); ++r)
    for (std::size_t p = 0; p < peers.size(); ++p) {
      if (!peers[p].absent.empty() || timings[p].seconds.size() > r) continue;
      add_energy(timings[p].energy, [&] { timings[p].seconds.push_back(peers[p].run()); });
      if (Runtime::cancelled()) throw Cancelled();
    }
  for (Timing& timing : timings)
    for (auto* const joules : {&timing.energy.gpus, &timing.energy.cores})
      if (*joules) **joules /= static_cast<double>(timing.seconds.size());
  return timings;
}

void wait_for_idle_threads() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

double host_copy_ceiling() {
  const index_t bytes = index_t{256} << 20;
  std::vector<char> from(static_cast<std::size_t>(bytes), 1), to(static_cast<std::size_t>(bytes), 2);
  const auto timings =
      alternate({{"ceiling",
                  [&] {
                    return seconds_of([&] {
                      parallel_for(bytes, [&](index_t first, index_t end) {
                        std::memcpy(to.data() + first, from.data() + first, static_cast<std::size_t>(end - first));
                      });
                    });
                  }}},
                7);
  return 2e-9 * static_cast<double>(from.size()) / timings.front().median();
}

}  // namespace tesela::bench
