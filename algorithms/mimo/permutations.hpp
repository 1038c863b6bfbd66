#pragma once

#include <tesela/runtime/types.hpp>

#include <cstdint>
#include <span>
#include <vector>

// Permutations of 0 … n - 1, n <= 20, by their numbers, without a list of all permutations.

namespace tesela {

/// Returns the number of a permutation in lexicographic order, from 0. Throws ArgumentError if it is not a permutation,
/// or longer than 20.
std::uint64_t permutation_rank(std::span<const int> permutation);

/// Returns the permutation of a number. Throws ArgumentError for n > 20 and for numbers from n! on.
std::vector<int> permutation_of_rank(index_t n, std::uint64_t rank);

}  // namespace tesela
