#include "tests/support/ranks.hpp"
#include "tests/support/test.hpp"
#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/tiles/filled.hpp>

#include <array>

// Tall and skinny matrices over several ranks; each rank runs the case with the tag [.rank].

using namespace tesela::test;

namespace {

constexpr index_t m = 6000, n = 7;

/// Checks R^T R = A^T A, that R is triangular, and that each rank has worked.
void check_triangle(Runtime& runtime, const TileMatrix<double>& R, const HostMatrix<double>& a) {
  const auto r = R(0, 0).read();
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      if (i > j) CHECK(r(i, j) == 0);
      double gram = 0, product = 0;
      for (index_t k = 0; k < m; ++k) gram += a(k, i) * a(k, j);
      for (index_t k = 0; k <= std::min(i, j); ++k) product += r(k, i) * r(k, j);
      CHECK(std::abs(gram - product) <= 1e-12 * static_cast<double>(m));
    }
  for (const RankUse& use : runtime.rank_statistics()) CHECK(use.tasks >= 3);
}

}  // namespace

TEST_CASE("each rank reduces its rows of a tall and skinny matrix, and a tree joins the triangles", "[ranks]") {
  require_ranks();
  for (const int ranks : {2, 3, 4}) {
    const Outcome all =
        run_on_ranks(ranks, {std::filesystem::read_symlink("/proc/self/exe").string(), "rows of a rank"});
    INFO(all.out << all.err);
    CHECK(all.code == 0);
  }
}

TEST_CASE("rows of a rank", "[.rank]") {
  Runtime runtime({.grid = std::array{0, 1}});  // all ranks share the rows
  REQUIRE(runtime.ranks() > 1);
  CHECK(runtime.grid() == std::array{runtime.ranks(), 1});
  const auto a = generate<double>({m, n}, Generator<double>{Pattern::uniform, 0, 0, 3});
  const TileMatrix<double> R(runtime, n, n, {n, n}, "R");
  for (const index_t chains : {0, 1, 5, 1000}) {
    Graph g(runtime);
    const auto A = TileMatrix<double>::map(runtime, a.data(), m, n, a.ld(), {100, n});
    runtime.reset_statistics();
    tall_skinny_r(g, A, R, {chains});
    CHECK(g.wait().ok());
    if (chains != 1) check_triangle(runtime, R, a);
  }
  index_t rows = 0;  // rows read by this rank
  {
    Graph g(runtime);
    runtime.reset_statistics();
    const RowSource<double> source{m, n, [&](index_t first, const Block<double>& out) {
                                     rows += out.rows;
                                     for (index_t j = 0; j < n; ++j)
                                       for (index_t i = 0; i < out.rows; ++i) out(i, j) = a(first + i, j);
                                   }};
    tall_skinny_r(g, source, R, 130);
    CHECK(g.wait().ok());
    check_triangle(runtime, R, a);
  }
  std::array<double, 1> all{static_cast<double>(rows)};
  sum_over_ranks(runtime, all);
  CHECK(all[0] == static_cast<double>(m));
  CHECK(rows < m);

  QrUpdater<double> updater(runtime, n - 1, 1);
  Graph g(runtime);
  const auto A = TileMatrix<double>::map(runtime, a.data(), m, n - 1, a.ld(), {250, n - 1});
  const auto B = TileMatrix<double>::map(runtime, &a(0, n - 1), m, 1, a.ld(), {250, 1});
  updater.append(g, A, B);
  const auto solution = updater.solve();
  REQUIRE(solution.status.ok());
  for (index_t j = 0; j + 1 < n; ++j) {  // A^T (A x - b) = 0
    double normal = 0;
    for (index_t k = 0; k < m; ++k) {
      double residual = -a(k, n - 1);
      for (index_t l = 0; l + 1 < n; ++l) residual += a(k, l) * solution.x(l, 0);
      normal += a(k, j) * residual;
    }
    CHECK(std::abs(normal) <= 1e-12 * static_cast<double>(m));
  }
}
