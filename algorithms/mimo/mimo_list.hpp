#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>

namespace tesela {

/// Options of mimo_list.
struct MimoListOptions {
  double radius = 0;  ///< radius of the sphere; 0: only the nearest point
  /// Largest number of points per signal.
  index_t most = 1000;
  ColumnOrder order = ColumnOrder::mmse_vblast;
  SearchForm form = SearchForm::automatic;
  double n0 = 0;            ///< noise variance for the mmse_ orders
  long long max_nodes = 0;  ///< nodes after which a signal ends uncertified; 0: no limit
  index_t batch = 0;        ///< signals per task; 0: automatic
};

/// The points in the spheres. Signal k has columns k most …: labels (rows x (most signals), -1 after the last point),
/// distances ||y - H s|| (most x signals), and the number of points.
struct MimoList {
  HostMatrix<int> labels;
  HostMatrix<double> distances;
  std::vector<int> counts;            ///< number of points of each signal
  std::vector<SearchReport> reports;  ///< `failed` for a signal with dependent columns of integers
};

/// Returns all s with ||y - H s|| <= radius, nearest first, at most `most` per signal; or the nearest s.
///
/// alphabets  the streams' constellations; rows of the result are their labels. Empty: s is any vector of Gaussian
///            integers (closest lattice vector), with rows for the real parts, then for the imaginary parts.
/// Throws     ArgumentError as mimo_detect, and for most < 1.
/// Waits      for the graph, which runs on cores.
/// Method     Fincke and Pohst, 1985; Agrell, Eriksson, Vardy and Zeger, 2002.
template <class T>
MimoList mimo_list(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                   const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                   const MimoListOptions& options = {});

}  // namespace tesela
