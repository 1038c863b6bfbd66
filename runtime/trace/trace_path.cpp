#include <tesela/runtime/trace/trace_summary.hpp>

#include <algorithm>
#include <unordered_map>

namespace tesela {

std::vector<std::size_t> critical_path(const std::vector<TracedTask>& tasks) {
  constexpr std::size_t none = SIZE_MAX;
  std::unordered_map<std::uint64_t, std::size_t> index;
  for (std::size_t t = 0; t < tasks.size(); ++t) index.emplace(tasks[t].id, t);
  std::vector<std::size_t> by_end(tasks.size()), before(tasks.size(), none);
  for (std::size_t t = 0; t < tasks.size(); ++t) by_end[t] = t;
  std::sort(by_end.begin(), by_end.end(), [&](std::size_t a, std::size_t b) { return tasks[a].end < tasks[b].end; });
  std::vector<double> path(tasks.size(), 0);
  std::size_t last = none;
  for (const std::size_t t : by_end) {  // a task ends after the tasks that it depends on
    for (const std::uint64_t id : tasks[t].depends_on)
      if (const auto it = index.find(id);
          it != index.end() && it->second != t && (before[t] == none || path[it->second] > path[before[t]]))
        before[t] = it->second;
    path[t] = tasks[t].end - tasks[t].start + (before[t] != none ? path[before[t]] : 0);
    if (last == none || path[t] > path[last]) last = t;
  }
  std::vector<std::size_t> longest;
  for (std::size_t t = last; t != none; t = before[t]) longest.push_back(t);
  std::reverse(longest.begin(), longest.end());
  return longest;
}

}  // namespace tesela
