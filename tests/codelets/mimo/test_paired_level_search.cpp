#include "tests/support/mimo.hpp"
#include <tesela/algorithms/mimo/search_lists.hpp>
#include <tesela/codelets/mimo/internal/paired_level_search_body.hpp>

// The search of GPU lanes for few streams in single precision (sphere_search_paired_levels.cu), run on a core and
// compared with sd.

using namespace tesela::test;
using namespace tesela::kernels::mimo;

namespace {

struct Outcome {
  bool usable = false;
  index_t steps = 0;
  kernels::SearchReport report;
  std::vector<int> labels;
};

template <int N>
Outcome lane_search(const ChannelView<float>& view, const kernels::mimo::Complex<float>* y) {
  constexpr int step = 3;  // this lane is the second of three
  using Search = PairedLevelSearch<N, float, step>;
  PairedLevelFactors<N, float> factors;
  factors.prepare(view, y);
  Outcome made{factors.counts != 0, 0, {}, std::vector<int>(most_quick_columns / 2)};
  std::vector<float> numbers(std::size_t(step * Search::numbers), -7);
  std::vector<int> integers(std::size_t(step * Search::integers), -7);
  Search one(numbers.data() + 1, integers.data() + 1);
  factors.each([&](int e, float x) { one.factors[e] = x; });
  const auto exactly = [&](std::uint64_t path, int* s) {
    return distance_of_path(view, PairedLevelOrder{factors.order, N}, 2 * N, y, factors.exponent, path, s);
  };
  one.begin(factors.counts);
  while (made.steps < 1000000 && one.step(exactly)) ++made.steps;
  if (made.usable) REQUIRE(one.found.any);
  made.report.distance = std::ldexp(exactly(one.best, made.labels.data()), factors.exponent);
  made.report.nodes = one.nodes;
  made.report.flags = one.found.tie ? kernels::SearchReport::tie : 0;
  for (std::size_t e = 0; e < numbers.size(); ++e) CHECK((e % step == 1 || numbers[e] == -7));
  return made;
}

/// Returns the number of signals that the search rejects; the others must agree with sd.
index_t left(Problem<float> p, double scale = 1) {
  for (auto* const a : {&p.h, &p.y})
    for (index_t e = 0; e < a->size(); ++e) a->data()[e] *= static_cast<float>(scale);
  const auto lists = tesela::mimo::lists_of(p.alphabets, SearchForm::real);
  const Detection expected = detect(p, {.order = ColumnOrder::sqrd});
  index_t unusable = 0;
  double nodes = 0, theirs = 0;
  for (index_t k = 0; k < p.shape.signals; ++k) {
    const ChannelView<float> view{
        p.shape.antennas,
        p.shape.streams,
        reinterpret_cast<const kernels::mimo::Complex<float>*>(&p.h(0, p.shape.channel_of(k) * p.shape.streams)),
        p.shape.antennas,
        lists.columns.data(),
        lists.points.data()};
    const auto* const y = reinterpret_cast<const kernels::mimo::Complex<float>*>(&p.y(0, k));
    const auto by = [&] {
      switch (p.shape.streams) {
        case 2: return lane_search<2>(view, y);
        case 3: return lane_search<3>(view, y);
        case 4: return lane_search<4>(view, y);
        case 5: return lane_search<5>(view, y);
        default: return lane_search<6>(view, y);
      }
    };
    const Outcome found = by();
    if (!found.usable) {
      ++unusable;
      continue;
    }
    CAPTURE(k, p.shape.streams, p.alphabets[0].name, scale);
    const kernels::SearchReport& reference = expected.reports[std::size_t(k)];
    CHECK(std::equal(&expected.labels(0, k), &expected.labels(0, k) + p.shape.streams, found.labels.begin()));
    CHECK(std::abs(found.report.distance - reference.distance) <= 1e-12 * reference.distance);
    CHECK(found.report.flags == reference.flags);
    nodes += double(found.report.nodes), theirs += double(reference.nodes);
  }
  CAPTURE(nodes, theirs);
  CHECK((unusable > 0 ||
         nodes < 3 * theirs));  // the two parts of a stream are neighbours here, which sd does not require
  return unusable;
}

}  // namespace

TEST_CASE("a lane's search by pairs of columns agrees with sd") {
  const RuntimeOfCores cores;
  for (const double db : {0.0, 9.0, 30.0}) {
    for (const index_t streams : {2, 3, 4, 5, 6})
      for (const index_t more : {0, 3})
        CHECK(left(problem<float>({streams, streams + more, 60, more == 0 ? 1 : 7}, "16qam", "rayleigh", db)) == 0);
    CHECK(left(problem<float>({4, 4, 60, 1}, "64qam", "rayleigh", db + 5)) == 0);
    CHECK(left(problem<float>({3, 4, 60, 0}, "256qam,qpsk,16qam", "rayleigh", db + 9)) == 0);
  }
  for (const double scale : {1e-15, 1e15})
    CHECK(left(problem<float>({3, 3, 60, 1}, "16qam", "rayleigh", 9), scale) == 0);
  CHECK(left(problem<float>({4, 4, 100, 1}, "16qam", "correlated:0.95", 12)) == 0);
  CHECK(left(problem<float>({3, 3, 100, 1}, "16qam", "kappa:1e4", 30)) == 0);
}

TEST_CASE("a lane's search by pairs of columns rejects uncertain signals and always ends") {
  const RuntimeOfCores cores;
  for (const char* const channel : {"zero", "rank:1", "kappa:1e9"})
    CHECK(left(problem<float>({3, 3, 40, 1}, "16qam", channel, 9)) == 40);
  CHECK(left(problem<float>({3, 2, 40, 1}, "16qam", "rayleigh", 9)) == 40);
  const auto p = problem<float>({3, 3, 1, 1}, "16qam", "rayleigh", 9);
  const auto lists = tesela::mimo::lists_of(p.alphabets, SearchForm::real);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (const std::size_t place : {0u, 5u, 9u, 11u}) {  // in H, then in y
      std::vector<kernels::mimo::Complex<float>> all;
      for (index_t e = 0; e < 9; ++e) all.push_back({p.h.data()[e].real(), p.h.data()[e].imag()});
      for (index_t e = 0; e < 3; ++e) all.push_back({p.y.data()[e].real(), p.y.data()[e].imag()});
      all[place].im = bad;
      const ChannelView<float> view{3, 3, all.data(), 3, lists.columns.data(), lists.points.data()};
      CHECK(!lane_search<3>(view, all.data() + 9).usable);
    }
}
