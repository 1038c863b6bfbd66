#include "tests/support/files.hpp"
#include <tesela/algorithms/mimo/constellation.hpp>

#include <bit>
#include <cmath>

using namespace tesela;
using namespace tesela::test;
using Point = std::complex<double>;

namespace {

double apart(Point a, Point b) { return std::abs(a - b); }

}  // namespace

TEST_CASE("constellations have unit energy, distinct points and Gray labels") {
  for (const auto& kind : constellation_kinds()) {
    const Constellation c = constellation(kind.value);
    CAPTURE(c.name);
    CHECK(c.name == kind.name);
    CHECK(c.size() == index_t{1} << c.bits());
    CHECK(std::abs(c.energy() - 1) < 1e-14);
    double least = 4;
    for (std::size_t a = 0; a < c.points.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) least = std::min(least, apart(c.points[a], c.points[b]));
    CHECK(least > 0.05);
    for (std::size_t a = 0; a < c.points.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (apart(c.points[a], c.points[b]) < least * 1.0001) CHECK(std::popcount(a ^ b) == 1);
  }
}

TEST_CASE("constellations equal the tables of TS 38.211") {
  // Section 5.1 with the first bit most significant: 16-QAM 0000 is (1 + i)/sqrt(10), 1011 (-3 + 3i), 0001 (1 + 3i).
  const auto near = [](ConstellationKind kind, std::size_t label, Point grid, double squares) {
    CHECK(apart(constellation(kind).points[label], grid / std::sqrt(squares)) < 1e-15);
  };
  near(ConstellationKind::bpsk, 0, {1, 1}, 2);
  near(ConstellationKind::bpsk, 1, {-1, -1}, 2);
  near(ConstellationKind::qpsk, 0, {1, 1}, 2);
  near(ConstellationKind::qpsk, 1, {1, -1}, 2);
  near(ConstellationKind::qpsk, 2, {-1, 1}, 2);
  near(ConstellationKind::qam16, 0b0000, {1, 1}, 10);
  near(ConstellationKind::qam16, 0b0001, {1, 3}, 10);
  near(ConstellationKind::qam16, 0b0010, {3, 1}, 10);
  near(ConstellationKind::qam16, 0b1011, {-3, 3}, 10);
  near(ConstellationKind::qam16, 0b0111, {3, -3}, 10);
  near(ConstellationKind::qam64, 0b000000, {3, 3}, 42);
  near(ConstellationKind::qam64, 0b001010, {7, 3}, 42);
  near(ConstellationKind::qam64, 0b000010, {1, 3}, 42);
  near(ConstellationKind::qam64, 0b101000, {-5, 3}, 42);
  near(ConstellationKind::qam256, 0b00000000, {5, 5}, 170);
  near(ConstellationKind::qam256, 0b00101010, {15, 5}, 170);
  near(ConstellationKind::qam1024, 0b0010101010, {31, 11}, 682);
}

TEST_CASE("8psk labels follow Gray order around the circle from angle 0") {
  const Constellation c = constellation(ConstellationKind::psk8);
  const int order[] = {0, 1, 3, 2, 6, 7, 5, 4};
  for (int k = 0; k < 8; ++k)
    CHECK(apart(c.points[static_cast<std::size_t>(order[k])], std::polar(1.0, k * std::acos(-1.0) / 4)) < 1e-15);
}

TEST_CASE("square constellations split into two axes, others do not") {
  for (const auto& kind : constellation_kinds()) {
    const Constellation c = constellation(kind.value);
    const auto product = c.product();
    CAPTURE(c.name);
    REQUIRE(product.size() == (c.name == "bpsk" || c.name == "8psk" ? 0 : 1));
    if (product.empty()) continue;
    const auto& [re, im] = product.front();
    CHECK(re.labels.size() * im.labels.size() == c.points.size());
    for (std::size_t i = 0; i < re.labels.size(); ++i)
      for (std::size_t k = 0; k < im.labels.size(); ++k) {
        const Point p{re.low + re.step * static_cast<double>(i), im.low + im.step * static_cast<double>(k)};
        CHECK(apart(c.points[static_cast<std::size_t>(re.labels[i] | im.labels[k])], p) < 1e-15);
      }
  }
}

TEST_CASE("constellations are read from files, and invalid files are refused") {
  const TemporaryFolder folder;
  const std::string path = folder / "points.txt";
  put(path, "# four\n1 0 2\n\n0 1 0  % a comment\n-1 0 1\n0 -1e0 3\n");
  const Constellation c = read_constellation(path);
  CHECK(c.points == std::vector<Point>{{0, 1}, {-1, 0}, {1, 0}, {0, -1}});
  CHECK(c.product().empty());
  const auto refused = [&](const std::string& text, const std::string& why) {
    put(path, text);
    check_throws<FileError>(why, [&] { read_constellation(path); });
  };
  refused("1 0 0\n0 1 1\n1 1 2\n", "3 points are not a power of two");
  refused("1 0 0\n", "1 point; a constellation needs at least 2");
  refused("# none\n", "0 points; a constellation needs at least 2");
  refused("0 0 0\n0 0 1\n", "all 2 points are equal; points must differ");
  refused("1 2 0\n1 2 1\n1 2 2\n1 2 3\n", "points must differ");
  refused("1 0 0\n0 1 0\n", "line 2: label 0 is repeated");
  refused("1 0 0\n0 1 2\n", "label 2 is out of range");
  refused("1 0 0\n0 1 -1\n", "line 2: label '-1' is out of range");
  refused("1 0 0\n0 1 0.5\n", "line 2: label '0.5'");
  refused("1 0 0\n0 nan 1\n", "line 2: 'nan' is not a finite number");
  refused("1 0\n", "line 1: expected 're im label'");
  refused("1 0 0 0\n", "line 1: expected");
  refused(std::string("1 0 0\n-1 0 1\0more\n", 18), "line 2: ");  // a zero byte does not end a number
  check_throws<FileError>("No such file", [&] { read_constellation(folder / "none"); });
  put(path, "1 0 0\n-1 0 1\n");
  CHECK(parse_constellations("x", "qpsk", 3).size() == 3);
  const auto mixed = parse_constellations("x", "qpsk," + path + ",64qam", 3);
  CHECK((mixed[0].bits() == 2 && mixed[1].bits() == 1 && mixed[2].bits() == 6));
  check_throws<ArgumentError>("names 2, there are 3 streams", [] { parse_constellations("x", "qpsk,bpsk", 3); });
  check_throws<ArgumentError>("names 0", [] { parse_constellations("x", "", 3); });
}
