#include "tools/commands/support/pictures.hpp"
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

namespace tesela::cli {
namespace {

using Entry = std::pair<index_t, index_t>;

/// The entries that a sum follows.
std::vector<Entry> before(Sums sums, index_t i, index_t j) {
  std::vector<Entry> entries;
  const index_t terms = std::min(i, j);
  if (terms > 0) entries.emplace_back(i, terms - 1);
  if (i > j)
    entries.emplace_back(j, j);  // which follows the entry above
  else if (terms > 0 && sums == Sums::lu)
    entries.emplace_back(terms - 1, j);
  return entries;
}

}  // namespace

std::string schedule_dot(const Schedule& schedule) {
  constexpr std::size_t most = 10000;
  require(schedule.eliminations.size() <= most, "schedule", "--dot",
          fmt::format("{} entries are more than the {} that a drawing shows", schedule.eliminations.size(), most));
  const auto name = [](const Entry& e) { return fmt::format("\"{},{}\"", e.first + 1, e.second + 1); };
  std::string dot = fmt::format("digraph \"{}\" {{\n  rankdir=LR;\n  node [shape=box];\n", schedule.order), edges;
  std::vector<Entry> last(static_cast<std::size_t>(schedule.m), Entry{-1, -1});  // of each row
  index_t stage = 0;
  for (const Elimination& e : schedule.eliminations) {
    const Entry entry{e.row, e.column};
    if (e.stage != stage) dot += fmt::format("{}  {{ rank=same;", stage == 0 ? "" : " }\n");
    stage = e.stage;
    dot += " " + name(entry) + ";";
    std::set<Entry> from;
    if (schedule.sums != Sums::none) {
      for (const Entry& one : before(schedule.sums, e.row, e.column)) from.insert(one);
    } else {
      for (const index_t row : {e.row, e.pivot}) {
        Entry& its = last[static_cast<std::size_t>(row)];
        if (its.first >= 0) from.insert(its);
        its = entry;
      }
    }
    for (const Entry& one : from) edges += fmt::format("  {} -> {};\n", name(one), name(entry));
  }
  if (stage > 0) dot += " }\n";
  return dot + edges + "}\n";
}

}  // namespace tesela::cli
