#include "tests/support/host_warp.hpp"
#include "tests/support/mimo.hpp"
#include <tesela/algorithms/mimo/search_lists.hpp>
#include <tesela/codelets/mimo/internal/channel_body.hpp>
#include <tesela/codelets/mimo/internal/orders_subwarp_body.hpp>
#include <tesela/codelets/mimo/internal/shared_memory_search_body.hpp>
#include <tesela/codelets/mimo/sphere_search.hpp>

#include <utility>

// The channels and easy signals of GPU lanes (sphere_search.cu), run on a core.

using namespace tesela::test;
using namespace tesela::kernels;
using namespace tesela::kernels::mimo;

namespace {

/// Columns of square QAM with `amplitudes` values each.
struct Lists {
  std::vector<SearchColumn> columns;
  std::vector<SearchPoint> points;
  Lists(index_t streams, int amplitudes) {
    const double step = std::sqrt(6.0 / (amplitudes * amplitudes - 1)), low = -step * (amplitudes - 1) / 2;
    for (index_t j = 0; j < 2 * streams; ++j)
      columns.push_back({j < streams ? 0 : amplitudes, amplitudes, low, step, -low});
    for (int k = 0; k < 2 * amplitudes; ++k)
      points.push_back({0, 0, k < amplitudes ? k : (k - amplitudes) * amplitudes});
  }
};

template <class T>
struct Prepared {
  ChannelFacts facts;
  std::vector<T> a, tau;
  std::vector<int> places;
  Prepared(index_t m, index_t n) : facts{}, a(std::size_t(m * n)), tau(std::size_t(n)), places(std::size_t(n)) {}
  OrderOf order() { return {places.data(), 1}; }
};

/// Runs one group of lanes; the other groups of its warp are idle.
template <int S, class T>
void lane_channels(const ChannelView<T>& view, ColumnOrder kind, double n0, const Complex<T>* y, Prepared<T>& p) {
  HostWarp::run([&](HostWarp& warp) {
    lane_channel<S>(warp, warp.lane() / S == 1, view, kind, n0, y, p.a.data(), p.tau.data(), p.order(), &p.facts);
  });
}

/// Searches with half of the nodes in the whole sphere, and the rest in a second search that starts with the radius
/// found.
template <class T>
SearchReport quick(const ChannelView<T>& view, Prepared<T>& p, const Complex<T>* y, int budget, int* labels,
                   bool& usable) {
  const index_t m = view.template rows<T>(), n = view.template cols<T>();
  std::vector<T> z(static_cast<std::size_t>(m));
  const Reception reception =
      receive<T>(view, p.facts, y, z.data(), [&](T* x) { apply_adjoint(m, n, p.a.data(), p.tau.data(), x); });
  constexpr int step = 3;  // this lane is the second of three
  std::vector<T> numbers(std::size_t(step * numbers_per_lane(int(n))));
  std::vector<int> integers(std::size_t(step * n));
  const auto exactly = [&](std::uint64_t path, int* s) {
    return distance_of_path(view, p.order(), int(n), y, reception.exponent, path, s);
  };
  SharedMemorySearch<T, step> one(int(n), numbers.data() + 1, integers.data() + 1);
  usable = one.begin(view, p.facts, int(m), p.a.data(), p.order(), z.data(), reception, 0);
  if (!usable) return {};
  bool busy = true;
  for (int steps = 0; busy && steps < budget; ++steps) busy = one.step(exactly);
  if (busy && one.found.any) {
    SharedMemorySearch<T, step> again(int(n), numbers.data() + 1, integers.data() + 1);
    again.begin(view, p.facts, int(m), p.a.data(), p.order(), z.data(), reception, double(one.radius));
    while (again.step(exactly)) {
    }
    CHECK(again.found.any);
    // The same search by all paths of the last levels, from the last path to the first, as a warp shares a tree.
    SharedMemorySearch<T, step> shared(int(n), numbers.data() + 1, integers.data() + 1);
    shared.begin(view, p.facts, int(m), p.a.data(), p.order(), z.data(), reception, double(one.radius));
    int until = int(n), paths = 1;
    for (; until > 1 && paths < 20; paths *= shared.next[until] >> 16) --until;
    for (int number = paths; number-- > 0;)
      if (shared.descend(until, number))
        while (shared.step(exactly)) {
        }
    int other[most_quick_columns / 2];
    const SearchReport report = again.end(reception.exponent, exactly, labels),
                       same = shared.end(reception.exponent, exactly, other);
    CHECK(shared.found.any);
    CHECK(std::equal(labels, labels + n / 2, other));
    CHECK(same.flags == report.flags);
    return report;
  }
  while (busy) busy = one.step(exactly);
  return one.end(reception.exponent, exactly, labels);
}

template <class T>
void agrees(const MimoShape& shape, const char* names, int amplitudes, const char* channel, double db,
            double scale = 1) {
  auto p = problem<T>(shape, names, channel, db);
  for (index_t e = 0; e < p.h.size(); ++e) p.h.data()[e] *= T(scale);
  for (index_t e = 0; e < p.y.size(); ++e) p.y.data()[e] *= T(scale);
  const index_t m = 2 * shape.antennas, n = 2 * shape.streams;
  const double n0 = p.n0 * scale * scale;
  const Lists lists(shape.streams, amplitudes);
  std::vector<T> work(std::size_t(order_work(m, n))), z(static_cast<std::size_t>(m));
  std::vector<double> exact(static_cast<std::size_t>(n * n + n));
  index_t rejected = 0, moved = 0, orders = 0;
  for (index_t k = 0; k < shape.signals; ++k) {
    const ChannelView<T> view{
        shape.antennas, shape.streams,        reinterpret_cast<const Complex<T>*>(&p.h(0, k * shape.streams)),
        shape.antennas, lists.columns.data(), lists.points.data()};
    const auto* const y = reinterpret_cast<const Complex<T>*>(&p.y(0, k));
    for (const ColumnOrder kind : {ColumnOrder::natural, ColumnOrder::sqrd, ColumnOrder::vblast,
                                   ColumnOrder::mmse_vblast, ColumnOrder::su_wassell}) {
      CAPTURE(channel, db, k, int(kind), m, n);
      Prepared<T> alone(m, n), ours(m, n);
      const OrderChoice choice{kind, true, n0};
      alone.facts =
          kind == ColumnOrder::su_wassell
              ? prepare_for_signal<T>(view, choice, y, alone.a.data(), alone.tau.data(), work.data(), exact.data(),
                                      alone.order())
              : prepare_channel<T>(view, choice, alone.a.data(), alone.tau.data(), work.data(), alone.order());
      if (std::max(m, n) <= 4)
        lane_channels<4>(view, kind, n0, y, ours);
      else if (std::max(m, n) <= 8)
        lane_channels<8>(view, kind, n0, y, ours);
      else
        lane_channels<16>(view, kind, n0, y, ours);
      CHECK(ours.facts.exponent == alone.facts.exponent);
      CHECK(ours.facts.zero == alone.facts.zero);
      CHECK(std::abs(ours.facts.reach - alone.facts.reach) <= 1e-5 * alone.facts.reach);
      ++orders;
      // Rounding often decides which part of a stream is first, since both have the same norms and pivots.
      for (index_t j = 0, same = 1; j < n && same == 1; ++j)
        if (ours.places[std::size_t(j)] % shape.streams != alone.places[std::size_t(j)] % shape.streams)
          ++moved, same = 0;
      std::vector<int> sorted = ours.places;
      std::sort(sorted.begin(), sorted.end());
      for (index_t j = 0; j < n; ++j) REQUIRE(sorted[std::size_t(j)] == j);

      int expected[most_streams], found[most_streams];
      const SearchReport reference = search<T>(view, alone.facts, alone.a.data(), alone.tau.data(), alone.order(), y,
                                               z.data(), SearchLimits{}, expected);
      bool usable = false;
      const SearchReport report = quick(view, ours, y, k % 2 == 0 ? 30 : 1 << 30, found, usable);
      if (!usable) {
        ++rejected;
        continue;
      }
      CHECK(std::equal(expected, expected + shape.streams, found));
      CHECK(report.flags == reference.flags);
      CHECK(std::abs(report.distance - reference.distance) <= 1e-13 * reference.distance);
    }
  }
  CAPTURE(channel, names, moved, rejected, orders);
  const bool well = channel == std::string("rayleigh");
  CHECK((!well || rejected == 0));
  CHECK((!well || moved <= orders / 20));
  CHECK((channel != std::string("zero") || rejected == orders));
}

}  // namespace

TEMPLATE_TEST_CASE("a lane's search and a group's factors agree with a core", "", float, double) {
  using T = TestType;
  for (const double db : {1.0, 20.0}) {
    agrees<T>({1, 1, 3, 1}, "16qam", 4, "rayleigh", db);
    agrees<T>({2, 2, 5, 1}, "16qam", 4, "rayleigh", db);
    agrees<T>({3, 5, 2, 1}, "16qam", 4, "rayleigh", db);
    agrees<T>({4, 4, 4, 1}, "64qam", 8, "rayleigh", db + 6);
  }
  agrees<T>({5, 5, 4, 1}, "16qam", 4, "rayleigh", 7);
  agrees<T>({4, 4, 2, 1}, "256qam", 16, "rayleigh", 22);
  const double high = sizeof(T) == 4 ? 1e15 : 1e140;
  for (const double scale : {high, 1 / high}) agrees<T>({2, 2, 2, 1}, "16qam", 4, "rayleigh", 7, scale);
  for (const char* const channel : {"zero", "rank:1", "correlated:0.95", "kappa:1e6"})
    agrees<T>({2, 3, 4, 1}, "16qam", 4, channel, 7);
}

// Tasks check their numbers if there is a GPU; without one, mimo_detect checks before the tasks.

TEMPLATE_TEST_CASE("NaN and infinity in a batch are found, and the padding between columns is ignored", "", float,
                   double) {
  using C = std::complex<TestType>;
  using Limits = std::numeric_limits<TestType>;
  for (const index_t gap : {0, 2}) {
    const index_t m = 3, ld = m + gap;
    std::vector<C> h(std::size_t(ld * 4), C(Limits::quiet_NaN())), y(std::size_t(ld * 2), C(Limits::infinity()));
    const Block<C> H{h.data(), m, 4, ld}, Y{y.data(), m, 2, ld};
    for (const auto& a : {H, Y})
      for (index_t j = 0; j < a.cols; ++j)
        for (index_t i = 0; i < m; ++i) a(i, j) = {Limits::max(), -Limits::denorm_min()};
    SearchReport first;
    const auto finite = [&] {
      first = {};
      return kernels::mimo::finite_batch<TestType>({h.data(), m, 4, ld}, {y.data(), m, 2, ld}, {&first, 1, 1, 1});
    };
    CHECK((finite() && first.flags == 0));
    for (const TestType bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()})
      for (C* const x : {&H(0, 0), &H(2, 3), &Y(0, 0), &Y(2, 1)}) {
        const C kept = std::exchange(*x, C(0, bad));
        CHECK((!finite() && first.flags == SearchReport::not_finite));
        *x = C(bad, 0);
        CHECK(!finite());
        *x = kept;
      }
  }
}

TEST_CASE("searches on cores refuse a tile that is not finite, like those on a GPU") {
  auto p = problem<double>({2, 2, 20, 1}, "qpsk", "rayleigh", 9);
  p.y(1, 5) = {0, std::numeric_limits<double>::quiet_NaN()};
  HostMatrix<int> labels(2, 20);
  const auto flags = [&]<class Kernel>(SearchForm form, const typename Kernel::Args& args, auto... work) {
    const auto lists = tesela::mimo::lists_of(p.alphabets, form);
    std::vector<SearchReport> reports(20);
    Kernel::cpu(args, {{p.h.data(), 2, 40, 2}}, {{p.y.data(), 2, 20, 2}},
                {{lists.columns.data(), 1, lists.columns.cols(), 1}},
                {{lists.points.data(), 1, lists.points.cols(), 1}}, {{labels.data(), 2, 20, 2}},
                {{reports.data(), 1, 20, 1}}, work...);
    return reports[0].flags;
  };
  CHECK(flags.operator()<BruteSearch<double>>(SearchForm::complex, {2, 1, 16}) == SearchReport::not_finite);
  CHECK(flags.operator()<SphereSearch<double>>(SearchForm::real, {.streams = 2, .n0 = p.n0}, Scratch<double>{}) ==
        SearchReport::not_finite);
}
