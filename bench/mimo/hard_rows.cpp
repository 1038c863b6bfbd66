#include "bench/harness/device.hpp"
#include "bench/mimo/mimo_rows.hpp"
#include <tesela/algorithms/mimo/internal/search_lists.hpp>
#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/codelets/mimo/quick_detector.hpp>
#include <tesela/runtime/config.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <memory>

#if TESELA_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace tesela::bench {
namespace {

using kernels::DetectorKind;

/// A slot, and what is found of it.
template <class T>
struct HardSlot {
  MimoShape shape;
  std::vector<Constellation> alphabets;
  double n0;
  HostMatrix<std::complex<T>> h;
  HostMatrix<int> sent;
  HostMatrix<std::complex<T>> y;
  Detection found;

  HardSlot(index_t n, const char* constellation, double db, std::uint64_t seed)
      : shape{n, n, 273 * 12 * 14, 1},
        alphabets(parse_constellations("bench mimo", constellation, n)),
        n0(noise_variance(db, alphabets)),
        h(random_channels<T>(shape, {}, seed)),
        sent(random_labels(shape, alphabets, seed)),
        y(received(shape, h, alphabets, sent, n0, seed)),
        found{HostMatrix<int>(n, shape.signals), std::vector<SearchReport>(static_cast<std::size_t>(shape.signals))} {}

  typename kernels::Detector<T>::Args args(const MimoOptions& o, int labels) const {
    const auto kind = o.method == MimoMethod::kbest ? DetectorKind::kbest : DetectorKind::mmse;
    return {shape.streams, 1, kind, ColumnOrder::mmse_vblast, true, o.keep, n0, labels};
  }
  double symbol_errors(const Detection& of) const {
    index_t wrong = 0;
    for (index_t e = 0; e < sent.size(); ++e) wrong += sent.data()[e] != of.labels.data()[e] ? 1 : 0;
    return static_cast<double>(wrong) / static_cast<double>(sent.size());
  }
  /// Of the first signals, how many are otherwise than on a core.
  index_t differences(const MimoOptions& options, index_t count) const {
    const auto lists = mimo::lists_of(alphabets, SearchForm::complex);
    HostMatrix<int> labels(shape.streams, count);
    std::vector<SearchReport> reports(static_cast<std::size_t>(count));
    const index_t m = shape.antennas, n = shape.streams;
    kernels::Detector<T>::cpu(args(options, lists.labels), {{h.data(), m, n * count, m}}, {{y.data(), m, count, m}},
                              {{lists.columns.data(), 1, lists.columns.cols(), 1}},
                              {{lists.points.data(), 1, lists.points.cols(), 1}}, {{labels.data(), n, count, n}},
                              {{reports.data(), 1, count, 1}});
    index_t apart = 0;
    for (index_t k = 0; k < count; ++k)
      apart += std::equal(&labels(0, k), &labels(0, k) + n, &found.labels(0, k)) ? 0 : 1;
    return apart;
  }
};

#if TESELA_HAVE_CUDA
/// QuickDetector on data of the device.
template <class T>
class DeviceHard {
 public:
  explicit DeviceHard(HardSlot<T>& slot)
      : slot_(slot),
        lists_(mimo::lists_with_parts(slot.alphabets)),
        h_(bytes(slot.h)),
        y_(bytes(slot.y)),
        columns_(bytes(lists_.columns)),
        points_(bytes(lists_.points)),
        labels_(bytes(slot.found.labels)),
        reports_(slot.found.reports.size() * sizeof(SearchReport)) {
    to_device(h_, slot.h), to_device(y_, slot.y), to_device(columns_, lists_.columns);
    to_device(points_, lists_.points);
  }
  double operator()(const MimoOptions& options) {
    select_first_device();
    flush_device_cache();
    const index_t m = slot_.shape.antennas, n = slot_.shape.streams, signals = slot_.shape.signals;
    const double seconds = event_seconds([&](CUstream_st*) {
      CudaContext context("bench mimo");
      context.redirect(cudaStreamLegacy);
      kernels::QuickDetector<T>::cuda(
          context, slot_.args(options, lists_.labels), {{h_.template as<std::complex<T>>(), m, n * signals, m}},
          {{y_.template as<std::complex<T>>(), m, signals, m}},
          {{columns_.template as<kernels::SearchColumn>(), 1, lists_.columns.cols(), 1}},
          {{points_.template as<kernels::SearchPoint>(), 1, lists_.points.cols(), 1}},
          {{labels_.template as<int>(), n, signals, n}}, {{reports_.template as<SearchReport>(), 1, signals, 1}});
    });
    check_device(static_cast<int>(cudaMemcpy(slot_.found.labels.data(), labels_.template as<int>(),
                                             bytes(slot_.found.labels), cudaMemcpyDeviceToHost)),
                 "cudaMemcpy");
    return seconds;
  }

 private:
  template <class X>
  static std::size_t bytes(const HostMatrix<X>& a) {
    return static_cast<std::size_t>(a.size()) * sizeof(X);
  }
  template <class X>
  static void to_device(const DeviceMemory& to, const HostMatrix<X>& from) {
    check_device(static_cast<int>(cudaMemcpy(to.as<X>(), from.data(), bytes(from), cudaMemcpyHostToDevice)),
                 "cudaMemcpy");
  }
  HardSlot<T>& slot_;
  mimo::SearchLists lists_;
  DeviceMemory h_, y_, columns_, points_, labels_, reports_;
};
#endif

}  // namespace

template <class T>
void add_hard_rows(Report& report, Runtime& runtime, const MimoBench& o, const std::string& rows) {
  const bool four = rows == "hard4", gpu = runtime.gpus() > 0;
  const index_t n = four ? 4 : 8;
  const double db = four ? 18 : 22;
  const auto slot = std::make_shared<HardSlot<T>>(n, four ? "64qam" : "256qam", db, o.common.seed);
#if TESELA_HAVE_CUDA
  const auto device = gpu ? std::make_shared<DeviceHard<T>>(*slot) : nullptr;
#endif
  std::vector<std::pair<std::string, MimoOptions>> kinds{{"mmse", {.method = MimoMethod::mmse, .n0 = slot->n0}}};
  for (const index_t keep : {8, 16, 32})
    if (gpu || (four && keep == 8))  // on cores more take minutes
      kinds.push_back({fmt::format("kbest:{}", keep), {.method = MimoMethod::kbest, .n0 = slot->n0, .keep = keep}});
  std::vector<Peer> peers;
  std::vector<double> errors(kinds.size());
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const auto& [name, options] = kinds[k];
    const auto run = [=, &runtime] {
#if TESELA_HAVE_CUDA
      if (device) return (*device)(options);
#endif
      runtime.reset_statistics();
      Graph g(runtime);
      mimo_detect(g, slot->shape, slot->h, slot->y, slot->alphabets, options, slot->found);
      return kernel_seconds(runtime, "mimo_detector");
    };
    // Paths that rounding drops on one of them are found to be others once in a hundred thousand.
    peers.push_back(checked(name, run, [slot, name, options, four, k, &errors] {
      const index_t apart = slot->differences(options, four ? 2000 : 200);
      if (apart > (options.method == MimoMethod::kbest && sizeof(T) == 4 ? 2 : 0))
        throw WrongResult(fmt::format("bench mimo: {} of the first signals by {} are not those of cores", apart, name));
      errors[k] = slot->symbol_errors(slot->found);
      return static_cast<double>(apart);
    }));
  }
  const std::string title = fmt::format("a slot of {0}x{0}, {1}, {2:g} dB", n, four ? "64qam" : "256qam", db);
  const auto signals = static_cast<double>(slot->shape.signals);
  report.add({"hard decisions of " + title, n, n, slot->shape.signals, "", gpu ? "device" : "host", "signals/s"},
             alternate(peers, o.common.repeat), 0, [=](double seconds) { return signals / seconds; });
  Graph g(runtime);
  const double least = slot->symbol_errors(mimo_detect(g, slot->shape, slot->h, slot->y, slot->alphabets,
                                                       {.order = ColumnOrder::su_wassell, .n0 = slot->n0}));
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    report.rows()[report.rows().size() - kinds.size() + k].more = {{"symbol_errors", errors[k]}};
    report.note(fmt::format("{0}: {1} has an SER of {2:.3g}, sd {3:.3g}", title, kinds[k].first, errors[k], least));
  }
}

template void add_hard_rows<float>(Report&, Runtime&, const MimoBench&, const std::string&);
template void add_hard_rows<double>(Report&, Runtime&, const MimoBench&, const std::string&);

}  // namespace tesela::bench
