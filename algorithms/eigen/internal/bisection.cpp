#include <tesela/algorithms/eigen/internal/scaled_tridiagonal.hpp>
#include <tesela/codelets/eigen/tridiagonal/sturm.hpp>
#include <tesela/runtime/ranks.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

namespace tesela::detail {
namespace {

using kernels::SturmBisect;
using kernels::SturmCount;

/// An interval with the number of eigenvalues below each end.
template <class T>
struct Interval {
  T low, high;
  index_t below_low, below_high;
};

/// Returns the union of Gershgorin's discs, enlarged for rounding errors in it and in the pivots.
template <class T>
Interval<T> all_of(const ScaledTridiagonal<T>& t) {
  T low = std::numeric_limits<T>::max(), high = -low;
  for (index_t i = 0; i < t.n(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const T radius = (i > 0 ? std::abs(t.e[at - 1]) : T(0)) + (i + 1 < t.n() ? std::abs(t.e[at]) : T(0));
    low = std::min(low, t.d[at] - radius);
    high = std::max(high, t.d[at] + radius);
  }
  const T more = 16 * std::numeric_limits<T>::epsilon();
  return {low - more, high + more, 0, t.n()};
}

template <class T>
class Bisection {
 public:
  Bisection(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, const TridiagonalEigOptions& options)
      : g_(runtime, {.gpu = options.gpu}),
        t_(runtime, t.n(), 2, {t.n(), 2}, "T"),
        range_(range),
        gpus_(t.n() >= gpus_from(runtime, options) ? runtime.gpus() : 0),
        batch_(options.batch),
        live_{all_of(t)} {
    const auto tile = t_(0, 0).write();
    kernels::sturm::prepare(t.n(), t.d.data(), t.e.data(), &tile(0, 0), &tile(0, 1));
  }

  /// Returns an interval for each value.
  std::vector<Bracket<T>> brackets(int halvings) {
    for (int levels; (levels = std::min(levels_together(), halvings)) > 0; halvings -= levels) halve_together(levels);
    return halve_alone(halvings);
  }

 private:
  /// Returns how often all live intervals are halved by one count; 0 if it is better to halve each value alone: on
  /// cores when there are half as many intervals as values, on a GPU when nearly as many are processed at a time.
  int levels_together() const {
    constexpr std::size_t points_of_gpus = 8192;
    if (gpus_ == 0) return 2 * static_cast<index_t>(live_.size()) <= range_.size() ? 1 : 0;
    const int levels = static_cast<int>(std::bit_width(points_of_gpus / live_.size())) - 1;
    return levels > 5 ? levels : 0;
  }

  /// Returns the number of values or points per task: one task per GPU, eight tasks per worker of at least four vectors
  /// of numbers each.
  index_t batch_of(index_t count) const {
    if (batch_ > 0) return batch_;
    if (gpus_ > 0) return ceil_div(count, gpus_);
    const auto workers = least_workers(g_.runtime());
    return std::max<index_t>(64, ceil_div(ceil_div(range_.size(), 8 * workers), 64) * 64);
  }
  Priority place(index_t task) const { return gpus_ > 0 ? on_gpu_number(static_cast<std::size_t>(task)) : on_core; }

  /// Writes the middles of an interval, in heap order, from this node down.
  static void write_midpoints(T low, T high, index_t node, std::span<T> middles) {
    if (node > std::ssize(middles)) return;
    const T at = middles[static_cast<std::size_t>(node - 1)] = (low + high) / 2;
    write_midpoints(low, at, 2 * node, middles);
    write_midpoints(at, high, 2 * node + 1, middles);
  }
  /// Appends the parts of an interval that contain wanted values.
  void split(const Interval<T>& one, index_t node, std::span<const T> middles, const index_t* below,
             std::vector<Interval<T>>& parts) const {
    if (std::max(one.below_low, range_.begin) >= std::min(one.below_high, range_.end)) return;
    if (node > std::ssize(middles)) return parts.push_back(one);
    const T at = middles[static_cast<std::size_t>(node - 1)];
    const index_t count = std::clamp(below[node - 1], one.below_low, one.below_high);
    split({one.low, at, one.below_low, count}, 2 * node, middles, below, parts);
    split({at, one.high, count, one.below_high}, 2 * node + 1, middles, below, parts);
  }

  void halve_together(int levels) {
    const std::size_t each = (std::size_t{1} << levels) - 1;
    std::vector<T> middles(each * live_.size());
    std::vector<index_t> below(middles.size());
    const auto of = [&](std::size_t i) { return std::span(middles).subspan(i * each, each); };
    for (std::size_t i = 0; i < live_.size(); ++i) write_midpoints(live_[i].low, live_[i].high, 1, of(i));
    const auto points = std::ssize(middles);
    const TileMatrix<T> middle(g_.runtime(), points, 1, {batch_of(points), 1}, "middle");
    const TileMatrix<index_t> counts(g_.runtime(), points, 1, {batch_of(points), 1}, "counts");
    middle.copy_from(middles.data(), points);
    for (index_t k = 0; k < middle.mt(); ++k)
      g_.insert<SturmCount<T>>(place(k), {}, t_(0, 0), middle(k, 0), counts(k, 0));
    counts.copy_to(below.data(), points);
    std::vector<Interval<T>> next;
    for (std::size_t i = 0; i < live_.size(); ++i) split(live_[i], 1, of(i), below.data() + i * each, next);
    live_ = std::move(next);
  }

  std::vector<Bracket<T>> halve_alone(int halvings) {
    const index_t count = range_.size();
    const index_t batch = batch_of(count);
    const TileMatrix<index_t> wanted(g_.runtime(), count, 1, {batch, 1}, "wanted");
    const TileMatrix<T> intervals(g_.runtime(), count, 2, {batch, 2}, "intervals");
    auto mine = live_.begin();
    for (index_t k = 0; k < wanted.mt(); ++k) {
      {
        const auto number = wanted(k, 0).write();
        const auto ends = intervals(k, 0).write();
        for (index_t i = 0; i < number.rows; ++i) {
          number(i, 0) = range_.begin + k * batch + i;
          while (mine->below_high <= number(i, 0)) ++mine;
          ends(i, 0) = mine->low;
          ends(i, 1) = mine->high;
        }
      }
      g_.insert<SturmBisect<T>>(place(k), {halvings}, t_(0, 0), wanted(k, 0), intervals(k, 0));
    }
    std::vector<Bracket<T>> found;
    for (index_t k = 0; k < wanted.mt(); ++k) {
      const auto ends = intervals(k, 0).read();
      for (index_t i = 0; i < ends.rows; ++i) found.push_back({ends(i, 0), ends(i, 1)});
    }
    g_.wait();
    return found;
  }

  Graph g_;
  TileMatrix<T> t_;
  IndexRange range_;
  index_t gpus_, batch_;
  std::vector<Interval<T>> live_;  // ascending
};

}  // namespace

template <class T>
std::vector<Bracket<T>> bisect(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range,
                               const TridiagonalEigOptions& options, TridiagonalEigResult<T>& result) {
  std::vector<Bracket<T>> found;
  if (range.size() > 0 && (t.zero() || t.n() == 1)) {
    found.assign(static_cast<std::size_t>(range.size()), {t.d[0], t.d[0]});
  } else if (range.size() > 0) {
    result.iterations = std::numeric_limits<T>::digits + 3;  // from a width of at most 6 to eps / 4 of an entry
    found = Bisection<T>(runtime, t, range, options).brackets(static_cast<int>(result.iterations));
  }
  for (const Bracket<T>& one : found) result.values.push_back(one.middle());
  return found;
}

TESELA_FUNCTIONS_FOR_REALS(bisect)

}  // namespace tesela::detail
