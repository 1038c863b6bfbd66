#pragma once

#include <tesela/algorithms/support/schedule.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// The names that make_wavefront takes.
const std::vector<std::string>& wavefront_orders();

/// Whether this is one of them.
bool is_wavefront_order(std::string_view order);

/// In which order the entries of a factorization become final when each of them is one sum, n x n, with i and j from 1:
///
///     lu-wavefront         A = L U, unit L below the diagonal of U    stage i + j - 1
///     cholesky-wavefront   A = L L^T, entries on and below the diagonal    stage 2i - 1 on it, else 2 min(i, j)
///
/// Both have 2n - 1 stages. A Schedule whose `eliminations` are the entries, each with row and column min(i, j) as its
/// pivot; violation() proves it: entry (i, j) comes after all (i, k) and (k, j), k < min(i, j), that its sum takes (in
/// Cholesky (j, k) for the latter), and left of the diagonal after the pivot (j, j) that it is divided by.
/// Throws ArgumentError for another order or n < 0.
Schedule make_wavefront(std::string_view order, index_t n);

}  // namespace tesela
