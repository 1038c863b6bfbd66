#pragma once

#include <tesela/codelets/mimo/detector.hpp>
#include <tesela/codelets/mimo/internal/tree_body.hpp>

#include <algorithm>
#include <memory>
#include <vector>

// Detectors that share only their interface with the others. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// A detector of one channel's signals.
template <class T>
class ChannelDetector {
 public:
  virtual ~ChannelDetector() = default;
  /// Returns false if no signal has a result.
  virtual bool channel(const ChannelView<T>& view) = 0;
  /// Finds the index in each column's list; y is scaled by 2^-exponent() as H. Returns false if there is no result.
  virtual bool detect(const std::vector<Complex<double>>& y, int* at) = 0;
  int exponent() const { return exponent_; }

 protected:
  /// Sets exponent() to the exponent of H's largest element.
  void measure(const ChannelView<T>& view) {
    T largest = 0;
    for (index_t j = 0; j < view.streams; ++j)
      for (index_t i = 0; i < view.antennas; ++i) largest = std::max(largest, size_of(view.h[i + j * view.ld]));
    exponent_ = exponent_of(largest);
  }
  /// Returns H 2^-exponent, column by column.
  std::vector<Complex<double>> scaled(const ChannelView<T>& view) {
    measure(view);
    const Scale<double> scale(exponent_);
    std::vector<Complex<double>> h;
    for (index_t j = 0; j < view.streams; ++j)
      for (index_t i = 0; i < view.antennas; ++i) {
        const Complex<T> x = view.h[i + j * view.ld];
        h.push_back(scale(Complex<double>{x.re, x.im}));
      }
    return h;
  }

 private:
  int exponent_ = 0;
};

/// Detects in real form: the lattice of H's columns is reduced (Lenstra, Lenstra and Lovász, 1982), and
/// back-substitution in the reduced lattice is rounded level by level (Yao and Wornell, 2002) and clipped to the
/// alphabet.
template <class T>
std::unique_ptr<ChannelDetector<T>> lattice_reduction();

/// Detects the most likely point of each column by Propagation, in the form of the view's columns.
template <class T>
std::unique_ptr<ChannelDetector<T>> expectation_propagation(const ChannelView<T>& view, double n0, bool real_form);

/// Returns y 2^-exponent, of these antennas.
template <class T>
std::vector<Complex<double>> scaled_signal(const Complex<T>* y, index_t antennas, int exponent) {
  const Scale<double> scale(exponent);
  std::vector<Complex<double>> made;
  for (index_t i = 0; i < antennas; ++i)
    made.push_back(scale(Complex<double>{static_cast<double>(y[i].re), static_cast<double>(y[i].im)}));
  return made;
}

/// Detects in complex form, all signals of a channel together: level by level the `keep` nearest paths of each signal;
/// one matrix product subtracts four levels of all paths from the rows above.
template <class T>
void detect_breadth_first(const typename Detector<T>::Args& args, const Block<const std::complex<T>>& h,
                          const Block<const std::complex<T>>& y, const ChannelView<T>& view, const Block<int>& labels,
                          const Block<SearchReport>& reports);

}  // namespace tesela::kernels::mimo
