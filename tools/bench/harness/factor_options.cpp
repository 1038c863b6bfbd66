#include "tools/bench/harness/factor_options.hpp"

#include "tools/peers/device.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>

namespace tesela::bench {

bool FactorOptions::has(const std::string& peer) const {
  return std::find(peers.begin(), peers.end(), peer) != peers.end();
}

void FactorOptions::add_peers(cli::App& app, const std::vector<std::string>& names) {
  own_ = names.front();
  bench::add_peers(app, peers, names);
  app.add_option("--data", data, "host: transfers are timed; device: the data stay on the GPUs")
      ->check(cli::one_of({"host", "device"}))
      ->show_default();
}

void FactorOptions::resolve(const std::string& benchmark) {
  if (peers.empty()) peers = {own_, gpu() || on_device() ? "cusolver" : "lapack"};
  require(!on_device() || !has("lapack"), "bench " + benchmark, "--peers",
          "lapack needs host matrices: use --data host");
  const bool cusolver =
      std::any_of(peers.begin(), peers.end(), [](const auto& p) { return p.starts_with("cusolver"); });
  if (on_device() || cusolver) require_gpu(benchmark.c_str());
  if (on_device() && common.ncuda == 0)
    throw EnvironmentError("bench " + benchmark + ": --ncuda 0 leaves no device for --data device");
  if (on_device() && devices_alone && common.ncpu < 0) common.ncpu = 0;
}

}  // namespace tesela::bench
