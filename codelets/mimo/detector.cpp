#include <tesela/codelets/mimo/detector.hpp>
#include <tesela/codelets/mimo/internal/channel_body.hpp>
#include <tesela/codelets/mimo/internal/channel_paths.hpp>
#include <tesela/codelets/mimo/internal/kbest_subwarp_body.hpp>
#include <tesela/codelets/mimo/internal/linear_decisions_body.hpp>
#include <tesela/codelets/mimo/internal/propagation.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

namespace tesela::kernels {
namespace mimo {
namespace {

template <class T>
class Detecting {
 public:
  using Number = Complex<T>;
  Detecting(const typename Detector<T>::Args& args, const ChannelView<T>& view)
      : args_(args),
        tree_(view),
        linear_({view.antennas, view.streams, nullptr, view.antennas, view.columns, view.points}) {}

  void channel(const std::complex<T>* h) {
    tree_.channel(reinterpret_cast<const Number*>(h));
    if (!keeps_paths()) return linear_channel(reinterpret_cast<const Number*>(h));
    factors_ = tree_.trees(args_.kind, args_.order, args_.up, args_.n0);
    if (args_.kind == MimoMethod::nway && args_.keep > 0) keep_weakest(static_cast<std::size_t>(args_.keep));
  }

  SearchReport operator()(const std::complex<T>* received, int* labels) {
    const auto* const signal = reinterpret_cast<const Number*>(received);
    tree_.receive(signal);
    PathChoice<T> choice(tree_, signal);
    nodes_ = 0;
    if (linear_factors_ && linear_factors_->singular) return fail(labels);
    if (!keeps_paths() && !linear(signal, choice)) return fail(labels);
    const bool best = args_.kind == MimoMethod::kbest;
    for (const Factors<T>& f : factors_)
      paths(f, best ? 0 : 1, best ? static_cast<std::size_t>(args_.keep) : 1, choice);
    return choice.give(nodes_, labels);
  }

 private:
  bool keeps_paths() const { return args_.kind == MimoMethod::kbest || args_.kind == MimoMethod::nway; }
  index_t streams() const { return tree_.view().streams; }

  /// Keeps the nway trees of the `count` streams that noise affects most; the last pivot measures this effect.
  void keep_weakest(std::size_t count) {
    std::stable_sort(factors_.begin(), factors_.end(), [](const Factors<T>& a, const Factors<T>& b) {
      return norm(a.r(a.n - 1, a.n - 1)) < norm(b.r(b.n - 1, b.n - 1));
    });
    if (factors_.size() > count) factors_.resize(count);
  }

  SearchReport fail(int* labels) const {
    std::fill_n(labels, streams(), -1);
    SearchReport report;
    report.flags = SearchReport::failed;
    return report;
  }

  /// Factors the channel in double for every T, with the same result as a GPU.
  void linear_channel(const Number* h) {
    const index_t m = tree_.view().antennas;
    exact_h_.clear(), squares_.clear(), linear_factors_.reset();
    double all = 0;
    for (index_t j = 0; j < streams(); ++j)
      for (index_t i = 0; i < m; ++i) exact_h_.push_back(exact(h[i + j * tree_.view().ld]));
    linear_.channel(exact_h_.data());
    for (index_t j = 0; j < streams(); ++j) {
      double square = 0;
      for (index_t i = 0; i < m; ++i) square += norm(linear_.h()[static_cast<std::size_t>(i + j * m)]);
      squares_.push_back(square), all += square;
    }
    const double n0 = filtered() ? linear_.scaled_n0(args_.n0) : 0;
    if (level_by_level()) {
      order_ = tree_.ordered(args_.order, args_.up, args_.n0);
    } else {
      order_.resize(static_cast<std::size_t>(streams()));
      std::iota(order_.begin(), order_.end(), 0);
    }
    if (args_.kind == MimoMethod::mf || n0 > noise_limit_of_mmse * all) return;
    linear_factors_ = linear_.factor(order_, n0, !level_by_level(), n0 > 0 ? rounding_of<double> : rounding_of<T>);
  }
  bool filtered() const { return args_.kind == MimoMethod::mmse || args_.kind == MimoMethod::mmse_sic; }
  bool level_by_level() const { return args_.kind == MimoMethod::mmse_sic; }
  static Complex<double> exact(Number x) { return {x.re, x.im}; }

  /// Decides by the linear estimate. Returns false if rounding hides the decision.
  bool linear(const Number* received, PathChoice<T>& choice) {
    std::vector<Complex<double>> y;
    for (index_t i = 0; i < tree_.view().antennas; ++i) y.push_back(exact(received[i]));
    linear_.receive(y.data());
    std::vector<int> at(static_cast<std::size_t>(streams()));
    const bool known = !linear_factors_   ? filter_matched(at)
                       : level_by_level() ? cancel_levels(*linear_factors_, at)
                                          : estimate(*linear_factors_, at);
    nodes_ = streams();
    if (known) choice.take(at);
    return known;
  }

  bool estimate(const Factors<double>& f, std::vector<int>& at) const {
    const Estimate<double> found = linear_.estimate(f);
    for (std::size_t j = 0; j < at.size(); ++j) {
      const auto stream = static_cast<index_t>(j);
      const double bias = filtered() ? f.bias(j) : 1;
      if (found.lost(f, j, bias * tree_.view().columns[stream].largest)) return false;
      at[j] = linear_.slice(stream, found.x[j], {bias, 0});
    }
    return true;
  }

  /// Decides by back-substitution, level by level. Without its bias level i multiplies r (1 - N0 / |r|^2).
  bool cancel_levels(const Factors<double>& f, std::vector<int>& at) const {
    std::vector<Complex<double>> z = linear_.rotated(f);
    double rest = linear_.left_over(f, z), most = 0;
    for (index_t j = 0; j < f.n; ++j) {
      double column = 0;
      for (index_t i = 0; i <= j; ++i) column += norm(f.r(i, j));
      most = std::max(most, column / norm(f.r(j, j)));
    }
    for (auto i = static_cast<std::size_t>(f.n); i-- > 0;) {
      const auto level = static_cast<index_t>(i);
      const index_t stream = f.order[i];
      const Complex<double> r = f.r(level, level);
      const double square = norm(r), bias = 1 - f.alpha2 / square;
      double reach = 0;
      for (std::size_t k = 0; k <= i; ++k) reach += norm(z[k]);
      if (hidden_by_rounding(1 / square, most, std::sqrt(rest), std::sqrt(reach),
                             bias * tree_.view().columns[stream].largest))
        return false;
      const int k = at[static_cast<std::size_t>(stream)] = linear_.slice(stream, z[i], bias * r);
      for (std::size_t above = 0; above <= i; ++above)
        z[above] -= f.r(static_cast<index_t>(above), level) * linear_.value(stream, k);
      rest += norm(z[i]);
    }
    return true;
  }

  /// Decides by h^H y for each stream; for mmse_sic with dominating noise, by h^H (y - decided streams).
  bool filter_matched(std::vector<int>& at) const {
    std::vector<Complex<double>> left = linear_.y();
    for (auto i = order_.size(); i-- > 0;) {
      const auto stream = static_cast<std::size_t>(order_[i]);
      const Complex<double>* const h = &linear_.h()[stream * left.size()];
      Complex<double> sum{};
      for (std::size_t row = 0; row < left.size(); ++row) sum += conj(h[row]) * left[row];
      at[stream] = linear_.slice(order_[i], sum, {squares_[stream], 0});
      for (std::size_t row = 0; row < left.size() && level_by_level(); ++row)
        left[row] -= h[row] * linear_.value(order_[i], at[stream]);
    }
    return true;
  }

  void paths(const Factors<T>& f, index_t full, std::size_t keep, PathChoice<T>& choice) {
    const PathSet<T> found = tree_.paths(f, full, keep, nodes_);
    const T least = *std::min_element(found.distance.begin(), found.distance.end());
    const auto n = static_cast<std::size_t>(f.n);
    std::vector<int> at(n);
    for (std::size_t p = 0; p < found.count(); ++p) {
      if (!choice.near(least, found.distance[p])) continue;
      for (std::size_t i = 0; i < n; ++i) at[static_cast<std::size_t>(f.order[i])] = found.at[i + n * p];
      choice.take(at);
    }
  }

  typename Detector<T>::Args args_;
  Paths<T> tree_;
  std::vector<Factors<T>> factors_;
  Paths<double> linear_;  ///< for mf, zf, mmse and mmse_sic
  std::vector<int> order_;
  std::optional<Factors<double>> linear_factors_;
  std::vector<Complex<double>> exact_h_;
  std::vector<double> squares_;  ///< of H's columns
  long long nodes_ = 0;
};

}  // namespace
}  // namespace mimo

template <class T>
void Detector<T>::cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                      In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports) {
  if (!mimo::finite_batch<T>(h, y, reports)) return;
  const mimo::ChannelView<T> view{h.rows, args.streams, nullptr, h.ld, columns.data, points.data};
  if (args.kind == MimoMethod::ep)
    return mimo::propagate_symbols<T>(args, h, y, view, columns.cols == 2 * args.streams, labels, reports);
  if (args.kind == MimoMethod::bfs_gemm) return mimo::detect_breadth_first<T>(args, h, y, view, labels, reports);
  mimo::Detecting<T> detect(args, view);
  for (index_t k = 0; k < y.cols; ++k) {
    if (k % args.coherence == 0) detect.channel(&h(0, k / args.coherence * args.streams));
    reports(0, k) = detect(&y(0, k), &labels(0, k));
  }
}

TESELA_STRUCTS_FOR_REALS(Detector)

template <class T>
bool GpuDetector<T>::takes(const Args& args, index_t antennas, index_t amplitudes, index_t most) {
  if (!row_of(args.kind).can.gpu || args.streams > 16) return false;
  if (args.kind == MimoMethod::nway) return antennas <= 16 && amplitudes > 0;
  return args.kind != MimoMethod::kbest || (amplitudes > 0 && most <= mimo::most_path_amplitudes &&
                                            mimo::lanes_keep(args.order, antennas, args.streams, args.keep));
}

template <class T>
void GpuDetector<T>::cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                         In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports) {
  Detector<T>::cpu(args, h, y, columns, points, labels, reports);
}

TESELA_STRUCTS_FOR_REALS(GpuDetector)

}  // namespace tesela::kernels
