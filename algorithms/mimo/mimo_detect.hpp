#pragma once

#include <tesela/algorithms/mimo/constellation.hpp>
#include <tesela/algorithms/mimo/mimo_channel.hpp>
#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <complex>
#include <vector>

namespace tesela {

using kernels::ColumnOrder;
using kernels::GradientAt;
using kernels::SearchReport;

enum class MimoMethod : std::uint8_t {
  sd,
  sd_plain,
  brute,
  babai,
  mf,
  zf,
  mmse,
  zf_sic,
  mmse_sic,
  kbest,
  fsd,
  nway,
  lr,
  ep,
  bfs_gemm
};
std::span<const Named<MimoMethod>> mimo_methods();
std::span<const Named<ColumnOrder>> column_orders();
std::span<const Named<GradientAt>> gradient_guesses();

/// In real form a stream of square QAM has two columns, each with half of its bits; in complex form one.
enum class SearchForm : std::uint8_t { automatic, real, complex };

struct MimoOptions {
  MimoMethod method = MimoMethod::sd;
  ColumnOrder order = ColumnOrder::mmse_vblast;
  GradientAt gradient_at = GradientAt::zero;
  bool up = true;  ///< norm and gradient: the column with the largest key is decided first
  SearchForm form = SearchForm::automatic;
  double n0 = 0;            ///< of mmse, mmse_sic, ep and the orders mmse_… and gradient at mmse
  double radius = 0;        ///< of the first sphere, 0: without end. An empty one grows
  long long max_nodes = 0;  ///< after which a signal ends uncertified, 0: never
  /// Of kbest and bfs_gemm: paths of a level; of fsd: levels of which all paths are kept; of nway: streams that are
  /// enumerated, those that noise hurts most, 0 for all.
  index_t keep = 0;
  index_t batch = 0;  ///< signals of a task, 0: what suits the workers
};

struct Detection {
  HostMatrix<int> labels;             ///< streams x signals
  std::vector<SearchReport> reports;  ///< one a signal
  index_t uncertified() const;
  index_t ties() const;
  index_t failed() const;  ///< without an answer: labels are -1
};

/// With `sd`, `sd_plain` and `brute`: s of least ||y - H s|| for each signal y, exactly (maximum likelihood), whatever
/// H is: wide, of dependent columns, or zero. channels is Nr x (Nt K), y Nr x signals. Where rounding in double cannot
/// tell two vectors apart, the lowest label of stream 0 wins, then of stream 1, and so on; single precision searches in
/// single and compares what it finds in double. H and y may be of any scale. The other methods answer something
/// else, see mimo_methods(), on cores; on a GPU mf, zf and mmse up to 16 streams, kbest and nway of square QAM up to 16
/// streams and antennas. Where zf, mmse, zf_sic, mmse_sic or lr meets dependent columns, that signal has `failed`.
/// ep has either form. Tasks are batches of signals. Waits. Throws ArgumentError for shapes that disagree, more than 32
/// streams or 128 antennas, numbers that are not finite (with their place), a negative n0, a list of alphabets of
/// another length, real form or lr without square QAM, a form that the method does not have, zf, zf_sic and lr of more
/// streams than antennas, keep below 1 for kbest, bfs_gemm and fsd, and for brute more than 2^26 candidates. (Schnorr
/// and Euchner, 1994; Agrell, Eriksson, Vardy and Zeger, 2002.)
template <class T>
Detection mimo_detect(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                      const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                      const MimoOptions& options = {});

/// The same into what is there already, whose memory is used again: of the same size it may be page-locked beforehand
/// (PinnedMemory, of `labels` and `reports`) as H and y may, which call for call takes longer than a short search.
/// After an exception its contents are undefined.
template <class T>
void mimo_detect(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                 const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                 const MimoOptions& options, Detection& found);

/// "sd", "kbest:16", "fsd:2" and their like, as options. Throws ArgumentError of `routine`.
void parse_mimo_method(const std::string& routine, const std::string& text, MimoOptions& options);

/// The candidates of a signal, the product of the alphabets' sizes.
double candidates(const std::vector<Constellation>& alphabets);
inline constexpr double most_brute_candidates = 1 << 26;

/// The signals of a task: a multiple or a divisor of the coherence where that is possible.
index_t suitable_mimo_batch(const Runtime& runtime, const MimoShape& shape);

}  // namespace tesela
