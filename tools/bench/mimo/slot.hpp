#pragma once

#include "tools/peers/device.hpp"
#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/algorithms/mimo/search_lists.hpp>
#include <tesela/runtime/config.hpp>

#include <complex>
#include <vector>

#if TESELA_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace tesela::bench {

/// A 5G slot: 273 · 12 · 14 signals of n streams and antennas with a channel each, and the sent symbols.
template <class T>
struct Slot {
  MimoShape shape;
  std::vector<Constellation> alphabets;
  double n0;
  HostMatrix<std::complex<T>> h;
  HostMatrix<int> sent;
  HostMatrix<std::complex<T>> y;

  Slot(index_t n, const char* constellation, double db, std::uint64_t seed)
      : shape{n, n, 273 * 12 * 14, 1},
        alphabets(parse_constellations("bench mimo", constellation, n)),
        n0(noise_variance(db, alphabets)),
        h(random_channels<T>(shape, {}, seed)),
        sent(random_labels(shape, alphabets, seed)),
        y(received(shape, h, alphabets, sent, n0, seed)) {}

  /// Part of the symbols that are wrong.
  double symbol_errors(const Detection& found) const {
    index_t wrong = 0;
    for (index_t e = 0; e < sent.size(); ++e) wrong += sent.data()[e] != found.labels.data()[e] ? 1 : 0;
    return static_cast<double>(wrong) / static_cast<double>(sent.size());
  }
};

/// rows x cols numbers in device memory, or in host memory, as kernels take them.
template <class X>
In<X> in(const X* data, index_t rows, index_t cols) {
  return {{data, rows, cols, rows}};
}
template <class X>
Out<X> out(X* data, index_t rows, index_t cols) {
  return {{data, rows, cols, rows}};
}

#if TESELA_HAVE_CUDA
/// The same on the first device, where kernels run alone.
template <class T>
class DeviceSlot {
 public:
  explicit DeviceSlot(const Slot<T>& slot)
      : lists(mimo::lists_with_parts(slot.alphabets)),
        shape_(slot.shape),
        h_(bytes(slot.h)),
        y_(bytes(slot.y)),
        columns_(bytes(lists.columns)),
        points_(bytes(lists.points)) {
    to_device(h_, slot.h), to_device(y_, slot.y), to_device(columns_, lists.columns), to_device(points_, lists.points);
  }

  const mimo::SearchLists lists;

  In<std::complex<T>> h() const {
    return in(h_.as<std::complex<T>>(), shape_.antennas, shape_.streams * shape_.signals);
  }
  In<std::complex<T>> y() const { return in(y_.as<std::complex<T>>(), shape_.antennas, shape_.signals); }
  In<kernels::SearchColumn> columns() const {
    return in(columns_.as<kernels::SearchColumn>(), 1, lists.columns.cols());
  }
  In<kernels::SearchPoint> points() const { return in(points_.as<kernels::SearchPoint>(), 1, lists.points.cols()); }

  /// The seconds of launch(context), which find the caches cold.
  template <class Launch>
  double seconds(const Launch& launch) const {
    select_first_device();
    flush_device_cache();
    return event_seconds([&](CUstream_st*) {
      CudaContext context("bench mimo");
      context.redirect(cudaStreamLegacy);
      launch(context);
    });
  }

  template <class X>
  static std::size_t bytes(const HostMatrix<X>& a) {
    return static_cast<std::size_t>(a.size()) * sizeof(X);
  }
  template <class X>
  static void to_host(HostMatrix<X>& to, const DeviceMemory& from) {
    copy_memory(to.data(), from.as<X>(), bytes(to));
  }

 private:
  template <class X>
  static void to_device(const DeviceMemory& to, const HostMatrix<X>& from) {
    copy_memory(to.as<X>(), from.data(), bytes(from));
  }
  MimoShape shape_;
  DeviceMemory h_, y_, columns_, points_;
};
#endif

}  // namespace tesela::bench
