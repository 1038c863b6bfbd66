#include "tests/support/shared_runtime.hpp"
#include "tests/support/toy_kernels.hpp"
#include "tests/support/variable.hpp"
#include <tesela/runtime/graph.hpp>

#include <array>
#include <numeric>

using namespace tesela::test;

namespace {

struct EveryMode {
  static constexpr auto name = "test_every_mode";
  struct Args {};
  static void cpu(const Args&, In<double>, Out<float>, InOut<int>, Commute<double>, Reduce<double>, Scratch<char>) {}
};
static_assert(Codelet<EveryMode>::modes ==
              std::array{Mode::in, Mode::out, Mode::inout, Mode::commute, Mode::reduce, Mode::scratch});
static_assert(Codelet<EveryMode>::arity == 6 && !Codelet<EveryMode>::has_list);

struct NoTiles {
  static constexpr auto name = "test_no_tiles";
  struct Args {
    std::atomic<int>* ran = nullptr;
  };
  static void cpu(const Args& args) { ++*args.ran; }
};
static_assert(Codelet<NoTiles>::arity == 0);

/// Twelve tiles, more than a StarPU codelet holds by default.
struct Twelve {
  static constexpr auto name = "test_twelve";
  struct Args {};
  using D = double;
  static void cpu(const Args&, In<D> a, In<D> b, In<D> c, In<D> d, In<D> e, In<D> f, In<D> g, In<D> h, In<D> i, In<D> j,
                  InOut<D> k, Out<D> l) {
    double sum = 0, weight = 1;
    for (const auto* x : {&a, &b, &c, &d, &e, &f, &g, &h, &i, &j}) sum += weight++ * *x->data;
    *l.data = sum;
    *k.data += 1;
  }
};

/// Computes out = sum of weight * tile with weights 1, 2, 3, …
struct WeightedSum {
  static constexpr auto name = "test_weighted_sum";
  struct Args {};
  static double flops(const Args&, std::span<const Shape> shapes) {
    return 2.0 * static_cast<double>(shapes.size() - 1);
  }
  static void cpu(const Args&, Out<double> out, std::span<const In<double>> tiles) {
    double sum = 0, weight = 1;
    for (const In<double>& tile : tiles) sum += weight++ * *tile.data;
    *out.data = sum;
  }
};
static_assert(Codelet<WeightedSum>::has_list);

struct BigArgs {
  static constexpr auto name = "test_big_args";
  struct Args {
    std::array<std::int64_t, 500> values{};
  };
  static void cpu(const Args& args, Out<std::int64_t> sum) {
    *sum.data = std::accumulate(args.values.begin(), args.values.end(), std::int64_t{0});
  }
};

/// Fills its scratch, waits, and checks that no other task wrote to it.
struct UsesScratch {
  static constexpr auto name = "test_uses_scratch";
  struct Args {
    int number = 0;
  };
  static void cpu(const Args& args, InOut<int> wrong, Scratch<int> work) {
    if (work.rows != 32 || work.cols != 2) *wrong.data += 1000;
    for_each_element(work, [&](int& x) { x = args.number; });
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    for_each_element(work, [&](int& x) { *wrong.data += x == args.number ? 0 : 1; });
  }
};

/// Fills two scratch tiles, waits, and checks that they are separate.
struct UsesTwoScratches {
  static constexpr auto name = "test_uses_two_scratches";
  struct Args {};
  static void cpu(const Args&, InOut<int> wrong, Scratch<int> first, Scratch<int> second) {
    for_each_element(first, [](int& x) { x = 1; });
    for_each_element(second, [](int& x) { x = 2; });
    for_each_element(first, [&](int& x) { *wrong.data += x == 1 ? 0 : 1; });
  }
};

/// A kernel whose run time depends on its cost key and not on its index.
template <class T>
struct Costed {
  static constexpr auto name = "test_costed";
  struct Args {
    index_t row = 0;  // an index, which must not split the history
    int kind = 0;     // changes the run time
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(kind); }
  };
  static void cpu(const Args&, InOut<T>) { std::this_thread::sleep_for(std::chrono::microseconds(200)); }
};

}  // namespace

CORES_TEST_CASE("every mode reaches its kernel, and a kernel may have no tiles") {
  std::atomic<int> ran{0};
  Graph g(runtime);
  g.insert<NoTiles>({&ran});
  g.insert<NoTiles>(urgent, {&ran});
  g.wait();
  CHECK(ran == 2);
}

CORES_TEST_CASE("a kernel with twelve tiles receives them in order") {
  const TileMatrix<double> A(runtime, 12, 1, {1, 1});
  Graph g(runtime);
  for (index_t i = 0; i < 12; ++i) g.insert<Set<double>>({static_cast<double>(i * i)}, A(i, 0));
  for (int round = 0; round < 3; ++round)
    g.insert<Twelve>({}, A(0, 0), A(1, 0), A(2, 0), A(3, 0), A(4, 0), A(5, 0), A(6, 0), A(7, 0), A(8, 0), A(9, 0),
                     A(10, 0), A(11, 0));
  g.wait();
  double expected = 0;
  for (int i = 0; i < 10; ++i) expected += (i + 1) * i * i;
  CHECK(value_of(A(11, 0)) == expected);
  CHECK(value_of(A(10, 0)) == 103);
}

CORES_TEST_CASE("a list of tiles may have any length") {
  for (const index_t n : {0, 1, 7, 8, 9, 40, 300}) {
    CAPTURE(n);
    const TileMatrix<double> A(runtime, n, 1, {1, 1}), out(runtime, 1, 1, {1, 1});
    Graph g(runtime);
    std::vector<Tile<double>> tiles;
    double expected = 0;
    for (index_t i = 0; i < n; ++i) {
      tiles.push_back(A(i, 0));
      g.insert<Set<double>>({static_cast<double>(i + 5)}, A(i, 0));
      expected += static_cast<double>((i + 1) * (i + 5));
    }
    const double before = g.bounds().work_flops;
    g.insert<WeightedSum>({}, out(0, 0), tiles);
    CHECK(g.bounds().work_flops - before == 2.0 * static_cast<double>(n));
    g.insert<IncrementAll>({}, std::span<const Tile<double>>(tiles));
    g.wait();
    CHECK(value_of(out(0, 0)) == expected);
    for (index_t i = 0; i < n; ++i) CHECK(value_of(A(i, 0)) == static_cast<double>(i + 6));
  }
}

CORES_TEST_CASE("arguments of a few kilobytes arrive complete") {
  const TileMatrix<std::int64_t> A(runtime, 20, 1, {1, 1});
  Graph g(runtime);
  for (index_t i = 0; i < 20; ++i) {
    BigArgs::Args args;
    args.values.fill(i + 1);
    g.insert<BigArgs>(args, A(i, 0));
  }
  g.wait();
  for (index_t i = 0; i < 20; ++i) CHECK(value_of(A(i, 0)) == 500 * (i + 1));
}

CORES_TEST_CASE("commuting tasks all take effect between their neighbours") {
  const TileMatrix<double> A(runtime, 3, 3, {3, 3});
  Graph g(runtime);
  g.insert<Set<double>>({1}, A(0, 0));
  double expected = 1;
  for (int i = 0; i < 200; ++i) {
    g.insert<AddAnyOrder<double>>({static_cast<double>(i)}, A(0, 0));
    expected += i;
  }
  g.insert<Affine<double>>({2, 0}, A(0, 0));
  for (int i = 0; i < 50; ++i) g.insert<AddAnyOrder<double>>({1}, A(0, 0));
  g.wait();
  CHECK(to_vector(A) == std::vector<double>(9, 2 * expected + 50));
}

CORES_TEST_CASE("scratch belongs to one task at a time") {
  constexpr int tasks = 64;
  const TileMatrix<int> wrong(runtime, tasks, 1, {1, 1});
  Graph g(runtime);
  const Tile<int> work = g.scratch<int>(32, 2);
  CHECK(&work.data() == &g.scratch<int>(32, 2).data());
  CHECK(&work.data() != &g.scratch<int>(2, 32).data());
  for (int t = 0; t < tasks; ++t) {
    g.insert<Set<int>>({0}, wrong(t, 0));
    g.insert<UsesScratch>({t}, wrong(t, 0), work);
  }
  g.wait();
  for (int t = 0; t < tasks; ++t) CHECK(value_of(wrong(t, 0)) == 0);
}

CORES_TEST_CASE("a task may have two scratch tiles of one shape") {
  const TileMatrix<int> wrong(runtime, 1, 1, {1, 1});
  Graph g(runtime);
  CHECK(&g.scratch<int>(3, 2, 1).data() == &g.scratch<int>(3, 2, 1).data());
  CHECK(&g.scratch<int>(3, 2).data() == &g.scratch<int>(3, 2, 0).data());
  g.insert<Set<int>>({0}, wrong(0, 0));
  CHECK_THROWS_AS(g.insert<UsesTwoScratches>({}, wrong(0, 0), g.scratch<int>(3, 2), g.scratch<int>(3, 2)),
                  ArgumentError);
  g.insert<UsesTwoScratches>({}, wrong(0, 0), g.scratch<int>(3, 2, 0), g.scratch<int>(3, 2, 1));
  CHECK(g.wait().ok());
  CHECK(value_of(wrong(0, 0)) == 0);
}

TEST_CASE("tasks that differ only in indices share a history, and shapes, element sizes and cost keys split it") {
  const Calibration calibration;
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<double> A(runtime, 7, 7, {5, 5});
  const TileMatrix<float> F(runtime, 5, 5, {5, 5});
  A.for_each_tile([](Tile<double> tile, index_t, index_t) { tile.write(); });
  F(0, 0).write();
  {
    Graph g(runtime);
    for (int i = 0; i < 15; ++i) g.insert<Costed<double>>({i, 1}, A(0, 0));
    g.wait();
  }
  const auto untimed = [&](auto insert) {
    Graph g(runtime, {.record = true});
    insert(g);
    g.wait();
    return g.bounds().untimed;
  };
  CHECK(untimed([&](Graph& g) { g.insert<Costed<double>>({12345, 1}, A(0, 0)); }) == 0);
  CHECK(untimed([&](Graph& g) { g.insert<Costed<double>>({0, 2}, A(0, 0)); }) == 1);
  CHECK(untimed([&](Graph& g) { g.insert<Costed<double>>({0, 1}, A(1, 0)); }) == 1);
  CHECK(untimed([&](Graph& g) { g.insert<Costed<double>>({0, 1}, A(0, 1)); }) == 1);
  CHECK(untimed([&](Graph& g) { g.insert<Costed<float>>({0, 1}, F(0, 0)); }) == 1);
}

TEST_CASE("a kernel that no worker can run is refused by name") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<int> A(runtime, 1, 1, {1, 1});
  Graph g(runtime);
  g.insert<Set<int>>({7}, A(0, 0));
  CHECK_THROWS_MATCHES(g.insert<CudaOnly>({}, A(0, 0)), NoWorkerError,
                       MessageMatches(ContainsSubstring("test_cuda_only") && ContainsSubstring("CUDA variant") &&
                                      ContainsSubstring("1 CPU and 0 CUDA workers")));
  CHECK(g.tasks() == 1);
  CHECK(g.wait().ok());
  CHECK(value_of(A(0, 0)) == 7);
}
