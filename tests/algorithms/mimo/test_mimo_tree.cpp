#include "tests/support/files.hpp"
#include "tests/support/mimo.hpp"
#include <tesela/algorithms/mimo/mimo_tree.hpp>

using namespace tesela::test;

TEMPLATE_TEST_CASE("a search tree has the nodes of the search and ends at its result", "", float, double) {
  for (const char* const names : {"16qam", "8psk"})
    for (const MimoMethod method : {MimoMethod::sd, MimoMethod::sd_plain, MimoMethod::babai})
      for (const ColumnOrder order : {ColumnOrder::mmse_vblast, ColumnOrder::gradient, ColumnOrder::su_wassell}) {
        const auto p = problem<TestType>({3, 3, 12, 4}, names, "rayleigh", 8);
        const MimoOptions options{.method = method, .order = order, .n0 = p.n0};
        const Detection found = detect(p, options);
        for (index_t k = 0; k < 12; ++k) {
          CAPTURE(names, int(method), int(order), k);
          const SearchTree tree = mimo_search_tree(p.shape, p.h, p.y, p.alphabets, options, k);
          CHECK(tree.levels.size() == (p.alphabets[0].size() == 8 ? 3u : 6u));
          // GPUs count nodes differently.
          if (runtime().gpus() == 0)
            CHECK(static_cast<long long>(tree.nodes.size()) == found.reports[std::size_t(k)].nodes);
          int last = -1;
          for (std::size_t e = 0; e < tree.nodes.size(); ++e) {
            const VisitedNode& node = tree.nodes[e];
            REQUIRE(node.parent < int(e));
            if (node.parent >= 0) {
              const VisitedNode& above = tree.nodes[std::size_t(node.parent)];
              REQUIRE(above.level == node.level + 1);
              REQUIRE(above.distance <= node.distance * (1 + 1e-5));
            } else {
              REQUIRE(node.level == int(tree.levels.size()) - 1);
            }
            if (node.best) last = int(e);
          }
          REQUIRE(last >= 0);
          const double distance = found.reports[std::size_t(k)].distance;
          CHECK(std::abs(tree.nodes[std::size_t(last)].distance - distance) <= 1e-4 * distance);  // H is square
        }
      }
}

TEST_CASE("invalid arguments of a search tree are refused") {
  const auto p = problem<double>({2, 2, 3, 1}, "qpsk", "rayleigh", 8);
  const auto refused = [&](const std::string& why, const MimoOptions& options, index_t signal) {
    check_throws<ArgumentError>(why, [&] { mimo_search_tree(p.shape, p.h, p.y, p.alphabets, options, signal); });
  };
  refused("there are 3", {}, 3);
  refused("there are 3", {}, -1);
  refused("that can be shown", {.method = MimoMethod::zf}, 0);
}
