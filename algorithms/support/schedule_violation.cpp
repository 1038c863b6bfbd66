#include <tesela/algorithms/support/internal/schedule_problems.hpp>

#include <algorithm>
#include <tuple>

// Proves that a schedule eliminates all entries in a valid order.

namespace tesela {
namespace schedules {

std::optional<std::string> heads_problem(index_t m, index_t n, const std::vector<index_t>& heads) {
  if (m < 0 || n < 0) return "sizes are " + std::to_string(m) + " x " + std::to_string(n);
  if (static_cast<index_t>(heads.size()) != n)
    return std::to_string(heads.size()) + " heads for " + std::to_string(n) + " columns";
  for (std::size_t j = 0; j < heads.size(); ++j) {
    const index_t step = j == 0 ? heads[0] : heads[j] - heads[j - 1];
    if (step < 0 || step > (j == 0 ? 0 : 1) || heads[j] > std::max<index_t>(m - 1, 0))
      return "column " + std::to_string(j + 1) + " has row " + std::to_string(heads[j] + 1) +
             " (heads begin with row 1, increase by 0 or 1 per column, and stay inside the matrix)";
  }
  return std::nullopt;
}

std::optional<std::string> ends_problem(index_t m, index_t n, const std::vector<index_t>& ends) {
  if (!ends.empty() && static_cast<index_t>(ends.size()) != n)
    return std::to_string(ends.size()) + " ends for " + std::to_string(n) + " columns";
  for (std::size_t j = 0; j < ends.size(); ++j)
    if (ends[j] < 0 || ends[j] > m)
      return "column " + std::to_string(j + 1) + " ends with row " + std::to_string(ends[j]) + " of " +
             std::to_string(m);
  return std::nullopt;
}

}  // namespace schedules

using namespace schedules;

namespace {

std::string at(index_t row, index_t column) {
  std::string text = "(";
  return text.append(std::to_string(row + 1)).append(",").append(std::to_string(column + 1)).append(")");
}

/// The proof, for valid sizes and heads.
class Checker {
 public:
  explicit Checker(const Schedule& schedule)
      : s_(schedule),
        zero_(static_cast<std::size_t>(s_.m * s_.n)),
        busy_(static_cast<std::size_t>(s_.m)),
        first_(static_cast<std::size_t>(s_.m)) {
    for (index_t j = s_.n - 1; j >= 0 && s_.m > 0; --j) first_[static_cast<std::size_t>(head(j))] = j;
  }

  std::optional<std::string> operator()() {
    for (const Elimination& e : s_.eliminations)
      if (auto wrong = list(e)) return wrong;
    for (index_t j = 0; j < s_.n; ++j)
      for (index_t i = head(j) + 1; i < end_of(s_, j); ++i)
        if (zero(i, j) == 0) return at(i, j) + " is never eliminated";
    for (std::size_t k = 0; k < s_.eliminations.size(); ++k) {
      const Elimination& e = s_.eliminations[k];
      if (k > 0 && key(s_.eliminations[k - 1]) > key(e))
        return at(e.row, e.column) + " is listed after a later stage, column or row";
      if (auto wrong = data(e)) return wrong;
    }
    return std::nullopt;
  }

 private:
  static std::tuple<index_t, index_t, index_t> key(const Elimination& e) { return {e.stage, e.column, e.row}; }
  index_t head(index_t j) const { return s_.heads[static_cast<std::size_t>(j)]; }
  index_t& zero(index_t i, index_t j) { return zero_[static_cast<std::size_t>(i + j * s_.m)]; }

  /// Enters one elimination. Returns a problem that does not depend on other eliminations, or a repeated entry.
  std::optional<std::string> list(const Elimination& e) {
    const std::string what = at(e.row, e.column);
    if (e.row < 0 || e.row >= s_.m || e.column < 0 || e.column >= s_.n) return what + " is outside the matrix";
    if (e.pivot < 0 || e.pivot >= s_.m)
      return what + " has pivot row " + std::to_string(e.pivot + 1) + ", outside the matrix";
    if (e.stage < 1) return what + " is at stage " + std::to_string(e.stage) + ", before the first";
    if (e.row <= head(e.column)) return what + " is not below the head of its column, " + at(head(e.column), e.column);
    if (e.pivot == e.row) return what + " is eliminated against its own row";
    if (e.pivot < head(e.column))
      return what + " has pivot row " + std::to_string(e.pivot + 1) + ", above the head of its column, " +
             at(head(e.column), e.column);
    for (const index_t row : {e.row, e.pivot})
      if (row >= end_of(s_, e.column))
        return what + " needs (" + std::to_string(row + 1) + "," + std::to_string(e.column + 1) +
               "), below the end of its column";
    if (zero(e.row, e.column) != 0) return what + " is eliminated twice";
    zero(e.row, e.column) = e.stage;
    return std::nullopt;
  }

  /// Returns the problem of an elimination whose rows do not have the required zeros at its stage.
  std::optional<std::string> data(const Elimination& e) {
    const std::string what = at(e.row, e.column) + " at stage " + std::to_string(e.stage);
    for (const index_t row : {e.row, e.pivot}) {
      // The nearest column to the left that eliminates the row: if the row is zero there, all columns to its left are
      // zero.
      const index_t column = (row > head(e.column) ? e.column : first_[static_cast<std::size_t>(row)]) - 1;
      if (column >= 0 && zero(row, column) >= e.stage)
        return what + " needs " + at(row, column) + ", left of its " + (row == e.row ? "entry" : "pivot") +
               ", which becomes zero only at stage " + std::to_string(zero(row, column));
    }
    if (e.pivot > head(e.column) && zero(e.pivot, e.column) <= e.stage)
      return what + " has the pivot " + at(e.pivot, e.column) + ", which becomes zero already at stage " +
             std::to_string(zero(e.pivot, e.column));
    for (const index_t row : {e.row, e.pivot}) {
      index_t& stage = busy_[static_cast<std::size_t>(row)];
      if (stage == e.stage) return what + " uses row " + std::to_string(row + 1) + " a second time in that stage";
      stage = e.stage;
    }
    return std::nullopt;
  }

  const Schedule& s_;
  std::vector<index_t> zero_;   // stage at which each entry becomes zero; 0: never
  std::vector<index_t> busy_;   // last stage that used each row
  std::vector<index_t> first_;  // first column whose head is this row
};

/// The proof for sums. It checks only the latest entry of a sum to the left of (i, j), and the latest above it.
std::optional<std::string> wavefront_problem(const Schedule& s) {
  const index_t n = s.n;
  if (s.m != n) return "sizes are " + std::to_string(s.m) + " x " + std::to_string(n) + ", not square";
  const bool lu = s.sums == Sums::lu;
  std::vector<index_t> stages(static_cast<std::size_t>(n * n));
  const auto stage = [&](index_t i, index_t j) -> index_t& { return stages[static_cast<std::size_t>(i + j * n)]; };
  std::tuple<index_t, index_t, index_t> before;
  for (const Elimination& e : s.eliminations) {
    const std::string what = at(e.row, e.column);
    if (std::min(e.row, e.column) < 0 || std::max(e.row, e.column) >= n || (!lu && e.row < e.column))
      return what + " is outside the " + (lu ? "matrix" : "lower triangle");
    if (e.stage < 1) return what + " is at stage " + std::to_string(e.stage) + ", before the first";
    if (stage(e.row, e.column) != 0) return what + " is computed twice";
    const std::tuple now{e.stage, e.column, e.row};
    if (now < before) return what + " is listed after a later stage, column or row";
    before = now;
    stage(e.row, e.column) = e.stage;
  }
  std::vector<index_t> left(static_cast<std::size_t>(n));  // for each row the column of the latest entry so far
  for (index_t j = 0; j < n; ++j) {
    index_t above = 0;  // for column j the row of the latest entry above
    for (index_t i = lu ? 0 : j; i < n; ++i) {
      const std::string what = at(i, j) + " at stage " + std::to_string(stage(i, j));
      if (stage(i, j) == 0) return at(i, j) + " is never computed";
      const auto too_late = [&](index_t row, index_t column) -> std::optional<std::string> {
        if (stage(row, column) < stage(i, j)) return std::nullopt;
        return what + " needs " + at(row, column) + ", which is computed only at stage " +
               std::to_string(stage(row, column));
      };
      index_t& latest = left[static_cast<std::size_t>(i)];
      if (j > 0 && j <= i && stage(i, j - 1) > stage(i, latest)) latest = j - 1;
      if (lu && i > 0 && i <= j && stage(i - 1, j) > stage(above, j)) above = i - 1;
      if (std::min(i, j) > 0) {
        if (auto wrong = too_late(i, latest)) return wrong;
        if (auto wrong = lu ? too_late(above, j) : too_late(j, left[static_cast<std::size_t>(j)])) return wrong;
      }
      if (i > j)
        if (auto wrong = too_late(j, j)) return wrong;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> violation(const Schedule& schedule) {
  if (schedule.sums != Sums::none) return wavefront_problem(schedule);
  if (auto problem = heads_problem(schedule.m, schedule.n, schedule.heads)) return "heads: " + *problem;
  if (auto problem = ends_problem(schedule.m, schedule.n, schedule.ends)) return "ends: " + *problem;
  if (!std::is_sorted(schedule.ends.begin(), schedule.ends.end())) return "ends: a column ends above the one before it";
  return Checker(schedule)();
}

}  // namespace tesela
