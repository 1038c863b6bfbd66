#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::bench {

/// z, rows x count in device memory, <- the first rows of the triangle's columns that `columns` names, zeros below its
/// diagonal. Does not wait.
void gather_columns(const double* triangle, index_t ld, const int* columns, index_t count, index_t rows, double* z);

}  // namespace tesela::bench
