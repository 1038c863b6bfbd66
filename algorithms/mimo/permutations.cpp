#include <tesela/algorithms/mimo/orderings.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <numeric>

namespace tesela {
namespace {

constexpr index_t most = 20;  // 21! needs more than 64 bits

std::uint64_t factorial(index_t n) {
  std::uint64_t product = 1;
  for (index_t k = 2; k <= n; ++k) product *= static_cast<std::uint64_t>(k);
  return product;
}

void require_length(const char* routine, index_t n) { require(n >= 0 && n <= most, routine, "n", n, "; 0 to 20"); }

}  // namespace

std::uint64_t permutation_rank(std::span<const int> permutation) {
  const auto n = static_cast<index_t>(permutation.size());
  require_length("permutation_rank", n);
  std::vector<bool> seen(permutation.size());
  std::uint64_t rank = 0;
  for (index_t i = 0; i < n; ++i) {
    const int value = permutation[static_cast<std::size_t>(i)];
    require(value >= 0 && value < n && !seen[static_cast<std::size_t>(value)], "permutation_rank", "permutation", value,
            " at place ", i, " is out of range or repeated");
    seen[static_cast<std::size_t>(value)] = true;
    const auto smaller = std::count(seen.begin(), seen.begin() + value, false);  // smaller numbers that come later
    rank += static_cast<std::uint64_t>(smaller) * factorial(n - 1 - i);
  }
  return rank;
}

std::vector<int> permutation_of_rank(index_t n, std::uint64_t rank) {
  require_length("permutation_of_rank", n);
  require(rank < factorial(n), "permutation_of_rank", "rank", rank, " of ", factorial(n), " permutations");
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

}  // namespace tesela
