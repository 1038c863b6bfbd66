#include "tests/support/ranks.hpp"
#include "tools/checks/qr_parts_error.hpp"
#include <tesela/runtime/runtime.hpp>

#include <cmath>
#include <limits>

// Errors of a factorization over several ranks; each rank runs the case with the tag [.rank].

using namespace tesela;
using namespace tesela::test;

TEST_CASE("errors of Q and R over ranks are measured for small and large entries", "[ranks]") {
  require_ranks();
  for (const int ranks : {2, 4}) {
    const Outcome all =
        run_on_ranks(ranks, {std::filesystem::read_symlink("/proc/self/exe").string(), "errors on ranks"});
    INFO(all.out << all.err);
    CHECK(all.code == 0);
  }
}

TEST_CASE("errors on ranks", "[.rank]") {
  Runtime runtime;
  REQUIRE(runtime.ranks() > 1);
  constexpr index_t m = 90, n = 60, vectors = 32;
  const TileShape tile{16, 8};
  const BlockCyclic part(runtime, {m, n}, tile), of_block(runtime, {m, 3 * vectors}, tile);
  for (const double size : {1.0, 1e-300, 1e300}) {
    // Q consists of columns of the identity, so R is A's upper triangle.
    HostMatrix<double> a = HostMatrix<double>::zeros(part.local().rows, part.local().cols), q = a.clone();
    double norm = 0;
    for (index_t j = 0; j < a.cols(); ++j)
      for (index_t i = 0; i < a.rows(); ++i) {
        const index_t row = part.rows.global(i), column = part.columns.global(j);
        if (row <= column) a(i, j) = size * std::sin(static_cast<double>(row + 3 * column));
        q(i, j) = row == column ? 1 : 0;
      }
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i <= j; ++i) norm += std::pow(std::sin(static_cast<double>(i + 3 * j)), 2);
    norm = std::sqrt(norm);
    const QrPartsSample<double> sample(runtime, part, a, vectors, 5);
    const HostMatrix<double> block = sample.block(of_block);  // also Q's product with the block
    for (const bool columns : {false, true}) {
      CAPTURE(size, columns);
      const auto errors = [&](const HostMatrix<double>& of_a, const HostMatrix<double>& product) {
        return columns ? sample.error_of_columns(of_a, q, part) : sample.error_of_product(of_a, product, of_block);
      };
      const QrError right = errors(a, block);
      CHECK(right.finite);
      CHECK(right.backward < 1e-14);
      CHECK(right.orthogonality < 1e-14);
      // One entry of A differs from Q R.
      HostMatrix<double> other = a.clone();
      if (part.rows.here(70) && part.columns.here(30))
        other(part.rows.before(70), part.columns.before(30)) = 0.1 * size;
      const QrError wrong = errors(other, block);
      CHECK(wrong.backward > 0.05 / norm);
      CHECK(wrong.backward < 0.2 / norm);
      // A column of Q is too long.
      HostMatrix<double> product = block.clone();
      const auto stretch = [&](HostMatrix<double>& x, const BlockCyclic& its, bool row) {
        for (index_t j = 0; j < x.cols(); ++j)
          for (index_t i = 0; i < x.rows(); ++i)
            if (row ? its.rows.global(i) == 7 : its.columns.global(j) == 7) x(i, j) *= 1.01;
      };
      stretch(product, of_block, true);
      stretch(q, part, false);
      const QrError longer = errors(a, product);
      CHECK(longer.orthogonality > 0.01);
      CHECK(longer.orthogonality < 0.04);
      for (index_t j = 0; j < q.cols(); ++j)
        for (index_t i = 0; i < q.rows(); ++i) q(i, j) = part.rows.global(i) == part.columns.global(j) ? 1 : 0;
      if (runtime.rank() == 1) (columns ? q : product)(0, 0) = std::numeric_limits<double>::quiet_NaN();
      CHECK(!errors(a, product).finite);
      if (runtime.rank() == 1) q(0, 0) = part.rows.global(0) == part.columns.global(0) ? 1 : 0;
    }
  }
}
