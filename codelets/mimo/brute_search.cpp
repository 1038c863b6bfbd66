#include <tesela/codelets/mimo/internal/channel_body.hpp>
#include <tesela/codelets/mimo/internal/sphere_body.hpp>
#include <tesela/codelets/mimo/sphere_search.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#define HWY_TARGET_INCLUDE "tesela/codelets/mimo/brute_search.cpp"
#include <tesela/codelets/support/internal/vectors_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::mimo::HWY_NAMESPACE {
namespace {

using namespace kernels::HWY_NAMESPACE;

/// Computes sums[k] = sum over rows of (u[row] - v(row, k))^2 for k < count. Returns the least.
double compare(index_t rows, index_t count, const double* u, const double* v, double* sums) {
  constexpr index_t w = lanes<double>;
  Vec<double> least_of_lanes = all(std::numeric_limits<double>::infinity());
  index_t k = 0;
  for (; k + 4 * w <= count; k += 4 * w) {
    Vec<double> s0 = zeros<double>(), s1 = s0, s2 = s0, s3 = s0;
    for (index_t row = 0; row < rows; ++row) {
      const double* const at = v + row * count + k;
      const Vec<double> ui = all(u[row]), d0 = hn::Sub(ui, load(at)), d1 = hn::Sub(ui, load(at + w)),
                        d2 = hn::Sub(ui, load(at + 2 * w)), d3 = hn::Sub(ui, load(at + 3 * w));
      s0 = hn::MulAdd(d0, d0, s0), s1 = hn::MulAdd(d1, d1, s1);
      s2 = hn::MulAdd(d2, d2, s2), s3 = hn::MulAdd(d3, d3, s3);
    }
    store(sums + k, s0), store(sums + k + w, s1), store(sums + k + 2 * w, s2), store(sums + k + 3 * w, s3);
    least_of_lanes = hn::Min(least_of_lanes, hn::Min(hn::Min(s0, s1), hn::Min(s2, s3)));
  }
  double least = hn::GetLane(hn::MinOfLanes(Tag<double>(), least_of_lanes));
  for (; k < count; ++k) {
    double sum = 0;
    for (index_t row = 0; row < rows; ++row) sum += (u[row] - v[row * count + k]) * (u[row] - v[row * count + k]);
    sums[k] = sum;
    least = std::min(least, sum);
  }
  return least;
}

}  // namespace
}  // namespace tesela::kernels::mimo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {
namespace mimo {
namespace {

/// Most candidates that are compared at once.
constexpr index_t most_together = 1024;

/// Candidates of streams first … last - 1, counted such that the first stream changes slowest.
class Candidates {
 public:
  Candidates(const SearchColumn* columns, const SearchPoint* points, index_t first, index_t last)
      : columns_(columns), points_(points), first_(first), at_(static_cast<std::size_t>(last - first)) {
    for (index_t j = first; j < last; ++j) count_ *= columns[j].count;
  }
  index_t count() const { return count_; }
  const SearchPoint& point(std::size_t j) const {
    return points_[columns_[first_ + static_cast<index_t>(j)].first + at_[j]];
  }
  std::size_t streams() const { return at_.size(); }
  void go(index_t to) {
    for (std::size_t j = at_.size(); j-- > 0;) {
      const index_t count = columns_[first_ + static_cast<index_t>(j)].count;
      at_[j] = static_cast<int>(to % count);
      to /= count;
    }
  }

 private:
  const SearchColumn* columns_;
  const SearchPoint* points_;
  index_t first_, count_ = 1;
  std::vector<int> at_;
};

template <class T>
class Brute {
 public:
  Brute(ChannelView<T> view, index_t split)
      : view_(view),
        split_(split),
        slow_(view.columns, view.points, 0, split),
        fast_(view.columns, view.points, split, view.streams),
        rows_(2 * view.antennas),
        v_(static_cast<std::size_t>(rows_ * fast_.count())),
        u_(static_cast<std::size_t>(rows_)),
        sums_(static_cast<std::size_t>(fast_.count())) {}

  void channel(const std::complex<T>* h) { view_.h = reinterpret_cast<const Complex<T>*>(h), known_ = false; }

  SearchReport operator()(const std::complex<T>* received, int* labels) {
    const auto* const y = reinterpret_cast<const Complex<T>*>(received);
    T largest = 0, of_h = 0;
    for (index_t i = 0; i < view_.antennas; ++i) largest = std::max(largest, size_of(y[i]));
    double reach = 0;
    for (index_t j = 0; j < view_.streams; ++j)
      for (index_t i = 0; i < view_.antennas; ++i) of_h = std::max(of_h, size_of(view_.h[i + j * view_.ld]));
    const int exponent = exponent_of(std::max(largest, of_h));
    const Scale<double> scale(exponent);
    prepare(exponent, scale);
    for (index_t j = 0; j < view_.streams; ++j) {
      double sum = 0;
      for (index_t i = 0; i < view_.antennas; ++i) sum += norm(scale(exact(view_.h[i + j * view_.ld])));
      reach += std::sqrt(sum) * view_.columns[j].largest;
    }
    double size = 0;
    for (index_t i = 0; i < view_.antennas; ++i) size += norm(scale(exact(y[i])));
    const double tie = 4.0 * static_cast<double>(view_.streams + 2) * 2.3e-16 * (std::sqrt(size) + reach);

    Found found;
    int now[most_streams] = {};
    for (index_t slow = 0; slow < slow_.count(); ++slow) {
      slow_.go(slow);
      for (index_t i = 0; i < view_.antennas; ++i) {
        Complex<double> left = scale(exact(y[i]));
        for (std::size_t j = 0; j < slow_.streams(); ++j) {
          const SearchPoint& p = slow_.point(j);
          left = left - scale(exact(view_.h[i + static_cast<index_t>(j) * view_.ld])) * Complex<double>{p.re, p.im};
        }
        u_[static_cast<std::size_t>(2 * i)] = left.re, u_[static_cast<std::size_t>(2 * i + 1)] = left.im;
      }
      const double least =
          std::sqrt(TESELA_BEST_TARGET(compare)(rows_, fast_.count(), u_.data(), v_.data(), sums_.data()));
      if (found.any && least > found.distance + tie) continue;
      const double near = (least + tie) * (least + tie);
      for (std::size_t j = 0; j < slow_.streams(); ++j) now[j] = slow_.point(j).label;
      for (index_t k = 0; k < fast_.count(); ++k) {
        if (sums_[static_cast<std::size_t>(k)] > near) continue;
        fast_.go(k);
        for (std::size_t j = 0; j < fast_.streams(); ++j)
          now[static_cast<std::size_t>(split_) + j] = fast_.point(j).label;
        update_best(found, std::sqrt(sums_[static_cast<std::size_t>(k)]), tie, view_.streams, now, labels);
      }
    }
    return {std::ldexp(found.distance, exponent), slow_.count() * fast_.count(), found.tie ? SearchReport::tie : 0};
  }

 private:
  static Complex<double> exact(Complex<T> x) { return {x.re, x.im}; }

  /// Computes the scaled H s of the last streams.
  void prepare(int exponent, const Scale<double>& scale) {
    if (known_ && exponent == exponent_) return;
    known_ = true, exponent_ = exponent;
    for (index_t k = 0; k < fast_.count(); ++k) {
      fast_.go(k);
      for (index_t i = 0; i < view_.antennas; ++i) {
        Complex<double> sum = 0;
        for (std::size_t j = 0; j < fast_.streams(); ++j) {
          const SearchPoint& p = fast_.point(j);
          sum += scale(exact(view_.h[i + (split_ + static_cast<index_t>(j)) * view_.ld])) * Complex<double>{p.re, p.im};
        }
        v_[static_cast<std::size_t>(2 * i * fast_.count() + k)] = sum.re;
        v_[static_cast<std::size_t>((2 * i + 1) * fast_.count() + k)] = sum.im;
      }
    }
  }

  ChannelView<T> view_;
  index_t split_;
  Candidates slow_, fast_;
  index_t rows_;
  std::vector<double> v_, u_, sums_;
  bool known_ = false;
  int exponent_ = 0;
};

}  // namespace
}  // namespace mimo

template <class T>
void BruteSearch<T>::cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                         In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports) {
  if (!mimo::finite_batch<T>(h, y, reports)) return;
  index_t split = args.streams - 1;
  for (index_t together = columns.data[split].count;
       split > 0 && together * columns.data[split - 1].count <= mimo::most_together; --split)
    together *= columns.data[split - 1].count;
  mimo::Brute<T> search({h.rows, args.streams, nullptr, h.ld, columns.data, points.data}, split);
  for (index_t k = 0; k < y.cols; ++k) {
    if (k % args.coherence == 0) search.channel(&h(0, k / args.coherence * args.streams));
    reports(0, k) = search(&y(0, k), &labels(0, k));
  }
}

TESELA_STRUCTS_FOR_REALS(BruteSearch)

}  // namespace tesela::kernels
#endif
