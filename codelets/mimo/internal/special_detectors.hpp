#pragma once

#include <tesela/codelets/mimo/detector.hpp>
#include <tesela/codelets/mimo/internal/tree_body.hpp>

#include <algorithm>
#include <memory>
#include <vector>

// Detectors that share nothing with the others but their interface. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// What they answer one channel's signals.
template <class T>
class SpecialDetector {
 public:
  virtual ~SpecialDetector() = default;
  /// False where no signal has an answer.
  virtual bool channel(const ChannelView<T>& view) = 0;
  /// Places in the columns' lists, of all columns; y scaled by 2^-exponent() as H.
  virtual void detect(const std::vector<Complex<double>>& y, int* at) = 0;
  int exponent() const { return exponent_; }

 protected:
  /// H 2^-exponent, column by column.
  std::vector<Complex<double>> scaled(const ChannelView<T>& view) {
    T largest = 0;
    for (index_t j = 0; j < view.streams; ++j)
      for (index_t i = 0; i < view.antennas; ++i) largest = std::max(largest, size_of(view.h[i + j * view.ld]));
    exponent_ = exponent_of(largest);
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

/// Real form: the lattice of H's columns is reduced (Lenstra, Lenstra and Lovász, 1982), and back-substitution in the
/// reduced one is rounded level by level (Yao and Wornell, 2002); what leaves the alphabet is cut to it.
template <class T>
std::unique_ptr<SpecialDetector<T>> lattice_reduction();

/// Complex form: ten rounds of expectation propagation (Céspedes, Olmos, Sánchez-Fernández and Perez-Cruz, 2014).
template <class T>
std::unique_ptr<SpecialDetector<T>> expectation_propagation(double n0);

/// Complex form, all signals of a channel together: level by level the `keep` nearest paths of each signal; what four
/// levels of all of them take out of the rows above is one product of matrices.
template <class T>
void detect_breadth_first(const typename Detector<T>::Args& args, const Block<const std::complex<T>>& h,
                          const Block<const std::complex<T>>& y, const ChannelView<T>& view, const Block<int>& labels,
                          const Block<SearchReport>& reports);

}  // namespace tesela::kernels::mimo
