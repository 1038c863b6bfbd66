#include "tests/support/test.hpp"
#include <tesela/codelets/eigen/internal/reflector_inl.hpp>

#include <numeric>

using tesela::index_t;
using tesela::kernels::eigen::Reflector;

namespace {

template <class T>
Reflector<T> make_reflector(std::vector<T>& x) {
  const auto squares_of = [](index_t n, const T* y) { return std::inner_product(y, y + n, y, T(0)); };
  return Reflector<T>::make(static_cast<index_t>(x.size()), x.data(), squares_of);
}

/// Checks H x = beta e_1 and H H = I in long double to a few units of T's last place; x is `size` times a vector of
/// size 1.
template <class T>
void check(const std::vector<T>& x) {
  std::vector<T> v = x;
  const auto n = static_cast<index_t>(x.size());
  const Reflector<T> h = make_reflector(v);
  REQUIRE(v[0] == T(1));
  long double norm = 0, products = 0, squares = 0, largest = 0;
  for (const T value : x) largest = std::max(largest, std::abs(static_cast<long double>(value)));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double xi = static_cast<long double>(x[i]) / largest, vi = static_cast<long double>(v[i]);
    norm += xi * xi;
    products += vi * xi;
    squares += vi * vi;
  }
  norm = std::sqrt(norm);
  const long double eps = std::numeric_limits<T>::epsilon(), tau = static_cast<long double>(h.tau);
  CAPTURE(n, x[0], h.beta, h.tau);
  CHECK(std::abs(std::abs(static_cast<long double>(h.beta)) / largest - norm) <= 8 * eps * norm);
  CHECK(std::abs(tau * squares - 2) <= 16 * eps);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double expected = i == 0 ? static_cast<long double>(h.beta) / largest : 0;
    CHECK(std::abs(static_cast<long double>(x[i]) / largest - tau * products * static_cast<long double>(v[i]) -
                   expected) <= 16 * eps);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a reflector of any size annihilates the tail", "", float, double) {
  using T = TestType;
  const int most = std::numeric_limits<T>::max_exponent - 3, least = std::numeric_limits<T>::min_exponent + 2;
  for (const std::size_t n : {2, 3, 7, 8, 9, 33, 64})
    for (const int exponent : {0, 30, -30, most / 2, least / 2, most - 4, least})
      for (const T head : {T(0.3), T(-0.7), T(0), T(1e-20), T(1e4)}) {
        std::vector<T> x(n, T(0));
        for (std::size_t i = 0; i < n; ++i) x[i] = std::ldexp(std::sin(static_cast<T>(3 * i + 1)), exponent);
        x[0] = std::ldexp(head, exponent > most - 20 ? most - 20 : exponent);
        check(x);
      }
}

TEMPLATE_TEST_CASE("a reflector of a vector with a zero tail is the identity", "", float, double) {
  for (const TestType head : {TestType(0), TestType(-3), std::numeric_limits<TestType>::denorm_min()}) {
    std::vector<TestType> x(9, TestType(0));
    x[0] = head;
    const auto h = make_reflector(x);
    CHECK(h.tau == TestType(0));
    CHECK(h.beta == head);
    CHECK(x[0] == TestType(1));
    for (std::size_t i = 1; i < 9; ++i) CHECK(x[i] == TestType(0));
  }
  std::vector<TestType> one{TestType(5)};
  CHECK(make_reflector(one).beta == TestType(5));
}

TEMPLATE_TEST_CASE("a tiny tail only flips the sign of the first element", "", float, double) {
  std::vector<TestType> x(5, std::numeric_limits<TestType>::min());
  x[0] = TestType(1000);
  check(x);
}

TEMPLATE_TEST_CASE("a reflector of a vector that is not finite is NaN", "", float, double) {
  for (const TestType bad : {std::numeric_limits<TestType>::quiet_NaN(), std::numeric_limits<TestType>::infinity()})
    for (const std::size_t at : {0, 3}) {
      std::vector<TestType> x(6, TestType(1));
      x[at] = bad;
      const auto h = make_reflector(x);
      CHECK(std::isnan(h.beta));
      CHECK(std::isnan(h.tau));
    }
}
