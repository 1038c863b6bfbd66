#include "tests/support/schedules.hpp"
#include "tests/support/test.hpp"
#include <tesela/algorithms/support/critical_path.hpp>
#include <tesela/runtime/errors.hpp>

#include <catch2/generators/catch_generators_range.hpp>

#include <array>
#include <map>
#include <random>

using namespace tesela::test;

namespace {

/// Returns the fewest stages that combine m rows into n columns of a triangle, by exhaustive search. Only the number of
/// rows that are zero left of each column matters, and a stage may contain any number of pairs.
index_t fewest_stages(index_t m, index_t n) {
  using State = std::vector<index_t>;  // rows in each column, without the finished ones
  const auto kinds = static_cast<std::size_t>(n);
  State start(kinds), end(kinds);
  start[0] = m;
  for (std::size_t j = 0; j < kinds; ++j) end[j] = static_cast<index_t>(j) < m ? 1 : 0;
  std::set<State> seen{start}, now{start};
  for (index_t stages = 0;; ++stages) {
    if (now.count(end) > 0) return stages;
    std::set<State> next;
    for (const State& state : now) {
      const std::function<void(std::size_t, State)> choose = [&](std::size_t j, State after) {
        if (j == kinds) {
          if (seen.insert(after).second) next.insert(after);
          return;
        }
        for (index_t pairs = 0; pairs <= state[j] / 2; ++pairs) {
          State moved = after;
          moved[j] -= pairs;
          if (j + 1 < kinds) moved[j + 1] += pairs;
          choose(j + 1, std::move(moved));
        }
      };
      choose(0, state);
    }
    now = std::move(next);
  }
}

}  // namespace

TEST_CASE("every schedule is legal for every size") {
  const std::string order = GENERATE(from_range(all_orders()));
  for (index_t m = 0; m <= 24; ++m)
    for (index_t n = 0; n <= std::max<index_t>(m, 3) + 2; ++n) {
      const Schedule s = make_schedule(order, m, n);
      CAPTURE(order, m, n, violation(s).value_or(""));
      REQUIRE(!violation(s));
      REQUIRE(simulation_succeeds(s));
      const index_t steps = std::min(m, n);
      REQUIRE(static_cast<index_t>(s.eliminations.size()) == m * steps - steps * (steps + 1) / 2);
      REQUIRE(s.order == order);
      REQUIRE(critical_path(s) <= s.stages());
      index_t last = 0;
      for (const Elimination& e : s.eliminations) last = std::max(last, e.stage);
      REQUIRE(s.stages() == last);
    }
}

TEST_CASE("every schedule is legal for the heads of tall tiles") {
  const std::string order = GENERATE(from_range(all_orders()));
  std::mt19937 random(7);
  for (index_t m = 1; m <= 20; m += m < 6 ? 1 : 7)
    for (index_t n = 1; n <= 20; ++n) {
      std::vector<std::vector<index_t>> staircases;
      for (const index_t width : {2, 3, 5, 50})
        staircases.push_back(staircase(m, n, [&](index_t j) { return j % width == 0; }));
      staircases.push_back(staircase(m, n, [](index_t j) { return j % 3 != 0; }));
      for (int k = 0; k < 3; ++k) staircases.push_back(staircase(m, n, [&](index_t) { return random() % 2 == 0; }));
      for (const std::vector<index_t>& heads : staircases) {
        const Schedule s = make_schedule(order, m, n, heads);
        CAPTURE(order, m, n, heads, violation(s).value_or(""));
        REQUIRE(!violation(s));
        REQUIRE(simulation_succeeds(s));
        REQUIRE(s.heads == heads);
        index_t eliminations = 0;
        for (const index_t head : heads) eliminations += m - 1 - head;
        REQUIRE(static_cast<index_t>(s.eliminations.size()) == eliminations);
      }
    }
}

TEST_CASE("heads on the diagonal are the default") {
  const std::string order = GENERATE(from_range(all_orders()));
  CHECK(make_schedule(order, 9, 5, {0, 1, 2, 3, 4}).eliminations == make_schedule(order, 9, 5).eliminations);
  CHECK(make_schedule(order, 4, 6).heads == std::vector<index_t>{0, 1, 2, 3, 3, 3});
  CHECK(make_schedule(order, 0, 3).eliminations.empty());
  CHECK(make_schedule(order, 1, 1).stages() == 0);
}

TEST_CASE("closed forms agree with the list of eliminations") {
  for (const std::string& order : all_orders()) {
    CAPTURE(order);
    const bool has_one =
        std::set<std::string>{"sameh-kuck", "modified-sameh-kuck", "pgs1", "diagonal"}.count(order) > 0;
    CHECK(closed_form(order, 5).has_value() == has_one);
  }
  for (index_t m = 1; m <= 24; ++m)
    for (index_t n = 1; n <= m; ++n)
      for (const std::string order : {"sameh-kuck", "modified-sameh-kuck", "pgs1", "diagonal"})
        for (const Elimination& e : make_schedule(order, m, n).eliminations) {
          const ClosedForm form = closed_form(order, m).value();
          const index_t i = e.row + 1, j = e.column + 1;
          CAPTURE(order, m, n, i, j);
          const std::map<std::string, index_t> stage{{"sameh-kuck", (m - i) + 2 * j - 1},
                                                     {"modified-sameh-kuck", 2 * (m - i) + 4 * j - 3},
                                                     {"pgs1", (m - i) + 3 * j - 2},
                                                     {"diagonal", i + j - 2}};
          REQUIRE(e.stage == stage.at(order));
          REQUIRE(e.stage == form.constant + form.per_row * i + form.per_column * j);
          REQUIRE(e.pivot + 1 == (order == "diagonal" ? j : i - 1));
          REQUIRE(form.adjacent == (order != "diagonal"));
        }
}

TEST_CASE("diagonal has the expected stages for 8 x 4 and leaves the last stage of a square empty") {
  const Schedule s = make_schedule("diagonal", 8, 4);
  CHECK(s.stages() == 10);
  CHECK(rotations_of(s) == std::vector<index_t>{1, 1, 2, 2, 3, 3, 4, 3, 2, 1});
  CHECK(s.eliminations.size() == 22);
  for (index_t m = 2; m <= 24; ++m) {
    for (index_t n = 1; n < m; ++n) CHECK(make_schedule("diagonal", m, n).stages() == m + n - 2);
    CHECK(make_schedule("diagonal", m, m).stages() == m + m - 3);
  }
}

TEST_CASE("column eliminates bottom-up, one rotation after another") {
  const Schedule s = make_schedule("column", 4, 3);
  CHECK(s.eliminations ==
        std::vector<Elimination>{{3, 0, 2, 1}, {2, 0, 1, 2}, {1, 0, 0, 3}, {3, 1, 2, 4}, {2, 1, 1, 5}, {3, 2, 2, 6}});
}

TEST_CASE("trees equal the tables of Bouwmeester et al. 2011") {
  // Bouwmeester, Jacquelin, Langou and Robert, table of coarse-grain steps for 15 x 6.
  CHECK(table(make_schedule("greedy", 15, 6)) ==
        "4 / 3 6 / 3 5 8 / 2 5 7 10 / 2 4 7 9 12 / 2 4 6 9 11 14 / 2 4 6 8 10 13 / 1 3 5 8 10 12 / 1 3 5 7 9 11 / "
        "1 3 5 7 9 11 / 1 3 4 6 8 10 / 1 2 4 6 8 10 / 1 2 4 5 7 9 / 1 2 3 5 6 8 ");
  CHECK(table(make_schedule("fibonacci", 15, 6)) ==
        "5 / 4 7 / 4 6 9 / 3 6 8 11 / 3 5 8 10 13 / 3 5 7 10 12 15 / 2 5 7 9 12 14 / 2 4 7 9 11 14 / 2 4 6 9 11 13 / "
        "2 4 6 8 11 13 / 1 4 6 8 10 13 / 1 3 6 8 10 12 / 1 3 5 8 10 12 / 1 3 5 7 10 12 ");
  for (index_t m = 2; m <= 40; ++m) {
    index_t levels = 0;
    while ((index_t{1} << levels) < m) ++levels;
    CHECK(make_schedule("binary", m, 1).stages() == levels);
    CHECK(make_schedule("greedy", m, 1).stages() == levels);
  }
  CHECK(table(make_schedule("binary", 8, 2)) == "1 / 2 3 / 1 5 / 3 4 / 1 6 / 2 3 / 1 4 ");
}

TEST_CASE("greedy needs the fewest possible stages") {
  for (index_t m = 1; m <= 11; ++m)
    for (index_t n = 1; n <= std::min<index_t>(m, 4); ++n) {
      CAPTURE(m, n);
      CHECK(make_schedule("greedy", m, n).stages() == fewest_stages(m, n));
    }
}

TEST_CASE("domains lie between greedy or binary and diagonal") {
  for (index_t m = 1; m <= 24; ++m)
    for (index_t n = 1; n <= m; ++n) {
      const auto list = [&](const char* order) { return make_schedule(order, m, n).eliminations; };
      REQUIRE(list("domain:1") == list("greedy"));
      REQUIRE(list("domain:1:binary") == list("binary"));
      REQUIRE(list("domain:24") == list("diagonal"));
      REQUIRE(list("domain:9223372036854775807") == list("diagonal"));
      REQUIRE(list("domain:5") == list("domain:5:greedy"));
    }
  for (const Elimination& e : make_schedule("domain:3", 14, 4).eliminations)
    if (const index_t place = (e.row - e.column) % 3; place != 0) CHECK(e.pivot == e.row - place);
}

TEST_CASE(
    "ranks join their own rows first, and each column needs one elimination less across ranks than there are ranks") {
  for (index_t m = 1; m <= 24; ++m)
    for (index_t n = 1; n <= m; ++n) {
      const auto list = [&](const char* order) { return make_schedule(order, m, n).eliminations; };
      for (const char* inside : {"greedy", "binary", "diagonal", "domain:3", "domain:2:binary"})
        REQUIRE(list((std::string("ranks:1:flat:") + inside).c_str()) == list(inside));
      REQUIRE(list("ranks:9223372036854775807:binary:diagonal") == list("binary"));
      for (const char* order : {"ranks:3:greedy:domain:2", "ranks:3:binary:greedy", "ranks:3:flat:diagonal"}) {
        CAPTURE(order, m, n);
        std::map<index_t, index_t> across;
        for (const Elimination& e : list(order)) across[e.column] += (e.row - e.pivot) % 3 != 0 ? 1 : 0;
        for (const auto& [column, count] : across) REQUIRE(count == std::min<index_t>(m - 1 - column, 2));
      }
    }
  // The ranks hold rows 1 4 7, 2 5 8 and 3 6.
  CHECK(table(make_schedule("ranks:3:flat:diagonal", 8, 1)) == "3 / 4 / 1 / 1 / 1 / 2 / 2 ");
  CHECK(table(make_schedule("ranks:3:binary:binary", 8, 1)) == "3 / 4 / 1 / 1 / 1 / 2 / 2 ");
}

TEST_CASE("wrong arguments are refused by name") {
  const auto message = [](const std::string& text) { return Catch::Matchers::MessageMatches(ContainsSubstring(text)); };
  for (const char* order : {"",
                            "Greedy",
                            "domain",
                            "domain:",
                            "domain:0",
                            "domain:-2",
                            "domain:x",
                            "domain:3x",
                            "domain:3:flat",
                            "domain:3:",
                            "ranks",
                            "ranks:2",
                            "ranks:0:flat:greedy",
                            "ranks:2:flat",
                            "ranks:2:diagonal:greedy",
                            "ranks:2:flat:fibonacci",
                            "ranks:2:flat:ranks:2:flat:greedy",
                            "ranks:x:flat:greedy",
                            "domain:99999999999999999999",
                            "greedy "}) {
    CAPTURE(order);
    CHECK_THROWS_MATCHES(make_schedule(order, 4, 3), ArgumentError, message("make_schedule: order: '"));
    CHECK_THROWS_MATCHES(closed_form(order, 4), ArgumentError, message("closed_form: order: '"));
  }
  CHECK_THROWS_MATCHES(make_schedule("greedy", -1, 3), ArgumentError, message("m: -1"));
  CHECK_THROWS_MATCHES(make_schedule("greedy", 3, -1), ArgumentError, message("n: -1"));
  const std::vector<std::vector<index_t>> wrong{{0},       {0, 1, 2, 3}, {1, 1, 1},  {-1, 0, 0},
                                                {0, 2, 2}, {0, 1, 0},    {0, 0, -1}, {0, 1, 3}};
  for (const auto& heads : wrong) {
    CAPTURE(heads);
    CHECK_THROWS_MATCHES(make_schedule("greedy", 4, 3, heads), ArgumentError, message("heads"));
  }
  CHECK_THROWS_MATCHES(make_schedule("greedy", 2, 3, {0, 1, 2}), ArgumentError, message("heads"));
  for (const std::string& order : schedule_orders())
    CHECK_NOTHROW(make_schedule(order == "domain" ? "domain:2" : order, 4, 3));
}

TEST_CASE("the zeros of a staircase are skipped as in the example of Ramiro Sánchez 2010, section 5.6.3") {
  // The source counts 1 0 1 1 1 1 2 2 1: its tenth elimination is (5, 5), which is on the diagonal.
  const Schedule s = make_schedule("diagonal", 6, 5, {}, {2, 4, 6, 6, 6});
  CHECK(s.eliminations.size() == 9);
  CHECK(rotations_of(s) == std::vector<index_t>{1, 0, 1, 1, 1, 1, 2, 1, 1});
  CHECK(!violation(s));
  CHECK(simulation_succeeds(s));
}

TEST_CASE("staircases of every shape are legal in every order") {
  const std::vector<std::vector<index_t>> all{{2, 3, 4, 5, 6, 7, 8},  // a band with half-width two
                                              {1, 1, 1, 1, 8, 8, 8}, {0, 0, 3, 3, 9, 9, 9},
                                              {9, 9, 9, 9, 9, 9, 9}, {7, 2, 5, 8, 1, 9, 3},  // filled to 7 7 7 8 8 9 9
                                              {1, 4, 4, 4, 9, 9, 9}};
  for (const std::string& order : all_orders())
    for (const auto& ends : all) {
      CAPTURE(order, ends);
      const Schedule s = make_schedule(order, 9, 7, {}, ends);
      CHECK(violation(s).value_or("") == "");
      CHECK(simulation_succeeds(s));
      std::size_t entries = 0;
      index_t end = 0;
      for (index_t j = 0; j < 7; ++j) {
        end = std::max(end, ends[static_cast<std::size_t>(j)]);
        entries += static_cast<std::size_t>(std::max<index_t>(end - j - 1, 0));
      }
      CHECK(s.eliminations.size() == entries);
    }
  // A tridiagonal matrix needs n - 1 rotations.
  std::vector<index_t> ends;
  for (index_t j = 0; j < 300; ++j) ends.push_back(std::min<index_t>(j + 2, 300));
  CHECK(make_schedule("greedy", 300, 300, {}, ends).eliminations.size() == 299);
  CHECK_THROWS_AS(make_schedule("greedy", 4, 2, {}, {5, 5}), ArgumentError);
  CHECK_THROWS_AS(make_schedule("greedy", 4, 2, {}, {3}), ArgumentError);
  Schedule broken = make_schedule("greedy", 6, 3, {}, {2, 4, 6});
  broken.eliminations.push_back({5, 0, 0, 1});
  CHECK(violation(broken).value_or("").find("below the end of its column") != std::string::npos);
}

TEST_CASE("critical paths of tile QR equal the formulas of Bouwmeester et al. 2011") {
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
