#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/codelets/support/fill.hpp>
#include <tesela/runtime/machine/topology.hpp>

#include <chrono>
#include <cstdlib>
#include <thread>

#if TESELA_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

using namespace tesela::kernels;
using namespace tesela::test;

TEST_CASE("memory of a GPU that the runtime does not use is refused") {
  Runtime runtime({.gpus = 0});
  double a = 0;
  CHECK_THROWS_AS(TileMatrix<double>::map_device(runtime, &a, 1, 1, 1, {1, 1}), EnvironmentError);
  CHECK_THROWS_AS(TileMatrix<double>::map_device(runtime, &a, 1, 1, 1, {1, 1}, -1), ArgumentError);
  CHECK_THROWS_AS(TileMatrix<double>::map_device(runtime, &a, 2, 1, 1, {1, 1}), ArgumentError);
}

#if TESELA_HAVE_CUDA

namespace {

/// A matrix in the memory of a CUDA program, with rows of padding below it.
template <class T>
class DeviceArray {
 public:
  DeviceArray(index_t m, index_t n, T sentinel)
      : ld_(m + 3), n_(n), host_(static_cast<std::size_t>(ld_ * n), sentinel) {
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&data_), host_.size() * sizeof(T)) == cudaSuccess);
    upload();
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  void upload() {
    REQUIRE(cudaMemcpy(data_, host_.data(), host_.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
  }
  void download() {
    REQUIRE(cudaMemcpy(host_.data(), data_, host_.size() * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
  }
  T* data() const { return data_; }
  index_t ld() const { return ld_; }
  T& operator()(index_t i, index_t j) { return host_[static_cast<std::size_t>(i + j * ld_)]; }

 private:
  T* data_ = nullptr;
  index_t ld_, n_;
  std::vector<T> host_;
};

}  // namespace

TEMPLATE_TEST_CASE("tasks compute in place in an array on a device", "[gpu]", float, double) {
  using T = TestType;
  require_gpu();
  const bool cores_too = GENERATE(false, true);
  Runtime runtime({.cpus = cores_too ? 2 : 0, .gpus = 1});
  constexpr index_t m = 301, n = 203, k = 157;
  constexpr T sentinel = -77;
  DeviceArray<T> a(m, k, sentinel), b(k, n, sentinel), c(m, n, sentinel);
  const Generator<T> u{Pattern::uniform, T(0), n, 7}, v{Pattern::uniform, T(0), n, 8};
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < m; ++i) a(i, j) = u(i, j);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < k; ++i) b(i, j) = v(i, j);
  for (auto* array : {&a, &b}) array->upload();
  {
    const auto A = TileMatrix<T>::map_device(runtime, a.data(), m, k, a.ld(), {100, 60});
    const auto B = TileMatrix<T>::map_device(runtime, b.data(), k, n, b.ld(), {60, 70});
    const auto C = TileMatrix<T>::map_device(runtime, c.data(), m, n, c.ld(), {100, 70});
    Graph g(runtime);
    gemm(g, Op::none, Op::none, T(1), A, B, T(0), C);
    g.wait();
    C.bring_home();  // back to the device after tasks on cores
    c.download();
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < m; ++i) {
        double sum = 0;
        for (index_t l = 0; l < k; ++l) sum += static_cast<double>(a(i, l)) * static_cast<double>(b(l, j));
        REQUIRE(std::abs(static_cast<double>(c(i, j)) - sum) <=
                1e3 * static_cast<double>(std::numeric_limits<T>::epsilon()));
      }
      for (index_t i = m; i < c.ld(); ++i) REQUIRE(c(i, j) == sentinel);
    }
    CHECK(C(0, 0).read()(5, 6) == c(5, 6));

    // The user writes to the array again, and tasks see the new contents.
    for (index_t j = 0; j < k; ++j)
      for (index_t i = 0; i < m; ++i) a(i, j) = 2 * u(i, j);
    a.upload();
    A.home_changed();
    gemm(g, Op::none, Op::none, T(-1), A, B, T(2), C);
    g.wait();
  }
  c.download();  // its destructor copied the contents back
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i)
      REQUIRE(std::abs(static_cast<double>(c(i, j))) <= 1e3 * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

GPU_TEST_CASE("earlier work on the default stream completes before the tasks") {
  constexpr index_t n = 64;
  DeviceArray<double> a(n, n, 1), c(n, n, 1);
  // Behaves like a copy that takes long.
  const auto clear_late = [&] {
    const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
    REQUIRE(cudaLaunchHostFunc(cudaStreamLegacy, sleep, nullptr) == cudaSuccess);
    REQUIRE(cudaMemsetAsync(a.data(), 0, static_cast<std::size_t>(a.ld() * n) * sizeof(double), cudaStreamLegacy) ==
            cudaSuccess);
  };
  clear_late();
  const auto A = TileMatrix<double>::map_device(runtime, a.data(), n, n, a.ld(), {n, n});
  const auto C = TileMatrix<double>::map_device(runtime, c.data(), n, n, c.ld(), {n, n});
  for (const bool again : {false, true}) {
    if (again) {
      a.upload();
      clear_late();
      A.home_changed();
    }
    Graph g(runtime);
    gemm(g, Op::none, Op::none, 1.0, A, A, 0.0, C);
    g.wait();
    CHECK(C(0, 0).read()(5, 6) == 0);
  }
}

TEST_CASE("a runtime that measures transfers changes neither the current device nor the contents of any device",
          "[gpu]") {
  require_gpu();
  const int devices = count_cuda_devices();
  std::vector<void*> kept(static_cast<std::size_t>(devices));
  const double number = 17;
  for (int d = devices - 1; d >= 0; --d) {
    void*& memory = kept[static_cast<std::size_t>(d)];
    REQUIRE(cudaSetDevice(d) == cudaSuccess);
    REQUIRE(cudaMalloc(&memory, sizeof number) == cudaSuccess);
    REQUIRE(cudaMemcpy(memory, &number, sizeof number, cudaMemcpyDefault) == cudaSuccess);
  }
  REQUIRE(setenv("STARPU_BUS_CALIBRATE", "1", 1) == 0);
  { Runtime runtime({.cpus = 0, .gpus = devices}); }
  unsetenv("STARPU_BUS_CALIBRATE");
  int device = -1;
  REQUIRE(cudaGetDevice(&device) == cudaSuccess);
  CHECK(device == 0);
  for (void* const memory : kept) {
    double found = 0;
    CHECK(cudaMemcpy(&found, memory, sizeof found, cudaMemcpyDefault) == cudaSuccess);
    CHECK(found == number);
    CHECK(cudaFree(memory) == cudaSuccess);
  }
}

GPU_TEST_CASE("host memory is refused as memory of a GPU") {
  std::vector<double> memory(100);
  CHECK_THROWS_MATCHES(TileMatrix<double>::map_device(runtime, memory.data(), 10, 10, 10, {5, 5}), ArgumentError,
                       MessageMatches(ContainsSubstring("not memory of CUDA device")));
}

TEST_CASE("a mapping hidden by another one is still known after the other has ended", "[gpu]") {
  require_gpu();
  Runtime runtime({.cpus = 1, .gpus = 1});
  std::vector<double> memory(4096);
  auto outer =
      std::make_unique<TileMatrix<double>>(TileMatrix<double>::map(runtime, memory.data(), 64, 64, 64, {64, 64}));
  const auto inner = TileMatrix<double>::map(runtime, memory.data() + 640, 64, 20, 64, {64, 20});
  outer.reset();
  CHECK_THROWS_AS(TileMatrix<double>::map(runtime, memory.data(), 64, 20, 64, {64, 20}), ArgumentError);
  const auto around = TileMatrix<double>::map(runtime, memory.data(), 64, 64, 64, {64, 64});
  Graph g(runtime);
  g.insert<Fill<double>>({}, inner(0, 0));
  CHECK(g.wait().ok());
}

#endif
