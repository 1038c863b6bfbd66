#include "tests/support/least_squares.hpp"
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/rank_revealing.hpp>
#include <tesela/tiles/generator.hpp>

using namespace tesela;
using namespace tesela::kernels;

TEST_CASE("the spectral condition of known triangles is estimated") {
  CHECK(spectral_condition(HostMatrix<double>(0, 0)) == 1);
  for (const index_t n : {1, 2, 7, 200}) {
    HostMatrix<double> diagonal = HostMatrix<double>::zeros(n, n);
    for (index_t i = 0; i < n; ++i)
      diagonal(i, i) = n > 1 ? std::pow(1e6, static_cast<double>(i) / static_cast<double>(n - 1)) : 3;
    const double known = n > 1 ? 1e6 : 1, found = spectral_condition(diagonal);
    CHECK(found <= known * (1 + 1e-12));
    CHECK(found >= known / 1.2);
  }
  // Kahan's triangle, with a condition far above the ratio of its diagonal.
  const index_t n = 60;
  const double c = std::cos(1.2), s = std::sin(1.2);
  HostMatrix<double> kahan = HostMatrix<double>::zeros(n, n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = i; j < n; ++j) kahan(i, j) = std::pow(s, static_cast<double>(i)) * (i == j ? 1 : -c);
  CHECK(spectral_condition(kahan) >= 1e6);
}

TEMPLATE_TEST_CASE("spectral conditions of random triangles agree with their singular values", "", float, double) {
  using T = TestType;
  for (const index_t n : {3, 40, 257})
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      // R of a nearly square random matrix: a cluster of small singular values, and possibly one far below.
      HostMatrix<T> A(n + static_cast<index_t>(seed) / 2, n);
      const Generator<T> generator{Pattern::normal, 0, 0, seed};
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < A.rows(); ++i) A(i, j) = std::ldexp(generator(i, j), static_cast<int>(j % 5));
      std::vector<T> tau(static_cast<std::size_t>(n));
      lapack::geqrf(A.rows(), n, A.data(), A.ld(), tau.data());
      HostMatrix<T> R = HostMatrix<T>::zeros(n, n);
      HostMatrix<double> copy = HostMatrix<double>::zeros(n, n), units = copy.clone();
      for (index_t j = 0; j < n; ++j) {
        double norm = 0;
        for (index_t i = 0; i <= j; ++i) {
          R(i, j) = A(i, j), copy(i, j) = static_cast<double>(A(i, j));
          norm = std::hypot(norm, copy(i, j));
        }
        for (index_t i = 0; i <= j; ++i) units(i, j) = copy(i, j) / norm;
      }
      const auto known = [n](HostMatrix<double>& a) {
        const std::vector<double> s = lapack::gesvd(n, n, a.data(), n);
        return s.front() / s.back();
      };
      CAPTURE(n, seed);
      const double right = known(copy), found = spectral_condition(R);
      CHECK(found <= 1.001 * right);
      CHECK(found >= right / 1.2);
      const double right_of_units = known(units), of_units = spectral_condition_of_unit_columns(R.clone());
      CHECK(of_units <= 1.001 * right_of_units);
      CHECK(of_units >= right_of_units / 1.2);
    }
}

TEST_CASE("a spectral condition that overflows is not finite") {
  HostMatrix<float> R = HostMatrix<float>::zeros(2, 2);
  R(0, 0) = 1, R(1, 1) = 1e-30F;
  CHECK_FALSE(spectral_condition(R) < 1e20);
}
