#include <tesela/algorithms/mimo/internal/search_tiles.hpp>
#include <tesela/algorithms/mimo/mimo_tree.hpp>

namespace tesela {

using namespace mimo;

template <class T>
SearchTree mimo_search_tree(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                            const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                            const MimoOptions& options, index_t signal) {
  if (alternates(alphabets))
    return mimo_search_tree(shape, channels, turned_back(y), constant_of(alphabets), options, signal);
  check_search(shape, channels, y, alphabets, options);
  require_finite("channels", channels, 0, channels.cols());
  require_finite("y", y, 0, y.cols());
  const bool babai = options.method == MimoMethod::babai, plain = options.method == MimoMethod::sd_plain;
  if (!row_of(options.method).can.sphere)
    refuse("method", "only sd, sd-plain and babai search a tree that can be shown");
  if (signal < 0 || signal >= shape.signals)
    refuse("signal", std::to_string(signal) + "; there are " + std::to_string(shape.signals) + ", from 0 on");
  const SearchLists lists = lists_of(alphabets, options.form);
  const index_t n = shape.streams;
  const Block<const std::complex<T>> h{&channels(0, shape.channel_of(signal) * n), shape.antennas, n, channels.ld()};
  SearchTree tree;
  tree.nodes = kernels::trace_search<T>({n, 1, options.n0, search_radius(shape, options), babai ? 1 : options.max_nodes,
                                         options.order, options.up, lists.real_form, plain, lists.labels},
                                        h, &y(0, signal), lists.columns.data(), lists.points.data());
  tree.levels.resize(static_cast<std::size_t>(lists.columns.cols()));
  for (const VisitedNode& node : tree.nodes) {
    std::string& name = tree.levels[static_cast<std::size_t>(node.level)];
    name = !lists.real_form ? "s" : node.column < n ? "Re s" : "Im s";
    name += std::to_string(node.column % n + 1);
  }
  return tree;
}

template SearchTree mimo_search_tree(const MimoShape&, const HostMatrix<std::complex<float>>&,
                                     const HostMatrix<std::complex<float>>&, const std::vector<Constellation>&,
                                     const MimoOptions&, index_t);
template SearchTree mimo_search_tree(const MimoShape&, const HostMatrix<std::complex<double>>&,
                                     const HostMatrix<std::complex<double>>&, const std::vector<Constellation>&,
                                     const MimoOptions&, index_t);

}  // namespace tesela
