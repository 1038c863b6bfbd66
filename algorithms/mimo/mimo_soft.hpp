#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/codelets/mimo/soft_detector.hpp>

namespace tesela {

using kernels::SoftKind;
std::span<const Named<SoftKind>> soft_kinds();

struct SoftOptions {
  SoftKind kind = SoftKind::sts;
  ColumnOrder order = ColumnOrder::mmse_vblast;  ///< of sts and rts
  SearchForm form = SearchForm::automatic;       ///< of sts and rts
  double n0 = 0;                                 ///< above 0
  double clip = 0;                               ///< |L| at most, 0: as it is
  index_t batch = 0;
};

template <class T>
struct SoftDetection {
  HostMatrix<T> llrs;         ///< bits of a vector x signals
  std::vector<double> nodes;  ///< one a signal
};

/// L = ln P(bit is 0) / P(bit is 1) of every bit of every signal, by streams, a label's first bit first. sts, rts and
/// max_log are (min ||y - H s||^2 where the bit is 1 - min where it is 0) / N0, exactly; app sums all terms; mmse looks
/// at each stream's linear estimate alone. Shapes, what is thrown and what rounding does as with mimo_detect; n0 must
/// be above 0, max_log and app take at most 2^20 candidates. On cores. Waits.
template <class T>
SoftDetection<T> mimo_soft(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                           const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                           const SoftOptions& options);

}  // namespace tesela
