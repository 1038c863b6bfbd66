#include "tests/support/shared_runtime.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/runtime/any_kernel.hpp>
#include <tesela/runtime/dynamic_kernel.hpp>

#include <atomic>
#include <memory>

using namespace tesela::test;

namespace {

using Blocks = std::span<const DynamicBlock>;

double& first(const DynamicBlock& block) { return *static_cast<double*>(block.data); }

/// Returns a kernel that sets its first tile to 10 times the tile, plus the other tiles times 1, 2, 3, …
DynamicKernel weighted_sum(std::size_t tiles, bool has_list = false) {
  std::vector<Mode> modes(tiles, Mode::in);
  modes.front() = Mode::inout;
  return DynamicKernel({.name = "dynamic_sum",
                        .color = 0x00ff00,
                        .modes = modes,
                        .has_list = has_list,
                        .cpu = [](const void*, Blocks blocks) {
                          double weight = 0, sum = 10 * first(blocks[0]);
                          for (const DynamicBlock& b : blocks.subspan(1)) sum += ++weight * first(b);
                          first(blocks[0]) = sum;
                        }});
}

/// One element per tile: 1, 2, 3, …
struct Numbers {
  std::vector<double> values;
  TileMatrix<double> tiles;
  explicit Numbers(Runtime& runtime, index_t n)
      : values(numbers(n)), tiles(TileMatrix<double>::map(runtime, values.data(), n, 1, n, {1, 1})) {}
  static std::vector<double> numbers(index_t n) {
    std::vector<double> v;
    for (index_t i = 1; i <= n; ++i) v.push_back(static_cast<double>(i));
    return v;
  }
  std::vector<AnyTile> list(index_t begin, index_t end) const {
    std::vector<AnyTile> some;
    for (index_t i = begin; i < end; ++i) some.emplace_back(tiles(i, 0));
    return some;
  }
  double value(index_t i) const { return *tiles(i, 0).read().data; }
};

/// A kernel that counts its calls, and throws if its argument is negative.
DynamicKernel counter(std::shared_ptr<std::atomic<int>> calls, const char* name = "dynamic_counter") {
  return DynamicKernel({.name = name, .modes = {Mode::inout}, .cpu = [calls](const void* args, Blocks) {
                          ++*calls;
                          if (args != nullptr && *static_cast<const int*>(args) < 0)
                            throw std::runtime_error("negative");
                        }});
}

}  // namespace

TEST_CASE("a kernel described at run time has any number of tiles") {
  Runtime& runtime = test::runtime();
  for (const std::size_t count : {1u, 2u, 8u, 9u, 20u}) {
    const Numbers x(runtime, 20);
    Graph g(runtime);
    g.insert(weighted_sum(count), x.list(0, static_cast<index_t>(count)), {});
    REQUIRE(g.wait().ok());
    double expected = 10;
    for (std::size_t i = 1; i < count; ++i) expected += static_cast<double>(i * (i + 1));
    CHECK(x.value(0) == expected);
  }
  const Numbers x(runtime, 20);
  Graph g(runtime);
  const DynamicKernel list = weighted_sum(2, true);
  g.insert(list, x.list(0, 1), {});
  g.insert(list, x.list(0, 4), {});
  g.insert(list, x.list(0, 20), {});
  g.wait();
  double expected = 10 * (100 + 2 + 6 + 12);
  for (int i = 1; i < 20; ++i) expected += i * (i + 1);
  CHECK(x.value(0) == expected);
  std::atomic<int> ran{0};
  g.insert(DynamicKernel(
               {.name = "dynamic_none", .cpu = [&](const void*, Blocks blocks) { ran += blocks.empty() ? 1 : 100; }}),
           {}, {});
  g.wait();
  CHECK(ran == 1);
}

TEST_CASE("a dynamic kernel sees the blocks, its arguments and the order of insertion") {
  Runtime& runtime = test::runtime();
  std::vector<float> memory(7 * 5, -1);  // 5 x 5 in tiles of 2 x 3, with two rows that must not change
  const auto a = TileMatrix<float>::map(runtime, memory.data(), 5, 5, 7, {2, 3});
  const DynamicKernel affine(
      {.name = "dynamic_affine", .modes = {Mode::inout}, .cpu = [](const void* args, Blocks blocks) {
         const auto& b = blocks[0];
         if (b.element_size != sizeof(float)) throw std::logic_error("element size");
         const auto [scale, shift] = *static_cast<const std::pair<float, float>*>(args);
         for (index_t j = 0; j < b.cols; ++j)
           for (index_t i = 0; i < b.rows; ++i) {
             float& x = static_cast<float*>(b.data)[i + j * b.ld];
             x = scale * x + shift;
           }
       }});
  Graph g(runtime, {.record = true});
  for (index_t i = 0; i < a.mt(); ++i)
    for (index_t j = 0; j < a.nt(); ++j) {
      const AnyTile tile[] = {a(i, j)};
      CHECK((tile[0].shape() == a(i, j).shape() && tile[0].element_size() == sizeof(float)));
      g.insert<Set<float>>({.value = 3}, a(i, j));
      g.insert(affine, tile, {.args = std::make_shared<std::pair<float, float>>(2.f, 1.f), .flops = 5});
      g.insert(affine, tile, {.args = std::make_shared<std::pair<float, float>>(1.f, 4.f), .flops = 7});
    }
  g.wait();
  a.bring_home();
  for (std::size_t j = 0; j < 5; ++j)
    for (std::size_t i = 0; i < 7; ++i) CHECK(memory[i + 7 * j] == (i < 5 ? 11 : -1));
  CHECK((g.tasks() == 18 && g.bounds().work_flops == 6 * 13 && g.bounds().path_flops == 13));
}

TEST_CASE("a dynamic kernel's exception ends its graph, and every argument is released") {
  Runtime& runtime = test::runtime();
  const bool hold = GENERATE(false, true);
  const Numbers x(runtime, 1);
  const auto calls = std::make_shared<std::atomic<int>>(0);
  auto args = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = args;
  {
    Graph g(runtime, {.longest_path_priorities = hold});
    const DynamicKernel kernel = counter(calls);
    for (int i = 0; i < 10; ++i) g.insert(kernel, x.list(0, 1), {.args = args});
    CHECK(g.wait().ok());
    CHECK((*calls == 10 && args.use_count() == 1));
    g.insert(kernel, x.list(0, 1), {.args = std::make_shared<int>(-1)});
    for (int i = 0; i < 10; ++i) g.insert(kernel, x.list(0, 1), {.args = args});
    CHECK_THROWS_MATCHES(g.wait(), EnvironmentError, MessageMatches(ContainsSubstring("dynamic_counter: negative")));
    CHECK((*calls == 11 && args.use_count() == 1));
    // Refused at insertion: nothing wrote the tile after its tasks were dropped.
    CHECK_THROWS_AS(g.insert(kernel, x.list(0, 1), {.args = args}), ArgumentError);
    CHECK(args.use_count() == 1);
  }
  args.reset();
  CHECK(seen.expired());
}

TEST_CASE("a replaced kernel lives until its tasks have run") {
  Runtime& runtime = test::runtime();
  const Numbers x(runtime, 1);
  const auto old_calls = std::make_shared<std::atomic<int>>(0), new_calls = std::make_shared<std::atomic<int>>(0);
  Graph g(runtime);
  auto kernel = std::make_unique<DynamicKernel>(counter(old_calls));
  for (int i = 0; i < 100; ++i) g.insert(*kernel, x.list(0, 1), {});
  kernel = std::make_unique<DynamicKernel>(counter(new_calls));
  for (int i = 0; i < 50; ++i) g.insert(*kernel, x.list(0, 1), {});
  kernel.reset();
  g.wait();
  CHECK((*old_calls == 100 && *new_calls == 50));
  CHECK((old_calls.use_count() == 1 && new_calls.use_count() == 1));
}

TEST_CASE("a dynamic kernel combines a reduction") {
  Runtime& runtime = test::runtime();
  const Numbers x(runtime, 40);
  const TileMatrix<double> sum(runtime, 1, 1, {1, 1});
  const DynamicKernel plus({.name = "dynamic_plus",
                            .modes = {Mode::commute, Mode::in},
                            .cpu = [](const void*, Blocks b) { first(b[0]) += first(b[1]); }});
  const DynamicKernel contribute({.name = "dynamic_contribute",
                                  .modes = {Mode::in, Mode::reduce},
                                  .cpu = [](const void*, Blocks b) { first(b[1]) += first(b[0]); }});
  for (int repeat = 0; repeat < 2; ++repeat) {
    Graph g(runtime);
    g.reduction(sum(0, 0), plus);
    for (index_t i = 0; i < 40; ++i) {
      const AnyTile tiles[] = {x.tiles(i, 0), sum(0, 0)};
      g.insert(contribute, tiles, {});
    }
    g.wait();
    CHECK(*sum(0, 0).read().data == 820 * (repeat + 1));
  }
  Graph g(runtime);
  CHECK_THROWS_AS(g.reduction(sum(0, 0), contribute), ArgumentError);
}

namespace {

/// Args after a gap in the argument block, and a list.
struct AddMultiple {
  static constexpr auto name = "dynamic_add_multiple";
  struct alignas(16) Args {
    bool subtract = false;
    std::uint64_t cost_key() const { return subtract ? 1 : 0; }
  };
  static double flops(const Args&, std::span<const Shape> all) { return static_cast<double>(all.size()); }
  static void cpu(const Args& args, InOut<double> sum, std::span<const In<double>> tiles) {
    for (const In<double>& tile : tiles) *sum.data += args.subtract ? -*tile.data : *tile.data;
  }
};

}  // namespace

TEST_CASE("a kernel that C++ declares is inserted without its types") {
  Runtime& runtime = test::runtime();
  const Numbers x(runtime, 5);
  const auto add = DynamicKernel::of(any_kernel<AddMultiple>), set = DynamicKernel::of(any_kernel<Set<double>>);
  Graph g(runtime);
  for (const bool subtract : {false, true, false})
    g.insert(add, x.list(0, 5), {.args = std::make_shared<AddMultiple::Args>(AddMultiple::Args{subtract})});
  g.insert(add, x.list(1, 2), {.args = std::make_shared<AddMultiple::Args>()});
  g.insert(set, x.list(2, 3), {.args = std::make_shared<Set<double>::Args>(Set<double>::Args{.value = 9})});
  CHECK(g.bounds().work_flops == 3 * 5 + 1 + 1);
  g.wait();
  CHECK((x.value(0) == 1 + 14 && x.value(1) == 2 && x.value(2) == 9));

  const TileMatrix<float> other(runtime, 1, 1, {1, 1});
  const AnyTile tile[] = {other(0, 0)};
  const auto args = std::make_shared<Set<double>::Args>();
  CHECK_THROWS_MATCHES(g.insert(set, tile, {.args = args}), ArgumentError,
                       MessageMatches(ContainsSubstring("4 bytes, not 8")));
  CHECK_THROWS_AS(g.insert(set, {}, {.args = args}), ArgumentError);
  CHECK_THROWS_MATCHES(g.reduction(x.tiles(0, 0), DynamicKernel::of(any_kernel<Combine<double>>)), ArgumentError,
                       MessageMatches(ContainsSubstring("reduction<Zero, Add>")));
}

TEST_CASE("wrong descriptions and wrong numbers of tiles are refused") {
  Runtime& runtime = test::runtime();
  const auto nothing = [](const void*, Blocks) {};
  CHECK_THROWS_AS(DynamicKernel({.name = "", .cpu = nothing}), ArgumentError);
  CHECK_THROWS_AS(DynamicKernel({.name = "dynamic"}), ArgumentError);
  CHECK_THROWS_AS(DynamicKernel({.name = "a/b", .cpu = nothing}), ArgumentError);
  CHECK_THROWS_AS(DynamicKernel({.name = "a", .model = "../b", .cpu = nothing}), ArgumentError);
  CHECK_THROWS_AS(DynamicKernel({.name = "dynamic", .has_list = true, .cpu = nothing}), ArgumentError);
  const Numbers x(runtime, 4);
  Graph g(runtime);
  CHECK_THROWS_MATCHES(g.insert(weighted_sum(2), x.list(0, 3), {}), ArgumentError,
                       MessageMatches(ContainsSubstring("dynamic_sum") && ContainsSubstring("needs 2")));
  CHECK_THROWS_AS(g.insert(weighted_sum(2, true), {}, {}), ArgumentError);
  const std::vector<AnyTile> twice{x.tiles(0, 0), x.tiles(0, 0)};
  CHECK_THROWS_AS(g.insert(weighted_sum(2), twice, {}), ArgumentError);
  g.wait();
  CHECK(g.tasks() == 0);
  if (runtime.gpus() == 0) {
    const DynamicKernel gpu_only(
        {.name = "dynamic_gpu", .modes = {Mode::inout}, .cuda = [](CudaContext&, const void*, Blocks) {}});
    CHECK_THROWS_AS(g.insert(gpu_only, x.list(0, 1), {}), NoWorkerError);
  }
}
