#include "tests/support/matrices.hpp"
#include <tesela/algorithms/toeplitz/hermitian_toeplitz_eig.hpp>
#include <tesela/host/lapack/lapack.hpp>

// Eigenpairs of complex Hermitian Toeplitz matrices; LAPACK's heevd is the reference.

using namespace tesela::test;

namespace {

template <class T>
HostMatrix<T> column(index_t n, std::uint64_t seed = 3) {
  HostMatrix<T> t = random<T>(n, 1, seed);
  if (n > 0) t(0, 0) = t(0, 0).real();
  return t;
}

template <class T>
std::span<const T> numbers(const HostMatrix<T>& t) {
  return {t.data(), static_cast<std::size_t>(t.rows())};
}

template <class T>
HostMatrix<T> dense(const HostMatrix<T>& t) {
  return filled<T>({t.rows(), t.rows()},
                   [&](index_t i, index_t j) { return i >= j ? t(i - j, 0) : conj(t(j - i, 0)); });
}

template <class T>
std::vector<double> by_heevd(const HostMatrix<T>& t) {
  using Wide = with_parts<T, double>;
  const HostMatrix<T> a = dense(t);
  HostMatrix<Wide> full = filled<Wide>(a.shape(), [&](index_t i, index_t j) { return converted<Wide>(a(i, j)); });
  std::vector<double> values(static_cast<std::size_t>(t.rows()));
  REQUIRE(lapack::syevd(t.rows(), full.data(), full.ld(), values.data(), false) == 0);
  return values;
}

}  // namespace

TEMPLATE_TEST_CASE("eigenpairs of Hermitian Toeplitz matrices agree with heevd", "", COMPLEX_TYPES) {
  using T = TestType;
  for (const index_t n : {1, 2, 3, 4, 7, 64, 129, 300}) {
    const HostMatrix<T> t = column<T>(n), a = dense(t);
    const std::vector<double> values = by_heevd(t);
    const auto found = hermitian_toeplitz_eig<T>(runtime(), numbers(t));
    CAPTURE(n);
    REQUIRE(found.status.ok());
    REQUIRE(found.values.size() == values.size());
    const double norm = std::max(std::abs(values.front()), std::abs(values.back())),
                 rounding = 20 * eps<T> * std::sqrt(static_cast<double>(n));
    for (std::size_t k = 0; k < values.size(); ++k) CHECK(std::abs(found.values[k] - values[k]) <= rounding * norm);
    const HostMatrix<T> ax = product(a, found.vectors),
                        xl = filled<T>({n, n}, [&](index_t i, index_t j) {
                          return found.vectors(i, j) *
                                 static_cast<real_t<T>>(found.values[static_cast<std::size_t>(j)]);
                        });
    CHECK(distance(ax, xl) <= rounding * norm * std::sqrt(static_cast<double>(n)));
    CHECK(distance(product(Op::conjugate, found.vectors, found.vectors), identity<T>(n)) <=
          rounding * std::sqrt(static_cast<double>(n)));
    for (index_t j = 0; j < n; ++j) {
      const T* const x = found.vectors.data() + j * n;
      // x(n-1-i) is as large as x(i).
      double most = 0;
      for (index_t i = 0; i < n; ++i) most = std::max<double>(most, std::abs(x[i]));
      CHECK(std::any_of(x, x + n,
                        [&](T p) { return std::abs(p.imag()) <= 2 * eps<T> && p.real() >= most * (1 - 8 * eps<T>); }));
    }
  }
}

TEMPLATE_TEST_CASE("parts of the spectrum of a Hermitian Toeplitz matrix are selected, at any size", "",
                   COMPLEX_TYPES) {
  using T = TestType;
  const index_t n = 90;
  const HostMatrix<T> t = column<T>(n);
  const std::vector<double> values = by_heevd(t);
  SymmetricEigOptions some;
  some.positions = IndexRange{3, 9};
  const auto low = hermitian_toeplitz_eig<T>(runtime(), numbers(t), some);
  REQUIRE(low.values.size() == 6);
  CHECK(low.first == 3);
  CHECK(low.vectors.cols() == 6);
  const int far = std::numeric_limits<real_t<T>>::max_exponent - 12;
  for (const int e : {0, far, -far}) {
    SymmetricEigOptions range;
    range.vectors = false;
    range.low = std::ldexp((values[20] + values[21]) / 2, e);
    range.high = std::ldexp((values[30] + values[31]) / 2, e);
    const HostMatrix<T> scaled = times_two_to(e, t);
    const auto found = hermitian_toeplitz_eig<T>(runtime(), numbers(scaled), range);
    REQUIRE(found.status.ok());
    REQUIRE(found.values.size() == 10);
    CHECK(found.first == 21);
    CHECK(found.vectors.size() == 0);
    for (std::size_t k = 0; k < 10; ++k)
      CHECK(std::abs(std::ldexp(found.values[k], -e) - values[21 + k]) <= 300 * eps<T> * std::abs(values.back()));
  }
}

TEST_CASE("hermitian_toeplitz_eig refuses other matrices and reports overflow") {
  using T = std::complex<double>;
  HostMatrix<T> t = column<T>(5);
  t(0, 0) = T(1, 1e-3);
  CHECK_THROWS_WITH(hermitian_toeplitz_eig<T>(runtime(), numbers(t)), ContainsSubstring("t(0)"));
  t(0, 0) = 1;
  t(2, 0) = T(1, NAN);
  CHECK_THROWS_WITH(hermitian_toeplitz_eig<T>(runtime(), numbers(t)), ContainsSubstring("number 2 is not finite"));
  CHECK(hermitian_toeplitz_eig<T>(runtime(), {}).values.empty());
  const HostMatrix<T> large = filled<T>({4, 1}, [](index_t, index_t) { return T(1.5e308); });
  CHECK(hermitian_toeplitz_eig<T>(runtime(), numbers(large)).status.verdict == SymmetricEigStatus::Verdict::overflow);
}
