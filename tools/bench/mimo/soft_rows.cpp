#include "tools/bench/mimo/mimo_rows.hpp"
#include "tools/bench/mimo/slot.hpp"
#include "tools/checks/mimo/bit_information.hpp"
#include <tesela/algorithms/mimo/mimo_soft.hpp>
#include <tesela/codelets/mimo/soft_detector.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

namespace tesela::bench {
namespace {

constexpr double clip = 8;

/// A slot and its likelihoods.
template <class T>
struct SoftSlot : Slot<T> {
  using Slot<T>::shape, Slot<T>::alphabets, Slot<T>::n0, Slot<T>::sent;
  SoftDetection<T> found;

  SoftSlot(index_t n, const char* constellation, double db, std::uint64_t seed) : Slot<T>(n, constellation, db, seed) {
    index_t bits = 0;
    for (const Constellation& c : alphabets) bits += c.bits();
    found = {HostMatrix<T>(bits, shape.signals), std::vector<double>(static_cast<std::size_t>(shape.signals))};
  }

  double information(const HostMatrix<T>& llrs) const {
    BitInformation sum;
    sum.add(alphabets, sent, llrs);
    return sum.mean();
  }

  /// L of the first signals, by SoftDetector on this core.
  HostMatrix<T> on_core(SoftKind kind, index_t count) const {
    const auto lists = mimo::lists_of(alphabets, kind == SoftKind::sts ? SearchForm::real : SearchForm::complex);
    auto llrs = HostMatrix<T>::zeros(found.llrs.rows(), count);
    std::vector<double> nodes(static_cast<std::size_t>(count));
    kernels::SoftDetector<T>::cpu(
        {.streams = shape.streams, .kind = kind, .real_form = lists.real_form, .n0 = n0, .clip = clip},
        in(this->h.data(), shape.antennas, shape.streams * count), in(this->y.data(), shape.antennas, count),
        in(lists.columns.data(), 1, lists.columns.cols()), in(lists.points.data(), 1, lists.points.cols()),
        {{llrs.data(), llrs.rows(), count, llrs.rows()}}, out(nodes.data(), 1, count));
    return llrs;
  }

  /// Returns the largest |L - L'| / max(1, |L'|) of the first signals over its bound, L' by SoftDetector on cores. A
  /// larger value may come from two points at the same distance up to rounding, once in 200 signals.
  double error(SoftKind kind) const {
    const index_t bits = found.llrs.rows(), wide = shape.streams > 4 ? 40 : 400,
                  count = std::min<index_t>(shape.signals, kind == SoftKind::mmse ? 4000 : wide);
    const auto wanted = on_core(kind, count);
    const double bound = (sizeof(T) == 4 ? 1e-5 : 1e-9) / std::fmin(n0, 1);
    std::vector<double> apart;
    for (index_t k = 0; k < count; ++k) {
      double most = 0;
      for (index_t b = 0; b < bits; ++b) {
        const auto l = static_cast<double>(wanted(b, k)), ours = static_cast<double>(found.llrs(b, k));
        const double gap = std::abs(ours - l) / std::fmax(1, std::abs(l));
        most = gap <= most ? most : gap;
      }
      apart.push_back(most / bound);
    }
    std::sort(apart.begin(), apart.end());
    return apart[static_cast<std::size_t>(kind == SoftKind::mmse ? count - 1 : count - 1 - count / 200)];
  }
};

#if TESELA_HAVE_CUDA
/// GpuSoftDetector on data of the device.
template <class T>
class DeviceSoft {
 public:
  explicit DeviceSoft(SoftSlot<T>& slot)
      : slot_(slot),
        device_(slot),
        llrs_(device_.bytes(slot.found.llrs)),
        nodes_(slot.found.nodes.size() * sizeof(double)) {}
  double operator()(SoftKind kind) {
    const MimoShape& shape = slot_.shape;
    const double seconds = device_.seconds([&](CudaContext& context) {
      kernels::GpuSoftDetector<T>::cuda(context, {shape.streams, 1, kind, slot_.n0, clip, device_.lists.labels},
                                        device_.h(), device_.y(), device_.columns(), device_.points(),
                                        out(llrs_.template as<T>(), slot_.found.llrs.rows(), shape.signals),
                                        out(nodes_.template as<double>(), 1, shape.signals));
    });
    device_.to_host(slot_.found.llrs, llrs_);
    return seconds;
  }

 private:
  SoftSlot<T>& slot_;
  DeviceSlot<T> device_;
  DeviceMemory llrs_, nodes_;
};
#endif

/// Measures nway:1 against kbest:16, hard decisions, from host to host like sd's rows; the time is the kernel's.
template <class T>
void add_near_row(Report& report, Runtime& runtime, const MimoBench& o, const std::shared_ptr<SoftSlot<T>>& slot,
                  const std::string& title) {
  const auto found = std::make_shared<Detection>();
  const auto detect = [&runtime, slot](MimoMethod method, index_t keep, Detection& into) {
    runtime.reset_statistics();
    Graph g(runtime);
    mimo_detect(g, slot->shape, slot->h, slot->y, slot->alphabets, {.method = method, .n0 = slot->n0, .keep = keep},
                into);
  };
  const auto run = [&runtime, detect, found] {
    detect(MimoMethod::nway, 1, *found);
    return kernel_seconds(runtime, runtime.gpus() > 0 ? "mimo_gpu_detector" : "mimo_detector");
  };
  Detection kbest;
  detect(MimoMethod::kbest, 16, kbest);
  const double theirs = slot->symbol_errors(kbest);
  const auto check = [slot, found, theirs] {
    const double ours = slot->symbol_errors(*found);
    if (!(ours <= theirs)) throw WrongResult(fmt::format("bench mimo: nway:1 has an SER of {:.2e}", ours));
    return 0.0;
  };
  const auto signals = static_cast<double>(slot->shape.signals);
  report.add({"hard decisions of " + title, slot->shape.antennas, slot->shape.streams, slot->shape.signals, "",
              "kernel", "signals/s"},
             alternate({checked("nway:1", run, check)}, o.common.repeat), 0,
             [signals](double seconds) { return signals / seconds; });
  report.note(fmt::format("{}: SER of nway:1 {:.2e}, of kbest:16 {:.2e}", title, slot->symbol_errors(*found), theirs));
}

}  // namespace

template <class T>
void add_soft_rows(Report& report, Runtime& runtime, const MimoBench& o, const std::string& rows) {
  const bool four = rows == "soft4", gpu = runtime.gpus() > 0;
  const index_t n = four ? 4 : 8;
  const double db = four ? 14 : 22;
  const auto slot = std::make_shared<SoftSlot<T>>(n, four ? "64qam" : "256qam", db, o.common.seed);
  const index_t signals = slot->shape.signals;
#if TESELA_HAVE_CUDA
  const auto device = gpu ? std::make_shared<DeviceSoft<T>>(*slot) : nullptr;
#endif
  // On cores nway of 8 streams would take minutes.
  std::vector<SoftKind> kinds{SoftKind::mmse};
  if (four || gpu) kinds.push_back(SoftKind::nway);
  std::vector<Peer> peers;
  std::map<std::string, double> information;
  for (const SoftKind kind : kinds) {
    const std::string name = name_of(soft_kinds(), kind);
    const auto run = [=, &runtime] {
#if TESELA_HAVE_CUDA
      if (device) return (*device)(kind);
#endif
      runtime.reset_statistics();
      Graph g(runtime);
      slot->found =
          mimo_soft(g, slot->shape, slot->h, slot->y, slot->alphabets, {.kind = kind, .n0 = slot->n0, .clip = clip});
      return kernel_seconds(runtime, "mimo_soft_detector");
    };
    peers.push_back(checked(name, run, [slot, kind, name, &information] {
      const double error = slot->error(kind);
      if (!(error <= 1)) throw WrongResult(fmt::format("bench mimo: {} is {:.2e} bounds off", name, error));
      information[name] = slot->information(slot->found.llrs);
      return error;
    }));
  }
  const std::string title = fmt::format("a slot of {0}x{0}, {1}, {2:g} dB", n, four ? "64qam" : "256qam", db);
  report.add({"likelihoods of " + title, n, n, signals, "", gpu ? "device" : "host", "signals/s"},
             alternate(peers, o.common.repeat), 0,
             [=](double seconds) { return static_cast<double>(signals) / seconds; });
  for (std::size_t k = 0; k < kinds.size(); ++k)
    report.rows()[report.rows().size() - kinds.size() + k].more = {
        {"information", information[name_of(soft_kinds(), kinds[k])]}};
  for (const auto& [name, mean] : information)
    report.note(fmt::format("{0}x{0}, {1}: {2:.4f} of a bit's information", n, name, mean));
  // Exact max-log, for comparison.
  constexpr index_t part = 2000;
  if (!four) return add_near_row<T>(report, runtime, o, slot, title);
  report.note(fmt::format("4x4, sts: {:.4f} of the first {} signals, where nway on cores has {:.4f}",
                          slot->information(slot->on_core(SoftKind::sts, part)), part,
                          slot->information(slot->on_core(SoftKind::nway, part))));
}

TESELA_FUNCTIONS_FOR_REALS(add_soft_rows)

}  // namespace tesela::bench
