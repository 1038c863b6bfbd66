#pragma once

#include <tesela/runtime/types.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela {

/// Returns the staircase of `a`, for `ends` of QrOptions, GivensOptions and make_schedule: for each column the row
/// after its last nonzero element (NaN counts as nonzero). Returns an empty vector if every column ends in the last
/// row.
template <class T>
std::vector<index_t> column_ends(const HostMatrix<T>& a);

/// Throws ArgumentError, naming the routine, unless `ends` is empty or has an element 0 ... m for each of n columns.
void require_column_ends(const char* routine, const std::vector<index_t>& ends, index_t m, index_t n);

}  // namespace tesela
