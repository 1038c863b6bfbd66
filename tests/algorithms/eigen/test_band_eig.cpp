#include "tests/support/four_types.hpp"
#include "tests/support/padded.hpp"
#include <tesela/algorithms/eigen/band_eig.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/filled.hpp>

#include <utility>

using namespace tesela::test;

namespace {

/// Returns a random Hermitian band in lower storage; elements outside the matrix are NaN.
template <class T>
HostMatrix<T> random_band(index_t n, index_t width) {
  const auto a = Padded<T>::random(width + 1, n, 5);
  return filled<T>({width + 1, n}, [&](index_t k, index_t j) {
    return j + k >= n ? nan_of<T> : k == 0 ? T(real_part(a(0, j))) : a(k, j);
  });
}

template <class T>
HostMatrix<T> whole(const HostMatrix<T>& ab) {
  return filled<T>({ab.cols(), ab.cols()}, [&](index_t i, index_t j) {
    if (std::abs(i - j) >= ab.rows()) return T(0);
    return i >= j ? ab(i - j, j) : conj(ab(j - i, i));
  });
}

/// Returns the largest element of A X - X diag(w) and of X^H X - I.
template <class T>
double error(const HostMatrix<T>& a, const std::vector<real_t<T>>& w, const HostMatrix<T>& x) {
  double worst = 0;
  for (index_t j = 0; j < x.cols(); ++j) {
    for (index_t i = 0; i < x.rows(); ++i) {
      T sum = -x(i, j) * w[static_cast<std::size_t>(j)];
      for (index_t k = 0; k < x.rows(); ++k) sum += a(i, k) * x(k, j);
      worst = std::max<double>(worst, std::abs(sum));
    }
    for (index_t i = 0; i < x.cols(); ++i) {
      T sum = i == j ? T(-1) : T(0);
      for (index_t k = 0; k < x.rows(); ++k) sum += conj(x(k, i)) * x(k, j);
      worst = std::max<double>(worst, std::abs(sum));
    }
  }
  return worst;
}

}  // namespace

TEMPLATE_TEST_CASE("a band has the eigenpairs that LAPACK computes", "[gpu]", FOUR_TYPES) {
  using T = TestType;
  using Real = real_t<T>;
  for (const auto& [n, width] :
       {std::pair<index_t, index_t>{1, 0}, {2, 1}, {5, 4}, {40, 0}, {40, 1}, {90, 7}, {200, 33}}) {
    CAPTURE(n, width);
    const HostMatrix<T> ab = random_band<T>(n, width), a = whole(ab);
    HostMatrix<T> factors = a.clone();
    std::vector<Real> expected(static_cast<std::size_t>(n));
    REQUIRE(lapack::syevd(n, factors.data(), factors.ld(), expected.data(), false) == 0);
    const double bound = 20 * static_cast<double>(n) * static_cast<double>(std::numeric_limits<Real>::epsilon());
    const auto check = [&](const BandEigResult<T>& found, std::size_t first) {
      REQUIRE(found.status.ok());
      for (std::size_t k = 0; k < found.values.size(); ++k)
        CHECK(std::abs(found.values[k] - expected[first + k]) <= static_cast<Real>(bound));
      if (found.vectors.size() > 0) CHECK(error(a, found.values, found.vectors) <= bound);
      for (index_t j = 0; j < found.vectors.cols(); ++j) {
        const T* const x = &found.vectors(0, j);
        const T largest = *std::max_element(x, x + n, [](T p, T q) { return std::norm(p) < std::norm(q); });
        CHECK((real_part(largest) > 0 && std::abs(largest - real_part(largest)) <= static_cast<Real>(bound)));
      }
    };
    const BandEigResult<T> all = band_eig<T>(runtime(), ab), values = band_eig<T>(runtime(), ab, {.vectors = false}),
                           few = band_eig<T>(runtime(), ab, {.positions = IndexRange{n / 2, n / 2 + 1}});
    CHECK((all.vectors.cols() == n && values.vectors.size() == 0 && few.vectors.cols() == 1));
    check(all, 0);
    check(values, 0);
    check(few, static_cast<std::size_t>(n / 2));
  }
}

TEMPLATE_TEST_CASE("a band that is not finite or not Hermitian is found", "", FOUR_TYPES) {
  using T = TestType;
  CHECK_THROWS_AS(band_eig<T>(runtime(), HostMatrix<T>(0, 3)), ArgumentError);
  for (const index_t width : {1, 3}) {
    HostMatrix<T> ab = random_band<T>(8, width);
    ab(1, 2) = nan_of<T>;
    if constexpr (is_complex<T>) ab(1, 2).real(1);
    const BandEigResult<T> found = band_eig<T>(runtime(), ab);
    CHECK((found.status.verdict == TridiagonalEigStatus::Verdict::not_finite && found.status.where == 2));
    if constexpr (is_complex<T>) {
      ab(1, 2) = 1, ab(0, 4) = T(1, 2);
      CHECK_THROWS_AS(band_eig<T>(runtime(), ab), ArgumentError);
    }
  }
}
