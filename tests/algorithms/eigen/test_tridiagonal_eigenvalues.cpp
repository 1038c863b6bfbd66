#include "tests/support/lapack_tridiagonal_eig.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>

#include <cstdio>

using namespace tesela;
using test::SymmetricTridiagonal;
using test::tridiagonal_of;

namespace {

template <class T>
TridiagonalEigResult<T> values_of(const SymmetricTridiagonal<T>& t, const TridiagonalEigOptions& options = {}) {
  return tridiagonal_eigenvalues<T>(test::runtime(), t.d, t.e, options);
}

template <class T>
SymmetricTridiagonal<T> times_power(SymmetricTridiagonal<T> t, int exponent) {
  for (auto* band : {&t.d, &t.e})
    for (T& x : *band) x = std::ldexp(x, exponent);
  return t;
}

template <class T>
constexpr double value_bound = sizeof(T) == 8 ? 5e-15 : 1e-6;

/// Returns max |value - right| / ||T||, all scaled by 2^-exponent.
template <class T>
double error_of(const std::vector<T>& values, const std::vector<double>& right, int exponent) {
  REQUIRE(values.size() == right.size());
  const double norm = test::norm_of(right);
  double most = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(std::ldexp(static_cast<double>(values[i]), -exponent) - right[i]);
    most = std::isnan(most) || error <= most ? most : error;  // keeps NaN
    if (i > 0) CHECK(values[i] >= values[i - 1]);
  }
  return norm > 0 ? most / norm : most;
}

constexpr TridiagonalEigMethod value_methods[]{TridiagonalEigMethod::bisection,
                                               TridiagonalEigMethod::divide_and_conquer, TridiagonalEigMethod::ql};

}  // namespace

TEMPLATE_TEST_CASE("tridiagonal eigenvalues of every kind and order agree with LAPACK and closed forms", "", float,
                   double) {
  double worst = 0;
  for (const TridiagonalEigMethod method : value_methods)
    for (const auto& kind : test::tridiagonal_eig_kinds)
      for (const index_t n : {0, 1, 2, 3, 31, 32, 33, 64, 65, 100, 501}) {
        const auto t = tridiagonal_of<TestType>(kind, n);
        const auto found = values_of(t, {.method = method});
        INFO(kind << " n = " << n << " " << name_of(tridiagonal_eig_methods(), method));
        REQUIRE(found.status.ok());
        CHECK(found.method == method);
        const int exponent = test::size_exponent(t);
        const double bound = value_bound<TestType> * std::sqrt(static_cast<double>(std::max<index_t>(n, 1)));
        const double error = error_of(found.values, test::reference_values(t), exponent);
        worst = std::max(worst, error / bound);
        CHECK(error <= bound);
        if (t.closed.empty()) continue;
        std::vector<double> closed = t.closed;
        for (double& x : closed) x = std::ldexp(x, -exponent);
        CHECK(error_of(found.values, closed, exponent) <= bound);
      }
  std::printf("values: at most %.3f of the bound (%.0e sqrt n)\n", worst, value_bound<TestType>);
}

TEMPLATE_TEST_CASE("tridiagonal eigenvalues: a part equals that part of the whole to the bit", "", float, double) {
  for (const TridiagonalEigMethod method : value_methods)
    for (const char* kind : {"uniform", "glued", "clustered", "identity", "second-difference"}) {
      const auto t = tridiagonal_of<TestType>(kind, 333);
      const auto whole = values_of(t, {.method = method}).values;
      for (const IndexRange range : {IndexRange{0, 0}, {333, 333}, {0, 1}, {332, 333}, {100, 201}, {7, 330}}) {
        const auto part = values_of(t, {.method = method, .range = range}).values;
        REQUIRE(part.size() == static_cast<std::size_t>(range.size()));
        for (index_t i = 0; i < range.size(); ++i)
          REQUIRE(part[static_cast<std::size_t>(i)] == whole[static_cast<std::size_t>(range.begin + i)]);
      }
    }
}

TEMPLATE_TEST_CASE("tridiagonal eigenvalues on GPUs equal those on cores by bisection and are as accurate by merges",
                   "[gpu]", float, double) {
  test::require_gpu();
  constexpr index_t never = std::numeric_limits<index_t>::max();
  for (const auto& kind : test::tridiagonal_eig_kinds)
    for (const index_t n : {2, 33, 100, 501, 1500}) {
      const auto t = tridiagonal_of<TestType>(kind, n);
      INFO(kind << " n = " << n);
      for (const IndexRange range : {IndexRange{0, n}, {n / 3, n / 3 + 1}, {n / 4, n / 2}}) {
        const TridiagonalEigMethod bisection = TridiagonalEigMethod::bisection;
        const auto here = values_of(t, {.method = bisection, .range = range, .gpus_from = never}),
                   there = values_of(t, {.method = bisection, .range = range, .gpus_from = 1});
        CHECK(here.values == there.values);
      }
      const auto merged = values_of(
          t, {.method = TridiagonalEigMethod::divide_and_conquer, .gpus_from = 1, .leaf = n / 7 + 1, .batch = 300});
      CHECK(error_of(merged.values, test::reference_values(t), test::size_exponent(t)) <=
            value_bound<TestType> * std::sqrt(static_cast<double>(n)));
    }
}

TEMPLATE_TEST_CASE("tridiagonal eigenvalues on GPUs are accurate under a sanitizer", "[gpu][sanitize]", float, double) {
  test::require_gpu();
  const auto t = tridiagonal_of<TestType>("glued", 60);
  for (const TridiagonalEigMethod method :
       {TridiagonalEigMethod::bisection, TridiagonalEigMethod::divide_and_conquer}) {
    const auto found = values_of(t, {.method = method, .gpus_from = 1, .leaf = 16});
    CHECK(error_of(found.values, test::reference_values(t), test::size_exponent(t)) <= 8 * value_bound<TestType>);
  }
}

TEMPLATE_TEST_CASE("tridiagonal eigenvalues: a power of two scales them exactly", "", float, double) {
  constexpr int far = sizeof(TestType) == 8 ? 900 : 60;  // the largest power that keeps every bit of 1e-14
  for (const TridiagonalEigMethod method : value_methods)
    for (const char* kind : {"uniform", "normal", "wilkinson", "glued", "second-difference"}) {
      const auto t = tridiagonal_of<TestType>(kind, 150);
      const auto values = values_of(t, {.method = method}).values;
      for (const int exponent : {far, 1, -1, -far}) {
        const auto scaled = values_of(times_power(t, exponent), {.method = method}).values;
        for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(scaled[i] == std::ldexp(values[i], exponent));
      }
    }
}

TEMPLATE_TEST_CASE("tridiagonal eigenvalues of size 1e±300 (single: 1e±30) are accurate", "", float, double) {
  constexpr int far = sizeof(TestType) == 8 ? 996 : 100;
  for (const TridiagonalEigMethod method : value_methods)
    for (const char* kind : {"uniform", "glued", "graded", "clement"})
      for (const int exponent : {far, -far}) {
        auto t = tridiagonal_of<TestType>(kind, 100);
        t = times_power(t, exponent - test::size_exponent(t));
        INFO(kind << " 2^" << exponent << " " << name_of(tridiagonal_eig_methods(), method));
        const auto found = values_of(t, {.method = method});
        CHECK(error_of(found.values, test::reference_values(t), test::size_exponent(t)) <= 10 * value_bound<TestType>);
      }
}

TEMPLATE_TEST_CASE("tridiagonal eigenvalues are accurate at the ends of the type's range", "", float, double) {
  using Limits = std::numeric_limits<TestType>;
  for (const TridiagonalEigMethod method : value_methods) {
    const std::vector<TestType> d(5, Limits::denorm_min()), none(4, TestType(0));
    for (const TestType value : tridiagonal_eigenvalues<TestType>(test::runtime(), d, none, {.method = method}).values)
      CHECK(value == Limits::denorm_min());
    const TestType big = Limits::max() / 4;
    const std::vector<TestType> large(2, big), off(1, big);
    const auto values = tridiagonal_eigenvalues<TestType>(test::runtime(), large, off, {.method = method}).values;
    CHECK(std::abs(values[0] / big) <= 8 * Limits::epsilon());
    CHECK(std::abs(values[1] / big - 2) <= 8 * Limits::epsilon());
    const std::vector<TestType> most(2, Limits::max()), beside(1, Limits::max());
    const auto beyond = tridiagonal_eigenvalues<TestType>(test::runtime(), most, beside, {.method = method});
    CHECK(beyond.status.verdict == TridiagonalEigStatus::Verdict::overflow);
    CHECK(beyond.values.size() == 2);
    CHECK(to_string(beyond.status).find("overflow") == 0);
  }
}

TEMPLATE_TEST_CASE("tridiagonal eigenvalues: NaN and infinity are reported with their place", "", float, double) {
  for (const TestType bad : {std::numeric_limits<TestType>::quiet_NaN(), std::numeric_limits<TestType>::infinity()})
    for (const bool off : {false, true}) {
      auto t = tridiagonal_of<TestType>("uniform", 50);
      (off ? t.e : t.d)[17] = bad;
      const auto result = values_of(t);
      CHECK(result.status.verdict == TridiagonalEigStatus::Verdict::not_finite);
      CHECK(result.status.where == 17);
      CHECK(result.status.off_diagonal == off);
      CHECK(result.values.empty());
      CHECK(to_string(result.status) == (off ? "e(17) is not finite" : "d(17) is not finite"));
      CHECK_THROWS_AS(tridiagonal_count_below<TestType>(t.d, t.e, 0), ArgumentError);
    }
}

TEST_CASE("tridiagonal eigenvalues: automatic selects a method, and errors name wrong arguments") {
  const std::vector<double> d(3, 1), e(3, 1);
  CHECK_THROWS_AS(tridiagonal_eigenvalues<double>(test::runtime(), d, e), ArgumentError);
  const std::span<const double> right(e.data(), 2);
  const auto t = tridiagonal_of<double>("uniform", 100);
  CHECK(values_of(t).method == TridiagonalEigMethod::divide_and_conquer);
  CHECK(values_of(t, {.range = IndexRange{50, 60}}).method == TridiagonalEigMethod::bisection);
  for (const IndexRange range : {IndexRange{-1, 2}, {2, 1}, {0, 4}})
    CHECK_THROWS_AS(tridiagonal_eigenvalues<double>(test::runtime(), d, right, {.range = range}), ArgumentError);
}

TEMPLATE_TEST_CASE("values selected by low and high are inside, and adjacent limits partition the spectrum", "", float,
                   double) {
  constexpr index_t n = 40;
  for (const auto& [kind, exponent] : {std::pair{"uniform", 0}, {"wilkinson", 0}, {"uniform", -60}, {"glued", 60}}) {
    const auto t = times_power(tridiagonal_of<TestType>(kind, n), exponent);
    const auto counted = [&](double low, double high) {
      return tridiagonal_positions<TestType>(t.d, t.e, {.low = low, .high = high});
    };
    for (const TridiagonalEigMethod cuts : value_methods)
      for (const TridiagonalEigMethod method : value_methods) {
        const auto all = values_of(t, {.method = cuts}).values;
        index_t below = counted(-std::numeric_limits<double>::infinity(), static_cast<double>(all[0])).size();
        for (index_t k = 0; k + 1 < n; ++k) {
          const auto low = static_cast<double>(all[static_cast<std::size_t>(k)]),
                     high = static_cast<double>(all[static_cast<std::size_t>(k + 1)]);
          if (low > high) continue;
          const auto found = values_of(t, {.method = method, .low = low, .high = high});
          CAPTURE(kind, k, low, high, name_of(tridiagonal_eig_methods(), method));
          REQUIRE(found.status.ok());
          CHECK(counted(low, high) == IndexRange{below, below + std::ssize(found.values)});
          below += std::ssize(found.values);
          for (const TestType value : found.values) CHECK((value >= low && value < high));
        }
      }
    CHECK(counted(-1e300, 1e300).size() == n);
  }
  const std::vector<TestType> d{1, 2, 3}, e{0, 0};
  const auto part = [&](IndexRange range, double low, double high) {
    return tridiagonal_eigenvalues<TestType>(test::runtime(), d, e, {.range = range, .low = low, .high = high}).values;
  };
  CHECK(part({0, 2}, 2, 9) == std::vector<TestType>{2});
  CHECK(part({0, 1}, 2, 9).empty());
  CHECK(part({0, 3}, 2, 2).empty());
  CHECK_THROWS_AS(part({0, 3}, 2, 1), ArgumentError);
}

TEMPLATE_TEST_CASE("tridiagonal_count_below is half-open at eigenvalues and counts the values below", "", float,
                   double) {
  const std::vector<TestType> d{0, -1, 0, 2, 2, 2}, none(5, TestType(0));
  const auto below = [&](TestType x) { return tridiagonal_count_below<TestType>(d, none, x); };
  CHECK(below(-1) == 0);
  CHECK(below(0) == 1);
  CHECK(below(-TestType(0)) == 1);
  CHECK(below(std::numeric_limits<TestType>::min()) == 3);
  CHECK(below(std::numeric_limits<TestType>::denorm_min()) == 3);
  CHECK(below(2) == 3);
  CHECK(below(std::nextafter(TestType(2), TestType(3))) == 6);
  const TestType infinity = std::numeric_limits<TestType>::infinity();
  CHECK(below(-infinity) == 0);
  CHECK(below(infinity) == 6);
  CHECK_THROWS_AS(below(std::numeric_limits<TestType>::quiet_NaN()), ArgumentError);
  CHECK(tridiagonal_count_below<TestType>({}, {}, 0) == 0);
  const std::vector<TestType> off{1, 1};
  CHECK(tridiagonal_count_below<TestType>(std::vector<TestType>(3, TestType(0)), off, 0) == 1);  // -sqrt 2, 0, sqrt 2
  for (const char* kind : {"uniform", "wilkinson", "glued", "graded", "clustered"})
    for (const index_t n : {1, 2, 17, 200}) {
      const auto t = tridiagonal_of<TestType>(kind, n);
      const auto right = test::reference_values(t);
      const int exponent = test::size_exponent(t);
      const double norm = test::norm_of(right), near = 4 * value_bound<TestType> * norm;
      index_t last = 0;
      for (int k = -20; k <= 20; ++k) {
        const double x = k / 19.0 * norm;
        const index_t count =
            tridiagonal_count_below<TestType>(t.d, t.e, static_cast<TestType>(std::ldexp(x, exponent)));
        CHECK(count >= last);
        last = count;
        const auto least = std::count_if(right.begin(), right.end(), [&](double v) { return v < x - near; });
        const auto most = std::count_if(right.begin(), right.end(), [&](double v) { return v < x + near; });
        INFO(kind << " n = " << n << " x = " << x);
        CHECK(count >= least);
        CHECK(count <= most);
      }
    }
}
