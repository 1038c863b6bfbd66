#include "tests/support/four_types.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/host/range_exponent.hpp>

using namespace tesela;
using namespace tesela::test;

namespace {

template <class T>
constexpr real_t<T> huge = std::numeric_limits<real_t<T>>::max() / 2;
template <class T>
constexpr real_t<T> tiny = std::numeric_limits<real_t<T>>::min();

/// Returns an m x n matrix of equal elements.
template <class T>
HostMatrix<T> constant(index_t m, index_t n, real_t<T> value) {
  HostMatrix<T> a(m, n);
  std::fill_n(a.data(), a.size(), T(value));
  return a;
}

template <class T>
int of_all(HostMatrix<T>& a) {
  return range_exponent(MatrixView<T>(a));
}
/// Scales a copy of A into range and returns its exponent.
template <class T>
int by_samples(const Runtime& runtime, const HostMatrix<T>& a) {
  HostMatrix<T> copy = a.clone();
  return scale_into_range(runtime, MatrixView<T>(copy));
}

}  // namespace

CORES_TEMPLATE_TEST_CASE("elements that are not sampled leave the exponent of a moderate matrix", "", FOUR_TYPES) {
  using T = TestType;
  const index_t m = 320, n = 96;  // samples: every 10th row and every 3rd column
  auto a = constant<T>(m, n, 1);
  CHECK(of_all(a) == 0);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i)
      if (i % 10 != 0 || j % 3 != 0) a(i, j) = T(huge<T>);
  CHECK(of_all(a) > 0);
  CHECK(by_samples(runtime, a) == 0);
  a(310, 93) = T(huge<T>);
  CHECK(by_samples(runtime, a) == of_all(a));
}

CORES_TEMPLATE_TEST_CASE("without a moderate sample all elements decide the exponent", "", FOUR_TYPES) {
  using T = TestType;
  constexpr auto nan = std::numeric_limits<real_t<T>>::quiet_NaN(),
                 infinity = std::numeric_limits<real_t<T>>::infinity();
  for (const real_t<T> sampled : {real_t<T>(0), tiny<T>, nan, infinity}) {
    auto a = constant<T>(64, 64, sampled);  // samples: every other row and column
    CAPTURE(sampled);
    CHECK(by_samples(runtime, a) == (sampled == tiny<T> ? std::ilogb(sampled) : 0));
    CHECK(of_all(a) == by_samples(runtime, a));
    a(63, 63) = T(1);
    CHECK(by_samples(runtime, a) == 0);
    a(63, 63) = T(huge<T>);
    CHECK(by_samples(runtime, a) > 0);
    CHECK(of_all(a) == by_samples(runtime, a));
    // Sums of 64 scaled elements do not overflow.
    CHECK(std::isfinite(64 * std::ldexp(huge<T>, -of_all(a))));
  }
}

CORES_TEMPLATE_TEST_CASE("each element of a small matrix is a sample", "", FOUR_TYPES) {
  using T = TestType;
  for (const index_t k : {index_t{0}, index_t{17}, index_t{31}}) {
    auto a = constant<T>(32, 32, 1);
    CHECK(by_samples(runtime, a) == 0);
    a(k, 31 - k) = T(huge<T>);
    CHECK(by_samples(runtime, a) > 0);
  }
  HostMatrix<T> empty(0, 3);
  CHECK(by_samples(runtime, empty) == 0);
}
