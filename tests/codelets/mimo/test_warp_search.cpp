#include "tests/support/mimo.hpp"
#include <tesela/codelets/mimo/internal/sphere_body.hpp>

// The search of a warp in the tree of one signal (sphere_search.cu), run lane by lane on a core.

using namespace tesela::test;
using namespace tesela::kernels;
using namespace tesela::kernels::mimo;

namespace {

/// Returns one list of columns for all tests: 16-QAM in real form or 8-PSK in complex form.
template <class F>
struct Lists {
  std::vector<SearchColumn> columns;
  std::vector<SearchPoint> points;
  explicit Lists(index_t columns_wanted) {
    for (index_t j = 0; j < columns_wanted; ++j)
      if constexpr (is_complex<F>) {
        columns.push_back({0, 8, 0, 0, 1});
      } else {
        columns.push_back({j < columns_wanted / 2 ? 0 : 4, 4, -3 / std::sqrt(10.0), 2 / std::sqrt(10.0), 1});
      }
    if constexpr (is_complex<F>)
      for (int k = 0; k < 8; ++k) points.push_back({std::cos(k * M_PI_4), std::sin(k * M_PI_4), k});
    else
      for (int k = 0; k < 8; ++k) points.push_back({0, 0, k < 4 ? k : (k - 4) * 4});
  }
};

template <class F>
void shares(index_t streams, index_t antennas, const char* channel, double db, int lanes, int budget, index_t most) {
  using T = real_t<F>;
  const auto p = problem<T>({streams, antennas, 20, 1}, is_complex<F> ? "8psk" : "16qam", channel, db);
  const index_t f = is_complex<F> ? 1 : 2, m = f * antennas, n = f * streams;
  const Lists<F> lists(n);
  for (index_t k = 0; k < 20; ++k) {
    const ChannelView<T> view{antennas,
                              streams,
                              reinterpret_cast<const Complex<T>*>(&p.h(0, k * streams)),
                              antennas,
                              lists.columns.data(),
                              lists.points.data()};
    const auto* const y = reinterpret_cast<const Complex<T>*>(&p.y(0, k));
    const auto numbers = [](index_t count) { return std::vector<F>(static_cast<std::size_t>(count)); };
    std::vector<F> a = numbers(m * n), tau = numbers(n), work = numbers(order_work(m, n)), z = numbers(m);
    std::vector<int> places(static_cast<std::size_t>(n));
    const OrderOf order{places.data(), 1};
    const ChannelFacts facts =
        prepare_channel<F>(view, {ColumnOrder::natural, true, p.n0}, a.data(), tau.data(), work.data(), order);
    int expected[most_streams], found[most_streams];
    std::vector<F> z2 = z;
    const SearchReport alone =
        search<F>(view, facts, a.data(), tau.data(), order, y, z2.data(), SearchLimits{}, expected);

    const Reception reception =
        receive<F>(view, facts, y, z.data(), [&](F* x) { apply_adjoint(m, n, a.data(), tau.data(), x); });
    using One = Search<F, F*, ChannelView<T>>;
    One first;
    first.begin(view, facts, m, a.data(), order, z.data(), reception, {});
    bool more = true;
    for (int steps = 0; more && (steps < budget || !first.found.any); ++steps)
      more = first.step(view, y, reception, {});
    if (!more) continue;
    T radius = first.radius;
    std::vector<One> all(static_cast<std::size_t>(lanes));
    index_t until = n, paths = 1;
    for (One& one : all) {
      one.begin(view, facts, m, a.data(), order, z.data(), reception, {});
      one.bounded = true;
    }
    while (until > 1 && paths < most) {
      all[0].tree.open(--until);
      all[0].tree.at[until] = 0;
      paths *= all[0].tree.children(until);
    }
    for (index_t path = 0; path < paths; ++path) {
      One& one = all[static_cast<std::size_t>(path % lanes)];
      one.radius = radius;
      bool busy = one.descend(until, path);
      while (busy) busy = one.step(view, y, reception, {});
      radius = std::min(radius, one.radius);
    }
    for (int lane = 1; lane < lanes; ++lane)
      merge_best(all[0].found, all[std::size_t(lane)].found, all[0].tie, streams, all[std::size_t(lane)].best,
                 all[0].best);
    const SearchReport together = all[0].end(view, reception, found);
    CAPTURE(streams, antennas, channel, db, lanes, budget, most, k);
    CHECK(std::equal(expected, expected + streams, found));
    CHECK(together.flags == alone.flags);
    CHECK(together.distance == alone.distance);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a tree shared by lanes gives the same nearest vector and the same ties", "", float, double,
                   Complex<float>, Complex<double>) {
  for (const char* const channel : {"rayleigh", "rank:1", "zero", "correlated:0.95"})
    for (const auto& [streams, antennas] : {std::pair<index_t, index_t>{1, 1}, {2, 2}, {3, 2}, {3, 4}})
      for (const int lanes : {1, 3, 32})
        for (const index_t most : {2, 64, 1024}) shares<TestType>(streams, antennas, channel, 3, lanes, 3, most);
}
