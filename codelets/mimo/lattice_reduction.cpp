#include <tesela/codelets/mimo/internal/channel_detectors.hpp>

#include <limits>

namespace tesela::kernels::mimo {
namespace {

/// Lattice of H's columns times the alphabets' steps; the solution is a vector of integers.
template <class T>
class Reduced final : public ChannelDetector<T> {
 public:
  bool channel(const ChannelView<T>& view) override {
    const std::vector<Complex<double>> h = this->scaled(view);
    const index_t antennas = view.antennas, streams = view.streams;
    m_ = 2 * antennas, n_ = 2 * streams, columns_ = view.columns;
    q_.assign(size(m_ * n_), 0), tau_.assign(size(n_), 0), origin_.assign(size(m_), 0);
    double largest = 0;
    for (index_t j = 0; j < n_; ++j)
      for (index_t i = 0; i < m_; ++i) {
        const Complex<double> x = h[size(i % antennas + j % streams * antennas)];
        const double element = (i < antennas) == (j < streams) ? x.re : i < antennas ? -x.im : x.im;
        q_[size(i + j * m_)] = element * columns_[j].step;
        origin_[size(i)] += element * columns_[j].low;
      }
    if (m_ < n_) return false;
    reflect(m_, n_, q_.data(), tau_.data(), nullptr, 0, false);
    r_.assign(size(n_ * n_), 0), turn_.assign(size(n_ * n_), 0), t_.assign(size(n_ * n_), 0);
    for (index_t j = 0; j < n_; ++j) {
      for (index_t i = 0; i <= j; ++i) {
        r_[at(i, j)] = q_[size(i + j * m_)];
        largest = std::max(largest, std::abs(r_[at(i, j)]));
      }
      turn_[at(j, j)] = 1, t_[at(j, j)] = 1;
    }
    const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
    for (index_t k = 0; k < n_; ++k)
      if (!(std::abs(r_[at(k, k)]) > 8 * static_cast<double>(n_) * epsilon * largest)) return false;
    reduce();
    return true;
  }

  bool detect(const std::vector<Complex<double>>& y, int* chosen) override {
    const index_t antennas = m_ / 2;
    std::vector<double> x(size(m_)), z(size(n_)), u(size(n_));
    for (index_t i = 0; i < antennas; ++i) x[size(i)] = y[size(i)].re, x[size(i + antennas)] = y[size(i)].im;
    for (index_t i = 0; i < m_; ++i) x[size(i)] -= origin_[size(i)];
    apply_adjoint(m_, n_, q_.data(), tau_.data(), x.data());
    for (index_t i = 0; i < n_; ++i)
      for (index_t j = 0; j < n_; ++j) z[size(i)] += turn_[at(i, j)] * x[size(j)];
    for (index_t i = n_ - 1; i >= 0; --i) {
      double left = z[size(i)];
      for (index_t j = i + 1; j < n_; ++j) left -= r_[at(i, j)] * u[size(j)];
      u[size(i)] = std::round(left / r_[at(i, i)]);
    }
    for (index_t i = 0; i < n_; ++i) {
      double place = 0;
      for (index_t j = 0; j < n_; ++j) place += t_[at(i, j)] * u[size(j)];
      const double last = columns_[i].count - 1;
      chosen[i] = place > 0 ? static_cast<int>(place < last ? place : last) : 0;
    }
    return true;
  }

 private:
  static std::size_t size(index_t k) { return static_cast<std::size_t>(k); }
  std::size_t at(index_t i, index_t j) const { return size(i + j * n_); }

  /// Reduces B = Q R to B T = Q Turn^T R: size-reduced, and no diagonal element is much smaller than the previous one.
  void reduce() {
    index_t left = 4000 * n_;  // LLL terminates, but rounding could make it cycle
    for (index_t k = 1; k < n_ && left > 0; --left) {
      for (index_t l = k - 1; l >= 0; --l) {
        const double times = std::round(r_[at(l, k)] / r_[at(l, l)]);
        if (times == 0) continue;
        for (index_t i = 0; i <= l; ++i) r_[at(i, k)] -= times * r_[at(i, l)];
        for (index_t i = 0; i < n_; ++i) t_[at(i, k)] -= times * t_[at(i, l)];
      }
      const double before = r_[at(k - 1, k - 1)], up = r_[at(k - 1, k)], here = r_[at(k, k)];
      if (up * up + here * here >= 0.75 * before * before) {
        ++k;
        continue;
      }
      for (index_t i = 0; i < n_; ++i) {
        std::swap(r_[at(i, k - 1)], r_[at(i, k)]);
        std::swap(t_[at(i, k - 1)], t_[at(i, k)]);
      }
      const double length = std::hypot(up, here), c = up / length, s = here / length;
      for (std::vector<double>* const x : {&r_, &turn_})
        for (index_t j = 0; j < n_; ++j) {
          const double a = (*x)[at(k - 1, j)], b = (*x)[at(k, j)];
          (*x)[at(k - 1, j)] = c * a + s * b, (*x)[at(k, j)] = c * b - s * a;
        }
      r_[at(k, k - 1)] = 0;
      k = std::max<index_t>(k - 1, 1);
    }
  }

  index_t m_ = 0, n_ = 0;
  const SearchColumn* columns_ = nullptr;
  std::vector<double> q_, tau_, r_, turn_, t_, origin_;
};

}  // namespace

template <class T>
std::unique_ptr<ChannelDetector<T>> lattice_reduction() {
  return std::make_unique<Reduced<T>>();
}
template std::unique_ptr<ChannelDetector<float>> lattice_reduction();
template std::unique_ptr<ChannelDetector<double>> lattice_reduction();

}  // namespace tesela::kernels::mimo
