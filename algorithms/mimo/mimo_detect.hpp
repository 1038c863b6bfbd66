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
using kernels::MimoMethod;
using kernels::SearchReport;

/// Return the choices with their names and descriptions; codelets/mimo/choices.hpp has their tables.
std::span<const Named<MimoMethod>> mimo_methods();
std::span<const Named<ColumnOrder>> column_orders();

/// Form of the tree search: in real form a stream of square QAM has two columns, each with half of its bits; in complex
/// form one. `automatic` selects real if possible.
enum class SearchForm : std::uint8_t {
  automatic,  ///< real if all streams are square QAM
  real,       ///< two columns per stream: shorter lists per level, square QAM only
  complex     ///< one column per stream: any constellation
};

/// Options of mimo_detect.
struct MimoOptions {
  MimoMethod method = MimoMethod::sd;
  ColumnOrder order = ColumnOrder::mmse_vblast;
  bool up = true;  ///< for norm and gradient: whether the column with the largest key is decided first
  SearchForm form = SearchForm::automatic;
  double n0 = 0;            ///< noise variance for mmse, mmse_sic, ep and the mmse_ orders
  double radius = 0;        ///< radius of the first sphere; 0: infinite. If the sphere is empty, it grows
  long long max_nodes = 0;  ///< nodes after which a signal ends uncertified; 0: no limit
  index_t keep = 0;         ///< the K of "kbest:K"; kernels::mimo_method_rows has its meaning for each method
  index_t batch = 0;        ///< signals per task; 0 selects them
};

/// Result of mimo_detect.
struct Detection {
  HostMatrix<int> labels;             ///< streams x signals
  std::vector<SearchReport> reports;  ///< one per signal
  index_t uncertified() const;        ///< number of signals with the flag `uncertified`
  index_t ties() const;               ///< number of signals with the flag `tie`
  index_t failed() const;             ///< signals without a result; their labels are -1
};

/// Detects the transmitted vectors of all signals. `sd`, `sd_plain` and `brute` return the s with the least ||y - H
/// s||, exactly (maximum likelihood), for any H; mimo_methods() describes the other methods.
///
/// channels  Nr x (Nt K).
/// y         Nr x signals. H and y may have any scale.
/// Returns   labels and reports. If rounding in double precision cannot distinguish two vectors, the lowest label of
///           stream 0 wins, then of stream 1, and so on. zf, mmse and mmse_sic report `failed` for a signal with
///           dependent columns.
/// Throws    ArgumentError for shapes that do not conform; more than 32 streams or 128 antennas; numbers that are not
///           finite (with their place); a negative n0; a list of alphabets of another length; real form
///           without square QAM; a form that the method does not have; zf with more streams than antennas; keep < 1 for
///           kbest and bfs_gemm; brute with more than 2^26 candidates.
/// Waits     for the graph; its tasks are batches of signals.
/// Method    Schnorr and Euchner, 1994; Agrell, Eriksson, Vardy and Zeger, 2002. Single precision searches in single
///           and compares the results in double. ep supports both forms. GPUs run sd, sd_plain and babai, and mf, zf
///           and mmse up to 16 streams, kbest and nway of square QAM up to 16 streams and antennas; other methods run
///           on cores.
template <class T>
Detection mimo_detect(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                      const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                      const MimoOptions& options = {});

/// Detects into an existing Detection, whose memory is reused. If its size is right, it may be page-locked before
/// (PinnedMemory of `labels` and `reports`), as H and y may; page-locking in each call takes longer than a short
/// search. After an exception its contents are undefined.
template <class T>
void mimo_detect(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                 const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                 const MimoOptions& options, Detection& found);

/// Parses "sd", "kbest:16", "nway:2" and similar into options. Throws ArgumentError of `routine`.
void parse_mimo_method(const std::string& routine, const std::string& text, MimoOptions& options,
                       const std::string& option = "--method");

/// Returns whether the method needs the variance of the noise, n0.
constexpr bool weighs_noise(MimoMethod method) {
  return method == MimoMethod::mmse || method == MimoMethod::mmse_sic || method == MimoMethod::ep;
}

/// Returns the number of candidates of a signal, the product of the alphabets' sizes.
double candidates(const std::vector<Constellation>& alphabets);
inline constexpr double most_brute_candidates = 1 << 26;

/// Returns the number of signals per task: a multiple or a divisor of the coherence if possible.
index_t suitable_mimo_batch(const Runtime& runtime, const MimoShape& shape);

}  // namespace tesela
