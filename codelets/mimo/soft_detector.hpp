#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

#include <cmath>
#include <complex>

namespace tesela::kernels {

/// How the log-likelihood ratios of bits are found.
enum class SoftKind : std::uint8_t {
  sts,      ///< one tree search for the nearest vectors of every bit's both values: exact max-log
  rts,      ///< a search for each bit: the same
  max_log,  ///< by a look at all candidates: the same
  app,      ///< logarithms of sums over all candidates, not only of their largest terms
  mmse,     ///< of each stream's linear estimate without its bias, in the noise that is left of it
};

/// L = ln P(bit is 0) / P(bit is 1) for each bit of some signals (llrs, bits x K), a stream's bits one after another,
/// the label's first bit (most significant) first; cut to |L| <= clip. Other tiles as SphereSearch's; n0 > 0. nodes (1
/// x K). On cores alone. (sts: Studer, Burg and Bolcskei, 2008; rts: Wang and Giannakis, 2004.)
template <class T>
struct SoftDetector {
  static constexpr auto name = "mimo_soft_detector";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    index_t streams = 0;
    index_t coherence = 1;
    SoftKind kind = SoftKind::sts;
    ColumnOrder order = ColumnOrder::mmse_vblast;
    bool real_form = true;
    double n0 = 1, clip = 0;
    int labels = 0;  ///< of all streams together, for the performance model alone
    auto cost_key() const {
      return ((static_cast<int>(std::lround(3 * std::log2(n0))) * 8 + static_cast<int>(kind)) * 16 +
              static_cast<int>(order)) *
                 4096 +
             labels;
    }
  };
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<T> llrs, Out<double> nodes);
};

}  // namespace tesela::kernels
