#include "tests/support/schedules.hpp"
#include <tesela/algorithms/support/schedule.hpp>
#include <tesela/runtime/errors.hpp>

#include <random>

using namespace tesela::test;

TEST_CASE("the checker finds the error in the printed PGS-2") {
  Schedule s{"pgs2", 6, 5, {0, 1, 2, 3, 4}, {}};
  const std::vector<std::vector<index_t>> printed{{6}, {4, 11}, {3, 6, 10}, {2, 5, 9, 14}, {1, 3, 6, 10, 15}};
  for (std::size_t i = 0; i < printed.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const auto row = static_cast<index_t>(i + 1);
      s.eliminations.push_back({row, static_cast<index_t>(j), row - 1, printed[i][j]});
    }
  sort(s);
  CHECK(violation(s) == "(4,3) at stage 10 needs (3,2), left of its pivot, which becomes zero only at stage 11");
  CHECK(!simulation_succeeds(s));
  for (Elimination& e : s.eliminations)  // and no other error
    if (e.column == 2 && e.row == 3) e.stage = 12;
  sort(s);
  CHECK(!violation(s));
}

TEST_CASE("each kind of error is found and named") {
  // Each mutation changes the elimination at k if possible and returns whether it did.
  using Mutation = std::function<bool(Schedule&, std::size_t k)>;
  const auto other = [](Schedule& s, std::size_t k, const std::function<bool(const Elimination&)>& fits) {
    const Elimination e = s.eliminations[k];
    return std::find_if(s.eliminations.begin(), s.eliminations.end(),
                        [&](const Elimination& o) { return !(o == e) && fits(o); });
  };
  const std::vector<std::pair<const char*, Mutation>> kinds{
      {"is never eliminated",
       [](Schedule& s, std::size_t k) {
         s.eliminations.erase(s.eliminations.begin() + static_cast<std::ptrdiff_t>(k));
         return true;
       }},
      {"is eliminated twice",
       [](Schedule& s, std::size_t k) {
         s.eliminations.push_back(s.eliminations[k]);
         s.eliminations.back().stage = s.stages() + 1;
         return true;
       }},
      {"is outside the matrix",
       [](Schedule& s, std::size_t k) { return s.eliminations[k].row = k % 2 == 0 ? s.m : -1, true; }},
      {"is outside the matrix",
       [](Schedule& s, std::size_t k) { return s.eliminations[k].column = k % 2 == 0 ? s.n : -1, true; }},
      {"outside the matrix",
       [](Schedule& s, std::size_t k) { return s.eliminations[k].pivot = k % 2 == 0 ? s.m : -1, true; }},
      {"before the first", [](Schedule& s, std::size_t k) { return s.eliminations[k].stage = 0, true; }},
      {"is not below the head of its column",
       [](Schedule& s, std::size_t k) { return s.eliminations[k].row = s.eliminations[k].column, true; }},
      {"against its own row",
       [](Schedule& s, std::size_t k) { return s.eliminations[k].pivot = s.eliminations[k].row, true; }},
      {"above the head of its column",
       [](Schedule& s, std::size_t k) {
         s.eliminations[k].pivot = s.eliminations[k].column - 1;
         return s.eliminations[k].column > 0;
       }},
      {"is listed after",
       [](Schedule& s, std::size_t k) {
         if (k == 0) return false;
         std::swap(s.eliminations[k - 1], s.eliminations[k]);
         return true;
       }},
      {"left of its entry",  // in the stage that makes the entry to its left zero
       [&](Schedule& s, std::size_t k) {
         Elimination& e = s.eliminations[k];
         const auto left = other(s, k, [&](const auto& o) { return o.row == e.row && o.column == e.column - 1; });
         return left != s.eliminations.end() && (e.stage = left->stage, true);
       }},
      {"left of its pivot",  // a pivot that has not reached this column yet
       [&](Schedule& s, std::size_t k) {
         Elimination& e = s.eliminations[k];
         const auto late = other(s, k, [&](const auto& o) {
           return o.column == e.column - 1 && o.stage >= e.stage && o.row != e.row && o.row >= e.column;
         });
         return late != s.eliminations.end() && (e.pivot = late->row, true);
       }},
      {"which becomes zero already",  // a pivot eliminated in an earlier stage
       [&](Schedule& s, std::size_t k) {
         Elimination& e = s.eliminations[k];
         const auto gone = other(s, k, [&](const auto& o) { return o.column == e.column && o.stage < e.stage; });
         return gone != s.eliminations.end() && (e.pivot = gone->row, true);
       }},
      {"which becomes zero already",  // a pivot eliminated in the same stage
       [&](Schedule& s, std::size_t k) {
         Elimination& e = s.eliminations[k];
         const auto gone = other(s, k, [&](const auto& o) { return o.column == e.column && o.stage == e.stage; });
         return gone != s.eliminations.end() && (e.pivot = gone->row, true);
       }},
      {"a second time in that stage",  // two rows with the same pivot
       [&](Schedule& s, std::size_t k) {
         Elimination& e = s.eliminations[k];
         const auto twin = other(s, k, [&](const auto& o) { return o.column == e.column && o.stage == e.stage; });
         return twin != s.eliminations.end() && (e.pivot = twin->pivot, true);
       }},
      {"heads: ", [](Schedule& s, std::size_t k) { return s.heads[k % s.heads.size()] += 2, true; }},
      {"heads: ", [](Schedule& s, std::size_t) { return s.heads.pop_back(), true; }},
  };
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    int done = 0;
    for (const std::string& order : all_orders())
      for (const auto& [m, n] : {std::pair<index_t, index_t>{9, 4}, {6, 6}, {13, 3}}) {
        const Schedule legal = make_schedule(order, m, n);
        for (std::size_t k = 0; k < legal.eliminations.size(); ++k) {
          Schedule s = legal;
          if (!kinds[kind].second(s, k)) continue;
          if (kinds[kind].first != std::string("is listed after")) sort(s);
          ++done;
          CAPTURE(kind, order, m, n, k);
          REQUIRE(violation(s).has_value());
          REQUIRE_THAT(*violation(s), ContainsSubstring(kinds[kind].first));
          if (kind + 2 < kinds.size() && kinds[kind].first != std::string("is listed after"))
            REQUIRE(!simulation_succeeds(s));
        }
      }
    CAPTURE(kind, kinds[kind].first);
    CHECK(done > 50);
  }
}

TEST_CASE("the checker agrees with a simulated elimination on thousands of random changes") {
  std::mt19937 random(11);
  const auto below = [&](index_t end) { return static_cast<index_t>(random() % static_cast<unsigned>(end)); };
  int legal = 0, illegal = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const index_t m = 3 + below(6), n = 2 + below(m - 1);
    const std::vector<index_t> heads = staircase(m, n, [&](index_t) { return trial % 2 == 0 || below(3) > 0; });
    Schedule s = make_schedule(all_orders()[static_cast<std::size_t>(below(14))], m, n, heads);
    for (index_t changes = 1 + below(2); changes > 0; --changes) {
      Elimination& e = s.eliminations[static_cast<std::size_t>(below(static_cast<index_t>(s.eliminations.size())))];
      switch (below(3)) {
        case 0: e.pivot = below(m); break;
        case 1: e.stage += below(7) - 3; break;
        default: std::swap(e.stage, s.eliminations[static_cast<std::size_t>(below(2))].stage);
      }
    }
    sort(s);
    const bool sound = simulation_succeeds(s);
    CAPTURE(s.order, m, n, heads, table(s), violation(s).value_or("legal"));
    REQUIRE(sound == !violation(s));
    ++(sound ? legal : illegal);
  }
  CHECK(legal > 1000);
  CHECK(illegal > 5000);
}

TEST_CASE("PGS-2 by its rule has the printed rows 5 and 6 and is legal") {
  const Schedule s = make_schedule("pgs2", 6, 5);
  CHECK(table(s) == "11 / 7 12 / 4 8 13 / 2 5 9 14 / 1 3 6 10 15 ");
  for (const Elimination& e : s.eliminations) {
    const index_t d = 6 - (e.row + 1) + (e.column + 1);
    CHECK(e.stage == d * (d - 1) / 2 + e.column + 1);
  }
  for (index_t m = 0; m <= 24; ++m)
    for (index_t n = 0; n <= m; ++n) {
      const Schedule each = make_schedule("pgs2", m, n);
      CAPTURE(m, n);
      CHECK(!violation(each));
      CHECK(simulation_succeeds(each));
    }
}

TEST_CASE("wavefronts are legal with 2n - 1 stages, and a shift by one stage is found") {
  for (const std::string& order : wavefront_orders())
    for (const index_t n : {0, 1, 2, 3, 6, 11}) {
      CAPTURE(order, n);
      const Schedule s = make_wavefront(order, n);
      CHECK(s.stages() == std::max<index_t>(2 * n - 1, 0));
      CHECK(s.eliminations.size() == static_cast<std::size_t>(order == "lu-wavefront" ? n * n : n * (n + 1) / 2));
      CHECK(!violation(s));
      for (std::size_t k = 0; k < s.eliminations.size(); ++k) {
        Schedule earlier = s;
        --earlier.eliminations[k].stage;
        const bool summed = order != "lu-wavefront" || std::min(s.eliminations[k].row, s.eliminations[k].column) > 0;
        sort(earlier);
        // Only LU's first row and column, which need no sums, have stages to spare.
        if (summed) CHECK(violation(earlier));
        Schedule twice = s;
        twice.eliminations.push_back(s.eliminations[k]);
        sort(twice);
        CHECK(violation(twice));
        Schedule never = s;
        never.eliminations.erase(never.eliminations.begin() + static_cast<std::ptrdiff_t>(k));
        CHECK(violation(never));
      }
    }
  Schedule s = make_wavefront("lu-wavefront", 3);
  for (Elimination& e : s.eliminations)
    if (e.row == 1 && e.column == 0) e.stage = 3;
  sort(s);
  const auto wrong = violation(s);
  CHECK(wrong == "(2,2) at stage 3 needs (2,1), which is computed only at stage 3");
  CHECK_THROWS_AS(make_wavefront("greedy", 3), ArgumentError);
  CHECK_THROWS_AS(make_wavefront("lu-wavefront", -1), ArgumentError);
}
