#include "tests/support/files.hpp"
#include "tests/support/mimo.hpp"
#include <tesela/algorithms/mimo/constellation.hpp>
#include <tesela/algorithms/mimo/mimo_channel.hpp>
#include <tesela/algorithms/mimo/mimo_list.hpp>
#include <tesela/algorithms/mimo/mimo_soft.hpp>
#include <tesela/algorithms/mimo/mimo_tree.hpp>

#include <bit>

using namespace tesela::test;
using Number = std::complex<double>;
using Point = std::complex<double>;

extern "C" void zgesvd_(const char*, const char*, const int*, const int*, Number*, const int*, double*, Number*,
                        const int*, Number*, const int*, Number*, const int*, double*, int*);

namespace {

HostMatrix<Number> channels(const MimoShape& shape, const char* kind, std::uint64_t seed = 1) {
  return random_channels<double>(shape, parse_channel("test", kind), seed);
}

std::vector<double> singular_values(const HostMatrix<Number>& h, index_t n, index_t k) {
  const index_t m = h.rows();
  std::vector<Number> a(&h(0, k * n), &h(0, k * n) + m * n);
  std::vector<double> s(static_cast<std::size_t>(std::min(m, n))), real(64);
  std::vector<Number> work(256);
  const int rows = static_cast<int>(m), cols = static_cast<int>(n), one = 1, size = 256;
  int info = 0;
  zgesvd_("N", "N", &rows, &cols, a.data(), &rows, s.data(), nullptr, &one, nullptr, &one, work.data(), &size,
          real.data(), &info);
  REQUIRE(info == 0);
  return s;
}

/// Returns the mean of x conj(y) over all channels.
Number mean(const HostMatrix<Number>& h, index_t n, Shape x, Shape y) {
  Number sum = 0;
  const index_t count = h.cols() / n;
  for (index_t k = 0; k < count; ++k) sum += h(x.rows, k * n + x.cols) * std::conj(h(y.rows, k * n + y.cols));
  return sum / static_cast<double>(count);
}

}  // namespace

TEST_CASE("channels have the requested moments, condition and rank") {
  const MimoShape shape{3, 4, 20000, 1};
  const HostMatrix<Number> rayleigh = channels(shape, "rayleigh"), correlated = channels(shape, "correlated:0.6");
  REQUIRE(rayleigh.shape() == Shape{4, 60000});
  for (const auto* h : {&rayleigh, &correlated}) CHECK(std::abs(mean(*h, 3, {2, 1}, {2, 1}) - 1.0) < 0.04);
  CHECK(std::abs(mean(rayleigh, 3, {2, 1}, {3, 1})) < 0.04);
  CHECK(std::abs(mean(correlated, 3, {1, 1}, {3, 1}) - 0.36) < 0.04);
  CHECK(std::abs(mean(correlated, 3, {1, 0}, {1, 1}) - 0.6) < 0.04);
  CHECK(std::abs(mean(correlated, 3, {1, 0}, {2, 1}) - 0.36) < 0.04);
  for (const auto& [m, n] : {std::pair<index_t, index_t>{4, 3}, {3, 3}, {2, 5}}) {
    const HostMatrix<Number> kappa = channels({n, m, 3, 1}, "kappa:1e4"), rank = channels({n, m, 3, 1}, "rank:1");
    for (index_t k = 0; k < 3; ++k) {
      const auto s = singular_values(kappa, n, k), r = singular_values(rank, n, k);
      CHECK(std::abs(s.front() / s.back() / 1e4 - 1) < 1e-9);
      double sum = 0;
      for (const double x : s) sum += x * x;
      CHECK(std::abs(sum / static_cast<double>(m * n) - 1) < 1e-12);
      CHECK(r[1] < 1e-14 * r[0]);
    }
  }
  const HostMatrix<Number> zero = channels({2, 2, 1, 0}, "zero");
  for (index_t e = 0; e < 4; ++e) CHECK(zero.data()[e] == 0.0);
}

TEST_CASE("signals are H s + v with the channel of their block") {
  const std::vector<Constellation> alphabets = parse_constellations("test", "16qam,bpsk", 2);
  const MimoShape shape{2, 3, 2000, 300};  // the last block is short
  REQUIRE(shape.channels() == 7);
  const HostMatrix<Number> h = channels(shape, "rayleigh");
  const HostMatrix<int> labels = random_labels(shape, alphabets, 5);
  const double n0 = 0.5;
  const HostMatrix<Number> clean = received(shape, h, alphabets, labels, 0, 5),
                           noisy = received(shape, h, alphabets, labels, n0, 5);
  double noise = 0;
  std::vector<int> seen(16);
  for (index_t k = 0; k < shape.signals; ++k) {
    CHECK((labels(1, k) == 0 || labels(1, k) == 1));
    ++seen[static_cast<std::size_t>(labels(0, k))];
    for (index_t i = 0; i < 3; ++i) {
      const index_t c = k / 300 * 2;
      const Number sum = h(i, c) * alphabets[0].points[static_cast<std::size_t>(labels(0, k))] +
                         h(i, c + 1) * alphabets[1].points[static_cast<std::size_t>(labels(1, k))];
      CHECK(std::abs(clean(i, k) - sum) < 1e-14);
      noise += std::norm(noisy(i, k) - sum) / 6000;
    }
  }
  CHECK(std::abs(noise - n0) < 0.03);
  for (const int count : seen) CHECK(std::abs(count - 125) < 50);
  CHECK(std::abs(noise_variance(7, alphabets) - std::pow(10, -0.7) / 2.5) < 1e-15);
}

TEST_CASE("invalid channel options are refused") {
  for (const char* text : {"", "rice", "rayleigh:1", "correlated", "correlated:1", "correlated:-0.1", "kappa:0.5",
                           "kappa:x", "rank:0", "rank:1.5", "zero:1", "kappa:inf"})
    check_throws<ArgumentError>("--channel", [&] { parse_channel("test", text); });
}

TEST_CASE("the nearest point after whitening is the most likely point for covariance C") {
  // The inverse of C = [2, 1 - i; 1 + i, 3], whose determinant is 4.
  HostMatrix<Number> c(2, 2);
  c(0, 0) = 2, c(0, 1) = {1, -1}, c(1, 0) = {1, 1}, c(1, 1) = 3;
  const Number inverse[2][2] = {{0.75, {-0.25, 0.25}}, {{-0.25, -0.25}, 0.5}};
  for (const double scale : {1.0, 1e150, 1e-150}) {
    auto p = problem<double>({2, 2, 150, 1}, "qpsk", "rayleigh", 0);
    const auto before = problem<double>({2, 2, 150, 1}, "qpsk", "rayleigh", 0);
    HostMatrix<Number> scaled = c.clone();
    for (index_t e = 0; e < 4; ++e) scaled.data()[e] *= scale;
    whiten(scaled, p.h, p.y);
    const Detection found = detect(p, {}), plain = detect(before, {});
    CHECK(differences(found, plain) > 0);
    for (index_t k = 0; k < 150; ++k) {
      double least = std::numeric_limits<double>::infinity(), ours = 0;
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) {
          Number left[2];
          for (index_t i = 0; i < 2; ++i)
            left[i] = before.y(i, k) - before.h(i, 2 * k) * p.alphabets[0].points[std::size_t(a)] -
                      before.h(i, 2 * k + 1) * p.alphabets[1].points[std::size_t(b)];
          double sum = 0;
          for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) sum += (std::conj(left[i]) * inverse[i][j] * left[j]).real();
          least = std::fmin(least, sum);
          if (found.labels(0, k) == a && found.labels(1, k) == b) ours = sum;
        }
      CHECK(ours <= least * (1 + 1e-12));
    }
  }
}

TEST_CASE("whitening does not depend on the units of antennas") {
  auto p = problem<double>({2, 3, 20, 1}, "qpsk", "rayleigh", 0),
       q = problem<double>({2, 3, 20, 1}, "qpsk", "rayleigh", 0);
  HostMatrix<Number> c(3, 3), far(3, 3);
  const int exponents[] = {480, 0, -480};
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 3; ++j) {
      c(i, j) = i == j ? Number(2) : Number(0.5, i < j ? 0.25 : -0.25);
      far(i, j) = c(i, j) * std::ldexp(1.0, exponents[i] + exponents[j]);
    }
    for (index_t k = 0; k < q.h.cols(); ++k) q.h(i, k) *= std::ldexp(1.0, exponents[i]);
    for (index_t k = 0; k < q.y.cols(); ++k) q.y(i, k) *= std::ldexp(1.0, exponents[i]);
  }
  whiten(c, p.h, p.y);
  whiten(far, q.h, q.y);
  CHECK(std::equal(p.h.data(), p.h.data() + p.h.size(), q.h.data()));
  CHECK(std::equal(p.y.data(), p.y.data() + p.y.size(), q.y.data()));
}

TEST_CASE("whiten refuses an invalid covariance") {
  auto p = problem<float>({2, 2, 5, 1}, "qpsk", "rayleigh", 0);
  const auto refused = [&](const char* why, Number a, Number b, Number c, Number d) {
    HostMatrix<Number> m(2, 2);
    m(0, 0) = a, m(0, 1) = b, m(1, 0) = c, m(1, 1) = d;
    check_throws<ArgumentError>(why, [&] { whiten(m, p.h, p.y); });
  };
  refused("not Hermitian at [0, 1]", 1, 2, 1, 9);
  refused("not Hermitian at [0, 0]", {1, 1}, 0, 0, 1);
  refused("not positive definite: row 1", 1, 2, 2, 1);
  refused("not positive definite: row 0", 0, 0, 0, 0);
  refused("[1, 0] (from zero) is not finite", 1, 0, NAN, 1);
  check_throws<ArgumentError>("3 x 3; it must be Nr x Nr", [&] { whiten(HostMatrix<Number>::zeros(3, 3), p.h, p.y); });
}

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

TEST_CASE("pi/2-bpsk turns every second signal as TS 38.211, 5.1.1") {
  for (const index_t coherence : {0, 1, 3}) {
    const auto p = problem<double>({2, 3, 7, coherence}, "pi/2-bpsk", "rayleigh", 200);
    HostMatrix<Number> turned(3, 7);
    for (index_t k = 0; k < 7; ++k)
      for (index_t i = 0; i < 3; ++i) {
        Number sum = 0;
        for (index_t j = 0; j < 2; ++j) {
          const double b = 1 - 2 * p.sent(j, k);
          const Number d = std::polar(1.0, std::acos(-1.0) / 2 * static_cast<double>(k % 2)) * Number(b, b);
          sum += p.h(i, p.shape.channel_of(k) * 2 + j) * d / std::sqrt(2.0);
        }
        CHECK(apart(p.y(i, k), sum) < 1e-8);
        turned(i, k) = sum;
      }
    Graph g(runtime());
    for (const char* const method :
         {"sd", "sd-plain", "brute", "babai", "zf", "mmse", "mmse-sic", "kbest", "nway", "ep"}) {
      MimoOptions options{.n0 = 1e-6};
      parse_mimo_method("test", method, options);
      const Detection found = mimo_detect(g, p.shape, p.h, turned, p.alphabets, options);
      CAPTURE(method, coherence);
      CHECK(std::equal(p.sent.data(), p.sent.data() + 14, found.labels.data()));
    }
    const auto soft = mimo_soft(g, p.shape, p.h, turned, p.alphabets, {.n0 = 1});
    const auto list = mimo_list(g, p.shape, p.h, turned, p.alphabets, {.radius = 1e-8});
    for (index_t k = 0; k < 7; ++k) {
      CHECK(list.counts[static_cast<std::size_t>(k)] == 1);
      for (index_t j = 0; j < 2; ++j) CHECK((soft.llrs(j, k) < 0) == (p.sent(j, k) == 1));
    }
    const SearchTree tree = mimo_search_tree(p.shape, p.h, turned, p.alphabets, {.n0 = 1e-6}, 1);
    CHECK(tree.nodes.size() >= 2);
    CHECK(std::ranges::min(tree.nodes, {}, &VisitedNode::distance).distance < 1e-8);
  }
  check_throws<ArgumentError>("for all streams or for none", [] {
    problem<double>({2, 2, 3, 0}, "pi/2-bpsk,bpsk", "rayleigh", 9);
  });
  CHECK(parse_constellations("x", "pi/2-bpsk", 1)[0].alternating);
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
    REQUIRE(product.size() == (c.name == "bpsk" || c.name == "pi/2-bpsk" || c.name == "8psk" ? 0 : 1));
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
