#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/codelets/mimo/soft_detector.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tesela {

using kernels::SoftKind;
std::span<const Named<SoftKind>> soft_kinds();

struct SoftOptions {
  SoftKind kind = SoftKind::sts;
  ColumnOrder order = ColumnOrder::mmse_vblast;  ///< of sts, rts, list, kbest and fsd
  SearchForm form = SearchForm::automatic;       ///< of sts, rts, list and ep
  double n0 = 0;                                 ///< above 0
  double clip = 0;                               ///< |L| at most, 0: as it is
  index_t batch = 0;
  index_t keep = 0;  ///< of list and kbest: vectors that are kept; of fsd: levels of which all paths are
};

/// "sts", "kbest:16", "fsd:2", "list:64" and their like, as options. Throws ArgumentError of `routine`.
void parse_soft_kind(const std::string& routine, const std::string& text, SoftOptions& options);

/// Throws ArgumentError where mimo_soft would, whatever the signals are.
void check_soft_options(const std::vector<Constellation>& alphabets, const SoftOptions& options);

/// Whether these are exact max-log for every signal: by searches, or since nothing is left out of a list.
bool exact_max_log(const std::vector<Constellation>& alphabets, const SoftOptions& options);

template <class T>
struct SoftDetection {
  HostMatrix<T> llrs;         ///< bits of a vector x signals
  std::vector<double> nodes;  ///< one a signal; negative where it has no answer, and L is 0
  index_t failed() const;
};

/// scale L to the nearest whole number, halves to even, within -127 and 127: what decoders of fixed point take.
/// `saturated` are those that were beyond. Throws ArgumentError where the scale is not above 0.
struct QuantizedLlrs {
  HostMatrix<std::int8_t> llrs;
  index_t saturated = 0;
};
template <class T>
QuantizedLlrs quantize_llrs(const HostMatrix<T>& llrs, double scale);

/// L = ln P(bit is 0) / P(bit is 1) of every bit of every signal, by streams, a label's first bit first. sts, rts and
/// max_log are (min where the bit is 1 - min where it is 0) of ||y - H s||^2 / N0 - sum ln P(b), exactly; app sums all
/// terms; list, kbest, fsd and nway take the minima over the vectors that they keep, nway exactly for two streams; mmse
/// looks at each stream's linear estimate alone; ep sums over the points of each column in the noise that expectation
/// propagation leaves it, exactly for one stream and for orthogonal columns. priors, as L, bits x signals, say P(b);
/// without them all bits are equally likely. L is a posteriori: less the prior it is extrinsic. Shapes, errors and
/// the effect of rounding are those of mimo_detect; n0 must be above 0, max_log and app take at most 2^20 candidates,
/// mmse no priors, and list, kbest and fsd a clip where a bit's other value may be missing. |L| that T cannot hold is
/// its largest number. A signal has no answer where mmse meets columns that are dependent and [H; sqrt(N0) I] still is,
/// to rounding, and where distances are beyond all numbers. mmse, and nway of square QAM, without priors and up to 16
/// streams and antennas, are a GPU's where there is one; all else is on cores. Waits.
template <class T>
SoftDetection<T> mimo_soft(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                           const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                           const SoftOptions& options, const HostMatrix<T>& priors = {});

}  // namespace tesela
