#pragma once

#include <tesela/runtime/types.hpp>

#include <cstdint>
#include <span>
#include <vector>

// Permutations of 0 … n - 1, n <= 20, by their numbers: a list of all of them is never needed.

namespace tesela {

/// The number of a permutation among all in lexicographic order, from 0. Throws ArgumentError where it is none, or
/// longer than 20.
std::uint64_t permutation_rank(std::span<const int> permutation);

/// The permutation of that number. Throws ArgumentError for n beyond 20 and for numbers from n! on.
std::vector<int> permutation_of_rank(index_t n, std::uint64_t rank);

/// Makes it the next one in lexicographic order; after the last one the first, and answers false.
bool next_permutation_of(std::span<int> permutation);

/// Steinhaus, Johnson and Trotter's order, in which each permutation swaps two neighbours of the one before: first 0 …
/// n - 1, then what advance() makes of it.
class NeighbourPermutations {
 public:
  explicit NeighbourPermutations(index_t n);
  const std::vector<int>& now() const { return now_; }
  /// Swaps places k and k + 1 and answers k; -1 after the last permutation, which stays.
  index_t advance();

 private:
  std::vector<int> now_, toward_;  ///< which way each number moves: -1, 1
};

}  // namespace tesela
