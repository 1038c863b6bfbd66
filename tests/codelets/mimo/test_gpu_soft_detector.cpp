#include "tests/support/host_warp.hpp"
#include "tests/support/mimo.hpp"
#include <tesela/algorithms/mimo/search_lists.hpp>
#include <tesela/codelets/mimo/internal/soft_subwarp_body.hpp>

#include <optional>

// The likelihoods of GPU threads (gpu_soft_detector.cu), run on a core and compared with SoftDetector.

using namespace tesela::test;
using namespace tesela::kernels;

namespace {

template <int S, class T>
void by_threads(const kernels::mimo::SoftBatch<T>& all, SoftKind kind, index_t amplitudes) {
  const int n = all.lists.n;
  std::vector<std::uint32_t> ones(S * kernels::mimo::most_bits);
  for (int j = 0; all.lists.square && j < n; ++j)
    for (int bit = 0; bit < kernels::mimo::most_bits; ++bit) {
      const bool imaginary = (all.lists.width(j) - 1 - bit) % 2 != 0;
      ones[std::size_t(j) * kernels::mimo::most_bits + std::size_t(bit)] =
          kernels::mimo::amplitudes_with(all.lists, all.lists.axis(j, imaginary), bit);
    }
  if constexpr (S > 4)
    if (kind == SoftKind::mmse) {
      constexpr int lanes = S <= 8 ? S / 2 : S;
      for (index_t first = 0; first < all.signals; first += HostWarp::lanes / lanes)
        HostWarp::run([&](HostWarp& warp) {
          const index_t k = first + warp.lane() / lanes;
          std::vector<T> beyond_last(std::size_t(all.bits()));
          kernels::mimo::linear_signal_by_lanes<S, lanes>(warp, all, first, ones.data(),
                                                          k < all.signals ? all.of(k) : beyond_last.data());
        });
      return;
    }
  for (index_t k = 0; k < all.signals; ++k) {
    if (kind == SoftKind::mmse) {
      kernels::mimo::linear_signal<S>(all, k, ones.data(), all.of(k));
      continue;
    }
    double n0 = 0;
    std::vector<T> least(std::size_t(amplitudes), kernels::mimo::endless<T>);
    std::vector<kernels::mimo::NwayTree<T, S>> trees{std::size_t(n)};
    double most = 0;
    for (int j = 0; j < n; ++j) {
      auto& tree = trees[std::size_t(j)];
      n0 =
          kernels::mimo::scaled_noise<double>(all.n0, tree.prepare(all.channel(k), all.y + k * all.ld_y, all.lists, j));
      most = std::max(most, tree.explained);
    }
    for (auto& tree : trees) {
      tree.begin_at(most);
      tree.run([&](T distance, const int* met) {
        for (int c = 2 * tree.first; c < 2 * S; ++c) {
          T& known = least[std::size_t(met[c])];
          known = std::min(known, distance);
        }
      });
    }
    for (int j = 0; j < n; ++j)
      REQUIRE(kernels::mimo::bits_of_cells(all, k, j, n0, [&](int c) { return least[std::size_t(c)]; }));
  }
}

/// Returns the number of signals whose likelihoods differ from those of cores by more than rounding.
template <class T>
index_t beyond(const MimoShape& shape, const char* names, const char* channel, double db, SoftKind kind,
               double scale = 1, std::optional<double> n0 = {}, double last = 1, double far = 1) {
  auto p = problem<T>(shape, names, channel, db);
  for (index_t e = 0; e < p.y.size(); ++e) p.y.data()[e] *= T(far);
  for (index_t k = 0; k < p.h.cols() && last != 1; ++k)
    for (index_t i = 0; i < shape.antennas; ++i)
      if (k % shape.streams == shape.streams - 1) p.h(i, k) *= T(last);
  p.n0 = n0.value_or(p.n0);
  for (index_t e = 0; e < p.h.size(); ++e) p.h.data()[e] *= T(scale);
  for (index_t e = 0; e < p.y.size(); ++e) p.y.data()[e] *= T(scale);
  p.n0 *= scale * scale;
  const auto lists = tesela::mimo::lists_with_parts(p.alphabets);
  const auto bits = [&] {
    index_t sum = 0;
    for (const auto& c : p.alphabets) sum += c.bits();
    return sum;
  }();
  HostMatrix<T> llrs(bits, shape.signals), wanted = HostMatrix<T>::zeros(bits, shape.signals);
  std::vector<double> nodes(std::size_t(shape.signals)), looked = nodes;
  const index_t coherence = shape.coherence == 0 ? shape.signals : shape.coherence;
  const kernels::mimo::SoftBatch<T> all{
      {shape.antennas, shape.streams, reinterpret_cast<const kernels::mimo::Complex<T>*>(p.h.data()), shape.antennas,
       lists.columns.data(), lists.points.data()},
      reinterpret_cast<const kernels::mimo::Complex<T>*>(p.y.data()),
      shape.antennas,
      shape.signals,
      coherence,
      llrs.data(),
      bits,
      nodes.data(),
      1,
      {int(shape.streams), lists.columns.data(), lists.points.data(), lists.amplitudes > 0},
      p.n0,
      0};
  if (shape.streams <= 4)
    by_threads<4>(all, kind, lists.amplitudes);
  else if (shape.streams <= 8)
    by_threads<8>(all, kind, lists.amplitudes);
  else
    by_threads<16>(all, kind, lists.amplitudes);
  SoftDetector<T>::cpu({.streams = shape.streams, .coherence = coherence, .kind = kind, .real_form = false, .n0 = p.n0},
                       {{p.h.data(), shape.antennas, p.h.cols(), shape.antennas}},
                       {{p.y.data(), shape.antennas, shape.signals, shape.antennas}},
                       {{lists.columns.data(), 1, lists.columns.cols(), 1}},
                       {{lists.points.data(), 1, lists.points.cols(), 1}}, {{wanted.data(), bits, shape.signals, bits}},
                       {{looked.data(), 1, shape.signals, 1}});
  const double bound = (sizeof(T) == 4 ? 1e-5 : 1e-9) / std::fmin(1, p.n0 / (scale * scale));
  index_t found = 0;
  for (index_t k = 0; k < shape.signals; ++k) {
    bool same = kind != SoftKind::mmse || nodes[std::size_t(k)] == looked[std::size_t(k)];
    for (index_t b = 0; b < bits; ++b) {
      const double x = double(llrs(b, k)), y = double(wanted(b, k));
      same = same && std::abs(x - y) <= bound * std::fmax(1, std::abs(y));
    }
    found += same ? 0 : 1;
  }
  return found;
}

}  // namespace

TEMPLATE_TEST_CASE("mmse likelihoods of threads and lanes agree with a core", "", float, double) {
  using T = TestType;
  for (const index_t streams : {1, 2, 3, 4, 5, 8, 11, 16})
    for (const index_t more : {0, 2}) {
      CAPTURE(streams, more);
      CHECK(beyond<T>({streams, streams + more, 60, more == 0 ? 1 : 7}, "16qam", "rayleigh", 9, SoftKind::mmse) == 0);
    }
  for (const char* const names : {"64qam,qpsk,1024qam", "8psk,bpsk,256qam"})
    for (const char* const channel : {"rayleigh", "rank:1", "correlated:0.99", "zero"}) {
      CAPTURE(names, channel);
      CHECK(beyond<T>({3, 2, 60, 0}, names, channel, 20, SoftKind::mmse) == 0);
    }
  for (const index_t streams : {3, 7})
    CHECK(beyond<T>({streams, 8, 60, 1}, "64qam", "rayleigh", 14, SoftKind::mmse, sizeof(T) == 4 ? 1e-12 : 1e-100) ==
          0);
  for (const char* const channel : {"rank:1", "correlated:0.99", "zero"})
    CHECK(beyond<T>({6, 5, 60, 0}, "64qam,qpsk,1024qam,16qam,256qam,qpsk", channel, 20, SoftKind::mmse) == 0);
  CHECK(beyond<T>({5, 6, 60, 0}, "8psk,bpsk,256qam,qpsk,8psk", "rayleigh", 20, SoftKind::mmse) == 0);
  for (const char* const name : {"16qam", "8psk"})
    for (const index_t streams : {1, 2, 5})
      CHECK(beyond<T>({streams, streams, 60, 1}, name, "rayleigh", 5, SoftKind::mmse, 1, {}, 1, 1e9) == 0);
  for (const index_t streams : {2, 4, 7, 8, 11})  // y has noise of 0 dB in contradiction to N0
    for (const double n0 : {1e-7, 1e-16}) {
      CAPTURE(streams, n0);
      CHECK(beyond<T>({streams, streams, 60, 1}, "16qam", "rank:1", 0, SoftKind::mmse, 1, n0) == 0);
    }
}

TEMPLATE_TEST_CASE("nway trees of a thread agree with a core", "", float, double) {
  using T = TestType;
  // If two vectors are equally near up to rounding at some level, the trees may continue differently.
  const auto rare = [](index_t signals) { return sizeof(T) == 4 ? signals / 50 : 0; };
  for (const index_t streams : {1, 2})
    CHECK(beyond<T>({streams, 2, 200, 1}, "64qam", "rayleigh", 14, SoftKind::nway) == 0);
  for (const index_t streams : {3, 4, 5, 8, 11, 16})
    for (const index_t more : {0, 2}) {
      CAPTURE(streams, more);
      CHECK(beyond<T>({streams, streams + more, 60, more == 0 ? 1 : 7}, "16qam", "rayleigh", 9, SoftKind::nway) <=
            rare(60));
    }
  CHECK(beyond<T>({3, 3, 100, 1}, "64qam,qpsk,1024qam", "rayleigh", 20, SoftKind::nway) <= rare(100));
  CHECK(beyond<T>({3, 2, 100, 1}, "16qam", "rayleigh", 9, SoftKind::nway) <= rare(100));
  CHECK(beyond<T>({2, 2, 100, 0}, "16qam", "correlated:0.999", 20, SoftKind::nway) == 0);
  CHECK(beyond<T>({3, 4, 60, 1}, "64qam", "rayleigh", 14, SoftKind::nway, sizeof(T) == 4 ? 1e-12 : 1e-100) <= rare(60));
}

TEST_CASE("nway trees of a thread agree with a core for nearly dependent columns of any size") {
  for (const char* const channel :
       {"rank:1", "zero", "correlated:0.9999", "correlated:0.9999999999", "correlated:0.99999999999999"})
    for (const char* const names : {"qpsk", "16qam,64qam"}) {
      CAPTURE(channel, names);
      CHECK(beyond<double>({2, 4, 100, 1}, names, channel, 0, SoftKind::nway) == 0);
    }
  for (const double scale : {1e-3, 1e-9, 1e-30, 1e-100})  // of the second stream
    CHECK(beyond<double>({2, 4, 100, 1}, "16qam", "rayleigh", 0, SoftKind::nway, 1, {}, scale) == 0);
  for (const double scale : {1e-160, 1e-250})
    CHECK(beyond<double>({2, 4, 100, 1}, "16qam", "rayleigh", 20, SoftKind::nway, 1, {}, scale) == 0);
  for (const double scale : {1e-5, 1e-8, 1e-10, 1e-12, 1e-19, 1e-25, 1e-35})
    CHECK(beyond<float>({2, 4, 100, 1}, "16qam", "rayleigh", 20, SoftKind::nway, 1, {}, scale) == 0);
}
