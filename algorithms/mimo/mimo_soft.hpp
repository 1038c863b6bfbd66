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
  double clip = 0;                               ///< limit of |L|; 0 for none
  index_t batch = 0;
  index_t keep = 0;  ///< of list and kbest: vectors that are kept; of fsd: levels of which all paths are
};

/// Parses "sts", "kbest:16", "fsd:2", "list:64" and similar. Throws ArgumentError of `routine`.
void parse_soft_kind(const std::string& routine, const std::string& text, SoftOptions& options);

/// Throws ArgumentError if mimo_soft would, independent of the signals.
void check_soft_options(const std::vector<Constellation>& alphabets, const SoftOptions& options);

/// Whether these are exact max-log for every signal: by searches, or since nothing is left out of a list.
bool exact_max_log(const std::vector<Constellation>& alphabets, const SoftOptions& options);

template <class T>
struct SoftDetection {
  HostMatrix<T> llrs;         ///< bits of a vector x signals
  std::vector<double> nodes;  ///< one per signal; negative if it has no result, and L is 0
  index_t failed() const;
};

/// scale L rounded to the nearest integer, halves to even, and limited to [-127, 127], for fixed-point decoders.
/// `saturated` counts the limited numbers. Throws ArgumentError unless the scale is above 0.
struct QuantizedLlrs {
  HostMatrix<std::int8_t> llrs;
  index_t saturated = 0;
};
template <class T>
QuantizedLlrs quantize_llrs(const HostMatrix<T>& llrs, double scale);

/// L = ln P(bit is 0) / P(bit is 1) of every bit of every signal, by streams, a label's first bit first. sts, rts and
/// max_log return exactly (min over bit 1 - min over bit 0) of ||y - H s||^2 / N0 - sum ln P(b); app sums all terms;
/// list, kbest, fsd and nway take the minima over the vectors that they keep, nway exactly for two streams; mmse uses
/// each stream's linear estimate alone; ep sums over each column's points with the noise that expectation propagation
/// finds for the column, exactly for one stream and for orthogonal columns. priors, bits x signals, define P(b) as L;
/// without them all bits are equally likely. L is a posteriori; L minus the prior is extrinsic. Shapes, errors and the
/// effect of rounding are as in mimo_detect; n0 must be above 0, max_log and app take at most 2^20 candidates, mmse
/// takes no priors, and list, kbest and fsd need a clip if a bit's other value may be missing. |L| saturates at the
/// largest T. A signal has no result if its distances overflow or, by mmse, if [H; sqrt(N0) I] is rank-deficient to
/// rounding. mmse, and nway of square QAM, without priors and up to 16 streams and antennas, run on a GPU if there is
/// one; everything else runs on cores. Waits.
template <class T>
SoftDetection<T> mimo_soft(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                           const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                           const SoftOptions& options, const HostMatrix<T>& priors = {});

}  // namespace tesela
