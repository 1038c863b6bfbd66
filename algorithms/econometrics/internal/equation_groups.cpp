#include <tesela/algorithms/econometrics/internal/equation_tasks.hpp>

#include <algorithm>

namespace tesela::detail {

std::vector<std::vector<std::size_t>> equation_groups(const Runtime& runtime,
                                                      const std::vector<PickedEquation>& equations,
                                                      std::vector<std::size_t> which) {
  constexpr index_t most_elements = index_t{1} << 26;  // elements of the columns of a group
  std::stable_sort(which.begin(), which.end(),
                   [&](std::size_t a, std::size_t b) { return equations[a].size() > equations[b].size(); });
  const index_t share = static_cast<index_t>(which.size()) / std::max<index_t>(4 * runtime.gpus(), 1);
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t i : which) {
    const PickedEquation& largest = equations[groups.empty() ? i : groups.back().front()];
    const index_t r = largest.size(), elements = std::max<index_t>(largest.variables->rows * r, 1),
                  most = runtime.gpus() == 0 ? 1 : std::clamp<index_t>(share, 1, most_elements / elements + 1);
    if (groups.empty() || static_cast<index_t>(groups.back().size()) >= most ||
        4 * equations[i].size() < 3 * r)  // otherwise much of the storage would be padding
      groups.emplace_back();
    groups.back().push_back(i);
  }
  return groups;
}

HostMatrix<int> group_picks(const std::vector<PickedEquation>& equations, const std::vector<std::size_t>& group) {
  const index_t r = equations[group.front()].size(), count = static_cast<index_t>(group.size());
  HostMatrix<int> picks(2, count * (r + 2));
  for (index_t i = 0; i < count; ++i) {
    const PickedEquation& e = equations[group[static_cast<std::size_t>(i)]];
    for (index_t p = 0; p < r + 2; ++p) {
      const index_t from = p < e.size() ? p : p < r ? -1 : p - r + e.size();
      picks(0, i * (r + 2) + p) = from < 0 ? -1 : e.picks(0, from);
      picks(1, i * (r + 2) + p) = from < 0 ? 0 : e.picks(1, from);
    }
  }
  return picks;
}

}  // namespace tesela::detail
