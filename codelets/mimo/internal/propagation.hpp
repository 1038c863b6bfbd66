#pragma once

#include <tesela/codelets/mimo/detector.hpp>
#include <tesela/codelets/mimo/internal/channel_body.hpp>
#include <tesela/codelets/mimo/soft_detector.hpp>

#include <vector>

// Expectation propagation. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// In round t of ten, a column's new density has the weight w = first (last / first)^(t / 9), the old density 1 - w.
/// The new density is the points' normal density divided by the column's belief. If the quotient has no positive
/// variance, the points' density itself is new (`moments`), or the old density stays.
struct PropagationSteps {
  double first, last;
  bool moments;
};

/// Steps with the fewest wrong symbols, and with the most information of bits: larger steps make fewer errors but
/// overestimate |L|. docs/mimo-method.md#expectation-propagation compares other steps.
inline constexpr PropagationSteps steps_of_symbols{0.05, 0.8, true}, steps_of_bits{0.05, 0.05, false};

/// Expectation propagation (Céspedes, Olmos, Sánchez-Fernández and Perez-Cruz, 2014) in real form (F: double) or
/// complex form: a normal density replaces the points of each column of H. A column's belief is its distribution given
/// the signal and the densities of all other columns: s = x + noise. Each of ten rounds moves the densities of all
/// columns at once: towards the density whose product with the belief has the mean and the variance of the points
/// weighted by the belief. In real form each amplitude has a separate variance.
///
/// Computes in double. Points are centred and scaled to about 1, then H by 2^-exponent(). Precisions (1 / variance) are
/// multiplied by N0, which may thus be tiny. n0() is N0 in these units; if rounding hides whether H's columns are
/// independent, it is at least 10^-9 times the mean diagonal element of H^H H.
template <class F>
class Propagation {
 public:
  /// Reads columns and points of the view.
  template <class T>
  Propagation(const ChannelView<T>& view, double n0, const PropagationSteps& steps);

  template <class T>
  void channel(const ChannelView<T>& view);
  int exponent() const { return exponent_; }
  double n0() const { return n0_; }

  /// Computes the metrics of all points for y 2^-exponent(). A penalty is n0() times -ln P of a point, by places;
  /// empty: all points are equally likely. Returns false if numbers overflow.
  bool detect(std::vector<Complex<double>> y, const std::vector<double>& penalties);
  /// Returns n0() times -ln P of each point up to a constant of its column, by places in the view's list.
  const std::vector<double>& metrics() const { return metrics_; }
  /// Returns the number of the likeliest point in the list of column j; the first in a tie.
  int likeliest(index_t j) const;

 private:
  /// A normal density of a column, multiplied by N0: 1 / variance, and mean / variance. The variance is E|s - mean|^2
  /// in complex form and twice that in real form.
  struct Density {
    double precision = 0;
    F weighted{};
  };
  struct Column {
    std::size_t first, count;
    F origin{};                 ///< mean of the points
    double least_variance = 0;  ///< otherwise all points would be certain at once
  };

  static std::size_t index(index_t k) { return static_cast<std::size_t>(k); }
  std::size_t at(index_t i, index_t j) const { return index(i + j * n_); }

  void begin(const std::vector<double>& penalties);
  double invert();
  void find_beliefs();
  void find_metrics(const Column& column, const Density& belief, const std::vector<double>& penalties);
  Density of_points(const Column& column, const Density& belief, const std::vector<double>& penalties);

  index_t streams_, antennas_, n_;
  double given_n0_, n0_ = 1;
  PropagationSteps steps_;
  int exponent_ = 0;
  std::vector<int> units_;  ///< of streams: the exponent of their points
  std::vector<Column> columns_;
  std::vector<F> values_;  ///< points minus their column's origin, in units
  std::vector<Complex<double>> h_;
  std::vector<F> gram_, inverse_, first_inverse_;  ///< of inverses the lower triangle; first_inverse_: of all signals
  std::vector<F> matched_, work_, mean_;
  std::vector<double> metrics_, weights_;
  std::vector<Density> densities_, beliefs_;
};

/// Detects the symbols of some signals by the likeliest point of each column, as Detector.
template <class T>
void propagate_symbols(const typename Detector<T>::Args& args, const Block<const std::complex<T>>& h,
                       const Block<const std::complex<T>>& y, ChannelView<T> view, bool real_form,
                       const Block<int>& labels, const Block<SearchReport>& reports);

/// Computes L of the bits of some signals, as SoftDetector: logarithms of sums over the points of a column.
template <class T>
void propagate_bits(const typename SoftDetector<T>::Args& args, const Block<const std::complex<T>>& h,
                    const Block<const std::complex<T>>& y, ChannelView<T> view, const std::vector<int>& widths,
                    const Block<T>& llrs, const Block<double>& nodes);

}  // namespace tesela::kernels::mimo
