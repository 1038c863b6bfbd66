#include "tests/support/matrices.hpp"
#include <tesela/algorithms/dense/band_solve.hpp>
#include <tesela/host/lapack/lapack.hpp>

// Band systems of real and complex numbers: one body for four types. LAPACK's gesv is the reference.

using namespace tesela::test;

namespace {

template <class T>
HostMatrix<T> band_of(const HostMatrix<T>& a, index_t kl, index_t ku) {
  return filled<T>(a.shape(), [&](index_t i, index_t j) { return i - j <= kl && j - i <= ku ? a(i, j) : T(0); });
}

/// Returns the diagonals with element (i, j) of A in row above + i - j; other elements are NaN.
template <class T>
HostMatrix<T> diagonals(const HostMatrix<T>& a, index_t rows, index_t above, index_t kl, index_t ku) {
  return filled<T>({rows, a.cols()}, [&](index_t k, index_t j) {
    const index_t i = j + k - above;
    return i >= 0 && i < a.rows() && i - j <= kl && j - i <= ku ? a(i, j)
                                                                : T(std::numeric_limits<real_t<T>>::quiet_NaN());
  });
}

template <class T>
HostMatrix<T> solved(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  HostMatrix<T> factors = a.clone(), x = b.clone();
  REQUIRE(lapack::gesv(a.rows(), b.cols(), factors.data(), factors.ld(), x.data(), x.ld()) == 0);
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("band systems agree with gesv in every type", "", FOUR_TYPES) {
  using T = TestType;
  for (const auto& [n, kl, ku] :
       {std::array<index_t, 3>{1, 0, 0}, {2, 1, 0}, {5, 0, 3}, {40, 2, 3}, {200, 7, 1}, {200, 10, 10}}) {
    CAPTURE(n, kl, ku);
    const HostMatrix<T> random = test::random<T>(n, n, 1), b = test::random<T>(n, 3, 2);
    const HostMatrix<T> a =
        band_of(filled<T>({n, n}, [&](index_t i, index_t j) { return random(i, j) + (i == j ? T(4) : T(0)); }), kl, ku);
    HostMatrix<T> ab = diagonals(a, 2 * kl + ku + 1, kl + ku, kl, ku), x = b.clone();
    const DirectSolve how = band_solve<T>(kl, ku, ab, x);
    CHECK(how.status == DirectStatus::ok);
    const HostMatrix<T> expected = solved(a, b);
    CHECK(distance(x, expected) <= 100 * eps<T> * how.condition * norm(expected));
  }
  HostMatrix<T> singular = HostMatrix<T>::zeros(1, 3), x = test::random<T>(3, 1, 1);
  singular(0, 0) = singular(0, 2) = T(1);
  CHECK(band_solve<T>(0, 0, singular, x).status == DirectStatus::zero_pivot);
}

TEMPLATE_TEST_CASE("positive definite band systems agree with gesv in every type", "", FOUR_TYPES) {
  using T = TestType;
  for (const auto& [n, kd] : {std::pair<index_t, index_t>{1, 0}, {2, 1}, {40, 3}, {200, 40}}) {
    CAPTURE(n, kd);
    const HostMatrix<T> random = test::random<T>(n, n, 1), b = test::random<T>(n, 3, 2);
    const HostMatrix<T> a = band_of(filled<T>({n, n},
                                              [&, kd = kd](index_t i, index_t j) {
                                                if (i == j) return T(static_cast<real_t<T>>(2 * kd + 2));
                                                return i < j ? random(i, j) : conj(random(j, i));
                                              }),
                                    kd, kd);
    const HostMatrix<T> expected = solved(a, b);
    const double bound = 1e3 * eps<T> * norm(expected);
    HostMatrix<T> ab = diagonals(a, kd + 1, kd, 0, kd), x = b.clone();
    CHECK(band_cholesky_solve(ab, x).status == DirectStatus::ok);
    CHECK(distance(x, expected) <= bound);
    ab = diagonals(a, kd + 1, kd, 0, kd);
    x = b.clone();
    CHECK(band_cholesky(ab) == 0);
    band_cholesky_apply(ab, x);
    CHECK(distance(x, expected) <= bound);
    ab = diagonals(a, kd + 1, kd, 0, kd);
    ab(kd, n / 2) = T(-1);
    CHECK(band_cholesky(ab) == n / 2 + 1);
  }
}
