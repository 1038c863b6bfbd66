#include "tests/support/files.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/machine/machine_times.hpp>
#include <tesela/runtime/simulation/simulation.hpp>

#include <catch2/catch_approx.hpp>

#include <fstream>

using namespace tesela::test;
using Catch::Approx;

namespace {

/// Returns the time of a product of two square tiles in this precision, at a rate in flops a second.
KernelTime product(double n, double rate, double element = 8, bool on_gpu = false) {
  const double flops = 2 * n * n * n;
  return {"gemm", on_gpu, static_cast<std::uint32_t>(n * element), 3 * n * n * element, flops, flops / rate, 0, 10};
}

double seconds_of(const KernelTimes& times, double n, double element = 8) {
  return times.find("gemm", false, 1, 3 * n * n * element, 2 * n * n * n).seconds;
}

}  // namespace

TEST_CASE("a table of kernel times is read as it was written") {
  const TemporaryFolder folder;
  const std::string path = folder / "kernels.csv";
  const std::vector<KernelTime> times{product(100, 1e9),
                                      product(333, 3e12, 4, true),
                                      {"lacpy", false, 0xdeadbeef, 1.0 / 3, 0, 1e-7 / 3, 1e-9, 12345678}};
  std::ofstream(path) << to_csv(times);
  const std::vector<KernelTime> read = read_kernel_times(path);
  REQUIRE(read.size() == times.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    CHECK(read[i].is_of_same(times[i]));
    CHECK(read[i].bytes == times[i].bytes);
    CHECK(read[i].flops == times[i].flops);
    CHECK(read[i].seconds == times[i].seconds);
    CHECK(read[i].deviation == times[i].deviation);
    CHECK(read[i].samples == times[i].samples);
  }
}

TEST_CASE("a wrong line of kernel times is an error that names it") {
  const TemporaryFolder folder;
  const std::string path = folder / "kernels.csv", right = to_csv({product(100, 1e9)});
  const auto message = [&](const std::string& text) {
    std::ofstream(path) << text;
    try {
      static_cast<void>(read_kernel_times(path));
    } catch (const FileError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message(right).empty());
  CHECK(message(right + "gemm,core,1f\n").find("line 3: a field is missing") != std::string::npos);
  CHECK(message(right + "gemm,tpu,1f,1,1,1,1,1\n").find("line 3: 'tpu' is neither") != std::string::npos);
  CHECK(message(right + "gemm,core,1f,1,1,nan,1,1\n").find("'nan' is not a number") != std::string::npos);
  CHECK(message(right + "gemm,core,1f,1,1,1,1,1,1\n").find("more than 8 fields") != std::string::npos);
  CHECK(message("kernel\n").find("line 1") != std::string::npos);
  CHECK_THROWS_AS(read_kernel_times(folder / "none.csv"), FileError);
}

TEST_CASE("a time without flops does not count for a shape with flops, unless no time has them") {
  KernelTime mixed = product(150, 1e9);  // shapes of one key whose flops differ
  mixed.flops = 0;
  const KernelTimes some({mixed, product(100, 1e9), product(400, 1e9)});
  CHECK(seconds_of(some, 50) == Approx(product(50, 1e9).seconds));
  CHECK(seconds_of(some, 200) == Approx(product(200, 1e9).seconds));
  CHECK(seconds_of(KernelTimes({mixed}), 300) == Approx(4 * mixed.seconds));  // by bytes
}

TEST_CASE("a measured shape has its own time, others are interpolated over flops") {
  const KernelTimes times({product(100, 1e9), product(400, 4e9), product(200, 9e9, 8, true)});
  CHECK(times.has("gemm", false));
  CHECK(times.has("gemm", true));
  CHECK_FALSE(times.has("trsm", false));
  const KernelTime known = product(100, 1e9);
  const auto found = times.find("gemm", false, known.shape, known.bytes, known.flops);
  CHECK(found.measured);
  CHECK(found.seconds == known.seconds);
  CHECK_FALSE(times.find("gemm", false, 1, known.bytes, known.flops).measured);
  CHECK(seconds_of(times, 200) == Approx(product(200, 2e9).seconds));  // the rate grows by its logarithm
  CHECK(seconds_of(times, 50) == Approx(product(50, 1e9).seconds));    // the nearest rate beyond
  CHECK(seconds_of(times, 800) == Approx(product(800, 4e9).seconds));
  const KernelTimes copies({{"lacpy", false, 7, 1000, 0, 1e-6, 0, 10}});
  CHECK(copies.find("lacpy", false, 8, 3000, 0).seconds == Approx(3e-6));  // over bytes without flops
}

TEST_CASE("times of another precision count only if no other exists") {
  const KernelTimes both({product(100, 1e9), product(90, 2e9, 4), product(300, 2e9, 4)});
  CHECK(seconds_of(both, 200, 8) == Approx(product(200, 1e9).seconds));
  CHECK(seconds_of(both, 200, 4) == Approx(product(200, 2e9).seconds));
  const KernelTimes single({product(100, 2e9, 4)});
  CHECK(seconds_of(single, 100, 8) == Approx(product(100, 2e9).seconds));
}

TEST_CASE("this process simulates nothing, and its clock runs") {
  CHECK_FALSE(is_simulated());
  const double before = clock_seconds();
  CHECK(clock_seconds() >= before);
  CHECK(simulated_times().seconds == 0);
}

TEST_CASE("memory of a simulation is address space alone") {
  constexpr std::size_t bytes = std::size_t{1} << 38;  // more than this machine has
  auto* const memory = static_cast<char*>(simulated_memory(bytes));
  REQUIRE(memory != nullptr);
  memory[0] = 1;
  memory[bytes - 1] = 2;
  release_simulated_memory(memory);
}
