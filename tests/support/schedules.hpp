#pragma once

#include "tests/support/test.hpp"
#include <tesela/algorithms/support/schedule.hpp>

#include <functional>
#include <map>
#include <set>
#include <tuple>

namespace tesela::test {

inline const std::vector<std::string>& all_orders() {
  static const std::vector<std::string> orders{"sameh-kuck",
                                               "modified-sameh-kuck",
                                               "pgs1",
                                               "pgs2",
                                               "column",
                                               "diagonal",
                                               "binary",
                                               "fibonacci",
                                               "greedy",
                                               "domain:1",
                                               "domain:2",
                                               "domain:3",
                                               "domain:4:binary",
                                               "domain:7:greedy",
                                               "domain:100",
                                               "ranks:2:greedy:domain:3",
                                               "ranks:3:binary:diagonal",
                                               "ranks:4:flat:binary",
                                               "ranks:100:greedy:greedy"};
  return orders;
}

inline std::vector<index_t> staircase(index_t m, index_t n, const std::function<bool(index_t)>& down) {
  std::vector<index_t> heads;
  for (index_t j = 0; j < n; ++j) heads.push_back(j == 0 ? 0 : std::min(heads.back() + (down(j) ? 1 : 0), m - 1));
  return heads;
}

inline void sort(Schedule& schedule) {
  std::sort(schedule.eliminations.begin(), schedule.eliminations.end(), [](const auto& a, const auto& b) {
    return std::tie(a.stage, a.column, a.row) < std::tie(b.stage, b.column, b.row);
  });
}

/// Returns whether a schedule is legal by simulating which entries are nonzero after each stage. Shares only the
/// definition with violation().
inline bool simulation_succeeds(const Schedule& s) {
  std::vector<std::vector<bool>> nonzero(static_cast<std::size_t>(s.m),
                                         std::vector<bool>(static_cast<std::size_t>(s.n), true));
  const auto entry = [&](index_t i, index_t j) {
    return nonzero[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  };
  const auto head = [&](index_t j) { return s.heads[static_cast<std::size_t>(j)]; };
  for (std::size_t j = 0; j < s.ends.size(); ++j)
    for (index_t i = s.ends[j]; i < s.m; ++i) nonzero[static_cast<std::size_t>(i)][j] = false;
  for (std::size_t k = 0; k < s.eliminations.size();) {
    std::set<index_t> rows;
    std::vector<Elimination> stage;
    for (const index_t now = s.eliminations[k].stage; k < s.eliminations.size() && s.eliminations[k].stage == now; ++k)
      stage.push_back(s.eliminations[k]);
    if (stage[0].stage < 1 || (k < s.eliminations.size() && s.eliminations[k].stage < stage[0].stage)) return false;
    for (const Elimination& e : stage) {
      if (std::min({e.row, e.column, e.pivot}) < 0 || std::max(e.row, e.pivot) >= s.m || e.column >= s.n) return false;
      if (!rows.insert(e.row).second || !rows.insert(e.pivot).second) return false;
      if (e.row <= head(e.column) || e.pivot < head(e.column)) return false;
      if (!entry(e.row, e.column) || !entry(e.pivot, e.column)) return false;
      for (index_t c = 0; c < e.column; ++c)
        if ((e.row > head(c) && entry(e.row, c)) || (e.pivot > head(c) && entry(e.pivot, c))) return false;
    }
    for (const Elimination& e : stage) {
      nonzero[static_cast<std::size_t>(e.row)][static_cast<std::size_t>(e.column)] = false;
      for (std::size_t c = static_cast<std::size_t>(e.column) + 1; c < static_cast<std::size_t>(s.n); ++c) {
        std::vector<bool>&a = nonzero[static_cast<std::size_t>(e.row)], &b = nonzero[static_cast<std::size_t>(e.pivot)];
        a[c] = b[c] = a[c] || b[c];
      }
    }
  }
  for (index_t j = 0; j < s.n; ++j)
    for (index_t i = head(j) + 1; i < s.m; ++i)
      if (entry(i, j)) return false;
  return true;
}

inline std::vector<index_t> rotations_of(const Schedule& s) {
  std::vector<index_t> count(static_cast<std::size_t>(s.stages()));
  for (const Elimination& e : s.eliminations) ++count[static_cast<std::size_t>(e.stage - 1)];
  return count;
}

/// Returns the stage (or pivot) of each entry by rows, without the zeros above.
inline std::string table(const Schedule& s) {
  std::map<std::pair<index_t, index_t>, index_t> stage;
  for (const Elimination& e : s.eliminations) stage[{e.row, e.column}] = e.stage;
  std::string text;
  index_t row = 1;
  for (const auto& [position, value] : stage) {
    if (position.first != row) text += "/ ";
    row = position.first;
    text += std::to_string(value) + " ";
  }
  return text;
}

}  // namespace tesela::test
