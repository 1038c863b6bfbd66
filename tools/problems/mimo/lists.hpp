#pragma once

#include "tools/problems/mimo/mimo_problem.hpp"

namespace tesela::cli {

/// Options of mimo detect that ask for points in spheres, or for the closest lattice vectors.
struct ListChoice {
  double within = 0;
  index_t most = 1000;
  std::string out_within, out_points;
};

/// Runs mimo_list instead of a detector: reports how many points there are, and writes them.
template <class T>
int run_lists(const CommonOptions& common, const ListChoice& choice, const MimoOptions& search,
              const MimoSource<T>& source, Report& report);

}  // namespace tesela::cli
