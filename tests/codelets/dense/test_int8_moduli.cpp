#include "tests/support/quadruple.hpp"
#include "tests/support/test.hpp"
#include <tesela/codelets/dense/int8_gemm.hpp>
#include <tesela/codelets/dense/internal/int8_moduli.hpp>
#include <tesela/codelets/dense/internal/int8_workspace.hpp>

#include <numeric>
#include <random>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

__extension__ typedef __int128 Wide;  // not part of ISO C++

constexpr std::size_t all(int count) { return static_cast<std::size_t>(count); }

/// Returns the bound c(k) u of docs/gemm.md for double precision: |C - A B| <= c(k) u ||a||_2 ||b||_2.
double bound(index_t k) { return (0.67 * std::sqrt(static_cast<double>(k)) + 3.1) * 0x1p-53; }

/// Multiplies two lines as the GPU does, with `count` moduli.
double multiply_by_residues(const std::vector<double>& a, const std::vector<double>& b, int count) {
  const auto k = static_cast<index_t>(a.size());
  const double most = int8::largest_norm(count, k);
  const auto exponent = [&](const std::vector<double>& x) {
    return std::ilogb(most / (std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0)) * (1 + 0x1p-30)));
  };
  const int ea = exponent(a), eb = exponent(b);
  const int8::Restoration r = int8::restoration(count);
  int8::Fraction fraction{r.start[0], r.start[1], r.start[2]};
  for (int l = 0; l < count; ++l) {
    const int8::Modulus c = int8::modulus(l);
    const auto byte = [&](double x, int e) {
      return static_cast<std::int8_t>(int8::residue(c, std::llrint(std::ldexp(x, e))));
    };
    int sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += byte(a[i], ea) * byte(b[i], eb);
    const int rest = int8::reduce(sum, c.low, c.start, c.scale, static_cast<std::uint32_t>(c.p) << 24);
    fraction.add(static_cast<std::uint8_t>(static_cast<std::int8_t>(rest) + 128), r, l);
  }
  return std::ldexp(static_cast<double>(fraction.value()) * r.unit, -ea - eb);
}

/// Returns the error of a sum of products in units of bound().
double scaled_error(const std::vector<double>& a, const std::vector<double>& b, double result) {
  Quad sum = 0, of_a = 0, of_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += Quad(a[i]) * b[i], of_a += Quad(a[i]) * a[i], of_b += Quad(b[i]) * b[i];
  const Quad error = result - sum, limit = root(of_a) * root(of_b) * Quad(bound(static_cast<index_t>(a.size())));
  return static_cast<double>((error < 0 ? -error : error) / limit);
}

}  // namespace

TEST_CASE("the moduli have no common factor and fit bytes") {
  for (int l = 0; l < int8::most_moduli; ++l) {
    CHECK((int8::moduli[all(l)] > 128 && int8::moduli[all(l)] <= 256));
    for (int other = 0; other < l; ++other) CHECK(std::gcd(int8::moduli[all(l)], int8::moduli[all(other)]) == 1);
  }
}

TEST_CASE("the constants of each modulus are exact") {
  for (int l = 0; l < int8::most_moduli; ++l) {
    const int8::Modulus c = int8::modulus(l);
    CAPTURE(c.p);
    for (int j = 0; j < 8; ++j) {
      const auto power = static_cast<std::int8_t>((j < 4 ? c.low : c.high) >> (8 * (j % 4)));
      CHECK(((Wide(1) << (8 * j)) - power) % c.p == 0);
    }
    CHECK(((Wide(1) << 63) + c.offset) % c.p == 0);
    CHECK(c.offset >= 8 * 255 * 128);
    const auto p = static_cast<std::uint64_t>(c.p);
    CHECK((c.inverse * p >= std::uint64_t{1} << 32 && c.inverse * p < (std::uint64_t{1} << 32) + p));
    CHECK(2 * std::abs(c.scale * c.p + (1 << 24)) <= c.p);
    CHECK((128 * (1 + 256 + 65536) - c.start) % c.p == 0);
  }
}

TEST_CASE("residues agree with the remainder operator and are nearest to 0") {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> numbers{0, 1, -1, 127, 128, -128, -129, INT64_MAX, INT64_MIN + 1, std::int64_t{1} << 62};
  for (int i = 0; i < 20000; ++i) numbers.push_back(static_cast<std::int64_t>(random()) >> random() % 63);
  for (int l = 0; l < int8::most_moduli; ++l) {
    const int8::Modulus c = int8::modulus(l);
    index_t wrong = 0;
    for (const std::int64_t x : numbers) {
      const int r = int8::residue(c, x);
      wrong += (Wide(x) - r) % c.p != 0 || 2 * std::abs(r) > c.p ? 1 : 0;
    }
    const auto top = static_cast<std::uint32_t>(c.p) << 24;
    const auto check = [&](int sum) {
      const int found = int8::reduce(sum, c.low, c.start, c.scale, top), r = static_cast<std::int8_t>(found);
      wrong += (index_t{sum} - r) % c.p != 0 || 2 * std::abs(r) > c.p || (found != r && c.p < 256) ? 1 : 0;
    };
    constexpr int most = (1 << 14) * int8::deepest;
    for (int sum = -300; sum <= 300; ++sum) check(sum), check(most - std::abs(sum)), check(std::abs(sum) - most);
    for (int i = 0; i < 200000; ++i) check(static_cast<int>(random() % (2u * most + 1)) - most);
    CAPTURE(c.p);
    CHECK(wrong == 0);
  }
}

TEST_CASE("the fraction restores integers up to half of the product of the moduli") {
  std::mt19937_64 random(2);
  for (const int count : {7, 14, 15, 16}) {
    const int8::Restoration r = int8::restoration(count);
    Wide product = 1;
    for (int l = 0; l < count; ++l) product *= int8::moduli[all(l)];
    const double common = static_cast<double>(Quad(product) / (Quad(r.unit) * 0x1p64) - 1);  // to all elements
    CHECK(std::abs(common) <= (count < 16 ? 0x1p-53 / 12 : 0x1p-53));
    Wide start = (Wide(r.start[0]) << 40) + (Wide(r.start[1]) << 20) + r.start[2];
    for (int l = 0; l < count; ++l) {
      const Wide w = (Wide(r.high[l]) << 40) + (Wide(r.middle[l]) << 20) + r.low[l];
      start += 128 * w;
      const int p = int8::moduli[all(l)];
      const Wide y = (w * p + (Wide(1) << 71)) >> 72;  // the inverse of the product of the others
      CHECK(y * (product / p) % p == 1);
      CHECK(2 * (w * p - (y << 72)) <= p);
      CHECK(2 * ((y << 72) - w * p) <= p);
    }
    CHECK(start % (Wide(1) << 72) == 0);
    double worst = 0;
    for (int i = 0; i < 20000; ++i) {
      Wide x = (Wide(static_cast<std::int64_t>(random())) << 60) + static_cast<std::int64_t>(random() >> 4);
      x = i == 0 ? product / 2 - (product >> 50) : i == 1 ? -(product / 2) + (product >> 50) : x % (product / 2);
      int8::Fraction fraction{r.start[0], r.start[1], r.start[2]};
      for (int l = 0; l < count; ++l) {
        const int p = int8::moduli[all(l)];
        const int rest = static_cast<int>((x % p + p) % p), centred = 2 * rest >= p ? rest - p : rest;
        fraction.add(static_cast<std::uint8_t>(centred + 128), r, l);
      }
      const Quad error = Quad(fraction.value()) * Quad(0x1p-64) - Quad(x) / Quad(product);
      worst = std::max(worst, std::abs(static_cast<double>(error)));
    }
    CAPTURE(count);
    CHECK(worst <= 0x1p-61);
  }
}

TEST_CASE("14 moduli satisfy the error bound, and 13 do not") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(1, 2);
  double worst[2] = {};
  for (int i = 0; i < 300; ++i)
    for (const int k : {1, 16, 100}) {
      // Equal elements have equal roundings, and a line times itself comes closest to half of the moduli's product.
      const std::vector<double> a(all(k), uniform(random)), b(all(k), i % 2 == 0 ? a[0] : -uniform(random));
      for (const int few : {0, 1})
        worst[few] =
            std::max(worst[few], scaled_error(a, b, multiply_by_residues(a, b, moduli_for(sizeof(double)) - few)));
    }
  CHECK(worst[0] <= 1);
  CHECK(worst[1] > 1);
}

TEST_CASE("a plan's pieces cover the product within the work space") {
  for (const auto& [m, n, k] : {std::array<index_t, 3>{1, 1, 1},
                                {16384, 16384, 16384},
                                {40000, 300, 131075},
                                {100000, 100000, 64},
                                {5, 70000, 1000000}})
    for (const int moduli : {7, 14, 16})
      for (const std::size_t most : {std::size_t{256} << 20, std::size_t{4} << 30}) {
        const Int8Plan plan = plan_int8(m, n, k, moduli, most);
        CAPTURE(m, n, k, moduli, most, plan.m, plan.n, plan.k);
        CHECK((plan.m > 0 && plan.m <= m && plan.n > 0 && plan.n <= n && plan.k > 0 && plan.k <= k));
        CHECK(plan.k <= int8::deepest);
        CHECK(plan.bytes <= most);
        CHECK(plan.bytes == int8::Workspace(plan.m, plan.n, plan.k, moduli).bytes);
        CHECK(static_cast<std::size_t>(int8_work(m, n, k, moduli, most)) * sizeof(double) <= most);
      }
}

TEST_CASE("the moduli of a measured spread satisfy k u |A| |B|, and one fewer does not") {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> uniform(1, 2);
  constexpr index_t k = 5;
  for (const int count : {15, 16}) {
    double widest = 1;  // the widest spread for `count` moduli, within a factor of 1.01
    // The lines have one common element; one line has an element `wide` times as large.
    const auto moduli = [&](double wide) { return moduli_for_spread(sizeof(double), k, {wide, 2 * wide + 1}); };
    while (moduli(1.01 * widest) != 0 && moduli(1.01 * widest) <= count) widest *= 1.01;
    REQUIRE(moduli(widest) == count);
    double worst[2] = {};
    for (int i = 0; i < 500; ++i) {
      const double small = uniform(random);
      const std::vector<double> a{small * widest, small, 0, 0, 0}, b{0, uniform(random), 0, 0, 0};
      for (const int few : {0, 1}) {
        const Quad error = Quad(multiply_by_residues(a, b, count - few)) - Quad(a[1]) * b[1];
        worst[few] =
            std::max(worst[few], std::abs(static_cast<double>(error / (Quad(k) * Quad(0x1p-53) * Quad(a[1]) * b[1]))));
      }
    }
    CAPTURE(count);
    CHECK(worst[0] <= 1);
    if (count == 15) CHECK(worst[1] > 1);  // with 16 moduli the constants limit the spread
  }
  for (const std::size_t element : {sizeof(float), sizeof(double)}) {
    CHECK(moduli_for_spread(element, 100, {1.4, 28}) == moduli_for(element));
    CHECK(moduli_for_spread(element, 100, {std::numeric_limits<double>::infinity(), 28}) == 0);
    CHECK(moduli_for_spread(element, 100, {1, std::numeric_limits<double>::infinity()}) == 0);
    CHECK(moduli_for_spread(element, 3, {1, 4}) == 0);
  }
}
