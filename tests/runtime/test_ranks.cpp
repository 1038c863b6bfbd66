#include "tests/support/ranks.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <random>
#include <set>

// Graphs over several ranks. Each rank runs the cases with the tag [.rank]; the other cases start them with mpirun.

using namespace tesela::test;

namespace {

/// Runs a case of this program on each rank.
Outcome case_on_ranks(int ranks, const std::string& name, const std::pair<std::string, std::string>& variable = {}) {
  ProcessOptions options;
  if (!variable.first.empty()) options.environment.insert(variable);
  return run_on_ranks(ranks, {std::filesystem::read_symlink("/proc/self/exe").string(), name}, options);
}

/// Requires that a case succeeds on these ranks; skips the test without MPI.
void require_success(int ranks, const std::string& name) {
  require_ranks();
  const Outcome all = case_on_ranks(ranks, name);
  INFO(all.out << all.err);
  CHECK(all.code == 0);
}

/// y += x
struct Add {
  static constexpr auto name = "test_add";
  struct Args {};
  static void cpu(const Args&, In<double> x, InOut<double> y) {
    for (index_t j = 0; j < y.cols; ++j)
      for (index_t i = 0; i < y.rows; ++i) y(i, j) += x(i, j);
  }
};

/// Reports a number like LAPACK.
struct Report {
  static constexpr auto name = "test_report";
  struct Args {
    int info = 0;
  };
  static void cpu(const Args& args, InOut<double>, Out<int> status) { *status.data = args.info; }
};

}  // namespace

TEST_CASE("the set of a tile's ranks equals a set of integers, for few and for many ranks") {
  std::mt19937 random(3);
  for (const int ranks : {2, 63, 64, 65, 130, 1024, detail::most_ranks}) {
    std::uniform_int_distribution<int> any(0, ranks - 1), kind(0, 40), low(0, std::min(ranks, 64) - 1);
    detail::TileLocation where;
    std::set<int> expected;
    CHECK(where.holder() == -1);
    for (int step = 0; step < 3000; ++step) {
      const int rank = step % 3 == 0 ? low(random) : any(random), what = kind(random);
      if (what == 0) {
        where.written_at(rank);
        expected = {rank};
      } else if (what == 1) {
        where.written_by_all(rank);
        for (int r = 0; r < ranks; ++r) expected.insert(r);
      } else if (what < 8) {
        where.remove(rank, ranks);
        expected.erase(rank);
      } else {
        where.add(rank, ranks);
        expected.insert(rank);
      }
      for (const int r : {rank, any(random), low(random), 0, ranks - 1}) REQUIRE(where.at(r) == expected.contains(r));
      REQUIRE((where.everywhere() == (std::ssize(expected) == ranks)));
    }
    for (int r = 0; r < ranks; ++r) where.add(r, ranks);
    CHECK(where.everywhere());
    where.set_place(ranks - 1);
    CHECK(where.place() == ranks - 1);
    where.written_at(ranks - 1);
    CHECK((where.holder() == ranks - 1 && where.at(ranks - 1) && !where.at(0) && !where.everywhere()));
    where.written_at(-1);
    CHECK((where.holder() == -1 && !where.at(ranks - 1)));
  }
}

TEST_CASE("several ranks compute the results of one process", "[ranks]") {
  require_ranks();
  for (const char* copies : {"1", "0"})  // copies by the ranks themselves, and by MPI
    for (const int ranks : {2, 3, 5}) {
      const Outcome all =
          case_on_ranks(ranks, "random tasks on the tiles of all ranks", {"TESELA_LOCAL_COPIES", copies});
      INFO(all.out << all.err);
      CHECK(all.code == 0);
    }
}

TEST_CASE("random tasks on the tiles of all ranks", "[.rank]") {
  Runtime runtime;
  REQUIRE(runtime.ranks() > 1);
  CHECK(runtime.rank() == launched_rank());
  constexpr index_t tiles = 4, edge = 3, size = tiles * edge;
  HostMatrix<double> mapped = HostMatrix<double>::zeros(size, size), alone = HostMatrix<double>::zeros(size, size);
  std::mt19937 random(7);
  {
    Graph g(runtime);
    const auto A = TileMatrix<double>::map(runtime, mapped.data(), size, size, size, {edge, edge});
    const TileMatrix<double> B(runtime, size, size, {edge, edge});  // without a place on a rank
    std::vector<double> b(static_cast<std::size_t>(tiles * tiles), 1);
    for (index_t k = 0; k < tiles * tiles; ++k) g.insert<Set<double>>({1}, B(k % tiles, k / tiles));
    const auto pick = [&] { return static_cast<index_t>(random() % tiles); };
    for (int task = 0; task < 400; ++task) {
      const index_t i = pick(), j = pick(), k = pick(), l = pick();
      const auto each = [&](index_t row, index_t col, auto change) {
        for (index_t q = 0; q < edge; ++q)
          for (index_t p = 0; p < edge; ++p) change(alone(row * edge + p, col * edge + q));
      };
      double& b_ij = b[static_cast<std::size_t>(i + j * tiles)];
      const Priority any{static_cast<int>(random() % 4)};
      switch (random() % 5) {
        case 0:
          g.insert<Affine<double>>(any, {0.5, 1}, A(i, j));
          each(i, j, [](double& a) { a = 0.5 * a + 1; });
          break;
        case 1:
          g.insert<Add>(any, {}, B(i, j), A(k, l));
          each(k, l, [&](double& a) { a += b_ij; });
          break;
        case 2:
          g.insert<Affine<double>>(any, {-0.25, 2}, B(i, j));
          b_ij = -0.25 * b_ij + 2;
          break;
        case 3:
          g.insert<AddAnyOrder<double>>(any, {3}, A(i, j));
          each(i, j, [](double& a) { a += 3; });
          break;
        default:
          if (task % 7 == 0) CHECK(B(i, j).read()(1, 2) == b_ij);
          if (task % 50 == 0) CHECK(g.wait().ok());
      }
    }
    CHECK(g.wait().ok());
    for (index_t k = 0; k < tiles * tiles; ++k)
      CHECK(B(k % tiles, k / tiles).read()(0, 0) == b[static_cast<std::size_t>(k)]);
  }
  // The matrix's destructor copied it to host memory on each rank.
  for (index_t j = 0; j < size; ++j)
    for (index_t i = 0; i < size; ++i) CHECK(mapped(i, j) == alone(i, j));
}

TEST_CASE("a task reads its version of a tile even if other versions arrive earlier", "[ranks]") {
  require_ranks();
  for (const char* copies : {"1", "0"}) {
    const Outcome all =
        case_on_ranks(2, "versions of a tile that urgent tasks and others read", {"TESELA_LOCAL_COPIES", copies});
    INFO(all.out << all.err);
    CHECK(all.code == 0);
  }
}

TEST_CASE("versions of a tile that urgent tasks and others read", "[.rank]") {
  Runtime runtime;
  Graph g(runtime);
  constexpr index_t versions = 2000;
  HostMatrix<double> read = HostMatrix<double>::zeros(1, 2 * versions);
  const TileMatrix<double> B(runtime, 1, 1, {1, 1});
  g.insert<Set<double>>({0}, B(0, 0));
  {
    const auto A = TileMatrix<double>::map(runtime, read.data(), 1, 2 * versions, 1, {1, 1});
    for (index_t k = 0; k < versions; ++k) {
      g.insert<Affine<double>>({1, 1}, B(0, 0));
      g.insert<Add>(k % 2 == 0 ? Priority{} : urgent, {}, B(0, 0), A(0, 2 * k + 1));  // on rank 1
    }
    CHECK(g.wait().ok());
  }
  if (runtime.rank() == 1)
    for (index_t k = 0; k < versions; ++k) CHECK(read(0, 2 * k + 1) == static_cast<double>(k + 1));
}

TEST_CASE("a status is the first in the order of creation over all ranks", "[ranks]") {
  require_success(3, "statuses from several ranks");
}

TEST_CASE("statuses from several ranks", "[.rank]") {
  Runtime runtime;
  Graph g(runtime);
  HostMatrix<double> a = HostMatrix<double>::zeros(6, 1);
  const auto A = TileMatrix<double>::map(runtime, a.data(), 6, 1, 6, {1, 1});
  for (int again = 0; again < 3; ++again) {
    std::vector<Tile<int>> statuses;
    for (index_t i = 0; i < 6; ++i) statuses.push_back(g.status(100 * i));
    for (index_t i = 5; i >= 0; --i) g.insert<Report>({i >= 2 ? 7 : 0}, A(i, 0), statuses[static_cast<std::size_t>(i)]);
    CHECK(g.wait().info == 207);
    CHECK(g.wait().info == 0);
  }
}

TEST_CASE("a kernel that throws on one rank is reported on all ranks, and they remain usable", "[ranks]") {
  require_success(3, "a kernel that throws on rank 1");
}

TEST_CASE("a kernel that throws on rank 1", "[.rank]") {
  Runtime runtime;
  Graph g(runtime);
  std::vector<int> a(9, 0);
  {
    const auto A = TileMatrix<int>::map(runtime, a.data(), 3, 3, 3, {1, 1});
    for (index_t k = 0; k < 9; ++k) g.insert<Throw>({k == 1 ? 2 : 0}, A(k % 3, k / 3));
    CHECK_THROWS_MATCHES(g.wait(), EnvironmentError,
                         MessageMatches(ContainsSubstring("rank ") && ContainsSubstring("no such luck")));
    for (index_t k = 0; k < 9; ++k) CHECK_THROWS_AS(value_of(A(k % 3, k / 3)), ArgumentError);  // on all ranks
    for (index_t k = 0; k < 9; ++k) g.insert<Set<int>>({static_cast<int>(k)}, A(k % 3, k / 3));
    CHECK(g.wait().ok());
  }
  for (int k = 0; k < 9; ++k) CHECK(a[static_cast<std::size_t>(k)] == k);
}

TEST_CASE("ranks that insert different tasks report the first difference", "[ranks]") {
  require_success(2, "different tasks");
}

TEST_CASE("different tasks", "[.rank]") {
  Runtime runtime;
  const TileMatrix<double> A(runtime, 2, 1, {1, 1});
  Graph g(runtime);
  g.insert<Set<double>>({1}, A(0, 0));
  if (runtime.rank() == 0)
    g.insert<Set<double>>({1}, A(1, 0));
  else
    g.insert<Affine<double>>({1, 1}, A(0, 0));
  CHECK_THROWS_MATCHES(g.wait(), LifetimeError,
                       MessageMatches(ContainsSubstring("task 2 is test_set on rank 0, test_affine on rank 1")));
}

TEST_CASE("an exception on one rank ends all ranks with its message", "[ranks]") {
  require_ranks();
  for (const char* what :
       {"an exception on rank 1 before the others wait", "an exception on rank 1 while the others wait"}) {
    const Outcome all = case_on_ranks(3, what);
    INFO(what << all.out << all.err);
    CHECK(all.code != 0);
    CHECK(all.seconds < 8 * patience);
    CHECK_THAT(all.err, ContainsSubstring("rank 1 of 3") && ContainsSubstring("a wall"));
  }
}

TEST_CASE("an exception on rank 1 before the others wait", "[.rank]") {
  Runtime runtime;
  const TileMatrix<double> A(runtime, 3, 3, {1, 1});
  Graph g(runtime);
  for (index_t k = 0; k < 9; ++k) {
    g.insert<Set<double>>({1}, A(k % 3, k / 3));
    if (k == 4 && runtime.rank() == 1) throw EnvironmentError("a wall");
  }
  static_cast<void>(g.wait());
}

TEST_CASE("an exception on rank 1 while the others wait", "[.rank]") {
  Runtime runtime;
  HostMatrix<double> a = HostMatrix<double>::zeros(3, 3);
  const auto A = TileMatrix<double>::map(runtime, a.data(), 3, 3, 3, {1, 1});
  Graph g(runtime);
  for (index_t k = 0; k < 9; ++k) g.insert<Set<double>>({1}, A(k % 3, k / 3));
  if (runtime.rank() == 1) throw EnvironmentError("a wall");
  for (index_t k = 0; k < 9; ++k) CHECK(value_of(A(k % 3, k / 3)) == 1);  // needs data that rank 1 does not send
}
