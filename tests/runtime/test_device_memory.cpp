#include "tests/support/machine.hpp"
#include <tesela/runtime/machine/device_memory.hpp>
#include <tesela/runtime/machine/topology.hpp>
#include <tesela/runtime/out_of_memory.hpp>
#include <tesela/runtime/runtime.hpp>

using namespace tesela::test;

TEST_CASE("a device that the workers do not use is reported") {
  Runtime runtime({.gpus = 0});
  CHECK_THROWS_AS(gpu_of_device(runtime, 0), EnvironmentError);
}

TEST_CASE("without a device there is no device memory") {
  if (count_cuda_devices() > 0) SKIP("there is one");
  CHECK_THROWS_AS(DeviceBuffer(0, 8), EnvironmentError);
  CHECK(free_device_bytes() == 0);
}

TEST_CASE("columns are copied to the device and back, and padding is unchanged", "[gpu][sanitize]") {
  require_gpu();
  CHECK(free_device_bytes() > 0);
  for (const Shape shape : {Shape{0, 0}, Shape{0, 3}, Shape{1, 1}, Shape{7, 1}, Shape{1, 7}, Shape{33, 20}}) {
    for (const index_t gap : {0, 3}) {
      const auto [m, n] = shape;
      const index_t ld = m + gap, to_ld = m + 2 * gap;
      constexpr double outside = -1;
      std::vector<double> from(static_cast<std::size_t>(ld * n) + 1, 5),
          to(static_cast<std::size_t>(to_ld * n) + 1, outside);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < m; ++i) from[static_cast<std::size_t>(i + j * ld)] = static_cast<double>(100 * i + j);
      DeviceBuffer first(0, from.size() * sizeof(double));
      copy_columns(0, {first.data(), ld}, {from.data(), ld}, shape, sizeof(double));
      DeviceBuffer buffer(0, from.size() * sizeof(double));
      copy_columns(0, {buffer.data(), m}, {first.data(), ld}, shape, sizeof(double));
      DeviceBuffer moved(std::move(buffer));
      CHECK(moved.data() != nullptr);
      copy_columns(0, {to.data(), to_ld}, {moved.data(), m}, shape, sizeof(double));
      bool right = true, untouched = true;
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < to_ld && i + j * to_ld < static_cast<index_t>(to.size()); ++i) {
          const double x = to[static_cast<std::size_t>(i + j * to_ld)];
          if (i < m)
            right = right && x == static_cast<double>(100 * i + j);
          else
            untouched = untouched && x == outside;
        }
      INFO(m << " x " << n << ", " << gap);
      CHECK(right);
      CHECK(untouched);
      if (m > 2 && n > 1) {
        zero_columns(0, {static_cast<double*>(moved.data()) + 1, m}, {m - 2, n - 1}, sizeof(double));
        copy_columns(0, {to.data(), to_ld}, {moved.data(), m}, shape, sizeof(double));
        for (index_t j = 0; j < n; ++j)
          for (index_t i = 0; i < m; ++i) {
            const bool zeroed = i > 0 && i < m - 1 && j < n - 1;
            right =
                right && to[static_cast<std::size_t>(i + j * to_ld)] == (zeroed ? 0 : static_cast<double>(100 * i + j));
          }
        CHECK(right);
      }
    }
  }
}

TEST_CASE("a request beyond the memory of a device has its own error", "[gpu]") {
  require_gpu();
  CHECK_THROWS_AS(DeviceBuffer(0, std::size_t{1} << 50), OutOfMemory);
  DeviceBuffer after(0, 8);  // the device remains usable
  CHECK(after.data() != nullptr);
}

TEST_CASE("the runtime's GPUs have the device numbers of CUDA", "[gpu]") {
  require_gpu();
  Runtime runtime({.cpus = 1, .gpus = 1});
  CHECK(gpu_of_device(runtime, 0) == 0);
  CHECK_THROWS_AS(gpu_of_device(runtime, 77), EnvironmentError);
}
