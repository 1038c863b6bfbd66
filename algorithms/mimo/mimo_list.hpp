#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>

namespace tesela {

struct MimoListOptions {
  double radius = 0;  ///< 0: the nearest alone
  index_t most = 1000;
  ColumnOrder order = ColumnOrder::mmse_vblast;
  SearchForm form = SearchForm::automatic;
  double n0 = 0;            ///< of the orders mmse_…
  long long max_nodes = 0;  ///< after which a signal ends uncertified, 0: never
  index_t batch = 0;
};

/// What stands in spheres, of signal k in columns k most …: labels (rows x (most signals), -1 where there are no more),
/// distances ||y - H s|| (most x signals), and how many points each sphere has.
struct MimoList {
  HostMatrix<int> labels;
  HostMatrix<double> distances;
  std::vector<int> counts;
  std::vector<SearchReport> reports;  ///< a signal with dependent columns of integers has `failed`
};

/// All s with ||y - H s|| <= radius, nearest first, at most `most` of each signal; or the nearest s. Without alphabets
/// s is any vector of Gaussian integers: the closest lattice vector, rows being 2 streams then (real parts first, then
/// imaginary ones); with them rows are the streams' labels. On cores. Waits. Shapes and what is thrown as with
/// mimo_detect; `most` is 1 or more. (Fincke and Pohst, 1985; Agrell, Eriksson, Vardy and Zeger, 2002.)
template <class T>
MimoList mimo_list(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                   const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                   const MimoListOptions& options = {});

}  // namespace tesela
