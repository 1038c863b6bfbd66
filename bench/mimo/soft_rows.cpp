#include "bench/errors/bit_information.hpp"
#include "bench/harness/device.hpp"
#include "bench/mimo/mimo_rows.hpp"
#include <tesela/algorithms/mimo/internal/search_lists.hpp>
#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/algorithms/mimo/mimo_soft.hpp>
#include <tesela/codelets/mimo/quick_soft.hpp>
#include <tesela/runtime/config.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <memory>

#if TESELA_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace tesela::bench {
namespace {

constexpr double clip = 8;

/// A slot, and what is found of it.
template <class T>
struct SoftSlot {
  MimoShape shape;
  std::vector<Constellation> alphabets;
  double n0;
  HostMatrix<std::complex<T>> h;
  HostMatrix<int> sent;
  HostMatrix<std::complex<T>> y;
  SoftDetection<T> found;

  SoftSlot(index_t n, const char* constellation, double db, index_t signals, std::uint64_t seed)
      : shape{n, n, signals, 1},
        alphabets(parse_constellations("bench mimo", constellation, n)),
        n0(noise_variance(db, alphabets)),
        h(random_channels<T>(shape, {}, seed)),
        sent(random_labels(shape, alphabets, seed)),
        y(received(shape, h, alphabets, sent, n0, seed)) {}

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
        {{h.data(), shape.antennas, shape.streams * count, shape.antennas}},
        {{y.data(), shape.antennas, count, shape.antennas}}, {{lists.columns.data(), 1, lists.columns.cols(), 1}},
        {{lists.points.data(), 1, lists.points.cols(), 1}}, {{llrs.data(), llrs.rows(), count, llrs.rows()}},
        {{nodes.data(), 1, count, 1}});
    return llrs;
  }

  /// The largest |L - L'| / max(1, |L'|) of the first signals, L' by SoftDetector on cores, over its bound: what has
  /// more may have gone on in another way where two points were as near as rounding can tell, once in 200 signals.
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
/// QuickSoft on data of the device.
template <class T>
class DeviceSoft {
 public:
  explicit DeviceSoft(SoftSlot<T>& slot)
      : slot_(slot),
        lists_(mimo::lists_with_parts(slot.alphabets)),
        h_(bytes(slot.h)),
        y_(bytes(slot.y)),
        columns_(bytes(lists_.columns)),
        points_(bytes(lists_.points)),
        llrs_(bytes(slot.found.llrs)),
        nodes_(slot.found.nodes.size() * sizeof(double)) {
    to_device(h_, slot.h), to_device(y_, slot.y), to_device(columns_, lists_.columns);
    to_device(points_, lists_.points);
  }
  double operator()(SoftKind kind) {
    select_first_device();
    flush_device_cache();
    const MimoShape& shape = slot_.shape;
    const index_t m = shape.antennas, bits = slot_.found.llrs.rows();
    const double seconds = event_seconds([&](CUstream_st*) {
      CudaContext context("bench mimo");
      context.redirect(cudaStreamLegacy);
      kernels::QuickSoft<T>::cuda(context, {shape.streams, 1, kind, slot_.n0, clip, lists_.labels},
                                  {{h_.template as<std::complex<T>>(), m, shape.streams * shape.signals, m}},
                                  {{y_.template as<std::complex<T>>(), m, shape.signals, m}},
                                  {{columns_.template as<kernels::SearchColumn>(), 1, lists_.columns.cols(), 1}},
                                  {{points_.template as<kernels::SearchPoint>(), 1, lists_.points.cols(), 1}},
                                  {{llrs_.template as<T>(), bits, shape.signals, bits}},
                                  {{nodes_.template as<double>(), 1, shape.signals, 1}});
    });
    check_device(static_cast<int>(cudaMemcpy(slot_.found.llrs.data(), llrs_.template as<T>(), bytes(slot_.found.llrs),
                                             cudaMemcpyDeviceToHost)),
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
  SoftSlot<T>& slot_;
  mimo::SearchLists lists_;
  DeviceMemory h_, y_, columns_, points_, llrs_, nodes_;
};
#endif

/// Part of the symbols that are wrong.
double symbol_errors(const HostMatrix<int>& sent, const Detection& found) {
  index_t wrong = 0;
  for (index_t e = 0; e < sent.size(); ++e) wrong += sent.data()[e] != found.labels.data()[e] ? 1 : 0;
  return static_cast<double>(wrong) / static_cast<double>(sent.size());
}

/// nway:1 beside kbest:16, hard, from host to host as sd's rows; the time is the kernel's.
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
    return kernel_seconds(runtime, runtime.gpus() > 0 ? "mimo_quick_detector" : "mimo_detector");
  };
  Detection kbest;
  detect(MimoMethod::kbest, 16, kbest);
  const double theirs = symbol_errors(slot->sent, kbest);
  const auto check = [slot, found, theirs] {
    const double ours = symbol_errors(slot->sent, *found);
    if (!(ours <= theirs)) throw WrongResult(fmt::format("bench mimo: nway:1 has an SER of {:.2e}", ours));
    return 0.0;
  };
  const auto signals = static_cast<double>(slot->shape.signals);
  report.add({"hard decisions of " + title, slot->shape.antennas, slot->shape.streams, slot->shape.signals, "",
              "kernel", "signals/s"},
             alternate({checked("nway:1", run, check)}, o.common.repeat), 0,
             [signals](double seconds) { return signals / seconds; });
  report.note(
      fmt::format("{}: SER of nway:1 {:.2e}, of kbest:16 {:.2e}", title, symbol_errors(slot->sent, *found), theirs));
}

}  // namespace

template <class T>
void add_soft_rows(Report& report, Runtime& runtime, const MimoBench& o, const std::string& rows) {
  const bool four = rows == "soft4", gpu = runtime.gpus() > 0;
  const index_t n = four ? 4 : 8, signals = 273 * 12 * 14;
  const double db = four ? 14 : 22;
  const auto slot = std::make_shared<SoftSlot<T>>(n, four ? "64qam" : "256qam", db, signals, o.common.seed);
  index_t bits = 0;
  for (const Constellation& c : slot->alphabets) bits += c.bits();
  slot->found = {HostMatrix<T>(bits, signals), std::vector<double>(static_cast<std::size_t>(signals))};
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
  // Exact max-log beside it.
  constexpr index_t part = 2000;
  if (!four) return add_near_row<T>(report, runtime, o, slot, title);
  report.note(fmt::format("4x4, sts: {:.4f} of the first {} signals, where nway on cores has {:.4f}",
                          slot->information(slot->on_core(SoftKind::sts, part)), part,
                          slot->information(slot->on_core(SoftKind::nway, part))));
}

template void add_soft_rows<float>(Report&, Runtime&, const MimoBench&, const std::string&);
template void add_soft_rows<double>(Report&, Runtime&, const MimoBench&, const std::string&);

}  // namespace tesela::bench
