#include "bench/harness/device.hpp"
#include "bench/harness/noted_ceiling.hpp"
#include "bench/mimo/mimo_rows.hpp"
#include <tesela/algorithms/mimo/qr_batch.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <random>

#if TESELA_HAVE_CUDA
#include "bench/harness/handle.hpp"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#endif

namespace tesela::bench {
namespace {

/// K matrices n x n side by side, and what qr_batch makes of them.
template <class T>
struct QrData {
  using F = std::complex<T>;
  static constexpr index_t together = 1 << 18;
  index_t n, count;
  HostMatrix<F> given;
  TileMatrix<F> a, tau;
  TileMatrix<int> order;

  QrData(Runtime& runtime, index_t size, index_t matrices, std::uint64_t seed)
      : n(size),
        count(matrices),
        given(n, n * count),
        a(runtime, n, n * count, {n, n * together}),
        tau(runtime, n, count, {n, together}),
        order(runtime, n, count, {n, together}) {
    std::minstd_rand bits(static_cast<unsigned>(seed + 1));
    const auto next = [&] { return static_cast<T>(bits()) / static_cast<T>(1U << 30) - T(1); };
    for (index_t e = 0; e < given.size(); ++e) given.data()[e] = {next(), next()};
  }

  /// R^H R against A^H A of some of them.
  double error() const {
    HostMatrix<F> r(n, n * count);
    a.copy_to(r.data(), n);
    double largest = 0;
    for (index_t k = 0; k < count; k += std::max<index_t>(1, count / 100))
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i <= j; ++i) {
          std::complex<double> before = 0, after = 0;
          for (index_t l = 0; l < n; ++l)
            before += std::complex<double>(std::conj(given(l, k * n + i)) * given(l, k * n + j));
          for (index_t l = 0; l <= i; ++l)
            after += std::conj(std::complex<double>(r(l, k * n + i))) * std::complex<double>(r(l, k * n + j));
          largest = std::fmax(largest, std::abs(before - after));
        }
    return largest / (static_cast<double>(n) * 100 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
};

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

/// cuBLAS on the same numbers, which are there anew before each run.
template <class T>
struct CublasQr {
  using F = std::complex<T>;
  index_t n, count;
  const HostMatrix<F>& given;
  DeviceMemory a, tau, pointers;
  Handle<cublasHandle_t, cublasDestroy> handle;

  explicit CublasQr(const QrData<T>& data)
      : n(data.n),
        count(data.count),
        given(data.given),
        a(static_cast<std::size_t>(n * n * count) * sizeof(F)),
        tau(static_cast<std::size_t>(n * count) * sizeof(F)),
        pointers(static_cast<std::size_t>(2 * count) * sizeof(F*)) {
    check_device(static_cast<int>(cublasCreate(handle.out())), "cublasCreate");
    std::vector<F*> each;
    for (index_t k = 0; k < count; ++k) each.push_back(a.template as<F>() + k * n * n);
    for (index_t k = 0; k < count; ++k) each.push_back(tau.template as<F>() + k * n);
    check_device(
        static_cast<int>(cudaMemcpy(pointers.as<F*>(), each.data(), each.size() * sizeof(F*), cudaMemcpyHostToDevice)),
        "cudaMemcpy");
  }
  double run() {
    select_first_device();
    check_device(
        static_cast<int>(cudaMemcpy(a.template as<F>(), given.data(),
                                    static_cast<std::size_t>(given.size()) * sizeof(F), cudaMemcpyHostToDevice)),
        "cudaMemcpy");
    check_device(static_cast<int>(cudaDeviceSynchronize()), "cudaDeviceSynchronize");
    return seconds_of([&] {
      check_device(geqrf_batched(handle, n, pointers.as<F*>(), pointers.as<F*>() + count, count), "geqrfBatched");
      check_device(static_cast<int>(cudaDeviceSynchronize()), "cudaDeviceSynchronize");
    });
  }
};
#endif

}  // namespace

template <class T>
void add_qr_rows(Report& report, Runtime& runtime, const MimoBench& o) {
  using F = std::complex<T>;
  const double ceiling = noted_copy_ceiling(report, runtime, runtime.gpus() > 0);
  for (const index_t n : {4, 8, 16}) {
    const auto data = std::make_shared<QrData<T>>(runtime, n, n == 16 ? o.matrices / 4 : o.matrices, o.common.seed);
    std::vector<Peer> peers;
    for (const ColumnOrder order : {ColumnOrder::natural, ColumnOrder::sqrd}) {
      const auto kernel = std::make_shared<double>(0);
      const auto run = [&runtime, data, kernel, order] {
        data->a.copy_from(data->given.data(), data->n);
        for (index_t t = 0; t < data->a.nt() && runtime.gpus() > 0; ++t) {
          Graph g(runtime);
          g.prefetch_to_gpu(data->a(0, t), static_cast<int>(t) % runtime.gpus());
          g.wait();
        }
        runtime.reset_statistics();
        Graph g(runtime);
        const auto failures = qr_batch<F>(g, data->a, data->tau, data->order, nullptr, {.order = order});
        if (!failures.empty()) throw WrongResult("bench mimo: qr_batch found a number that is not finite");
        return kernel_seconds(runtime, "small_qr");
      };
      peers.push_back(checked(order == ColumnOrder::natural ? "qr_batch" : "qr_batch, sqrd", run, [data, order] {
        const double error = order == ColumnOrder::natural ? data->error() : 0;
        if (!(error <= 1)) throw WrongResult(fmt::format("bench mimo: R^H R is not A^H A, by {:.2e} bounds", error));
        return error;
      }));
    }
#if TESELA_HAVE_CUDA
    if (runtime.gpus() > 0) {
      const auto peer = std::make_shared<CublasQr<T>>(*data);
      peers.push_back({"cublas geqrfBatched", [data, peer] { return peer->run(); }});
    }
#endif
    const double bytes = 2.0 * static_cast<double>(data->given.size()) * sizeof(F);
    report.add({fmt::format("{} complex QRs {}x{}", data->count, n, n), n, n, data->count, "",
                runtime.gpus() > 0 ? "device" : "host", "GB/s"},
               alternate(peers, o.common.repeat), ceiling, [bytes](double seconds) { return bytes / seconds * 1e-9; });
  }
}

template void add_qr_rows<float>(Report&, Runtime&, const MimoBench&);
template void add_qr_rows<double>(Report&, Runtime&, const MimoBench&);

}  // namespace tesela::bench
