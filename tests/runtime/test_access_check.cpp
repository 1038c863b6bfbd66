#include "tests/support/shared_runtime.hpp"
#include "tests/support/toy_kernels.hpp"
#include "tests/support/variable.hpp"
#include <tesela/runtime/graph.hpp>

// TESELA_CHECK=1: a codelet asks for the variable when it is made, so the program sets it before its first test.

using namespace tesela::test;

namespace {

const Variable checked("TESELA_CHECK", "1");

/// Reads the tile that it takes as Out.
struct ReadsOut {
  static constexpr auto name = "test_reads_out";
  struct Args {};
  static void cpu(const Args&, Out<double> a) { a(0, 0) += 1; }
};

/// Writes every element but the last.
struct LeavesOut {
  static constexpr auto name = "test_leaves_out";
  struct Args {};
  static void cpu(const Args&, Out<int> a) {
    for (index_t i = 0; i + 1 < a.rows; ++i) a(i, 0) = 7;
  }
};

/// Changes one element of the tile that it takes as In.
struct WritesIn {
  static constexpr auto name = "test_writes_in";
  struct Args {
    index_t i = 0, j = 0;
  };
  static void cpu(const Args& args, InOut<int>, In<float> a) { const_cast<float&>(a(args.i, args.j)) = 3; }
};

/// Writes one tile of a list of In.
struct WritesList {
  static constexpr auto name = "test_writes_list";
  struct Args {
    std::size_t tile = 0;
  };
  static void cpu(const Args& args, Out<int> x, std::span<const In<double>> tiles) {
    *x.data = 1;
    const_cast<double&>(*tiles[args.tile].data) = 5;
  }
};

/// Returns by its Out whether the work space begins with NaN.
struct SeesScratch {
  static constexpr auto name = "test_sees_scratch";
  struct Args {};
  static void cpu(const Args&, Scratch<double> work, Out<int> found) {
    *found.data = 1;
    for_each_element(work, [&](double& x) {
      if (!std::isnan(x)) *found.data = 0;
      x = 0;
    });
  }
};

}  // namespace

CORES_TEST_CASE("reading an Out tile gives NaN, and elements that a kernel does not write are visible") {
  const TileMatrix<double> A(runtime, 2, 2, {2, 2});
  const TileMatrix<int> B(runtime, 3, 1, {3, 1});
  Graph g(runtime);
  g.insert<Set<double>>({1}, A(0, 0));
  g.insert<ReadsOut>({}, A(0, 0));
  g.insert<Set<int>>({1}, B(0, 0));
  g.insert<LeavesOut>({}, B(0, 0));
  REQUIRE(g.wait().ok());
  const auto a = A(0, 0).read();
  for_each_element(a, [](double x) { CHECK(std::isnan(x)); });
  const auto b = B(0, 0).read();
  CHECK(b(1, 0) == 7);
  CHECK(b(2, 0) == -1);
}

CORES_TEST_CASE("a kernel that changes an In tile is named with the element") {
  std::vector<float> memory(5 * 3, 1);  // leading dimension 5
  const auto A = TileMatrix<float>::map(runtime, memory.data(), 4, 3, 5, {4, 3});
  const TileMatrix<int> B(runtime, 1, 1, {1, 1});
  Graph g(runtime);
  g.insert<Set<int>>({1}, B(0, 0));
  g.insert<WritesIn>({2, 1}, B(0, 0), A(0, 0));
  CHECK_THROWS_MATCHES(g.wait(), EnvironmentError,
                       MessageMatches(ContainsSubstring("test_writes_in") && ContainsSubstring("element (2, 1)") &&
                                      ContainsSubstring("tile 1, which it takes as In")));
}

CORES_TEST_CASE("every tile of a list is checked") {
  const TileMatrix<double> A(runtime, 3, 1, {1, 1});
  const TileMatrix<int> x(runtime, 1, 1, {1, 1});
  Graph g(runtime);
  for (index_t i = 0; i < 3; ++i) g.insert<Set<double>>({double(i)}, A(i, 0));
  const std::vector<Tile<double>> tiles{A(0, 0), A(1, 0), A(2, 0)};
  g.insert<WritesList>({2}, x(0, 0), tiles);
  CHECK_THROWS_MATCHES(g.wait(), EnvironmentError,
                       MessageMatches(ContainsSubstring("test_writes_list") && ContainsSubstring("of tile 3,")));
}

CORES_TEST_CASE("work space begins with NaN in every task") {
  const TileMatrix<int> found(runtime, 2, 1, {1, 1});
  Graph g(runtime);
  for (index_t i = 0; i < 2; ++i) g.insert<SeesScratch>({}, g.scratch<double>(3, 2), found(i, 0));
  REQUIRE(g.wait().ok());
  for (index_t i = 0; i < 2; ++i) CHECK(*found(i, 0).read().data == 1);
}

CORES_TEST_CASE("correct kernels pass the check: all modes, reductions, tiles without elements") {
  const TileMatrix<double> A(runtime, 3, 1, {2, 1});
  Graph g(runtime);
  g.reduction<Set<double>, Combine<double>>(A(0, 0));
  g.insert<Set<double>>({1}, A(0, 0));
  g.insert<Contribute<double>>({2}, A(0, 0));
  g.insert<Contribute<double>>({3}, A(0, 0));
  g.insert<Set<double>>({4}, A(1, 0));
  g.insert<AddAnyOrder<double>>({1}, A(1, 0));
  g.insert<Affine<double>>({2, 1}, A(1, 0));
  REQUIRE(g.wait().ok());
  CHECK(A(0, 0).read()(1, 0) == 6);
  CHECK(A(1, 0).read()(0, 0) == 11);
}
