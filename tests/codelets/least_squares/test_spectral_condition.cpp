#include "tests/support/least_squares.hpp"
#include <tesela/codelets/least_squares/spectral_condition.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace tesela;
using namespace tesela::kernels;

TEST_CASE("the spectral condition of triangles that are known") {
  CHECK(spectral_condition(HostMatrix<double>(0, 0)) == 1);
  for (const index_t n : {1, 2, 7, 200}) {
    HostMatrix<double> diagonal = HostMatrix<double>::zeros(n, n);
    for (index_t i = 0; i < n; ++i)
      diagonal(i, i) = n > 1 ? std::pow(1e6, static_cast<double>(i) / static_cast<double>(n - 1)) : 3;
    const double known = n > 1 ? 1e6 : 1, found = spectral_condition(diagonal);
    CHECK(found <= known * (1 + 1e-12));
    CHECK(found >= known / 2);
  }
  // Kahan's: far worse than its diagonal.
  const index_t n = 60;
  const double c = std::cos(1.2), s = std::sin(1.2);
  HostMatrix<double> kahan = HostMatrix<double>::zeros(n, n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = i; j < n; ++j) kahan(i, j) = std::pow(s, static_cast<double>(i)) * (i == j ? 1 : -c);
  CHECK(spectral_condition(kahan) >= 1e6);
}
