#include "tests/support/four_types.hpp"
#include "tests/support/padded.hpp"
#include "tests/support/test.hpp"
#include <tesela/codelets/givens/rotation.hpp>

#include <array>
#include <cstring>
#include <random>

using namespace tesela;
using namespace tesela::kernels;
using tesela::test::number;

namespace {

template <class T>
bool same_bits(const Rotation<T>& x, const Rotation<T>& y) {
  return std::memcmp(&x.c, &y.c, sizeof x.c) == 0 && std::memcmp(&x.s, &y.s, sizeof x.s) == 0;
}

/// Returns the number of documented properties of givens() that a finite pair violates.
template <class T>
int broken(T a, T b) {
  using Real = real_t<T>;
  using Long = with_parts<T, long double>;
  const Annihilation<T> x = givens(a, b);
  const Real eps = std::numeric_limits<Real>::epsilon(), tiny = 2 * std::numeric_limits<Real>::denorm_min();
  const auto c = static_cast<long double>(x.rotation.c);
  const Long s = converted<Long>(x.rotation.s), la = converted<Long>(a), lb = converted<Long>(b),
             r = converted<Long>(x.r);
  const long double size = std::hypot(std::abs(la), std::abs(lb)), sine = std::abs(s);
  int wrong = 0;
  wrong += !same_bits(unpack(x.rho), x.rotation);                        // the stored rotation is the applied one
  wrong += !(std::abs(c * c + sine * sine - 1) <= 4 * eps);              // unitary
  wrong += !(std::abs(c * lb - conj(s) * la) <= 4 * eps * size + tiny);  // annihilates
  const bool fits = size <= std::numeric_limits<Real>::max();
  if (fits) wrong += !(std::abs(std::abs(r) - size) <= 4 * eps * size + tiny);
  if constexpr (is_complex<T>) {
    const Long phase = a == T(0) ? Long(1) : la / std::abs(la);
    if (fits) wrong += !(std::abs(r - phase * size) <= 4 * eps * size + tiny);
    wrong += !(c >= 0);
  } else {
    wrong += !same_bits(unpack(pack(x.rotation)), x.rotation);  // and packs to the same value again
    wrong += !(std::abs(c) >= sine ? c > 0 : s > 0);
  }
  return wrong;
}

}  // namespace

TEMPLATE_TEST_CASE("rotations of special pairs are correct", "", float, double) {
  using T = TestType;
  const T max = std::numeric_limits<T>::max(), min = std::numeric_limits<T>::min(),
          tiny = std::numeric_limits<T>::denorm_min();
  const T values[] = {0,
                      -T(0),
                      1,
                      -1,
                      5,
                      -5,
                      tiny,
                      -tiny,
                      3 * tiny,
                      min,
                      -min,
                      min / 4,
                      max,
                      -max,
                      max / 2,
                      std::numeric_limits<T>::epsilon(),
                      T(1) + std::numeric_limits<T>::epsilon()};
  for (const T a : values)
    for (const T b : values) {
      CAPTURE(a, b);
      CHECK(broken(a, b) == 0);
    }
  const T root = std::sqrt(T(0.5));
  const auto near = [&](T x, T y) { return std::abs(x - y) <= 2 * std::numeric_limits<T>::epsilon(); };
  for (const auto& [a, b, c, s] : {std::array<T, 4>{1, 1, root, root},
                                   {-1, -1, root, root},
                                   {1, -1, -root, root},
                                   {-1, 1, -root, root},
                                   {0, 1, 0, 1},
                                   {0, -1, 0, 1},
                                   {5, 0, 1, 0},
                                   {0, 0, 1, 0},
                                   {-5, 0, 1, 0},
                                   {-T(0), 0, 1, 0},
                                   {0, -T(0), 1, 0},
                                   {3, 4, T(0.6), T(0.8)},
                                   {4, -3, T(0.8), -T(0.6)},
                                   {tiny, tiny, root, root},
                                   {max, max, root, root}}) {
    CAPTURE(a, b);
    const Annihilation<T> x = givens(a, b);
    CHECK(near(x.rotation.c, c));
    CHECK(near(x.rotation.s, s));
  }
  CHECK(givens(T(0), T(-1)).r == T(-1));
  CHECK(givens(T(-5), T(0)).r == T(-5));
  CHECK(givens(T(0), T(2)).rho == T(1));
  CHECK(givens(T(0), T(0)).rho == T(0));
  CHECK(near(givens(T(3), T(4)).rho, T(2) / T(0.6)));
  CHECK(near(givens(T(4), T(-3)).rho, T(-0.3)));
}

TEST_CASE("rotations of 1e300 and 1e-300 lose no digits") {
  for (const auto& [a, b] : {std::pair{1e300, 1e300},
                             {1e-300, 1e-300},
                             {-1e300, 1e-300},
                             {1e-300, 1e300},
                             {3e-310, 4e-310},
                             {3e307, -4e307},
                             {1e-162, 1e162}}) {
    CAPTURE(a, b);
    CHECK(broken(a, b) == 0);
  }
  CHECK(std::abs(givens(3e300, 4e300).r / 5e300 - 1) <= 1e-15);
  CHECK(std::abs(givens(3e-300, 4e-300).r / 5e-300 - 1) <= 1e-15);
  CHECK(givens(3e300, 4e300).rotation == givens(3.0, 4.0).rotation);
}

TEMPLATE_TEST_CASE("rotations of a million random pairs of every exponent are correct", "", FOUR_TYPES) {
  using T = TestType;
  using Range = std::numeric_limits<real_t<T>>;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> mantissa(-2, 2);
  std::uniform_int_distribution<int> exponent(Range::min_exponent - Range::digits, Range::max_exponent - 2),
      close(-3, 3);
  int wrong = 0;
  for (int n = 0; n < 1000000; ++n) {
    const int e = exponent(random);
    // Half of the pairs have similar sizes, like most pairs in a factorization.
    const int f = n % 2 == 0 ? exponent(random) : std::min(e + close(random), Range::max_exponent - 2);
    const auto one = [&](int power) {
      const double x = mantissa(random);
      return times_power_of_two(number<T>(x, is_complex<T> ? mantissa(random) : 0), power);
    };
    const T a = one(e), b = one(f);
    wrong += broken(a, b);
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("rotations near |a| = |b|, where the packing changes, are correct", "", float, double) {
  using T = TestType;
  int wrong = 0;
  for (const T sign_a : {T(1), T(-1)})
    for (const T sign_b : {T(1), T(-1)})
      for (T start : {T(1), T(1.4142135), T(1.7)}) {
        T a = start;
        for (int i = 0; i < 40; ++i) a = std::nextafter(a, T(0));
        for (int i = 0; i < 80; ++i, a = std::nextafter(a, T(4))) wrong += broken(sign_a * a, sign_b * start);
      }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("the packed scalar of any rotation unpacks to it or to its negative", "", float, double) {
  using T = TestType;
  const T eps = std::numeric_limits<T>::epsilon();
  for (int degree = 0; degree < 360; ++degree) {
    const T angle = static_cast<T>(degree) * T(3.14159265358979323846L) / 180;
    const Rotation<T> x{std::cos(angle), std::sin(angle)}, y = unpack(pack(x));
    CAPTURE(degree);
    const T same = std::max(std::abs(x.c - y.c), std::abs(x.s - y.s)),
            opposite = std::max(std::abs(x.c + y.c), std::abs(x.s + y.s));
    CHECK(std::min(same, opposite) <= 4 * eps);
  }
  CHECK(unpack(T(1)) == Rotation<T>{0, 1});
  CHECK(unpack(T(0)) == Rotation<T>{1, 0});
  CHECK(pack(Rotation<T>{0, 1}) == T(1));  // 0 means the identity
  CHECK(pack(Rotation<T>{1, 0}) == T(0));
}

TEMPLATE_TEST_CASE("complex rotations of every pair of special parts are correct", "", COMPLEX_TYPES) {
  using T = TestType;
  using Range = std::numeric_limits<real_t<T>>;
  const real_t<T> parts[] = {0,
                             -real_t<T>(0),
                             1,
                             -5,
                             Range::denorm_min(),
                             -Range::min(),
                             Range::max(),
                             -Range::max() / 2,
                             1 + Range::epsilon()};
  int wrong = 0;
  for (const auto a : parts)
    for (const auto b : parts)
      for (const auto c : parts)
        for (const auto d : parts) wrong += broken(T(a, b), T(c, d));
  CHECK(wrong == 0);
  const Annihilation<T> x = givens(T(3, 0), T(0, 4)), alone = givens(T(0), T(0, -2));
  const auto near = [](T y, T z) { return std::abs(y - z) <= 2 * Range::epsilon(); };
  CHECK(near(x.rotation.c, real_t<T>(0.6)));
  CHECK(near(x.rotation.s, T(0, real_t<T>(-0.8))));  // a transpose instead of the adjoint has +0.8
  CHECK(near(x.r / real_t<T>(5), T(1)));
  CHECK(near(x.rho, T(0, real_t<T>(-2 / 0.6))));
  CHECK(alone.rotation == Rotation<T>{0, T(0, 1)});
  CHECK(alone.rho == T(0, 1));
  CHECK(alone.r == T(2));
  CHECK(givens(T(1, 2), T(0)).rotation == Rotation<T>{});
  CHECK(givens(T(1, 2), T(0)).r == T(1, 2));
}

// A bias of eps / 4 for each rotation would change the norm by 5000 eps.
TEMPLATE_TEST_CASE("a chain of 20000 rotations keeps the norm", "", FOUR_TYPES) {
  using T = TestType;
  const auto eps = static_cast<long double>(std::numeric_limits<real_t<T>>::epsilon());
  const auto square = [](T x) {
    const auto y = converted<with_parts<T, long double>>(x);
    return real_part(times(conj(y), y));
  };
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> part(-1, 1);
  const auto element = [&](double scale) {
    const double x = part(random);
    return number<T>(scale * x, scale * part(random));
  };
  for (const double slope : {1.0, 1e-2, 1e2}) {
    CAPTURE(slope);
    T upper = number<T>(0.5, 0.25), lower = number<T>(-0.75, 0.5);
    const long double before = square(upper) + square(lower);
    for (int n = 0; n < 20000; ++n) {
      const T a = element(1), b = element(slope);
      rotate(unpack(givens(a, b).rho), upper, lower);
    }
    CHECK(std::abs(square(upper) + square(lower) - before) <= 300 * eps * before);
  }
}

TEMPLATE_TEST_CASE("NaN and infinities never give a finite result", "", float, double) {
  using T = TestType;
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const T x : {T(0), T(-0.0), T(1), T(-3), inf, nan}) {
    CHECK(std::isnan(givens(nan, x).r));
    CHECK(std::isnan(givens(x, nan).r));
  }
  CHECK(std::isnan(unpack(givens(nan, T(1)).rho).c));
  for (const T x : {T(0), T(1), T(-3)}) {
    CHECK_FALSE(std::isfinite(givens(inf, x).r));
    CHECK_FALSE(std::isfinite(givens(x, -inf).r));
  }
  CHECK_FALSE(std::isfinite(givens(inf, inf).r));
}

TEMPLATE_TEST_CASE("NaN and infinities in one part never give a finite result", "", COMPLEX_TYPES) {
  using T = TestType;
  using Range = std::numeric_limits<real_t<T>>;
  for (const auto bad : {Range::quiet_NaN(), Range::infinity(), -Range::infinity()})
    for (const T x : {T(bad, 0), T(0, bad), T(bad, 1), T(1, bad), T(bad, Range::max())})
      for (const T y : {T(0), T(1), T(0, -3), T(Range::max(), 1), T(Range::denorm_min(), 1), x, T(bad, bad)}) {
        CAPTURE(x, y);
        CHECK_FALSE(is_finite(givens(x, y).r));
        CHECK_FALSE(is_finite(givens(y, x).r));
      }
  CHECK(std::isnan(unpack(givens(T(0, Range::quiet_NaN()), T(1)).rho).c));
}

namespace {

/// ||A - Q R|| and the elements below R's diagonal, by the textbook loop.
template <class T>
real_t<T> residual(int m, int n, const std::vector<T>& a) {
  std::vector<T> r = a, q(static_cast<std::size_t>(m * m), T(0));
  const auto at = [m](auto& x, int i, int j) -> auto& { return x[static_cast<std::size_t>(i + j * m)]; };
  for (int i = 0; i < m; ++i) at(q, i, i) = 1;
  for (int j = 0; j < n; ++j)
    for (int i = m - 1; i > j; --i) {
      const Annihilation<T> x = givens(at(r, i - 1, j), at(r, i, j));
      for (int u = j; u < n; ++u) rotate(x.rotation, at(r, i - 1, u), at(r, i, u));
      const Rotation<T> right = for_side(Side::right, x.rotation);
      for (int u = 0; u < m; ++u) rotate(right, at(q, u, i - 1), at(q, u, i));
    }
  real_t<T> worst = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      T sum = -at(a, i, j);
      for (int k = 0; k < m; ++k) sum += times(at(q, i, k), k > j ? T(0) : at(r, k, j));
      worst = std::max(worst, std::abs(sum));
      if (i > j) worst = std::max(worst, std::abs(at(r, i, j)));
    }
  return worst;
}

}  // namespace

TEMPLATE_TEST_CASE("A = Q R for every 3 x 3 matrix of 0, 1 and -1, and with parts of 0, 1 and -1", "", FOUR_TYPES) {
  using T = TestType;
  real_t<T> worst = 0;
  for (int code = 0; code < 19683; ++code) {
    std::vector<T> a;
    for (int digit = 0, rest = code; digit < 9; ++digit, rest /= 3)
      a.push_back(number<T>(rest % 3 - 1, (rest / 3 + digit) % 3 - 1));
    worst = std::max(worst, residual(3, 3, a));
  }
  CHECK(worst <= 8 * std::numeric_limits<real_t<T>>::epsilon());
}

TEMPLATE_TEST_CASE("the reverse rotation restores the pair", "", FOUR_TYPES) {
  using T = TestType;
  const T above = number<T>(0.3, -0.4), below = number<T>(-0.7, 0.2);
  T upper = above, lower = below;
  const Rotation<T> x = givens(number<T>(2, 1), number<T>(-5, 3)).rotation;
  rotate(x, upper, lower);
  rotate_back(x, upper, lower);
  CHECK(std::abs(upper - above) <= 2 * std::numeric_limits<real_t<T>>::epsilon());
  CHECK(std::abs(lower - below) <= 2 * std::numeric_limits<real_t<T>>::epsilon());
}
