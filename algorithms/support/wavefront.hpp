#pragma once

#include <tesela/algorithms/support/schedule.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// Returns the names that make_wavefront accepts.
const std::vector<std::string>& wavefront_orders();

/// Returns whether make_wavefront accepts this name.
bool is_wavefront_order(std::string_view order);

/// Makes the order in which the entries of an n x n factorization become final if each entry is one sum, with i and j
/// from 1:
///
///     lu-wavefront         A = L U, unit L below the diagonal of U    stage i + j - 1
///     cholesky-wavefront   A = L L^T, entries on and below the diagonal    stage 2i - 1 on it, else 2 min(i, j)
///
/// Returns  a Schedule with 2n - 1 stages whose `eliminations` are the entries, with row and column min(i, j) as their
///          pivot. violation() proves that entry (i, j) comes after all (i, k) and (k, j) with k < min(i, j) in its sum
///          (Cholesky: (j, k) instead of (k, j)), and left of the diagonal after its divisor, the pivot (j, j).
/// Throws   ArgumentError for another order or n < 0.
Schedule make_wavefront(std::string_view order, index_t n);

}  // namespace tesela
