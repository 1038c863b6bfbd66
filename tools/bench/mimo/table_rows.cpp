#include "tools/bench/mimo/mimo_rows.hpp"
#include "tools/peers/device.hpp"
#include <tesela/codelets/mimo/ordered_search.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#if TESELA_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace tesela::bench {
#if TESELA_HAVE_CUDA
namespace {

using kernels::OrderedQr;
using kernels::OrderedQrs;
using kernels::OrderingBuild;

/// All n! factorizations of one R, on the device.
struct DeviceTable {
  static constexpr index_t compared = 720 * 8;  ///< of the first ones

  index_t n, count = 1;
  HostMatrix<double> r;
  DeviceMemory on_device;

  DeviceTable(index_t order, std::uint64_t seed)
      : n(order), r(HostMatrix<double>::zeros(n, n)), on_device(static_cast<std::size_t>(n * n) * sizeof(double)) {
    for (index_t k = 2; k <= n; ++k) count *= k;
    const Generator<double> normal{.pattern = Pattern::normal, .seed = seed};
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i <= j; ++i) r(i, j) = normal.normal(i, j) + (i == j ? 1 : 0);
    copy_memory(on_device.as<double>(), r.data(), static_cast<std::size_t>(r.size()) * sizeof(double));
  }
  index_t rows() const { return n * n * OrderedQrs::together; }
  index_t columns() const { return ceil_div(count, OrderedQrs::together); }
  std::size_t bytes() const { return static_cast<std::size_t>(rows() * columns()) * sizeof(double); }

  double operator()(const DeviceMemory& packed) const {
    select_first_device();
    flush_device_cache();
    return event_seconds([&](CUstream_st*) {
      CudaContext context("bench mimo");
      context.redirect(cudaStreamLegacy);
      OrderedQr::cuda(context, {n, OrderingBuild::full, 0, count}, {{on_device.as<double>(), n, n, n}},
                      {{packed.as<double>(), rows(), columns(), rows()}});
    });
  }
  /// Returns the largest difference of the first ones from a core's.
  double error(const DeviceMemory& packed) const {
    const index_t some = std::min(count, compared), all = ceil_div(some, OrderedQrs::together);
    HostMatrix<double> ours(rows(), all), theirs(rows(), all);
    copy_memory(ours.data(), packed.as<double>(), static_cast<std::size_t>(ours.size()) * sizeof(double));
    OrderedQr::cpu({n, OrderingBuild::full, 0, some}, {{r.data(), n, n, n}}, {{theirs.data(), rows(), all, rows()}});
    double most = 0;
    for (index_t e = 0; e < ours.size(); ++e) {
      const double apart = std::abs(ours.data()[e] - theirs.data()[e]);
      most = apart <= most ? most : apart;
    }
    return most;
  }
};

}  // namespace
#endif

void add_table_rows(Report& report, Runtime& runtime, [[maybe_unused]] const MimoBench& o) {
  if (runtime.gpus() == 0)
    return report.note("tables of all orders: rows of a GPU alone; see tesela bench mimo-orderings");
#if TESELA_HAVE_CUDA
  for (const index_t n : {8, 10}) {
    const auto table = std::make_shared<DeviceTable>(n, o.common.seed);
    const auto packed = std::make_shared<DeviceMemory>(table->bytes());
    std::vector<Peer> peers{checked(
        "full", [table, packed] { return (*table)(*packed); },
        [table, packed] {
          const double error = table->error(*packed);
          if (!(error <= 1e-11)) throw WrongResult(fmt::format("bench mimo: tables are {:.2e} off", error));
          return error;
        })};
    peers.push_back({"memset of full's bytes", [table, packed] {
                       select_first_device();
                       return event_seconds([&](CUstream_st* stream) {
                         check_device(static_cast<int>(cudaMemsetAsync(packed->as<char>(), 0, table->bytes(), stream)),
                                      "cudaMemsetAsync");
                       });
                     }});
    const auto count = static_cast<double>(table->count);
    report.add({fmt::format("all {}! QRs", n), n, n, table->count, "", "device", "QRs/s"},
               alternate(peers, o.common.repeat), 0, [count](double seconds) { return count / seconds; });
  }
#endif
}

}  // namespace tesela::bench
