#include "tools/checks/mimo/mimo_error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tesela {
namespace {

using Number = std::complex<double>;

double magnitude(Number x) { return std::fmax(std::abs(x.real()), std::abs(x.imag())); }

/// Distances of one signal from the sent vectors. Uses hypot, and a power of two if numbers are huge, so the result
/// does not depend on the scale.
template <class T>
class Distances {
 public:
  Distances(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels, const HostMatrix<std::complex<T>>& y,
            const std::vector<Constellation>& alphabets, index_t signal)
      : m_(shape.antennas),
        n_(shape.streams),
        h_(&channels(0, shape.channel_of(signal) * shape.streams)),
        y_(&y(0, signal)),
        alphabets_(alphabets) {
    double element = 0, point = 0, received = 0;
    for (index_t e = 0; e < m_ * n_; ++e) element = std::fmax(element, magnitude(Number(h_[e])));
    for (const Constellation& c : alphabets)
      for (const Number& p : c.points) point = std::fmax(point, magnitude(p));
    for (index_t i = 0; i < m_; ++i) received = std::fmax(received, magnitude(Number(y_[i])));
    if (!(std::fmax(received, element * point) < huge)) scale_ = downwards;
  }

  /// Returns ||y - H s||; ||y|| without labels.
  double of(const int* labels) const {
    double sum = 0;
    for (index_t i = 0; i < m_; ++i) {
      Number left = scale_ * Number(y_[i]);
      for (index_t j = 0; labels != nullptr && j < n_; ++j)
        left -= scale_ * Number(h_[i + j * m_]) *
                alphabets_[static_cast<std::size_t>(j)].points[static_cast<std::size_t>(labels[j])];
      sum = std::hypot(sum, left.real(), left.imag());
    }
    return sum;
  }

  /// Width within which distances are ties: the rounding error of a distance.
  double tie_width() const {
    double reach = of(nullptr);
    for (index_t j = 0; j < n_; ++j) {
      double norm = 0, largest = 0;
      for (index_t i = 0; i < m_; ++i) {
        const Number x = scale_ * Number(h_[i + j * m_]);
        norm = std::hypot(norm, x.real(), x.imag());
      }
      for (const Number& point : alphabets_[static_cast<std::size_t>(j)].points)
        largest = std::fmax(largest, std::abs(point));
      reach += norm * largest;
    }
    return 4 * static_cast<double>(n_ + 2) * std::numeric_limits<double>::epsilon() * reach;
  }

 private:
  static constexpr double huge = 1e280, downwards = 0x1p-100;

  index_t m_, n_;
  const std::complex<T>*h_, *y_;
  const std::vector<Constellation>& alphabets_;
  double scale_ = 1;
};

}  // namespace

template <class T>
MimoError mimo_error(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                     const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                     const Detection& found, const Detection& reference, const HostMatrix<int>& sent) {
  MimoError error;
  for (index_t k = 0; k < shape.signals; ++k) {
    const Distances<T> distance(shape, channels, y, alphabets, k);
    const int *const ours = &found.labels(0, k), *const theirs = &reference.labels(0, k);
    const double size = distance.of(nullptr), here = distance.of(ours);
    double best = std::min(here, distance.of(theirs));
    if (sent.cols() > 0) best = std::min(best, distance.of(&sent(0, k)));
    const bool certified = (reference.reports[static_cast<std::size_t>(k)].flags & SearchReport::uncertified) == 0;
    if (certified && !std::equal(ours, ours + shape.streams, theirs)) ++error.mismatches;
    const double unit = std::fmax(size, best);  // if y is small compared with H s: the remainder
    if (unit > 0 && (found.reports[static_cast<std::size_t>(k)].flags & SearchReport::tie) != 0) {
      const double width = distance.tie_width();
      update_nan_max(error.metric_gap, width / unit * ((2 * here + width) / unit));
    }
    if (!(here <= best)) update_nan_max(error.metric_gap, (here - best) / unit * ((here + best) / unit));
  }
  return error;
}

void update_nan_max(double& largest, double gap) {
  if (!std::isnan(largest) && !(gap <= largest)) largest = gap;
}

MimoMistakes mimo_mistakes(const HostMatrix<int>& found, const HostMatrix<int>& sent) {
  MimoMistakes all;
  for (index_t k = 0; k < found.cols(); ++k) {
    const index_t before = all.symbols;
    for (index_t j = 0; j < found.rows(); ++j) {
      const int wrong = std::popcount(static_cast<unsigned>(found(j, k) ^ sent(j, k)));
      all.bits += wrong;
      all.symbols += wrong > 0 ? 1 : 0;
    }
    all.vectors += all.symbols > before ? 1 : 0;
  }
  return all;
}

template MimoError mimo_error(const MimoShape&, const HostMatrix<std::complex<float>>&,
                              const HostMatrix<std::complex<float>>&, const std::vector<Constellation>&,
                              const Detection&, const Detection&, const HostMatrix<int>&);
template MimoError mimo_error(const MimoShape&, const HostMatrix<std::complex<double>>&,
                              const HostMatrix<std::complex<double>>&, const std::vector<Constellation>&,
                              const Detection&, const Detection&, const HostMatrix<int>&);

}  // namespace tesela
