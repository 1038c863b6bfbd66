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
  max_log,  ///< by all candidates: the same
  app,      ///< logarithms of sums over all candidates, not only of their largest terms
  mmse,     ///< of each stream's unbiased linear estimate and its noise; without priors
  list,     ///< max-log of the `keep` nearest vectors alone
  kbest,    ///< max-log of the paths that the detector of that name keeps
  fsd,      ///< the same
  nway,     ///< the same
  ep,       ///< of each column's points, with the noise from expectation propagation; in either form
};

/// L = ln P(bit is 0) / P(bit is 1) for each bit of some signals (llrs, bits x K), a stream's bits one after another,
/// the label's first bit (most significant) first; cut to |L| <= clip and to T's largest number. llrs holds the priors
/// on entry, zeros for none: a candidate's metric is ||y - H s||^2 / N0 - sum ln P(b). Other tiles as SphereSearch's;
/// n0 > 0. nodes (1 x K). Runs on cores; BatchedSoft is for GPUs. (sts: Studer, Burg and Bolcskei, 2008; rts: Wang and
/// Giannakis, 2004; lists: Hochwald and ten Brink, 2003; ep: Céspedes, Olmos, Sánchez-Fernández and Perez-Cruz, 2014.)
template <class T>
struct SoftDetector {
  static constexpr double no_answer = -1;  ///< instead of nodes; L is 0 then
  static constexpr auto name = "mimo_soft_detector";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    index_t streams = 0;
    index_t coherence = 1;
    SoftKind kind = SoftKind::sts;
    ColumnOrder order = ColumnOrder::mmse_vblast;
    bool real_form = true;
    double n0 = 1, clip = 0;
    index_t keep = 0;  ///< of list and kbest: vectors; of fsd: levels of which all paths are kept
    int labels = 0;    ///< of all streams together, for the performance model alone
    auto cost_key() const {
      return (((std::lround(3 * std::log2(n0)) * 16 + static_cast<int>(kind)) * 16 + static_cast<int>(order)) * 4096 +
              labels) *
                 512 +
             (keep < 511 ? keep : 511);
    }
  };
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, InOut<T> llrs, Out<double> nodes);
};

}  // namespace tesela::kernels
