#include <tesela/codelets/mimo/internal/paired_level_launch.cuh>
#include <tesela/codelets/mimo/internal/paired_level_search.cuh>

#include <algorithm>

namespace tesela::kernels::mimo {
namespace {

template <int N>
void launch(const Lanes<float>& all, unsigned present, CUstream_st* stream) {
  // Steps: five times the mean at usual noise, or twenty times.
  const int budget = all.signals < most_signals_per_pass(present) ? 40 * N : 160 * N;
  const auto blocks = static_cast<unsigned>(ceil_div(all.signals, static_cast<index_t>(pair_threads)));
  prepare_pairs<N><<<blocks, pair_threads, 0, stream>>>(all);
  const auto needed = static_cast<unsigned>(ceil_div(all.signals, static_cast<index_t>(warp_lanes)));
  const unsigned warps = std::min(needed, 24 * present);
  search_pairs<N><<<warps, warp_lanes, 0, stream>>>(all, budget);
}

}  // namespace

void search_paired_levels(const Lanes<float>& all, unsigned present, CUstream_st* stream) {
  switch (all.view.streams) {
    case 2:
      return launch<2>(all, present, stream);
    case 3:
      return launch<3>(all, present, stream);
    case 4:
      return launch<4>(all, present, stream);
    case 5:
      return launch<5>(all, present, stream);
    default:
      return launch<6>(all, present, stream);
  }
}

}  // namespace tesela::kernels::mimo
