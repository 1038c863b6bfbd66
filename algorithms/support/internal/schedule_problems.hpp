#pragma once

#include <tesela/algorithms/support/schedule.hpp>

// What may be wrong with a schedule, for those who make one and those who check it.

namespace tesela::schedules {

/// What is wrong with these heads of an m x n matrix, if anything.
std::optional<std::string> heads_problem(index_t m, index_t n, const std::vector<index_t>& heads);
/// What is wrong with these ends of an m x n matrix's columns, if anything.
std::optional<std::string> ends_problem(index_t m, index_t n, const std::vector<index_t>& ends);

/// Where column j ends: all of it is above.
inline index_t end_of(const Schedule& s, index_t j) {
  return s.ends.empty() ? s.m : s.ends[static_cast<std::size_t>(j)];
}

}  // namespace tesela::schedules
