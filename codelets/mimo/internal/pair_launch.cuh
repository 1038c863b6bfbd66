#pragma once

#include <tesela/codelets/mimo/internal/shared_search.cuh>

struct CUstream_st;

// Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// Up to so many signals lanes have hardly more than one each: then it does not pay to go on for long with one of them.
inline index_t few_pairs(unsigned present) { return index_t{3072} * present; }

/// The first part of search_all_quickly() where pairs_search() and nothing bounds a search: signals that it does not
/// end are left as its lanes leave them. present: multiprocessors.
void search_in_pairs(const Lanes<float>& all, unsigned present, CUstream_st* stream);

}  // namespace tesela::kernels::mimo
