#include "tests/support/files.hpp"
#include <tesela/algorithms/mimo/permutations.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

using namespace tesela;
using namespace tesela::test;

TEST_CASE("rank, unrank and next of permutations agree, in lexicographic order from 0") {
  for (index_t n = 0; n <= 7; ++n) {
    std::vector<int> p(static_cast<std::size_t>(n)), before;
    std::iota(p.begin(), p.end(), 0);
    std::uint64_t rank = 0;
    for (bool more = true; more; ++rank) {
      CHECK(permutation_rank(p) == rank);
      CHECK(permutation_of_rank(n, rank) == p);
      if (rank > 0) CHECK(before < p);
      before = p;
      more = next_permutation_of(p);
    }
    CHECK(std::is_sorted(p.begin(), p.end()));  // starts again with the first
    CHECK(rank == static_cast<std::uint64_t>(std::tgamma(double(n + 1)) + 0.5));
  }
  const std::vector<int> last{19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  CHECK(permutation_rank(last) == 2432902008176639999u);
  CHECK(permutation_of_rank(20, 2432902008176639999u) == last);
}

TEST_CASE("neighbouring permutations differ by one swap, and each permutation occurs once") {
  for (index_t n = 0; n <= 7; ++n) {
    NeighbourPermutations all(n);
    std::set<std::vector<int>> seen{all.now()};
    for (;;) {
      std::vector<int> before = all.now();
      const index_t k = all.advance();
      if (k < 0) {
        CHECK(before == all.now());
        break;
      }
      std::swap(before[std::size_t(k)], before[std::size_t(k + 1)]);
      CHECK(before == all.now());
      CHECK(seen.insert(before).second);
    }
    CHECK(seen.size() == static_cast<std::size_t>(std::tgamma(double(n + 1)) + 0.5));
  }
}

TEST_CASE("invalid permutations are refused") {
  for (const std::vector<int>& wrong : {std::vector<int>{0, 0}, {1, 2}, {-1, 0}, std::vector<int>(21)})
    CHECK_THROWS_AS(permutation_rank(wrong), ArgumentError);
  CHECK_THROWS_AS(permutation_of_rank(3, 6), ArgumentError);
  CHECK_THROWS_AS(permutation_of_rank(21, 0), ArgumentError);
  CHECK_THROWS_AS(NeighbourPermutations(-1), ArgumentError);
}
