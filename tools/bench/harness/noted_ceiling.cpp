#include "tools/bench/harness/report.hpp"
#include "tools/peers/device.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::bench {
namespace {

/// Returns GFLOP/s of OpenBLAS's product of square matrices on all cores.
template <class T>
double host_gemm_ceiling() {
  const int cores = blas::all_cores();
  const index_t n = std::min(2048, (is_complex<T> ? 256 : 512) * cores);  // few cores are as fast on smaller matrices
  HostMatrix<T> a(n, n), b(n, n), c(n, n);
  std::fill_n(a.data(), a.size(), T(real_t<T>(0.5)));
  std::fill_n(b.data(), b.size(), T(real_t<T>(0.5)));
  const blas::Threads threads(cores);
  const auto timings =
      alternate({{"ceiling",
                  [&] {
                    return seconds_of([&] {
                      blas::gemm<T>(Op::none, Op::none, n, n, n, T(1), a.data(), n, b.data(), n, T(0), c.data(), n);
                    });
                  }}},
                5);
  return 2.0 * flops_each<T> * std::pow(static_cast<double>(n), 3) / timings.front().median() * 1e-9;
}

}  // namespace

double measure_copy_ceiling(Report& report, [[maybe_unused]] const Runtime& runtime, [[maybe_unused]] bool on_device) {
  const PausedWorkers paused;
#if TESELA_HAVE_CUDA
  if (on_device) {
    const double device = copy_ceiling();
    report.note(fmt::format("ceiling: a copy within one device {:.0f} GB/s, read and written, times {} devices", device,
                            runtime.gpus()));
    return device * runtime.gpus();
  }
#endif
  const double cores = host_copy_ceiling();
  report.note(fmt::format("ceiling: a copy within host memory by all cores {:.1f} GB/s, read and written", cores));
  return cores;
}

template <class T>
double measure_gemm_ceiling(Report& report, [[maybe_unused]] const Runtime& runtime) {
  const PausedWorkers paused;
#if TESELA_HAVE_CUDA
  if (runtime.gpus() > 0) {
    const double device = gemm_ceiling<T>();
    report.note(
        fmt::format("ceiling: cuBLAS gemm on one device {:.0f} GFLOP/s, times {} devices", device, runtime.gpus()));
    return device * runtime.gpus();
  }
#endif
  const double cores = host_gemm_ceiling<T>();
  report.note(fmt::format("ceiling: OpenBLAS gemm on all cores {:.1f} GFLOP/s", cores));
  return cores;
}

template double measure_gemm_ceiling<float>(Report&, const Runtime&);
template double measure_gemm_ceiling<double>(Report&, const Runtime&);
template double measure_gemm_ceiling<std::complex<float>>(Report&, const Runtime&);
template double measure_gemm_ceiling<std::complex<double>>(Report&, const Runtime&);

}  // namespace tesela::bench
