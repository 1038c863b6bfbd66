#include <tesela/algorithms/mimo/permutations.hpp>
#include <tesela/runtime/errors.hpp>

#include <algorithm>
#include <numeric>
#include <string>

namespace tesela {
namespace {

constexpr index_t most = 20;  // 21! needs more than 64 bits

std::uint64_t factorial(index_t n) {
  std::uint64_t product = 1;
  for (index_t k = 2; k <= n; ++k) product *= static_cast<std::uint64_t>(k);
  return product;
}

void require_length(const char* routine, index_t n) {
  if (n < 0 || n > most) throw ArgumentError(routine, "n", std::to_string(n) + "; 0 to 20");
}

}  // namespace

std::uint64_t permutation_rank(std::span<const int> permutation) {
  const auto n = static_cast<index_t>(permutation.size());
  require_length("permutation_rank", n);
  std::vector<bool> seen(permutation.size());
  std::uint64_t rank = 0;
  for (index_t i = 0; i < n; ++i) {
    const int value = permutation[static_cast<std::size_t>(i)];
    if (value < 0 || value >= n || seen[static_cast<std::size_t>(value)])
      throw ArgumentError("permutation_rank", "permutation",
                          std::to_string(value) + " at place " + std::to_string(i) + " is out of range or repeated");
    seen[static_cast<std::size_t>(value)] = true;
    const auto smaller = std::count(seen.begin(), seen.begin() + value, false);  // smaller numbers that come later
    rank += static_cast<std::uint64_t>(smaller) * factorial(n - 1 - i);
  }
  return rank;
}

std::vector<int> permutation_of_rank(index_t n, std::uint64_t rank) {
  require_length("permutation_of_rank", n);
  if (rank >= factorial(n))
    throw ArgumentError("permutation_of_rank", "rank",
                        std::to_string(rank) + " of " + std::to_string(factorial(n)) + " permutations");
  std::vector<int> left(static_cast<std::size_t>(n)), permutation;
  std::iota(left.begin(), left.end(), 0);
  for (index_t i = 0; i < n; ++i) {
    const std::uint64_t share = factorial(n - 1 - i);
    const auto at = left.begin() + static_cast<std::ptrdiff_t>(rank / share);
    permutation.push_back(*at);
    left.erase(at);
    rank %= share;
  }
  return permutation;
}

bool next_permutation_of(std::span<int> permutation) {
  return std::next_permutation(permutation.begin(), permutation.end());
}

NeighbourPermutations::NeighbourPermutations(index_t n) {
  require_length("NeighbourPermutations", n);
  now_.resize(static_cast<std::size_t>(n));
  std::iota(now_.begin(), now_.end(), 0);
  toward_.assign(now_.size(), -1);
}

index_t NeighbourPermutations::advance() {
  // Find the largest number that can move towards a smaller one.
  const auto n = static_cast<index_t>(now_.size());
  const auto at = [&](index_t k) { return static_cast<std::size_t>(k); };
  index_t from = -1;
  for (index_t k = 0; k < n; ++k) {
    const index_t to = k + toward_[at(now_[at(k)])];
    if (to < 0 || to >= n || now_[at(to)] > now_[at(k)]) continue;
    if (from < 0 || now_[at(k)] > now_[at(from)]) from = k;
  }
  if (from < 0) return -1;
  const int moved = now_[at(from)];
  const index_t to = from + toward_[at(moved)];
  std::swap(now_[at(from)], now_[at(to)]);
  for (int larger = moved + 1; larger < static_cast<int>(n); ++larger) toward_[at(larger)] *= -1;
  return std::min(from, to);
}

}  // namespace tesela
