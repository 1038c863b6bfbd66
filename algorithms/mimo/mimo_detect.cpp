#include <tesela/algorithms/mimo/internal/search_tiles.hpp>
#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/codelets/mimo/detector.hpp>
#include <tesela/codelets/mimo/sphere_search.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/size_checks.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {

using namespace mimo;
namespace {

constexpr auto methods = named(kernels::mimo_method_rows);
constexpr auto orders = named(kernels::column_order_rows);

/// Returns whether the method needs `keep`.
bool keeps(MimoMethod method) { return row_of(method).usual_keep > 0; }

}  // namespace

std::span<const Named<MimoMethod>> mimo_methods() { return methods; }
std::span<const Named<ColumnOrder>> column_orders() { return orders; }

template <class T>
void mimo::check_search(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                        const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                        const MimoOptions& options) {
  check_shapes(shape, channels, y, alphabets);
  if (!(options.n0 >= 0) || !std::isfinite(options.n0)) refuse("n0", shortest(options.n0) + " is not a variance");
  if (!(options.radius >= 0) || !std::isfinite(options.radius)) refuse("radius", "must be finite and not negative");
  if (options.max_nodes < 0) refuse("max_nodes", std::to_string(options.max_nodes) + " is negative");
  if (options.batch < 0) refuse("batch", std::to_string(options.batch) + " is negative");
  const auto& row = row_of(options.method);
  if (!row.can.wide && shape.streams > shape.antennas)
    refuse("method", std::to_string(shape.streams) + " streams, " + std::to_string(shape.antennas) +
                         " antennas: " + row.name + " needs as many antennas; sd and mmse do not");
  if (options.keep < 0 || (keeps(options.method) && options.keep < 1))
    refuse("keep", std::to_string(options.keep) + "; 1 or more");
  if (!row.can.sphere && options.method != MimoMethod::brute)
    require_fixed_order(options.order, "other methods accept");
  if (options.method == MimoMethod::brute && candidates(alphabets) > most_brute_candidates)
    refuse("method", "brute force over " + shortest(candidates(alphabets)) + " candidates; at most 2^26");
}

template void mimo::check_search(const MimoShape&, const HostMatrix<std::complex<float>>&,
                                 const HostMatrix<std::complex<float>>&, const std::vector<Constellation>&,
                                 const MimoOptions&);
template void mimo::check_search(const MimoShape&, const HostMatrix<std::complex<double>>&,
                                 const HostMatrix<std::complex<double>>&, const std::vector<Constellation>&,
                                 const MimoOptions&);

double mimo::search_radius(const MimoShape& shape, const MimoOptions& options) {
  if (options.method == MimoMethod::babai) return 0;
  if (options.radius > 0 || options.method != MimoMethod::sd_plain) return options.radius;
  // The square of the radius: the expected noise plus three standard deviations.
  const auto m = static_cast<double>(shape.antennas);
  return std::sqrt(options.n0 * (m + 3 * std::sqrt(m)));
}

index_t Detection::uncertified() const {
  return std::count_if(reports.begin(), reports.end(),
                       [](const SearchReport& r) { return (r.flags & SearchReport::uncertified) != 0; });
}
index_t Detection::ties() const {
  return std::count_if(reports.begin(), reports.end(),
                       [](const SearchReport& r) { return (r.flags & SearchReport::tie) != 0; });
}

index_t Detection::failed() const {
  return std::count_if(reports.begin(), reports.end(),
                       [](const SearchReport& r) { return (r.flags & SearchReport::failed) != 0; });
}

void parse_mimo_method(const std::string& routine, const std::string& text, MimoOptions& options,
                       const std::string& option) {
  const NumberedName one = split_number(text);
  const auto method = find_named(mimo_methods(), one.name);
  const bool numbered = method && row_of(*method).keep != nullptr;
  if (!method || (one.colon && !(numbered && one.number)))
    throw ArgumentError(routine, option, "'" + text + "' is none of " + list_names(methods));
  if (one.number == 0) throw ArgumentError(routine, option, "'" + text + "' keeps nothing; 1 or more");
  options.method = *method;
  options.keep = one.number.value_or(row_of(*method).usual_keep);
}

double candidates(const std::vector<Constellation>& alphabets) {
  double product = 1;
  for (const Constellation& c : alphabets) product *= static_cast<double>(c.size());
  return product;
}

index_t suitable_mimo_batch(const Runtime& runtime, const MimoShape& shape) {
  if (runtime.gpus() == 0) return batch_on_cores(shape);
  // Each batch ends with the few signals that take long; therefore use few batches of many signals, but enough to
  // overlap transfers. The work space is a small part of the GPU's memory.
  constexpr index_t least = 65536, most = 1 << 20, parts = 8;
  const auto gpus = static_cast<index_t>(runtime.gpus()), memory = static_cast<index_t>(runtime.device_bytes()) / gpus;
  const index_t bytes = kernels::SphereSearch<double>::work_size(shape.antennas, shape.streams, true) * 8;
  const index_t share = std::max<index_t>(ceil_div(shape.signals, gpus), 64);
  const index_t wanted = std::clamp(share / parts, least, most), fits = std::max<index_t>(memory / 32 / bytes, 64);
  return fit_batch(std::min({wanted, fits, share}), shape);
}

template <class T>
void mimo_detect(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                 const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                 const MimoOptions& options, Detection& found) {
  if (alternates(alphabets))
    return mimo_detect(g, shape, channels, turned_back(y), constant_of(alphabets), options, found);
  check_search(shape, channels, y, alphabets, options);
  if (const Shape wanted{shape.streams, shape.signals}; found.labels.shape() != wanted)
    found.labels = HostMatrix<int>(wanted.rows, wanted.cols);
  found.reports.resize(static_cast<std::size_t>(shape.signals));
  if (shape.signals == 0) return require_finite("channels", channels, 0, channels.cols());
  Runtime& runtime = g.runtime();
  const bool brute = options.method == MimoMethod::brute, babai = options.method == MimoMethod::babai;
  const bool plain = options.method == MimoMethod::sd_plain;
  const double radius = search_radius(shape, options);
  const auto& can = row_of(options.method).can;
  const bool sphere = can.sphere, detector = !sphere && !brute, on_gpus = detector && can.gpu && runtime.gpus() > 0;
  if (options.form == SearchForm::real && detector && !can.real_form)
    refuse("form", "real; this method has only the complex form");
  const SearchLists lists =
      on_gpus ? lists_with_parts(alphabets) : lists_of(alphabets, can.real_form ? options.form : SearchForm::complex);
  typename kernels::Detector<T>::Args detecting{shape.streams, 1,          options.method, options.order, options.up,
                                                options.keep,  options.n0, lists.labels};
  const bool quick =
      on_gpus && kernels::GpuDetector<T>::takes(detecting, shape.antennas, lists.amplitudes, lists.most_amplitudes());
  const SearchTiles<T> tiles(runtime, shape, channels, y, lists,
                             options.batch > 0 || quick || sphere ? options.batch : batch_on_cores(shape));
  const index_t n = shape.streams, batch = tiles.batch, coherence = detecting.coherence = tiles.coherence;
  const auto L = TileMatrix<int>::map(runtime, found.labels.data(), n, shape.signals, n, {n, batch}, "s");
  const auto R =
      TileMatrix<SearchReport>::map(runtime, found.reports.data(), 1, shape.signals, 1, {1, batch}, "reports");
  const index_t work = kernels::SphereSearch<T>::work_size(shape.antennas, n, lists.real_form);
  const auto require_finite_batch = [&](index_t t) {
    const index_t width = n * tiles.together, first = tiles.block_of(t) * width;
    require_finite("channels", channels, first, std::min(width, channels.cols() - first));
    require_finite("y", y, t * batch, std::min(batch, shape.signals - t * batch));
  };
  for (index_t t = 0; t < tiles.y.nt(); ++t) {
    // On cores the check takes little time compared with the search, so it runs before. With GPUs the kernels check,
    // and the host does not delay them.
    if (runtime.gpus() == 0) require_finite_batch(t);
    const auto h = tiles.channels(t), received = tiles.y(0, t);
    const auto columns = tiles.columns(0, 0);
    const auto points = tiles.points(0, 0);
    // Batches are assigned to GPUs in turn: the transfer determines the time of a batch, and the scheduler's models do
    // not include transfer queues.
    const Priority gpu = on_gpu_number(static_cast<std::size_t>(t));
    if (brute)
      g.insert<kernels::BruteSearch<T>>({n, coherence, candidates(alphabets)}, h, received, columns, points, L(0, t),
                                        R(0, t));
    else if (quick)
      g.insert<kernels::GpuDetector<T>>(gpu, detecting, h, received, columns, points, L(0, t), R(0, t));
    else if (detector)
      g.insert<kernels::Detector<T>>(detecting, h, received, columns, points, L(0, t), R(0, t));
    else
      // Without models the scheduler would try whole batches on cores.
      g.insert<kernels::SphereSearch<T>>(gpu,
                                         {n, coherence, options.n0, radius, babai ? 1 : options.max_nodes,
                                          options.order, options.up, lists.real_form, plain, lists.labels},
                                         h, received, columns, points, L(0, t), R(0, t),
                                         g.scratch<T>(work, runtime.gpus() > 0 ? std::min(batch, shape.signals) : 1));
    if (runtime.gpus() > 0) g.bring_home(L(0, t)), g.bring_home(R(0, t));
  }
  g.wait();
  R.bring_home(), L.bring_home();
  // The tasks have checked their numbers; this finds the place of the wrong number.
  for (index_t t = 0; t < tiles.y.nt(); ++t)
    if ((found.reports[static_cast<std::size_t>(t * batch)].flags & SearchReport::not_finite) != 0)
      require_finite_batch(t);
  if (babai)
    for (SearchReport& r : found.reports) r.flags = 0;  // babai certifies nothing
}

template <class T>
Detection mimo_detect(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                      const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                      const MimoOptions& options) {
  Detection found;
  mimo_detect(g, shape, channels, y, alphabets, options, found);
  return found;
}

template Detection mimo_detect(Graph&, const MimoShape&, const HostMatrix<std::complex<float>>&,
                               const HostMatrix<std::complex<float>>&, const std::vector<Constellation>&,
                               const MimoOptions&);
template Detection mimo_detect(Graph&, const MimoShape&, const HostMatrix<std::complex<double>>&,
                               const HostMatrix<std::complex<double>>&, const std::vector<Constellation>&,
                               const MimoOptions&);

template void mimo_detect(Graph&, const MimoShape&, const HostMatrix<std::complex<float>>&,
                          const HostMatrix<std::complex<float>>&, const std::vector<Constellation>&, const MimoOptions&,
                          Detection&);
template void mimo_detect(Graph&, const MimoShape&, const HostMatrix<std::complex<double>>&,
                          const HostMatrix<std::complex<double>>&, const std::vector<Constellation>&,
                          const MimoOptions&, Detection&);

}  // namespace tesela
