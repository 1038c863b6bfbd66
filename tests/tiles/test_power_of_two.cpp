#include <tesela/tiles/power_of_two.hpp>

#include <catch2/catch_template_test_macros.hpp>

#include <array>

using namespace tesela;

TEMPLATE_TEST_CASE("the exponent of the largest magnitude scales it to [1/2, 1)", "", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  const auto exponent = [](std::array<T, 3> x) { return exponent_of_largest<T>(x); };
  CHECK(exponent({T(0), T(0), T(0)}) == 0);
  CHECK(exponent({T(0.75), T(-1), T(0.5)}) == 1);
  CHECK(exponent({T(0.75), T(-0.5), Limits::quiet_NaN()}) == 0);
  CHECK(exponent({T(8), Limits::infinity(), T(0)}) == 0);
  CHECK(exponent({Limits::max(), T(1), T(0)}) == Limits::max_exponent);
  CHECK(exponent({T(0), -Limits::denorm_min(), T(0)}) == Limits::min_exponent - Limits::digits + 1);
}

TEMPLATE_TEST_CASE("powers of two scale over the whole range of a type with a single rounding", "", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  const int least = Limits::min_exponent - Limits::digits;  // 2^least is the smallest positive number
  const auto scaled = [](T x, int e) {
    std::array<T, 1> one{x};
    scale_by_power_of_two<T>(one, e);
    return one[0];
  };
  CHECK(scaled(T(0.75), 3) == T(6));
  CHECK(scaled(Limits::denorm_min(), -least) == T(1));
  CHECK(scaled(Limits::denorm_min(), Limits::max_exponent - least - 1) == std::ldexp(T(1), Limits::max_exponent - 1));
  CHECK(scaled(std::ldexp(T(1), Limits::max_exponent - 1), least - Limits::max_exponent + 1) == Limits::denorm_min());
  CHECK(scaled(Limits::max(), 1) == Limits::infinity());
  CHECK(scaled(T(1), least - 1) == T(0));                     // a tie rounds to even
  CHECK(scaled(T(1.25), least - 1) == Limits::denorm_min());  // no second rounding creates a tie
  CHECK(scaled(-T(3), least) == -3 * Limits::denorm_min());
}
