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

/// Advances to the next permutation in lexicographic order. After the last one sets the first one and returns false.
bool next_permutation_of(std::span<int> permutation);

/// Steinhaus, Johnson and Trotter's order of permutations, each of which swaps two neighbours of the previous one. The
/// first is 0 … n - 1.
class NeighbourPermutations {
 public:
  explicit NeighbourPermutations(index_t n);
  const std::vector<int>& now() const { return now_; }
  /// Swaps places k and k + 1 and returns k; returns -1 after the last permutation, which is kept.
  index_t advance();

 private:
  std::vector<int> now_, toward_;  ///< direction in which each number moves: -1 or 1
};

}  // namespace tesela
