#pragma once

#include <tesela/tiles/host_matrix.hpp>

namespace tesela {

/// Errors counted so far, and how sure their rate is. What shares a channel fails together, so the interval comes from
/// the spread among channels.
class MimoErrorRate {
 public:
  /// bits: of a whole vector. Labels as mimo_detect has them; signal k had channel k / coherence (0: all had one).
  void add(const HostMatrix<int>& found, const HostMatrix<int>& sent, index_t bits, index_t coherence);

  double vectors() const { return vectors_; }  ///< wrong ones
  double symbols() const { return symbols_; }
  double bits() const { return bits_; }
  double signals() const { return signals_; }
  double bit_rate() const { return signals_ > 0 ? bits_ / sent_bits_ : 0; }
  double symbol_rate() const { return signals_ > 0 ? symbols_ / sent_symbols_ : 0; }
  double vector_rate() const { return signals_ > 0 ? vectors_ / signals_ : 0; }
  /// 95 %, as far as the channels that were met can tell: errors count as so many independent events as have their
  /// spread (with few channels a part of them, by Student's t), which are Poisson's. 0 and 1 of a single channel;
  /// without any error 0 and 3 / channels, as a whole channel's bits would be wrong together.
  double low() const;
  double high() const;
  /// How many standard deviations of such events lie between this rate and bit_rate() (Anscombe's root, so that few
  /// events are no rare ones); 0 where too little is known.
  double sigmas(double rate) const;

 private:
  double events() const;

  double vectors_ = 0, symbols_ = 0, bits_ = 0, signals_ = 0, sent_bits_ = 0, sent_symbols_ = 0;
  double groups_ = 0, squares_ = 0;  ///< channels, and the squares of the bits that were wrong in each
};

}  // namespace tesela
