#pragma once

#include <tesela/codelets/mimo/internal/warp_search.cuh>

struct CUstream_st;

// Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// Returns the number of signals up to which lanes have hardly more than one each: a long search of one signal is then
/// too slow.
inline index_t most_signals_per_pass(unsigned present) { return index_t{3072} * present; }

/// Runs the first part of search_in_shared_memory() if pairs_search() holds and the search is not bounded. Signals that
/// it does not finish are left as its lanes leave them. present: multiprocessors.
void search_paired_levels(const Lanes<float>& all, unsigned present, CUstream_st* stream);

}  // namespace tesela::kernels::mimo
