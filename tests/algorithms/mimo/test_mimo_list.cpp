#include "tests/support/files.hpp"
#include "tests/support/mimo.hpp"
#include <tesela/algorithms/mimo/mimo_list.hpp>

using namespace tesela::test;
using Number = std::complex<double>;

namespace {

struct Point {
  double distance;
  std::vector<int> labels;
};

template <class T>
double distance_to(const Problem<T>& p, index_t k, const std::vector<Number>& s) {
  double sum = 0;
  for (index_t i = 0; i < p.shape.antennas; ++i) {
    Number left(p.y(i, k));
    for (index_t j = 0; j < p.shape.streams; ++j)
      left -= Number(p.h(i, p.shape.channel_of(k) * p.shape.streams + j)) * s[static_cast<std::size_t>(j)];
    sum += std::norm(left);
  }
  return std::sqrt(sum);
}

/// Returns all candidates of two streams, nearest first.
template <class T>
std::vector<Point> every_point(const Problem<T>& p, index_t k) {
  std::vector<Point> all;
  for (int a = 0; a < p.alphabets[0].size(); ++a)
    for (int b = 0; b < p.alphabets[1].size(); ++b)
      all.push_back(
          {distance_to(p, k, {p.alphabets[0].points[std::size_t(a)], p.alphabets[1].points[std::size_t(b)]}), {a, b}});
  std::sort(all.begin(), all.end(), [](const Point& x, const Point& y) { return x.distance < y.distance; });
  return all;
}

template <class T>
MimoList list(const Problem<T>& p, const MimoListOptions& options, bool integers = false) {
  Graph g(runtime());
  return mimo_list(g, p.shape, p.h, p.y, integers ? std::vector<Constellation>{} : p.alphabets, options);
}

}  // namespace

TEMPLATE_TEST_CASE("a list contains all points in a sphere and no others", "", float, double) {
  for (const char* const names : {"16qam", "8psk,qpsk"})
    for (const char* const channel : {"rayleigh", "rank:1", "zero"})
      for (const double radius : {0.4, 1.0, 2.5}) {
        const auto p = problem<TestType>({2, 2, 25, 3}, names, channel, 6);
        const MimoList found = list(p, {.radius = radius, .most = 300}), few = list(p, {.radius = radius, .most = 3});
        for (index_t k = 0; k < 25; ++k) {
          CAPTURE(names, channel, radius, k);
          const std::vector<Point> all = every_point(p, k);
          const auto inside =
              std::count_if(all.begin(), all.end(), [&](const Point& x) { return x.distance <= radius; });
          CHECK(found.counts[std::size_t(k)] == inside);
          CHECK(few.counts[std::size_t(k)] == inside);
          for (index_t e = 0; e < inside; ++e) {
            CHECK(std::abs(found.distances(e, k) - all[std::size_t(e)].distance) < 1e-12);
            if (e < 3) CHECK(few.distances(e, k) == found.distances(e, k));
          }
          if (inside < 300) CHECK(found.labels(0, k * 300 + inside) == -1);
        }
      }
}

TEMPLATE_TEST_CASE("the closest lattice vector equals that of an exhaustive search nearby", "", float, double) {
  for (const double db : {0.0, 20.0})
    for (const double offset : {0.0, 1000.0}) {
      auto p = problem<TestType>({1, 2, 60, 1}, "16qam", "rayleigh", db);
      for (index_t e = 0; e < p.y.size(); ++e)
        p.y.data()[e] = p.y.data()[e] * TestType(4) + p.h.data()[e] * TestType(offset);
      const MimoList found = list(p, {}, true);
      for (index_t k = 0; k < 60; ++k) {
        double least = 1e300;
        for (int re = -12; re <= 12; ++re)
          for (int im = -12; im <= 12; ++im) least = std::min(least, distance_to(p, k, {Number(re + offset, im)}));
        CHECK(found.reports[std::size_t(k)].distance <= least * (1 + 1e-10));
        const Number s(found.labels(0, k), found.labels(1, k));
        CHECK(std::abs(distance_to(p, k, {s}) - found.reports[std::size_t(k)].distance) <= 1e-8 * (1 + least));
      }
    }
}

TEST_CASE("integers: two orders agree, lists start with the nearest vector, and scales do not matter") {
  for (const double scale : {1.0, 1e150, 1e-150}) {
    auto p = problem<double>({4, 4, 60, 1}, "64qam", "rayleigh", 12);
    for (index_t e = 0; e < p.y.size(); ++e) p.y.data()[e] *= 6 * scale;
    for (index_t e = 0; e < p.h.size(); ++e) p.h.data()[e] *= scale;
    const MimoList one = list(p, {}, true), other = list(p, {.order = ColumnOrder::sqrd}, true);
    CHECK(std::equal(one.labels.data(), one.labels.data() + one.labels.size(), other.labels.data()));
    for (index_t k = 0; k < 60; k += 20) {
      auto alone = problem<double>({4, 4, 1, 0}, "64qam", "rayleigh", 12);
      std::copy_n(&p.y(0, k), 4, alone.y.data());
      std::copy_n(&p.h(0, 4 * k), 16, alone.h.data());
      const double radius = one.reports[std::size_t(k)].distance * 1.3;
      const MimoList near = list(alone, {.radius = radius, .most = 50}, true);
      REQUIRE(near.counts[0] >= 1);
      CHECK(near.distances(0, 0) == one.reports[std::size_t(k)].distance);
      for (index_t j = 0; j < 8; ++j) CHECK(near.labels(j, 0) == one.labels(j, k));
    }
  }
}

TEST_CASE("integers: dependent columns, few antennas and overflow fail for single signals") {
  for (const auto& [channel, antennas] : {std::pair{"rank:1", index_t{2}}, {"zero", 2}, {"rayleigh", 1}}) {
    const MimoList found = list(problem<double>({2, antennas, 7, 1}, "16qam", channel, 10), {}, true);
    for (const SearchReport& r : found.reports) CHECK((r.flags & SearchReport::failed) != 0);
  }
  auto p = problem<double>({1, 1, 3, 1}, "16qam", "rayleigh", 10);
  p.y(0, 1) = p.h(0, 1) * 1e12;
  const MimoList found = list(p, {}, true);
  CHECK((found.reports[0].flags & SearchReport::failed) == 0);
  CHECK((found.reports[1].flags & SearchReport::failed) != 0);
  CHECK((found.reports[2].flags & SearchReport::failed) == 0);
  // Above 2^30 rounding cannot separate neighbouring integers, and there are too many to enumerate.
  auto far = problem<double>({2, 2, 1, 0}, "16qam", "rayleigh", 10);
  far.h(0, 0) = far.h(1, 1) = 1, far.h(0, 1) = far.h(1, 0) = 0;
  far.y(1, 0) = 1;
  for (const double part : {0x1p30 - 2, 0x1p30 - 1, 0x1p30 + 1, 0x1p31, 1e12, 1e17, 1e300}) {
    far.y(0, 0) = {-3, part};
    const MimoList one = list(far, {}, true);
    CHECK((one.reports[0].flags & SearchReport::failed) == (part < 0x1p30 - 1 ? 0 : SearchReport::failed));
  }
  CHECK(list(problem<double>({2, 2, 0, 1}, "qpsk", "rayleigh", 5), {.radius = 1}).counts.empty());
  const auto q = problem<double>({2, 2, 2, 1}, "qpsk", "rayleigh", 5);
  check_throws<ArgumentError>("most", [&] { (void)list(q, {.radius = 1, .most = 0}); });
  check_throws<ArgumentError>("radius", [&] { (void)list(q, {.radius = -1}); });
  check_throws<ArgumentError>("lists accept natural", [&] { (void)list(q, {.order = ColumnOrder::gradient}); });
}
