// Joules from counters that wrap around, are missing or cannot be read; a temporary folder replaces
// /sys/class/powercap.

#include "tests/support/commands/process.hpp"
#include "tests/support/machine.hpp"
#include <tesela/runtime/machine/energy.hpp>

#include <catch2/catch_approx.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace tesela;
using Catch::Approx;

namespace {

class Powercap {
 public:
  void domain(const std::string& name, const std::string& called, double range) {
    std::filesystem::create_directories(folder_ / name);
    std::ofstream(folder_ / name + "/name") << called << "\n";
    std::ofstream(folder_ / name + "/max_energy_range_uj") << static_cast<long long>(range) << "\n";
    set(name, 0);
  }
  void set(const std::string& name, double microjoules) {
    std::ofstream(folder_ / name + "/energy_uj") << static_cast<long long>(microjoules) << "\n";
  }
  void lose(const std::string& name) { std::filesystem::remove(folder_ / name + "/energy_uj"); }
  const std::string& path() const { return folder_.path(); }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("joules of two packages are added without their parts and other domains") {
  Powercap linux;
  linux.domain("intel-rapl:0", "package-0", 262143e6);
  linux.domain("intel-rapl:1", "package-1", 262143e6);
  linux.domain("intel-rapl:0:0", "core", 262143e6);
  linux.domain("intel-rapl:2", "psys", 262143e6);
  linux.domain("intel-rapl-mmio:0", "package-0", 262143e6);
  linux.set("intel-rapl:0", 5e6);
  EnergyMeter meter({}, linux.path());
  CHECK(!meter.energy().cores);
  meter.resume();
  linux.set("intel-rapl:0", 12e6);
  linux.set("intel-rapl:1", 0.25e6);
  for (const char* other : {"intel-rapl:0:0", "intel-rapl:2", "intel-rapl-mmio:0"}) linux.set(other, 100e6);
  meter.pause();
  linux.set("intel-rapl:0", 50e6);  // while paused
  CHECK(meter.energy().cores.value() == Approx(7.25));
  meter.resume();
  linux.set("intel-rapl:0", 51e6);
  meter.pause();
  meter.pause();
  CHECK(meter.energy().cores.value() == Approx(8.25));
  CHECK(!meter.energy().gpus);
}

TEST_CASE("a counter may wrap around") {
  Powercap linux;
  linux.domain("intel-rapl:0", "package-0", 1000e6);
  linux.set("intel-rapl:0", 990e6);
  EnergyMeter meter({}, linux.path());
  meter.resume();
  linux.set("intel-rapl:0", 15e6);
  meter.pause();
  CHECK(meter.energy().cores.value() == Approx(25));
}

TEST_CASE("a counter that cannot be read gives no value instead of 0") {
  Powercap linux;
  CHECK(!EnergyMeter({}, linux.path()).energy().cores);
  CHECK(!EnergyMeter({}, linux.path() + "/none").energy().cores);
  linux.domain("intel-rapl:0", "package-0", 1000e6);
  linux.domain("intel-rapl:1", "package-1", 1000e6);
  {
    EnergyMeter idle({}, linux.path());
    idle.resume();
    idle.pause();
    CHECK(!idle.energy().cores);
  }
  EnergyMeter meter({}, linux.path());
  meter.resume();
  linux.set("intel-rapl:0", 1e6);
  linux.lose("intel-rapl:1");
  meter.pause();
  CHECK(!meter.energy().cores);
  EnergyMeter without({}, linux.path());
  without.resume();
  linux.set("intel-rapl:0", 2e6);
  without.pause();
  CHECK(!without.energy().cores);
}

TEST_CASE("the joules of a GPU are measured", "[gpu]") {
  test::require_gpu();
  EnergyMeter meter({0});
  meter.resume();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  meter.pause();
  // An idle GPU takes at least some ten watts, and never more than a thousand.
  CHECK(meter.energy().gpus.value() > 1);
  CHECK(meter.energy().gpus.value() < 1000);
}
