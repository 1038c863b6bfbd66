#include "tests/support/test.hpp"
#include <tesela/algorithms/econometrics/reuse_tree.hpp>
#include <tesela/codelets/econometrics/equation_givens.hpp>

#include <random>

using namespace tesela;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double cost_of(const HostMatrix<double>& costs, const std::vector<index_t>& parents) {
  double sum = 0;
  for (std::size_t j = 1; j < parents.size(); ++j) {
    if (parents[j] < 0) return infinity;
    sum += costs(parents[j], static_cast<index_t>(j));
    std::size_t steps = 0;
    for (index_t v = parents[j]; v > 0; v = parents[static_cast<std::size_t>(v)])
      if (++steps > parents.size()) return infinity;  // a cycle
  }
  return sum;
}

/// Returns the least cost over all trees by enumeration.
double least_cost(const HostMatrix<double>& costs) {
  const index_t n = costs.rows();
  std::vector<index_t> parents(static_cast<std::size_t>(n), 0);
  parents[0] = -1;
  double least = infinity;
  for (;;) {
    bool good = true;
    for (std::size_t j = 1; j < parents.size(); ++j) good = good && parents[j] != static_cast<index_t>(j);
    if (good) least = std::min(least, cost_of(costs, parents));
    std::size_t j = 1;
    while (j < parents.size() && ++parents[j] == n) parents[j++] = 0;
    if (j == parents.size()) return least;
  }
}

}  // namespace

TEST_CASE("the tree found has the least cost of all trees") {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> cost(1, 20);
  for (const index_t n : {1, 2, 3, 4, 5, 6})
    for (int trial = 0; trial < 60; ++trial) {
      HostMatrix<double> costs(n, n);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < n; ++i)
          costs(i, j) = i == 0 ? 10 + cost(random) : trial % 3 == 0 && cost(random) < 6 ? infinity : cost(random);
      const auto parents = minimum_cost_tree(costs);
      CAPTURE(n, trial);
      CHECK(parents[0] == -1);
      if (n > 1) CHECK(cost_of(costs, parents) == least_cost(costs));
    }
  CHECK(minimum_cost_tree(HostMatrix<double>(0, 0)).empty());
  CHECK_THROWS_AS(minimum_cost_tree(HostMatrix<double>(2, 3)), ArgumentError);
}

TEST_CASE("nested equations start from the largest, other equations from the data") {
  constexpr index_t K = 40;
  SimultaneousModel nested{K, 0, {{K, {}}, {K + 1, {}}, {K + 2, {}}}};
  for (index_t c = 0; c < 30; ++c)
    for (std::size_t i = 0; i < 3; ++i)
      if (c < 30 - 2 * static_cast<index_t>(i)) nested.equations[i].regressors.push_back(c + 10);
  const ReuseTree tree = reuse_tree(nested);
  CHECK(std::count(tree.parents.begin(), tree.parents.end(), -1) == 1);
  CHECK(tree.flops_reused < 0.6 * tree.flops_alone);
  double alone = 0;
  for (const Equation& e : nested.equations) {
    std::vector<int> heights;
    for (const index_t c : e.regressors) heights.push_back(static_cast<int>(c + 1));
    alone += kernels::staircase_rotation_flops(heights.data(), static_cast<index_t>(heights.size()), 1);
  }
  CHECK(tree.flops_alone == alone);

  // One column less: rotations for the two columns after it, and the parent's rotations for the other dependent
  // variable.
  const SimultaneousModel without{6, 0, {{7, {1, 3, 5}}, {8, {3, 5}}}};
  ReuseTree small = reuse_tree(without);
  CHECK(small.parents == std::vector<index_t>{-1, 0});
  CHECK(small.flops_alone == 6 * (1 * 4 + 2 * 3 + 3 * 2) + 6 * (3 * 3 + 4 * 2));
  CHECK(small.flops_reused == 6 * (1 * 5 + 2 * 4 + 3 * 3) + 6 * (1 * 3 + 1 * 2));

  // One column more at the end: it and the other dependent variable need the parent's rotations.
  small = reuse_tree({6, 0, {{7, {1, 3, 5}}, {8, {1, 3}}}});
  CHECK(small.parents == std::vector<index_t>{1, -1});
  CHECK(small.flops_reused == 6 * (1 * 5 + 2 * 4) + 6 * 3 * 2);

  const SimultaneousModel apart{9, 0, {{9, {0, 1, 4}}, {10, {2, 3, 8}}}};
  const ReuseTree none = reuse_tree(apart);
  CHECK(none.parents == std::vector<index_t>{-1, -1});
  CHECK(none.flops_reused == none.flops_alone);
  CHECK(reuse_tree({4, 0, {}}).parents.empty());
}
