#include <tesela/algorithms/mimo/internal/search_lists.hpp>
#include <tesela/algorithms/mimo/mimo_soft.hpp>

#include <cmath>

namespace tesela {

using namespace mimo;
namespace {

constexpr Named<SoftKind> kinds[] = {
    {SoftKind::sts, "sts", "one tree search, exact max-log"},
    {SoftKind::rts, "rts", "a search for each value of each bit: the same"},
    {SoftKind::max_log, "max-log", "by a look at all candidates: the same"},
    {SoftKind::app, "app", "sums over all candidates"},
    {SoftKind::mmse, "mmse", "of each stream's linear estimate"},
};

constexpr double most_looks = 1 << 20;

}  // namespace

std::span<const Named<SoftKind>> soft_kinds() { return kinds; }

template <class T>
SoftDetection<T> mimo_soft(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                           const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                           const SoftOptions& options) {
  check_model(shape, channels, y, alphabets);
  if (!(options.n0 > 0) || !std::isfinite(options.n0))
    refuse("n0", std::to_string(options.n0) + "; bits' likelihoods need a variance above 0");
  if (!(options.clip >= 0)) refuse("clip", std::to_string(options.clip) + " is negative");
  const bool looks = options.kind == SoftKind::max_log || options.kind == SoftKind::app;
  if (looks && candidates(alphabets) > most_looks)
    refuse("kind", std::to_string(candidates(alphabets)) + " candidates; at most 2^20");
  if (options.order == ColumnOrder::gradient || options.order == ColumnOrder::su_wassell ||
      options.order == ColumnOrder::best)
    refuse("order", "gradient, su-wassell and best are sd's alone");
  index_t bits = 0;
  for (const Constellation& c : alphabets) bits += c.bits();
  SoftDetection<T> found{HostMatrix<T>(bits, shape.signals),
                         std::vector<double>(static_cast<std::size_t>(shape.signals))};
  if (shape.signals == 0) return found;
  const bool searches = options.kind == SoftKind::sts || options.kind == SoftKind::rts;
  const SearchLists lists = lists_of(alphabets, searches ? options.form : SearchForm::complex);
  const SearchTiles<T> tiles(g.runtime(), shape, channels, y, lists, options.batch);
  const auto L =
      TileMatrix<T>::map(g.runtime(), found.llrs.data(), bits, shape.signals, bits, {bits, tiles.batch}, "L");
  const auto nodes =
      TileMatrix<double>::map(g.runtime(), found.nodes.data(), 1, shape.signals, 1, {1, tiles.batch}, "nodes");
  for (index_t t = 0; t < tiles.y.nt(); ++t)
    g.insert<kernels::SoftDetector<T>>({shape.streams, tiles.coherence, options.kind, options.order, lists.real_form,
                                        options.n0, options.clip, lists.labels},
                                       tiles.channels(t), tiles.y(0, t), tiles.columns(0, 0), tiles.points(0, 0),
                                       L(0, t), nodes(0, t));
  g.wait();
  return found;
}

template SoftDetection<float> mimo_soft(Graph&, const MimoShape&, const HostMatrix<std::complex<float>>&,
                                        const HostMatrix<std::complex<float>>&, const std::vector<Constellation>&,
                                        const SoftOptions&);
template SoftDetection<double> mimo_soft(Graph&, const MimoShape&, const HostMatrix<std::complex<double>>&,
                                         const HostMatrix<std::complex<double>>&, const std::vector<Constellation>&,
                                         const SoftOptions&);

}  // namespace tesela
