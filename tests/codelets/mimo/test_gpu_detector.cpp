#include "tests/support/host_warp.hpp"
#include "tests/support/mimo.hpp"
#include <tesela/algorithms/mimo/search_lists.hpp>
#include <tesela/codelets/mimo/internal/kbest_subwarp_body.hpp>
#include <tesela/codelets/mimo/internal/linear_decisions_body.hpp>
#include <tesela/codelets/mimo/internal/nway_subwarp_body.hpp>

// The hard decisions of GPU lanes and threads (gpu_detector.cu, gpu_detector_kbest.cu), run on a core and
// compared with Detector.

using namespace tesela::test;
using namespace tesela::kernels;

namespace {

template <int S, class T>
void lane_channels(const kernels::mimo::DetectionBatch<T>& all) {
  if (all.kind == MimoMethod::nway) {
    using Lanes = kernels::mimo::SubwarpNway<S, T, HostWarp>;
    kernels::mimo::NwayMemory<S, T> rooms[Lanes::signals];
    for (index_t first = 0; first < all.signals; first += Lanes::signals)
      HostWarp::run([&](HostWarp& warp) { Lanes(warp, all, rooms, first).run(); });
    return;
  }
  if (all.kind != MimoMethod::kbest) {
    for (index_t k = 0; k < all.signals; ++k) kernels::mimo::decide_linearly<S>(all, k);
    return;
  }
  const auto by_groups = [&]<int G>() {
    using Room = kernels::mimo::PathMemory<S, G, T>;
    Room room;
    for (index_t first = 0; first < all.signals; first += Room::signals)
      HostWarp::run(
          [&](HostWarp& warp) { kernels::mimo::SubwarpPaths<S, G, T, HostWarp>(warp, all, room).run(first); });
  };
  if (all.keep <= 8)
    by_groups.template operator()<8>();
  else if (all.keep <= 16)
    by_groups.template operator()<16>();
  else
    by_groups.template operator()<32>();
}

struct Way {
  MimoMethod kind;
  ColumnOrder order = ColumnOrder::mmse_vblast;
  index_t keep = 0;
  bool up = true;
};

template <class T>
struct Both {
  Detection ours, cores;
};
template <class T>
Both<T> both(const Problem<T>& p, const Way& way) {
  const auto lists = tesela::mimo::lists_with_parts(p.alphabets);
  const index_t n = p.shape.streams, m = p.shape.antennas, signals = p.shape.signals;
  const index_t coherence = p.shape.coherence == 0 ? signals : p.shape.coherence;
  Both<T> found;
  for (Detection* const d : {&found.ours, &found.cores}) {
    d->labels = HostMatrix<int>(n, signals);
    d->reports.resize(std::size_t(signals));
  }
  const kernels::mimo::DetectionBatch<T> all{{m, n, reinterpret_cast<const kernels::mimo::Complex<T>*>(p.h.data()), m,
                                              lists.columns.data(), lists.points.data()},
                                             reinterpret_cast<const kernels::mimo::Complex<T>*>(p.y.data()),
                                             m,
                                             signals,
                                             coherence,
                                             found.ours.labels.data(),
                                             n,
                                             found.ours.reports.data(),
                                             1,
                                             {int(n), lists.columns.data(), lists.points.data(), lists.amplitudes > 0},
                                             way.kind,
                                             way.order,
                                             way.up,
                                             int(way.keep),
                                             p.n0};
  const index_t size = way.kind == MimoMethod::kbest ? std::max(m, n) : n;
  if (size <= 4)
    lane_channels<4>(all);
  else if (size <= 8)
    lane_channels<8>(all);
  else
    lane_channels<16>(all);
  Detector<T>::cpu({n, coherence, way.kind, way.order, way.up, way.keep, p.n0}, {{p.h.data(), m, p.h.cols(), m}},
                   {{p.y.data(), m, signals, m}}, {{lists.columns.data(), 1, lists.columns.cols(), 1}},
                   {{lists.points.data(), 1, lists.points.cols(), 1}}, {{found.cores.labels.data(), n, signals, n}},
                   {{found.cores.reports.data(), 1, signals, 1}});
  return found;
}

/// Returns the number of signals with different labels; for equal labels, distances and nodes must agree.
template <class T>
index_t apart(const Problem<T>& p, const Way& way) {
  const Both<T> found = both(p, way);
  for (index_t k = 0; k < p.shape.signals; ++k) {
    if (!std::equal(&found.ours.labels(0, k), &found.ours.labels(0, k) + p.shape.streams, &found.cores.labels(0, k)))
      continue;
    const SearchReport &x = found.ours.reports[std::size_t(k)], &y = found.cores.reports[std::size_t(k)];
    CHECK(x.nodes == y.nodes);
    CHECK(x.flags == y.flags);
    CHECK(std::abs(x.distance - y.distance) <= 1e-12 * y.distance);
  }
  return differences(found.ours, found.cores);
}

template <class T>
void scale(Problem<T>& p, double by) {
  for (auto* const a : {&p.h, &p.y})
    for (index_t e = 0; e < a->size(); ++e) a->data()[e] *= T(by);
  p.n0 *= by * by;
}

constexpr Way linear_ways[] = {{MimoMethod::mf}, {MimoMethod::zf}, {MimoMethod::mmse}};

}  // namespace

TEMPLATE_TEST_CASE("the paths of a warp agree with kbest on a core", "", float, double) {
  using T = TestType;
  // In single precision a different path may be dropped if two distances agree up to rounding.
  const index_t rare = sizeof(T) == 4 ? 1 : 0;
  for (const MimoShape& shape : {MimoShape{1, 1, 9, 1},
                                 {2, 3, 30, 7},
                                 {2, 2, 30, 0},
                                 {3, 2, 30, 1},
                                 {4, 4, 40, 1},
                                 {5, 6, 20, 1},
                                 {8, 8, 10, 1},
                                 {16, 16, 3, 1},
                                 {9, 12, 3, 1}})
    for (const index_t keep : {1, 2, 7, 16, 32}) {
      CAPTURE(shape.streams, shape.antennas, keep);
      CHECK(apart(problem<T>(shape, "16qam", "rayleigh", 9), {MimoMethod::kbest, ColumnOrder::mmse_vblast, keep}) <=
            rare);
    }
  for (const ColumnOrder order : {ColumnOrder::natural, ColumnOrder::norm, ColumnOrder::sqrd, ColumnOrder::vblast})
    for (const bool up : {true, false}) {
      CAPTURE(int(order), up);
      CHECK(apart(problem<T>({4, 5, 40, 1}, "64qam,qpsk,256qam,16qam", "rayleigh", 16),
                  {MimoMethod::kbest, order, 12, up}) <= rare);
    }
  CHECK(apart(problem<T>({4, 4, 60, 1}, "64qam", "rayleigh", 0), {MimoMethod::kbest, ColumnOrder::sqrd, 32}) <= rare);
  for (const char* const channel : {"correlated:0.9", "zero"})
    CHECK(apart(problem<T>({3, 3, 20, 1}, "16qam", channel, 9), {MimoMethod::kbest, ColumnOrder::natural, 9}) <= rare);
  for (const double by : {1e-3, sizeof(T) == 4 ? 1e-30 : 1e-150, sizeof(T) == 4 ? 1e30 : 1e150}) {
    auto p = problem<T>({3, 4, 30, 1}, "64qam", "rayleigh", 14);
    scale(p, by);
    CHECK(apart(p, {MimoMethod::kbest, ColumnOrder::sqrd, 8}) <= rare);
  }
}

TEMPLATE_TEST_CASE("a warp with all paths agrees with brute force, and input that is not finite has no result", "",
                   float, double) {
  using T = TestType;
  for (const char* const channel : {"rayleigh", "rank:1", "zero"}) {
    const auto p = problem<T>({2, 2, 20, 1}, "qpsk", channel, 3);
    CHECK(differences(both(p, {MimoMethod::kbest, ColumnOrder::sqrd, 16}).ours,
                      detect(p, {.method = MimoMethod::brute})) == 0);
  }
  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()})
    for (const bool of_y : {true, false}) {
      auto p = problem<T>({4, 4, 20, 1}, "16qam", "rayleigh", 9);
      const auto good = both(p, {MimoMethod::kbest, ColumnOrder::mmse_vblast, 16});
      if (of_y)
        p.y(1, 5) = {bad, 0};
      else
        p.h(1, 5 * 4 + 2) = {0, bad};
      const auto found = both(p, {MimoMethod::kbest, ColumnOrder::mmse_vblast, 16});
      CHECK(found.cores.reports[0].flags == SearchReport::not_finite);  // and no other flag
      for (index_t k = 0; k < 20; ++k) {
        const bool same = found.ours.labels(3, k) == good.cores.labels(3, k);
        CHECK((k == 5 ? found.ours.reports[5].flags == SearchReport::failed && found.ours.labels(0, 5) == -1 : same));
      }
    }
}

TEMPLATE_TEST_CASE("nway trees by lanes agree with a core", "", float, double) {
  using T = TestType;
  // A core factors in the data's precision and may continue differently if two points are equally near up to rounding.
  const auto rare = [](index_t signals) { return sizeof(T) == 4 ? 1 + signals / 100 : 0; };
  const auto check = [&](const Problem<T>& p, index_t keep) {
    CAPTURE(p.shape.streams, p.shape.antennas, keep);
    CHECK(apart(p, {.kind = MimoMethod::nway, .keep = keep}) <= rare(p.shape.signals));
  };
  for (const index_t streams : {1, 2, 3, 4, 5, 8, 11, 16})
    for (const index_t more : {0, 3})
      for (const index_t keep : {index_t{1}, (streams + 1) / 2, streams})
        check(problem<T>({streams, streams + more, 40, more == 0 ? 1 : 7}, "16qam", "rayleigh", 9), keep);
  for (const index_t keep : {1, 2, 3}) {
    check(problem<T>({3, 3, 100, 1}, "64qam,qpsk,1024qam", "rayleigh", 20), keep);
    check(problem<T>({3, 40, 50, 0}, "256qam", "rayleigh", 3), keep);
    check(problem<T>({3, 3, 50, 1}, "64qam", "correlated:0.9", 20), keep);
    for (const double by : {1e-3, sizeof(T) == 4 ? 1e-12 : 1e-150, sizeof(T) == 4 ? 1e12 : 1e150}) {
      auto p = problem<T>({3, 4, 40, 1}, "64qam", "rayleigh", 14);
      scale(p, by);
      check(p, keep);
    }
  }
  check(problem<T>({8, 8, 60, 1}, "256qam", "rayleigh", 22), 1);
  // Which stream has the most noise depends on rounding, so all are enumerated.
  check(problem<T>({3, 2, 60, 1}, "16qam", "rayleigh", 9), 3);
  for (const char* const channel : {"rank:1", "zero"}) {
    const auto p = problem<T>({2, 2, 40, 1}, "qpsk", channel, 9);
    const auto found = both(p, {.kind = MimoMethod::nway, .keep = 2});
    for (std::size_t k = 0; k < 40; ++k)
      CHECK(std::abs(found.ours.reports[k].distance - found.cores.reports[k].distance) <=
            (sizeof(T) == 4 ? 1e-5 : 1e-13) * found.cores.reports[k].distance);
  }
  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()})
    for (const bool of_y : {true, false}) {
      auto p = problem<T>({4, 4, 20, 1}, "16qam", "rayleigh", 9);
      const auto right = both(p, {.kind = MimoMethod::nway, .keep = 1});
      if (of_y)
        p.y(1, 5) = {bad, 0};
      else
        p.h(1, 5 * 4 + 2) = {0, bad};
      const auto found = both(p, {.kind = MimoMethod::nway, .keep = 1});
      for (index_t k = 0; k < 20; ++k)
        if (k == 5)
          CHECK((found.ours.reports[5].flags == SearchReport::failed && found.ours.labels(0, 5) == -1));
        else
          CHECK(std::equal(&found.ours.labels(0, k), &found.ours.labels(0, k) + 4, &right.ours.labels(0, k)));
    }
}

TEMPLATE_TEST_CASE("linear decisions of a thread agree with a core", "", float, double) {
  using T = TestType;
  for (const Way& way : linear_ways) {
    for (const index_t streams : {1, 2, 3, 4, 5, 8, 11, 16})
      for (const index_t more : {0, 3}) {
        CAPTURE(int(way.kind), streams, more);
        CHECK(apart(problem<T>({streams, streams + more, 60, more == 0 ? 1 : 7}, "16qam", "rayleigh", 9), way) == 0);
      }
    CHECK(apart(problem<T>({2, 40, 30, 0}, "256qam", "rayleigh", 3), way) == 0);
    for (const char* const names : {"64qam,qpsk,1024qam", "8psk,bpsk,256qam"})
      for (const char* const channel : {"rayleigh", "rank:1", "correlated:0.99", "zero"})
        for (const double db : {20.0, -110.0, -400.0}) {
          CAPTURE(int(way.kind), names, channel, db);
          CHECK(apart(problem<T>({3, 3, 40, 0}, names, channel, db), way) == 0);
        }
    for (const double by : {sizeof(T) == 4 ? 1e-30 : 1e-150, sizeof(T) == 4 ? 1e30 : 1e150}) {
      auto p = problem<T>({3, 4, 30, 1}, "64qam", "rayleigh", 14);
      scale(p, by);
      CHECK(apart(p, way) == 0);
    }
    auto silent = problem<T>({3, 4, 30, 1}, "64qam", "rayleigh", 14);  // all points of a quadrant are equally near
    for (index_t e = 0; e < silent.y.size(); ++e) silent.y.data()[e] = 0;
    CHECK(apart(silent, way) == 0);
  }
}

TEMPLATE_TEST_CASE("linear decisions of a thread on distant signals agree with a core", "", float, double) {
  for (const char* const name : {"bpsk", "8psk", "16qam"})
    for (const double far : {1e12, 1e17}) {
      auto p = problem<TestType>({2, 2, 60, 1}, name, "rayleigh", 9);
      for (index_t e = 0; e < p.y.size(); ++e) p.y.data()[e] *= TestType(far);
      for (const Way& way : linear_ways) {
        CAPTURE(name, far, int(way.kind));
        CHECK(apart(p, way) == 0);
      }
    }
}

TEMPLATE_TEST_CASE("mmse at any noise gives a result, and equals the matched filter at high noise", "", float, double) {
  using T = TestType;
  auto p = problem<T>({3, 4, 200, 1}, "16qam", "rayleigh", 60);
  for (const double n0 : {1e10, 1e30, 1e60, 1e300}) {
    p.n0 = n0;
    CHECK(differences(both(p, {MimoMethod::mmse}).cores, both(p, {MimoMethod::mf}).cores) == 0);
  }
  p.n0 = 1e7;  // not yet equal, but as good
  CHECK(differences(both(p, {MimoMethod::mmse}).cores, both(p, {MimoMethod::mf}).cores) <= 1);
  for (const index_t streams : {2, 4, 7, 8, 11}) {  // y has noise of 0 dB in contradiction to N0
    auto denied = problem<T>({streams, streams, 20, 1}, "16qam", "rank:1", 0);
    for (const auto& [n0, failed] : {std::pair{1e-7, 0}, {1e-16, 20}}) {
      denied.n0 = n0;
      CAPTURE(streams, n0);
      CHECK(apart(denied, {MimoMethod::mmse}) == 0);
      CHECK(both(denied, {MimoMethod::mmse}).ours.failed() == failed);
    }
  }
  auto dependent = problem<T>({3, 3, 20, 1}, "16qam", "rank:1", 20);
  dependent.n0 = 0;
  CHECK(both(dependent, {MimoMethod::mmse}).cores.failed() == 20);
  CHECK(both(dependent, {MimoMethod::zf}).cores.failed() == 20);
}
