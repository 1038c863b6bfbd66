#include "tests/support/ranks.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <array>

// ScaLAPACK's local arrays in place. Each rank runs the cases with the tag [.rank]; the other cases start them.

using namespace tesela::test;

namespace {

/// y += x
struct AddTo {
  static constexpr auto name = "test_add_to";
  struct Args {};
  static void cpu(const Args&, In<double> x, InOut<double> y) {
    for (index_t j = 0; j < y.cols; ++j)
      for (index_t i = 0; i < y.rows; ++i) y(i, j) += x(i, j);
  }
};

constexpr double sentinel = -1e300;

/// The part of the matrix i + 1000 j on this rank, with three rows of padding.
struct Local {
  BlockCyclic part;
  index_t ld;
  std::vector<double> a;
  Local(const Runtime& runtime, Shape whole, TileShape tile)
      : part(runtime, whole, tile),
        ld(part.local().rows + 3),
        a(static_cast<std::size_t>(ld * (part.local().cols + 1)), sentinel) {
    for_each([](double& x, index_t i, index_t j) { x = static_cast<double>(i + 1000 * j); });
  }
  template <class F>
  void for_each(F f) {
    for (index_t j = 0; j < part.local().cols; ++j)
      for (index_t i = 0; i < part.local().rows; ++i)
        f(a[static_cast<std::size_t>(i + j * ld)], part.rows.global(i), part.columns.global(j));
  }
  bool padding_stands() const {
    for (std::size_t k = 0; k < a.size(); ++k) {
      const auto row = static_cast<index_t>(k) % ld, column = static_cast<index_t>(k) / ld;
      if ((row >= part.local().rows || column >= part.local().cols) && a[k] != sentinel) return false;
    }
    return true;
  }
};

void work_in_place(Runtime& runtime) {
  for (const auto& [whole, tile] : {std::pair{Shape{37, 29}, TileShape{5, 4}},
                                    {Shape{20, 20}, {10, 10}},
                                    {Shape{3, 2}, {8, 8}},
                                    {Shape{1, 1}, {1, 1}},
                                    {Shape{0, 7}, {2, 2}},
                                    {Shape{64, 1}, {1, 1}}}) {
    Local a(runtime, whole, tile);
    std::array<double, 1> elements{static_cast<double>(a.part.local().rows * a.part.local().cols)};
    sum_over_ranks(runtime, elements);
    REQUIRE(elements[0] == static_cast<double>(whole.rows * whole.cols));  // each element belongs to one rank
    {
      Graph g(runtime);
      const auto A =
          TileMatrix<double>::map_block_cyclic(runtime, a.a.data(), whole.rows, whole.cols, a.ld, {tile.mb, tile.nb});
      // Every tile receives the contents of the first tile of its row, on any rank, and every rank reads it.
      const TileMatrix<double> first(runtime, whole.rows, whole.cols, tile);
      for (index_t j = 0; j < A.nt(); ++j)
        for (index_t i = 0; i < A.mt(); ++i) {
          if (A(i, 0).shape() != A(i, j).shape()) continue;
          g.insert<Copy<double>>({}, A(i, 0), first(i, j));
          g.insert<AddTo>({}, first(i, j), A(i, j));
        }
      CHECK(g.wait().ok());
      A.bring_home();
      a.for_each([&](double& x, index_t i, index_t j) {
        const bool last = (j / tile.nb + 1) * tile.nb > whole.cols && whole.cols > tile.nb;
        const auto from = static_cast<double>(i + 1000 * (j % tile.nb)), was = static_cast<double>(i + 1000 * j);
        CHECK(x == (last ? was : j < tile.nb ? 2 * was : was + 2 * from));
        x = 7;
      });
      A.home_changed();
      if (A.mt() * A.nt() > 0) CHECK(A(A.mt() - 1, A.nt() - 1).read()(0, 0) == 7);
      for (index_t k = 0; k < A.mt() * A.nt(); ++k) g.insert<Affine<double>>({2, 1}, A(k % A.mt(), k / A.mt()));
      if (A.mt() * A.nt() > 0) {
        CHECK(A(0, 0).read()(0, 0) == 15);
        const auto all = A(0, 0).update();  // the same on all ranks
        all(0, 0) = 16;
      }
    }
    a.for_each([](double& x, index_t i, index_t j) { CHECK(x == (i == 0 && j == 0 ? 16 : 15)); });
    CHECK(a.padding_stands());
  }
  CHECK_THROWS_AS(TileMatrix<double>::map_block_cyclic(runtime, nullptr, 100, 100, 100, {1, 1}), ArgumentError);
  CHECK_THROWS_AS(TileMatrix<double>::map_block_cyclic(runtime, nullptr, -1, 100, 100, {1, 1}), ArgumentError);
}

}  // namespace

TEST_CASE("a part has the sizes of ScaLAPACK's numroc and knows the positions of its rows") {
  for (const index_t size : {0, 1, 7, 64, 65})
    for (const index_t block : {1, 3, 64, 100})
      for (const int parts : {1, 2, 5}) {
        std::vector<index_t> seen(static_cast<std::size_t>(parts), 0);
        for (index_t k = 0; k < size; ++k) {
          const auto owner = static_cast<std::size_t>(k / block % parts);
          for (int p = 0; p < parts; ++p) {
            const CyclicPart part{size, block, parts, p};
            CHECK(part.here(k) == (static_cast<std::size_t>(p) == owner));
            CHECK(part.before(k) == seen[static_cast<std::size_t>(p)]);
          }
          CHECK(CyclicPart{size, block, parts, static_cast<int>(owner)}.global(seen[owner]) == k);
          ++seen[owner];
        }
        for (int p = 0; p < parts; ++p)
          CHECK(CyclicPart{size, block, parts, p}.count() == seen[static_cast<std::size_t>(p)]);
      }
}

TEST_CASE("the local array of a single process is the matrix") {
  Runtime runtime;
  work_in_place(runtime);
}

TEST_CASE("local arrays of several ranks are modified in place", "[ranks]") {
  require_ranks();
  for (const int ranks : {2, 4})
    for (const char* kept : {"64", "0"}) {  // MiB of copies; with none, each copy is freed after it was read
      ProcessOptions options;
      options.environment["TESELA_RECEIVED_MIB"] = kept;
      const Outcome all = run_on_ranks(
          ranks, {std::filesystem::read_symlink("/proc/self/exe").string(), "local arrays of a rank"}, options);
      INFO(ranks << " ranks, " << kept << " MiB\n" << all.out << all.err);
      CHECK(all.code == 0);
    }
}

TEST_CASE("local arrays of a rank", "[.rank]") {
  Runtime runtime;
  REQUIRE(runtime.ranks() > 1);
  work_in_place(runtime);
}
