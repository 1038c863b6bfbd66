#pragma once

#include <tesela/codelets/mimo/internal/shared_search.cuh>

struct CUstream_st;

// Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// Returns the number of signals up to which lanes have hardly more than one each: a long search of one signal is then
/// too slow.
inline index_t few_pairs(unsigned present) { return index_t{3072} * present; }

/// Runs the first part of search_all_quickly() if pairs_search() holds and the search is not bounded. Signals that it
/// does not finish are left as its lanes leave them. present: multiprocessors.
void search_in_pairs(const Lanes<float>& all, unsigned present, CUstream_st* stream);

}  // namespace tesela::kernels::mimo
