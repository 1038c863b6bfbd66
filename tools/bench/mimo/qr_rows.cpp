#include "tools/bench/harness/report.hpp"
#include "tools/bench/mimo/mimo_rows.hpp"
#include "tools/peers/device.hpp"
#include <tesela/algorithms/mimo/qr_batch.hpp>
#include <tesela/codelets/mimo/small_qr.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/cuda_context.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <random>

#if TESELA_HAVE_CUDA
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#endif

namespace tesela::bench {
namespace {

/// K matrices n x n side by side.
template <class T>
struct QrData {
  using F = std::complex<T>;
  index_t n, count;
  HostMatrix<F> given, found;

  QrData(index_t size, index_t matrices, std::uint64_t seed)
      : n(size), count(matrices), given(n, n * count), found(n, n * count) {
    std::minstd_rand bits(static_cast<unsigned>(seed + 1));
    const auto next = [&] { return static_cast<T>(bits()) / static_cast<T>(1U << 30) - T(1); };
    for (index_t e = 0; e < given.size(); ++e) given.data()[e] = {next(), next()};
  }

  /// R^H R against A^H A of some of them.
  double error() const {
    double largest = 0;
    for (index_t k = 0; k < count; k += std::max<index_t>(1, count / 100))
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i <= j; ++i) {
          std::complex<double> before = 0, after = 0;
          for (index_t l = 0; l < n; ++l)
            before += std::complex<double>(std::conj(given(l, k * n + i)) * given(l, k * n + j));
          for (index_t l = 0; l <= i; ++l)
            after += std::conj(std::complex<double>(found(l, k * n + i))) * std::complex<double>(found(l, k * n + j));
          largest = std::fmax(largest, std::abs(before - after));
        }
    return largest / (static_cast<double>(n) * 100 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
};

/// By qr_batch, on cores: the seconds of the kernel.
template <class T>
double on_cores(Runtime& runtime, QrData<T>& data, const QrBatchOptions& options) {
  using F = std::complex<T>;
  constexpr index_t together = 65536;
  const index_t n = data.n;
  const TileMatrix<F> a(runtime, n, n * data.count, {n, n * together}), tau(runtime, n, data.count, {n, together});
  const TileMatrix<int> places(runtime, n, data.count, {n, together});
  a.copy_from(data.given.data(), n);
  runtime.reset_statistics();
  Graph g(runtime);
  const auto failures = qr_batch<F>(g, a, tau, places, nullptr, options);
  if (!failures.empty()) throw WrongResult("bench mimo: qr_batch found a number that is not finite");
  const double seconds = kernel_seconds(runtime, "small_qr");
  a.copy_to(data.found.data(), n);
  return seconds;
}

#if TESELA_HAVE_CUDA
int geqrf_batched(cublasHandle_t handle, index_t n, std::complex<float>** a, std::complex<float>** tau, index_t count) {
  int info = 0;
  return cublasCgeqrfBatched(handle, static_cast<int>(n), static_cast<int>(n), reinterpret_cast<cuComplex**>(a),
                             static_cast<int>(n), reinterpret_cast<cuComplex**>(tau), &info, static_cast<int>(count));
}
int geqrf_batched(cublasHandle_t handle, index_t n, std::complex<double>** a, std::complex<double>** tau,
                  index_t count) {
  int info = 0;
  return cublasZgeqrfBatched(handle, static_cast<int>(n), static_cast<int>(n), reinterpret_cast<cuDoubleComplex**>(a),
                             static_cast<int>(n), reinterpret_cast<cuDoubleComplex**>(tau), &info,
                             static_cast<int>(count));
}

/// Measures the kernel of qr_batch and cuBLAS on the same numbers, restored before each run, between two events.
template <class T>
class DeviceQr {
 public:
  using F = std::complex<T>;
  explicit DeviceQr(QrData<T>& data)
      : data_(data),
        bytes_(static_cast<std::size_t>(data.given.size()) * sizeof(F)),
        given_(bytes_),
        a_(bytes_),
        tau_(static_cast<std::size_t>(data.n * data.count) * sizeof(F)),
        order_(static_cast<std::size_t>(data.n * data.count) * sizeof(int)),
        info_(static_cast<std::size_t>(data.count) * sizeof(int)),
        pointers_(static_cast<std::size_t>(2 * data.count) * sizeof(F*)) {
    check_device(static_cast<int>(cublasCreate(handle_.out())), "cublasCreate");
    std::vector<F*> each;
    for (index_t k = 0; k < data.count; ++k) each.push_back(a_.template as<F>() + k * data.n * data.n);
    for (index_t k = 0; k < data.count; ++k) each.push_back(tau_.template as<F>() + k * data.n);
    copy_memory(pointers_.as<F*>(), each.data(), each.size() * sizeof(F*));
    copy_memory(given_.as<F>(), data.given.data(), bytes_);
  }
  double ours(const QrBatchOptions& options) {
    begin();
    const index_t n = data_.n, count = data_.count, each = kernels::SmallQr<F>::work_size(options.order, n, n);
    const DeviceMemory work(static_cast<std::size_t>(std::max<index_t>(each * count, 1)) * sizeof(F));
    const double seconds = event_seconds([&](CUstream_st*) {
      CudaContext context("bench mimo");
      context.redirect(cudaStreamLegacy);
      F* const nothing = nullptr;
      kernels::SmallQr<F>::cuda(context, {n, 0, options.order, 0, options.rotations},
                                {{a_.template as<F>(), n, n * count, n}}, {{nothing, 1, 0, 1}},
                                {{tau_.template as<F>(), n, count, n}}, {{order_.as<int>(), n, count, n}},
                                {{info_.as<int>(), 1, count, 1}}, {{work.template as<F>(), each, count, each}});
    });
    copy_memory(data_.found.data(), a_.template as<F>(), bytes_);
    return seconds;
  }
  double cublas() {
    begin();
    return event_seconds([&](CUstream_st*) {
      check_device(geqrf_batched(handle_, data_.n, pointers_.as<F*>(), pointers_.as<F*>() + data_.count, data_.count),
                   "geqrfBatched");
    });
  }

 private:
  void begin() {
    select_first_device();
    copy_memory(a_.template as<F>(), given_.template as<F>(), bytes_);
    flush_device_cache();
  }
  QrData<T>& data_;
  std::size_t bytes_;
  DeviceMemory given_, a_, tau_, order_, info_, pointers_;
  Handle<cublasHandle_t, cublasDestroy> handle_;
};
#endif

}  // namespace

template <class T>
void add_qr_rows(Report& report, Runtime& runtime, const MimoBench& o) {
  using F = std::complex<T>;
  const double ceiling = measure_copy_ceiling(report, runtime, runtime.gpus() > 0);
  for (const index_t n : {4, 8, 16}) {
    const auto data = std::make_shared<QrData<T>>(n, n == 16 ? o.matrices / 4 : o.matrices, o.common.seed);
#if TESELA_HAVE_CUDA
    const auto device = runtime.gpus() > 0 ? std::make_shared<DeviceQr<T>>(*data) : nullptr;
#endif
    std::vector<Peer> peers;
    const std::pair<const char*, QrBatchOptions> ways[] = {{"qr_batch", {}},
                                                           {"qr_batch, sqrd", {.order = ColumnOrder::sqrd}},
                                                           {"qr_batch, rotations", {.rotations = true}}};
    for (const auto& [name, options] : ways) {
      const auto run = [=, &runtime, &options = options] {
#if TESELA_HAVE_CUDA
        if (device) return device->ours(options);
#endif
        return on_cores(runtime, *data, options);
      };
      peers.push_back(checked(name, run, [data, natural = options.order == ColumnOrder::natural] {
        const double error = natural ? data->error() : 0;
        if (!(error <= 1)) throw WrongResult(fmt::format("bench mimo: R^H R is not A^H A, by {:.2e} bounds", error));
        return error;
      }));
    }
#if TESELA_HAVE_CUDA
    if (device) peers.push_back({"cublas geqrfBatched", [device] { return device->cublas(); }});
#endif
    const double bytes = 2.0 * static_cast<double>(data->given.size()) * sizeof(F);
    report.add({fmt::format("{} complex QRs {}x{}", data->count, n, n), n, n, data->count, "",
                runtime.gpus() > 0 ? "device" : "host", "GB/s"},
               alternate(peers, o.common.repeat), ceiling, [bytes](double seconds) { return bytes / seconds * 1e-9; });
  }
}

TESELA_FUNCTIONS_FOR_REALS(add_qr_rows)

}  // namespace tesela::bench
