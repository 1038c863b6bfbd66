#pragma once

#include <tesela/algorithms/support/schedule.hpp>

// Checks of a schedule's heads and ends, for its construction and its verification.

namespace tesela::schedules {

/// Returns why the heads of an m x n matrix are invalid, or nothing.
std::optional<std::string> heads_problem(index_t m, index_t n, const std::vector<index_t>& heads);
/// Returns why the ends of the columns of an m x n matrix are invalid, or nothing.
std::optional<std::string> ends_problem(index_t m, index_t n, const std::vector<index_t>& ends);

/// Returns the row where column j ends; its elements are above this row.
inline index_t end_of(const Schedule& s, index_t j) {
  return s.ends.empty() ? s.m : s.ends[static_cast<std::size_t>(j)];
}

}  // namespace tesela::schedules
