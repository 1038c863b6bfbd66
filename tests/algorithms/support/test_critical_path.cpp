#include "tests/support/schedules.hpp"
#include "tests/support/test.hpp"
#include <tesela/algorithms/support/critical_path.hpp>
#include <tesela/runtime/errors.hpp>

#include <catch2/generators/catch_generators_range.hpp>

#include <array>

using namespace tesela;
using namespace tesela::test;

TEST_CASE("critical paths of tile QR equal the published ones") {
  for (index_t p = 1; p <= 24; ++p)
    for (index_t q = 1; q <= p; ++q) {
      const TilePath tt = tile_path(make_schedule("diagonal", p, q), true);
      const TilePath ts = tile_path(make_schedule("diagonal", p, q), false);
      CAPTURE(p, q);
      REQUIRE(tt.critical_path == (q == 1 ? 2 * p + 2 : p > q ? 6 * p + 16 * q - 22 : 22 * p - 24));
      REQUIRE(ts.critical_path == (q == 1 ? 6 * p - 2 : p > q ? 12 * p + 18 * q - 32 : 30 * p - 34));
    }
  // The table for 40 x q of the same paper: greedy, fibonacci, and the best flat domains under a binary tree.
  const auto path = [](const std::string& order, index_t q) {
    return tile_path(make_schedule(order, 40, q), true).critical_path;
  };
  const std::array<index_t, 10> greedy{16, 54, 74, 104, 126, 148, 170, 192, 214, 236};
  const std::array<index_t, 10> fibonacci{22, 72, 94, 116, 138, 160, 182, 204, 226, 248};
  for (std::size_t q = 1; q <= greedy.size(); ++q) {
    CHECK(path("greedy", static_cast<index_t>(q)) == greedy[q - 1]);
    CHECK(path("fibonacci", static_cast<index_t>(q)) == fibonacci[q - 1]);
  }
  CHECK(path("greedy", 40) == 826);
  CHECK(path("domain:3:binary", 2) == 60);
  CHECK(path("domain:5:binary", 3) == 98);
  CHECK(path("domain:5:binary", 4) == 132);
  CHECK(path("domain:10:binary", 6) == 198);
  CHECK(path("domain:20:binary", 40) == 856);
}

TEST_CASE("the work of tile QR does not depend on the order") {
  const std::string order = GENERATE(from_range(all_orders()));
  for (index_t p = 1; p <= 16; ++p)
    for (index_t q = 1; q <= p; ++q)
      for (const bool triangles : {false, true}) {
        const Schedule s = make_schedule(order, p, q);
        const TilePath path = tile_path(s, triangles);
        CAPTURE(order, p, q, triangles);
        REQUIRE(path.work == 6 * p * q * q - 2 * q * q * q);
        REQUIRE(path.critical_path <= path.work);
        REQUIRE(path.tsqrt + path.ttqrt == static_cast<index_t>(s.eliminations.size()));
        REQUIRE(path.geqrt == q + path.ttqrt);  // each column keeps one triangle, and the others are eliminated by TT
        if (triangles) REQUIRE(path.tsqrt + path.tsmqr == 0);
        if (order == "diagonal" && !triangles) REQUIRE(path.ttqrt + path.ttmqr == 0);
      }
}

TEST_CASE("critical paths of wide, empty and single-tile matrices are correct") {
  CHECK(tile_path(make_schedule("greedy", 0, 0), true).work == 0);
  CHECK(tile_path(make_schedule("greedy", 1, 1), true).critical_path == 4);
  const TilePath wide =
      tile_path(make_schedule("diagonal", 2, 4), false);  // geqrt, 3 unmqr; tsqrt, 3 tsmqr; geqrt, 2 unmqr
  CHECK(wide.work == 4 + 3 * 6 + 6 + 3 * 12 + 4 + 2 * 6);
  CHECK(wide.critical_path == 4 + 6 + 12 + 4 + 6);
  CHECK_THROWS_AS(tile_path(make_schedule("diagonal", 4, 4, {0, 0, 1, 1}), true), ArgumentError);
  Schedule broken = make_schedule("diagonal", 4, 4);
  broken.eliminations[0].pivot = 1;
  CHECK_THROWS_AS(tile_path(broken, true), ArgumentError);
}

TEST_CASE("PGS-1 with overlapping stages has n^2 / 4 rotations in flight and never two on one element") {
  for (const index_t n : {8, 20, 40}) CHECK(overlapped(make_schedule("pgs1", n, n)).in_flight == n * n / 4);
  const Overlap square = overlapped(make_schedule("pgs1", 40, 40));
  CHECK(square.stages == 116);
  CHECK(square.work == 40 * (40 * 40 - 1) / 3);
  CHECK(overlapped(make_schedule("pgs1", 0, 0)).in_flight == 0);
  // Rotation (i, j) changes column c of its rows at stage + c - j.
  const Schedule s = make_schedule("pgs1", 12, 7);
  std::vector<index_t> busy(12 * 7);
  for (index_t stage = 1; stage <= s.stages() + 7; ++stage)
    for (const Elimination& e : s.eliminations) {
      const index_t column = e.column + stage - e.stage;
      if (column < e.column || column >= 7) continue;
      for (const index_t row : {e.row, e.pivot}) {
        index_t& last = busy[static_cast<std::size_t>(row + 12 * column)];
        CHECK(last < stage);
        last = stage;
      }
    }
}
