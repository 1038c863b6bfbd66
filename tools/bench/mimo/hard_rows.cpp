#include "tools/bench/mimo/mimo_rows.hpp"
#include "tools/bench/mimo/slot.hpp"
#include <tesela/codelets/mimo/detector.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace tesela::bench {
namespace {

/// A slot and its detections.
template <class T>
struct HardSlot : Slot<T> {
  using Slot<T>::shape;
  Detection found;

  HardSlot(index_t n, const char* constellation, double db, std::uint64_t seed)
      : Slot<T>(n, constellation, db, seed),
        found{HostMatrix<int>(n, shape.signals), std::vector<SearchReport>(static_cast<std::size_t>(shape.signals))} {}

  typename kernels::Detector<T>::Args args(const MimoOptions& o, int labels) const {
    return {shape.streams, 1, o.method, ColumnOrder::mmse_vblast, true, o.keep, this->n0, labels};
  }
  /// Returns how many of the first signals differ from the result of a core.
  index_t differences(const MimoOptions& options, index_t count) const {
    const auto lists = mimo::lists_of(this->alphabets, SearchForm::complex);
    HostMatrix<int> labels(shape.streams, count);
    std::vector<SearchReport> reports(static_cast<std::size_t>(count));
    const index_t m = shape.antennas, n = shape.streams;
    kernels::Detector<T>::cpu(args(options, lists.labels), in(this->h.data(), m, n * count),
                              in(this->y.data(), m, count), in(lists.columns.data(), 1, lists.columns.cols()),
                              in(lists.points.data(), 1, lists.points.cols()), out(labels.data(), n, count),
                              out(reports.data(), 1, count));
    index_t apart = 0;
    for (index_t k = 0; k < count; ++k)
      apart += std::equal(&labels(0, k), &labels(0, k) + n, &found.labels(0, k)) ? 0 : 1;
    return apart;
  }
};

#if TESELA_HAVE_CUDA
/// GpuDetector on data of the device.
template <class T>
class DeviceHard {
 public:
  explicit DeviceHard(HardSlot<T>& slot)
      : slot_(slot),
        device_(slot),
        labels_(device_.bytes(slot.found.labels)),
        reports_(slot.found.reports.size() * sizeof(SearchReport)) {}
  double operator()(const MimoOptions& options) {
    const index_t n = slot_.shape.streams, signals = slot_.shape.signals;
    const double seconds = device_.seconds([&](CudaContext& context) {
      kernels::GpuDetector<T>::cuda(context, slot_.args(options, device_.lists.labels), device_.h(), device_.y(),
                                    device_.columns(), device_.points(), out(labels_.template as<int>(), n, signals),
                                    out(reports_.template as<SearchReport>(), 1, signals));
    });
    device_.to_host(slot_.found.labels, labels_);
    return seconds;
  }

 private:
  HardSlot<T>& slot_;
  DeviceSlot<T> device_;
  DeviceMemory labels_, reports_;
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
    // Rounding may drop different paths on cores and GPUs: once in a hundred thousand signals.
    peers.push_back(checked(name, run, [slot, name, options, four, k, &errors] {
      const index_t apart = slot->differences(options, four ? 2000 : 200);
      if (apart > (options.method == MimoMethod::kbest && sizeof(T) == 4 ? 2 : 0))
        throw WrongResult(
            fmt::format("bench mimo: {} of the first signals by {} differ from the result on cores", apart, name));
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

TESELA_FUNCTIONS_FOR_REALS(add_hard_rows)

}  // namespace tesela::bench
