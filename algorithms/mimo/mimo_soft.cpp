#include <tesela/algorithms/mimo/internal/search_tiles.hpp>
#include <tesela/algorithms/mimo/mimo_soft.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {

using namespace mimo;
namespace {

constexpr auto kinds = named(kernels::soft_kind_rows);
constexpr double most_looks = 1 << 20;

template <class T>
void check_priors(const HostMatrix<T>& priors, Shape wanted, SoftKind kind) {
  if (priors.size() == 0) return;
  if (!row_of(kind).can.priors)
    refuse("priors", row_of(kind).name + std::string(" accepts none; sts, list, kbest and the others do"));
  constexpr double most = 1e100;  // its product with N0 is finite
  if (priors.shape() != wanted) refuse("priors", to_string(priors.shape()) + ", not " + to_string(wanted));
  for (index_t k = 0; k < priors.cols(); ++k)
    for (index_t b = 0; b < priors.rows(); ++b)
      if (!(std::abs(static_cast<double>(priors(b, k))) <= most)) {
        const std::string what = std::isfinite(priors(b, k)) ? "beyond 1e100" : "not finite";
        refuse("priors", "the value at [" + std::to_string(b) + ", " + std::to_string(k) + "] (from zero) is " + what);
      }
}

}  // namespace

std::span<const Named<SoftKind>> soft_kinds() { return kinds; }

void parse_soft_kind(const std::string& routine, const std::string& text, SoftOptions& options) {
  const NumberedName one = split_number(text);
  const auto kind = find_named(soft_kinds(), one.name);
  if (!kind || (one.colon && !(row_of(*kind).keep != nullptr && one.number)))
    throw ArgumentError(routine, "--soft", "'" + text + "' is none of " + list_names(kinds));
  if (one.number == 0) throw ArgumentError(routine, "--soft", "'" + text + "' keeps nothing; 1 or more");
  options.kind = *kind;
  options.keep = one.number.value_or(row_of(*kind).usual_keep);
}

void check_soft_options(const std::vector<Constellation>& alphabets, const SoftOptions& options) {
  if (!(options.n0 > 0) || !std::isfinite(options.n0))
    refuse("n0", shortest(options.n0) + "; bits' likelihoods need a variance above 0");
  if (!(options.clip >= 0)) refuse("clip", shortest(options.clip) + " (--llr-clip) is negative");
  const auto& row = row_of(options.kind);
  if (row.can.brute && candidates(alphabets) > most_looks)
    refuse("kind",
           std::string(row.name) + " (--soft) over " + shortest(candidates(alphabets)) + " candidates; at most 2^20");
  require_fixed_order(options.order, "likelihoods (--soft) accept");
  if (row.keep == nullptr) return;
  if (options.keep < 1) refuse("keep", std::to_string(options.keep) + "; 1 or more");
  if (options.clip == 0 && !exact_max_log(alphabets, options))
    refuse("clip", "list and kbest need one (--llr-clip): the kept vectors may lack the other value of a bit");
}

bool exact_max_log(const std::vector<Constellation>& alphabets, const SoftOptions& options) {
  const auto& row = row_of(options.kind);
  if (row.keep != nullptr) return static_cast<double>(options.keep) >= candidates(alphabets);
  return row.can.exact || (options.kind == SoftKind::nway && alphabets.size() <= 2);
}

template <class T>
index_t SoftDetection<T>::failed() const {
  return std::count_if(nodes.begin(), nodes.end(), [](double n) { return n < 0; });
}

TESELA_STRUCTS_FOR_REALS(SoftDetection)

template <class T>
SoftDetection<T> mimo_soft(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                           const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                           const SoftOptions& options, const HostMatrix<T>& priors) {
  if (alternates(alphabets))
    return mimo_soft(g, shape, channels, turned_back(y), constant_of(alphabets), options, priors);
  check_model(shape, channels, y, alphabets);
  index_t bits = 0;
  for (const Constellation& c : alphabets) bits += c.bits();
  check_soft_options(alphabets, options);
  check_priors(priors, {bits, shape.signals}, options.kind);
  SoftDetection<T> found{priors.size() > 0 ? priors.clone() : HostMatrix<T>::zeros(bits, shape.signals),
                         std::vector<double>(static_cast<std::size_t>(shape.signals))};
  if (shape.signals == 0) return found;
  using Quick = kernels::GpuSoftDetector<T>;
  const bool gpus = g.runtime().gpus() > 0, either_form = row_of(options.kind).can.real_form;
  if (options.form == SearchForm::real && !either_form) refuse("form", "real; this detector has only the complex form");
  const SearchLists lists = either_form ? lists_of(alphabets, options.form) : lists_with_parts(alphabets);
  const bool quick =
      gpus && priors.size() == 0 && Quick::takes(options.kind, shape.antennas, shape.streams, lists.amplitudes);
  const SearchTiles<T> tiles(g.runtime(), shape, channels, y, lists,
                             options.batch > 0 || quick ? options.batch : batch_on_cores(shape));
  const auto L =
      TileMatrix<T>::map(g.runtime(), found.llrs.data(), bits, shape.signals, bits, {bits, tiles.batch}, "L");
  const auto nodes =
      TileMatrix<double>::map(g.runtime(), found.nodes.data(), 1, shape.signals, 1, {1, tiles.batch}, "nodes");
  for (index_t t = 0; t < tiles.y.nt(); ++t) {
    const auto h = tiles.channels(t), received = tiles.y(0, t);
    const auto columns = tiles.columns(0, 0);
    const auto points = tiles.points(0, 0);
    if (quick)
      g.insert<Quick>(on_gpu_number(static_cast<std::size_t>(t)),
                      {shape.streams, tiles.coherence, options.kind, options.n0, options.clip, lists.labels}, h,
                      received, columns, points, L(0, t), nodes(0, t));
    else
      g.insert<kernels::SoftDetector<T>>({shape.streams, tiles.coherence, options.kind, options.order, lists.real_form,
                                          options.n0, options.clip, options.keep, lists.labels},
                                         h, received, columns, points, L(0, t), nodes(0, t));
    if (gpus) g.bring_home(L(0, t)), g.bring_home(nodes(0, t));
  }
  g.wait();
  return found;
}

template <class T>
QuantizedLlrs quantize_llrs(const HostMatrix<T>& llrs, double scale) {
  if (!(scale > 0) || !std::isfinite(scale)) refuse("scale", shortest(scale) + "; finite and above 0");
  QuantizedLlrs made{HostMatrix<std::int8_t>(llrs.rows(), llrs.cols())};
  for (index_t e = 0; e < llrs.size(); ++e) {
    const double wanted = std::nearbyint(scale * static_cast<double>(llrs.data()[e]));
    made.llrs.data()[e] = static_cast<std::int8_t>(std::clamp(wanted, -127.0, 127.0));
    made.saturated += std::abs(wanted) > 127 ? 1 : 0;
  }
  return made;
}

TESELA_FUNCTIONS_FOR_REALS(quantize_llrs)
template SoftDetection<float> mimo_soft(Graph&, const MimoShape&, const HostMatrix<std::complex<float>>&,
                                        const HostMatrix<std::complex<float>>&, const std::vector<Constellation>&,
                                        const SoftOptions&, const HostMatrix<float>&);
template SoftDetection<double> mimo_soft(Graph&, const MimoShape&, const HostMatrix<std::complex<double>>&,
                                         const HostMatrix<std::complex<double>>&, const std::vector<Constellation>&,
                                         const SoftOptions&, const HostMatrix<double>&);

}  // namespace tesela
