#include "bench/errors/mimo_error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tesela {
namespace {

using Number = std::complex<double>;

/// ||y - H s|| and ||y|| by hypot, which no scale disturbs.
template <class T>
double distance(const MimoShape& shape, const HostMatrix<std::complex<T>>& h, const std::complex<T>* y,
                const std::vector<Constellation>& alphabets, index_t signal, const int* labels) {
  double sum = 0;
  for (index_t i = 0; i < shape.antennas; ++i) {
    Number left(y[i]);
    for (index_t j = 0; labels != nullptr && j < shape.streams; ++j)
      left -= Number(h(i, shape.channel_of(signal) * shape.streams + j)) *
              alphabets[static_cast<std::size_t>(j)].points[static_cast<std::size_t>(labels[j])];
    sum = std::hypot(sum, left.real(), left.imag());
  }
  return sum;
}

/// Distances that differ by less are ties: what rounding adds to one of them.
template <class T>
double tie_width(const MimoShape& shape, const HostMatrix<std::complex<T>>& h, double size,
                 const std::vector<Constellation>& alphabets, index_t signal) {
  double reach = size;
  for (index_t j = 0; j < shape.streams; ++j) {
    double norm = 0, largest = 0;
    for (index_t i = 0; i < shape.antennas; ++i) {
      const Number x(h(i, shape.channel_of(signal) * shape.streams + j));
      norm = std::hypot(norm, x.real(), x.imag());
    }
    for (const Number& point : alphabets[static_cast<std::size_t>(j)].points)
      largest = std::fmax(largest, std::abs(point));
    reach += norm * largest;
  }
  return 4 * static_cast<double>(shape.streams + 2) * std::numeric_limits<double>::epsilon() * reach;
}

}  // namespace

template <class T>
MimoError mimo_error(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                     const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                     const Detection& found, const Detection& reference, const HostMatrix<int>& sent) {
  MimoError error;
  for (index_t k = 0; k < shape.signals; ++k) {
    const auto of = [&](const int* labels) { return distance(shape, channels, &y(0, k), alphabets, k, labels); };
    const int *const ours = &found.labels(0, k), *const theirs = &reference.labels(0, k);
    const double size = of(nullptr), here = of(ours);
    double best = std::min(here, of(theirs));
    if (sent.cols() > 0) best = std::min(best, of(&sent(0, k)));
    const bool certified = (reference.reports[static_cast<std::size_t>(k)].flags & SearchReport::uncertified) == 0;
    if (certified && !std::equal(ours, ours + shape.streams, theirs)) ++error.mismatches;
    const double unit = std::fmax(size, best);  // a small y beside H s: of what is left
    if (unit > 0 && (found.reports[static_cast<std::size_t>(k)].flags & SearchReport::tie) != 0) {
      const double width = tie_width(shape, channels, size, alphabets, k);
      error.metric_gap = std::fmax(error.metric_gap, width / unit * ((2 * here + width) / unit));
    }
    if (here > best) error.metric_gap = std::fmax(error.metric_gap, (here - best) / unit * ((here + best) / unit));
  }
  return error;
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
