#pragma once

#include <tesela/tiles/host_matrix.hpp>

namespace tesela {

/// Errors counted so far, and the uncertainty of their rate. Signals that share a channel fail together, so the
/// interval follows from the spread among channels.
class MimoErrorRate {
 public:
  /// bits: per vector. Labels as in mimo_detect; signal k has channel k / coherence (0: all have one).
  void add(const HostMatrix<int>& found, const HostMatrix<int>& sent, index_t bits, index_t coherence);

  double vectors() const { return vectors_; }  ///< wrong vectors
  double symbols() const { return symbols_; }
  double bits() const { return bits_; }
  double signals() const { return signals_; }
  double bit_rate() const { return signals_ > 0 ? bits_ / sent_bits_ : 0; }
  double symbol_rate() const { return signals_ > 0 ? symbols_ / sent_symbols_ : 0; }
  /// 95 % interval, as far as the channels reveal: errors count as the number of independent Poisson events with the
  /// same spread (with few channels a part of them, by Student's t). 0 and 1 for a single channel; without errors 0 and
  /// 3 / channels, since all bits of a channel could be wrong together.
  double low() const;
  double high() const;
  /// Returns the number of standard deviations of such events between `rate` and bit_rate(), by Anscombe's root
  /// transformation for few events; 0 without enough data.
  double sigmas(double rate) const;

 private:
  double events() const;

  double vectors_ = 0, symbols_ = 0, bits_ = 0, signals_ = 0, sent_bits_ = 0, sent_symbols_ = 0;
  double groups_ = 0, squares_ = 0;  ///< number of channels, and sum of squares of the wrong bits in each
};

}  // namespace tesela
