#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/codelets/mimo/soft_detector.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tesela {

using kernels::SoftKind;
/// Returns the soft detectors with their names and descriptions.
std::span<const Named<SoftKind>> soft_kinds();

/// Options of mimo_soft.
struct SoftOptions {
  SoftKind kind = SoftKind::sts;
  ColumnOrder order = ColumnOrder::mmse_vblast;  ///< for sts, list and kbest
  SearchForm form = SearchForm::automatic;       ///< for sts, list and ep
  double n0 = 0;                                 ///< noise variance, above 0
  double clip = 0;                               ///< limit of |L|; 0: none
  index_t batch = 0;                             ///< signals per task; 0: automatic
  index_t keep = 0;                              ///< list and kbest: vectors to keep
};

/// Parses "sts", "kbest:16", "list:64" and similar. Throws ArgumentError of `routine`.
void parse_soft_kind(const std::string& routine, const std::string& text, SoftOptions& options);

/// Throws ArgumentError as mimo_soft for options that are invalid for any signals.
void check_soft_options(const std::vector<Constellation>& alphabets, const SoftOptions& options);

/// Returns whether the results are exact max-log for every signal: by searches, or because a list contains all vectors.
bool exact_max_log(const std::vector<Constellation>& alphabets, const SoftOptions& options);

/// Likelihoods of the bits of all signals.
template <class T>
struct SoftDetection {
  HostMatrix<T> llrs;         ///< bits of a vector x signals
  std::vector<double> nodes;  ///< one per signal; negative if it has no result, and L is 0
  /// Returns the number of signals without a result.
  index_t failed() const;
};

/// Rounds scale L to the nearest integer, halves to even, and limits it to [-127, 127], for fixed-point decoders.
/// `saturated` counts the limited numbers. Throws ArgumentError unless the scale is above 0.
struct QuantizedLlrs {
  HostMatrix<std::int8_t> llrs;  ///< the rounded numbers, of L's shape
  index_t saturated = 0;
};
template <class T>
QuantizedLlrs quantize_llrs(const HostMatrix<T>& llrs, double scale);

/// Computes L = ln P(bit is 0) / P(bit is 1) for every bit of every signal.
///
/// priors   bits x signals, defines P(b) as L does; empty: all bits are equally likely.
/// Returns  a posteriori L, by streams, a label's first bit first; L minus the prior is extrinsic. |L| saturates at the
///          largest T. A signal has no result if its distances overflow or, for mmse, if [H; sqrt(N0) I] is rank
///          deficient to rounding.
/// Throws   ArgumentError as mimo_detect; unless n0 > 0; for max_log and app with more than 2^20 candidates; for mmse
///          with priors; for list and kbest without a clip if the other value of a bit may be missing.
/// Waits    for the graph. mmse, and nway of square QAM, without priors and with up to 16 streams and antennas, run on
///          a GPU if there is one; all others run on cores.
/// Method   sts and max_log return exactly (min over bit 1 - min over bit 0) of ||y - H s||^2 / N0 - sum ln P(b).
///          app sums all terms. list, kbest and nway minimize over the vectors that they keep, nway exactly for
///          two streams. mmse uses each stream's linear estimate alone. ep sums over each column's points with the
///          noise that expectation propagation computes for the column, exactly for one stream and for orthogonal
///          columns. Rounding has the same effect as in mimo_detect.
template <class T>
SoftDetection<T> mimo_soft(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                           const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                           const SoftOptions& options, const HostMatrix<T>& priors = {});

}  // namespace tesela
