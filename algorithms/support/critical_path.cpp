#include <tesela/algorithms/support/critical_path.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>

namespace tesela {
namespace {

/// The time at which each tile is ready for its next task, while tasks are entered one after another.
class TileTimes {
 public:
  TileTimes(index_t m, index_t n) : m_(m), n_(n), ready_(static_cast<std::size_t>(m * n)) {}

  void triangularise(index_t row, index_t column) {
    const index_t done = ready(row, column) += 4;
    path_.geqrt += 1;
    for (index_t c = column + 1; c < n_; ++c) {
      ready(row, c) = std::max(done, ready(row, c)) + 6;
      path_.unmqr += 1;
    }
  }

  void eliminate(const Elimination& e, bool triangle) {
    const index_t done = join(e, e.column, 0, triangle ? 2 : 6);
    (triangle ? path_.ttqrt : path_.tsqrt) += 1;
    for (index_t c = e.column + 1; c < n_; ++c) {
      join(e, c, done, triangle ? 6 : 12);
      (triangle ? path_.ttmqr : path_.tsmqr) += 1;
    }
  }

  TilePath path() const {
    TilePath result = path_;
    for (const index_t time : ready_) result.critical_path = std::max(result.critical_path, time);
    result.work =
        4 * path_.geqrt + 6 * path_.unmqr + 6 * path_.tsqrt + 12 * path_.tsmqr + 2 * path_.ttqrt + 6 * path_.ttmqr;
    return result;
  }

 private:
  index_t& ready(index_t row, index_t column) { return ready_[static_cast<std::size_t>(row + column * m_)]; }

  /// Enters a task on the tiles of both rows in this column, not before `earliest`. Returns its end.
  index_t join(const Elimination& e, index_t column, index_t earliest, index_t cost) {
    index_t &a = ready(e.row, column), &b = ready(e.pivot, column);
    return a = b = std::max({a, b, earliest}) + cost;
  }

  index_t m_, n_;
  std::vector<index_t> ready_;
  TilePath path_;
};

}  // namespace

index_t critical_path(const Schedule& schedule) {
  std::vector<index_t> last(static_cast<std::size_t>(schedule.m));
  index_t longest = 0;
  for (const Elimination& e : schedule.eliminations) {
    index_t &a = last[static_cast<std::size_t>(e.row)], &b = last[static_cast<std::size_t>(e.pivot)];
    a = b = std::max(a, b) + 1;
    longest = std::max(longest, a);
  }
  return longest;
}

Overlap overlapped(const Schedule& schedule) {
  const auto last = [&](const Elimination& e) { return e.stage + schedule.n - 1 - e.column; };
  Overlap overlap;
  for (const Elimination& e : schedule.eliminations) overlap.stages = std::max(overlap.stages, last(e));
  std::vector<index_t> change(static_cast<std::size_t>(overlap.stages) + 2);
  for (const Elimination& e : schedule.eliminations) {
    overlap.work += schedule.n - e.column;
    ++change[static_cast<std::size_t>(e.stage)];
    --change[static_cast<std::size_t>(last(e) + 1)];
  }
  index_t now = 0;
  for (const index_t step : change) overlap.in_flight = std::max(overlap.in_flight, now += step);
  return overlap;
}

TilePath tile_path(const Schedule& schedule, bool triangles) {
  if (const auto problem = violation(schedule)) throw ArgumentError("tile_path", "schedule", *problem);
  const index_t m = schedule.m, n = schedule.n;
  for (index_t j = 0; j < std::min(m, n); ++j)
    require(schedule.heads[static_cast<std::size_t>(j)] == j, "tile_path", "schedule", "column ", j + 1,
            " has its head off the diagonal");

  // State of each row in its current column: whether it must become a triangle, and whether it is one.
  std::vector<bool> pivots(static_cast<std::size_t>(m * n), triangles), triangular(static_cast<std::size_t>(m * n));
  const auto tile = [m](index_t row, index_t column) { return static_cast<std::size_t>(row + column * m); };
  for (const Elimination& e : schedule.eliminations) pivots[tile(e.pivot, e.column)] = true;
  TileTimes clock(m, n);
  const auto need_triangle = [&](index_t row, index_t column) {
    if (!triangular[tile(row, column)]) clock.triangularise(row, column);
    triangular[tile(row, column)] = true;
  };
  for (const Elimination& e : schedule.eliminations) {
    const bool triangle = pivots[tile(e.row, e.column)];
    need_triangle(e.pivot, e.column);
    if (triangle) need_triangle(e.row, e.column);
    clock.eliminate(e, triangle);
  }
  if (m > 0 && m <= n) need_triangle(m - 1, m - 1);  // the last tile row eliminates nothing
  return clock.path();
}

}  // namespace tesela
