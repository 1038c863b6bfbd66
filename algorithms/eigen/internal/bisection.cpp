#include <tesela/algorithms/eigen/internal/bisection.hpp>
#include <tesela/codelets/eigen/sturm.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::detail {
namespace {

using kernels::SturmBisect;
using kernels::SturmCount;

/// An interval, and how many eigenvalues are below its ends.
template <class T>
struct Interval {
  T low, high;
  index_t below_low, below_high;
};

/// Gershgorin's discs, and a little more for rounding in them and in the pivots.
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
  Bisection(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, index_t batch)
      : g_(runtime), t_(runtime, t.n(), 2, {t.n(), 2}, "T"), range_(range), batch_(batch), live_{all_of(t)} {
    if (batch_ == 0) {  // eight tasks a worker, of at least four vectors of numbers
      const auto workers = static_cast<index_t>(runtime.workers().size());
      batch_ = std::max<index_t>(64, ceil_div(ceil_div(range.size(), 8 * workers), 64) * 64);
    }
    const auto tile = t_(0, 0).write();
    kernels::sturm::prepare(t.n(), t.d.data(), t.e.data(), &tile(0, 0), &tile(0, 1));
  }

  std::vector<T> values(index_t halvings) {
    while (halvings > 0 && 2 * static_cast<index_t>(live_.size()) <= range_.size()) halve_together(), --halvings;
    return halve_alone(static_cast<int>(halvings));
  }

 private:
  /// Those of the live intervals' halves in which something is wanted live on.
  void halve_together() {
    const auto points = static_cast<index_t>(live_.size());
    const TileMatrix<T> middle(g_.runtime(), points, 1, {batch_, 1}, "middle");
    const TileMatrix<index_t> counts(g_.runtime(), points, 1, {batch_, 1}, "counts");
    for (index_t k = 0; k < middle.mt(); ++k) {
      {
        const auto x = middle(k, 0).write();
        for (index_t i = 0; i < x.rows; ++i) {
          const Interval<T>& one = live_[static_cast<std::size_t>(k * batch_ + i)];
          x(i, 0) = (one.low + one.high) / 2;
        }
      }
      g_.insert<SturmCount<T>>({}, t_(0, 0), middle(k, 0), counts(k, 0));
    }
    std::vector<Interval<T>> next;
    const auto keep = [&](const Interval<T>& half) {
      if (std::max(half.below_low, range_.begin) < std::min(half.below_high, range_.end)) next.push_back(half);
    };
    for (index_t k = 0; k < middle.mt(); ++k) {
      const auto found = counts(k, 0).read();
      for (index_t i = 0; i < found.rows; ++i) {
        const Interval<T>& one = live_[static_cast<std::size_t>(k * batch_ + i)];
        const T at = (one.low + one.high) / 2;
        const index_t below = std::clamp(found(i, 0), one.below_low, one.below_high);
        keep({one.low, at, one.below_low, below});
        keep({at, one.high, below, one.below_high});
      }
    }
    live_ = std::move(next);
  }

  std::vector<T> halve_alone(int halvings) {
    const index_t count = range_.size();
    const TileMatrix<index_t> wanted(g_.runtime(), count, 1, {batch_, 1}, "wanted");
    const TileMatrix<T> intervals(g_.runtime(), count, 2, {batch_, 2}, "intervals");
    auto mine = live_.begin();
    for (index_t k = 0; k < wanted.mt(); ++k) {
      {
        const auto number = wanted(k, 0).write();
        const auto ends = intervals(k, 0).write();
        for (index_t i = 0; i < number.rows; ++i) {
          number(i, 0) = range_.begin + k * batch_ + i;
          while (mine->below_high <= number(i, 0)) ++mine;
          ends(i, 0) = mine->low;
          ends(i, 1) = mine->high;
        }
      }
      g_.insert<SturmBisect<T>>({halvings}, t_(0, 0), wanted(k, 0), intervals(k, 0));
    }
    std::vector<T> values;
    for (index_t k = 0; k < wanted.mt(); ++k) {
      const auto ends = intervals(k, 0).read();
      for (index_t i = 0; i < ends.rows; ++i) values.push_back((ends(i, 0) + ends(i, 1)) / 2);
    }
    g_.wait();
    return values;
  }

  Graph g_;
  TileMatrix<T> t_;
  IndexRange range_;
  index_t batch_;
  std::vector<Interval<T>> live_;  // ascending
};

}  // namespace

template <class T>
void bisect(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, const TridiagonalEigOptions& options,
            TridiagonalEigResult<T>& result) {
  if (range.size() == 0) return;
  if (t.zero() || t.n() == 1) {
    result.values.assign(static_cast<std::size_t>(range.size()), t.d[0]);
    return;
  }
  result.iterations = std::numeric_limits<T>::digits + 3;  // from a width of 6 at most to eps / 4 of an entry
  result.values = Bisection<T>(runtime, t, range, options.batch).values(result.iterations);
}

#define TESELA_INSTANTIATE(T)                                                                           \
  template void bisect(Runtime&, const ScaledTridiagonal<T>&, IndexRange, const TridiagonalEigOptions&, \
                       TridiagonalEigResult<T>&);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela::detail
