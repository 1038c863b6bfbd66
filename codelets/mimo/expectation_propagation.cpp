#include <tesela/codelets/mimo/internal/special_detectors.hpp>

namespace tesela::kernels::mimo {
namespace {

/// Each stream's points are replaced by a normal density of mean gamma / lambda and variance 1 / lambda, whose product
/// with the rest has the moments of the points themselves.
template <class T>
class Propagation final : public SpecialDetector<T> {
 public:
  using Number = Complex<double>;
  explicit Propagation(double n0) : given_(n0) {}

  bool channel(const ChannelView<T>& view) override {
    view_ = view;
    h_ = this->scaled(view);
    const Scale<double> scale(this->exponent());
    const index_t m = view.antennas, n = view.streams;
    gram_.assign(static_cast<std::size_t>(n * n), {});
    double trace = 0;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i) {
        for (index_t k = 0; k < m; ++k) gram_[at(i, j)] += conj(h_[place(k, i)]) * h_[place(k, j)];
        if (i == j) trace += gram_[at(i, i)].re;
      }
    // Without noise all would be certain at once.
    n0_ = std::max(scale(scale(given_)), 1e-6 * trace / static_cast<double>(n) + 1e-300);
    return true;
  }

  void detect(const std::vector<Number>& y, int* chosen) override {
    const index_t m = view_.antennas, n = view_.streams;
    std::vector<Number> matched(index(n)), gamma(index(n)), mean(index(n));
    std::vector<double> lambda(index(n)), spread(index(n));
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < m; ++i) matched[index(j)] += conj(h_[place(i, j)]) * y[index(i)];
      double energy = 0;
      for (int k = 0; k < view_.columns[j].count; ++k) energy += norm(value(j, k));
      lambda[index(j)] = static_cast<double>(view_.columns[j].count) / energy;
    }
    for (int round = 0; round < rounds; ++round) {
      moments(matched, lambda, gamma, mean, spread);
      for (index_t j = 0; j < n; ++j) {
        const double left = 1 - spread[index(j)] * lambda[index(j)];
        if (!(left > 0)) continue;
        const double variance = spread[index(j)] / left;
        const Number centre = variance * (mean[index(j)] / spread[index(j)] - gamma[index(j)]);
        const auto [of_points, about] = tilted(j, centre, variance);
        const double wide = std::max(about, least_variance);
        const double next = 1 / wide - 1 / variance;
        if (!(next > 0)) continue;  // no density has it: stays as it was
        lambda[index(j)] = damping * next + (1 - damping) * lambda[index(j)];
        gamma[index(j)] = damping * (of_points / wide - centre / variance) + (1 - damping) * gamma[index(j)];
      }
    }
    moments(matched, lambda, gamma, mean, spread);
    for (index_t j = 0; j < n; ++j) {
      chosen[j] = 0;
      for (int k = 1; k < view_.columns[j].count; ++k)
        if (norm(mean[index(j)] - value(j, k)) < norm(mean[index(j)] - value(j, chosen[j]))) chosen[j] = k;
    }
  }

 private:
  static constexpr int rounds = 10;
  static constexpr double damping = 0.5, least_variance = 5e-7;

  static std::size_t index(index_t k) { return static_cast<std::size_t>(k); }
  std::size_t at(index_t i, index_t j) const { return index(i + j * view_.streams); }
  std::size_t place(index_t i, index_t j) const { return index(i + j * view_.antennas); }
  Number value(index_t stream, int k) const {
    const SearchPoint& p = view_.points[view_.columns[stream].first + k];
    return {p.re, p.im};
  }

  /// Mean and variances of the normal density: (G / N0 + Lambda)^-1, by Gauss and Jordan's elimination.
  void moments(const std::vector<Number>& matched, const std::vector<double>& lambda, const std::vector<Number>& gamma,
               std::vector<Number>& mean, std::vector<double>& spread) {
    const index_t n = view_.streams;
    std::vector<Number> c = gram_;
    for (Number& x : c) x = x / n0_;
    for (index_t j = 0; j < n; ++j) c[at(j, j)].re += lambda[index(j)];
    for (index_t k = 0; k < n; ++k) {
      const double pivot = c[at(k, k)].re;
      c[at(k, k)] = {1, 0};
      for (index_t j = 0; j < n; ++j) c[at(k, j)] = c[at(k, j)] / pivot;
      for (index_t i = 0; i < n; ++i) {
        if (i == k) continue;
        const Number factor = c[at(i, k)];
        c[at(i, k)] = {};
        for (index_t j = 0; j < n; ++j) c[at(i, j)] -= factor * c[at(k, j)];
      }
    }
    for (index_t i = 0; i < n; ++i) {
      mean[index(i)] = {};
      for (index_t j = 0; j < n; ++j) mean[index(i)] += c[at(i, j)] * (matched[index(j)] / n0_ + gamma[index(j)]);
      spread[index(i)] = c[at(i, i)].re;
    }
  }

  /// Mean and variance of a stream's points under a normal density.
  std::pair<Number, double> tilted(index_t stream, Number centre, double variance) const {
    const int count = view_.columns[stream].count;
    double least = norm(centre - value(stream, 0));
    for (int k = 1; k < count; ++k) least = std::min(least, norm(centre - value(stream, k)));
    Number sum{};
    double weight = 0, square = 0;
    for (int k = 0; k < count; ++k) {
      const double w = std::exp((least - norm(centre - value(stream, k))) / variance);
      weight += w, sum += w * value(stream, k);
    }
    sum = sum / weight;
    for (int k = 0; k < count; ++k)
      square += std::exp((least - norm(centre - value(stream, k))) / variance) / weight * norm(sum - value(stream, k));
    return {sum, square};
  }

  double given_, n0_ = 1;
  ChannelView<T> view_{};
  std::vector<Number> h_, gram_;
};

}  // namespace

template <class T>
std::unique_ptr<SpecialDetector<T>> expectation_propagation(double n0) {
  return std::make_unique<Propagation<T>>(n0);
}
template std::unique_ptr<SpecialDetector<float>> expectation_propagation(double);
template std::unique_ptr<SpecialDetector<double>> expectation_propagation(double);

}  // namespace tesela::kernels::mimo
