#include "tests/support/test.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/host/lapack.hpp>
#include <tesela/runtime/errors.hpp>

using namespace tesela;

TEMPLATE_TEST_CASE("symmetric test matrices have the stated eigenvalues", "", float, double) {
  using T = TestType;
  for (const char* kind :
       {"rank:0", "rank:7", "rank:1000", "diagonal", "identity", "zero", "arithmetic", "geometric:1e6", "geometric:1",
        "clustered:1", "clustered:5", "second-difference", "laplacian", "exchange"})
    for (const index_t n : {0, 1, 2, 3, 12, 35, 64}) {
      CAPTURE(kind, n);
      const SymmetricChoice choice = parse_symmetric_kind(kind);
      const SymmetricMatrix matrix(choice.kind, n, choice.parameter, 3);
      REQUIRE(matrix.eigenvalues());
      std::vector<T> a(static_cast<std::size_t>(n * n)), w(static_cast<std::size_t>(n));
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < n; ++i) {
          a[static_cast<std::size_t>(i + j * n)] = matrix.element<T>(i, j);
          REQUIRE(matrix.element<T>(i, j) == matrix.element<T>(j, i));
        }
      if (n == 0) continue;
      REQUIRE(lapack::syevd(n, a.data(), n, w.data(), false) == 0);
      const double bound = 30 * static_cast<double>(std::numeric_limits<T>::epsilon()) * 8;
      for (std::size_t i = 0; i < w.size(); ++i) CHECK(std::abs(w[i] - (*matrix.eigenvalues())[i]) <= bound);
    }
}

TEST_CASE("names of symmetric kinds are parsed, and unknown names refused") {
  CHECK(parse_symmetric_kind("band:3").parameter == 3);
  CHECK(parse_symmetric_kind("spectrum:a:b.npy").file == "a:b.npy");
  for (const char* wrong : {"", "unifrom", "band", "band:-1", "band:x", "band:1.5", "uniform:2", "geometric:0.5",
                            "clustered:0", "rank:nan", "rank:1e400", "geometric:inf"})
    CHECK_THROWS_AS(parse_symmetric_kind(wrong), ArgumentError);
  CHECK_THROWS_AS(SymmetricMatrix(SymmetricKind::spectrum, 3, 0, 1, {1, 2}), ArgumentError);
  CHECK_THROWS_AS(SymmetricMatrix(SymmetricKind::uniform, -1), ArgumentError);
  const SymmetricMatrix given(SymmetricKind::spectrum, 3, 0, 1, {5, -2, 1});
  CHECK(given.eigenvalues() == std::vector<double>{-2, 1, 5});
}
