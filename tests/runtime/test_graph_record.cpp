#include "tests/support/machine.hpp"
#include "tests/support/shared_runtime.hpp"
#include "tests/support/toy_kernels.hpp"
#include "tests/support/variable.hpp"
#include <tesela/runtime/graph.hpp>

#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

using namespace tesela::test;
using Catch::Matchers::WithinRel;

namespace tesela::detail {
// From the runtime's graph_record.hpp, which needs StarPU's headers.
double area_bound(std::vector<std::pair<double, double>> cpu_gpu_seconds, int cpus, int gpus);
}  // namespace tesela::detail

namespace {

using Edges = std::set<std::pair<int, int>>;

struct Dot {
  std::string text;
  int nodes = 0;
  Edges edges;
  bool repeated = false;  // an edge occurs twice
};

/// Writes the graph and reads the file.
Dot dot_of(const Graph& g, bool status_edges = true) {
  const auto path = std::filesystem::temp_directory_path() / ("tesela_" + std::to_string(std::rand()) + ".dot");
  g.write_dot(path.string(), status_edges);
  Dot dot;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    int from = 0, to = 0;
    if (std::sscanf(line.c_str(), " t%d -> t%d;", &from, &to) == 2)
      dot.repeated |= !dot.edges.emplace(from, to).second;
    else if (std::sscanf(line.c_str(), " t%d [", &from) == 1)
      ++dot.nodes;
    dot.text += line + "\n";
  }
  file.close();
  if (std::system("dot -V > /dev/null 2>&1") == 0)
    CHECK(std::system(("dot -Tplain '" + path.string() + "' > /dev/null").c_str()) == 0);
  std::filesystem::remove(path);
  return dot;
}

struct Quoted {
  static constexpr auto name = "test_\"quoted\\name\"";
  struct Args {};
  static void cpu(const Args&, Out<double>) {}
};

struct SetWithStatus {
  static constexpr auto name = "test_set_with_status";
  struct Args {};
  static void cpu(const Args&, Out<double> a, Out<int> info) {
    *a.data = 1;
    *info.data = 0;
  }
};

struct CopyWithStatus {
  static constexpr auto name = "test_copy_with_status";
  struct Args {};
  static void cpu(const Args&, In<double> a, Out<double> b, In<int>) { *b.data = *a.data; }
};

constexpr double infinite = std::numeric_limits<double>::infinity();

double area(std::vector<std::pair<double, double>> work, int cpus, int gpus) {
  return detail::area_bound(std::move(work), cpus, gpus);
}

}  // namespace

CORES_TEST_CASE("the recorded graph has exactly the implied edges") {
  const TileMatrix<double> A(runtime, 3, 1, {1, 1});
  Graph g(runtime, {.record = true});
  const auto a = A(0, 0), b = A(1, 0), c = A(2, 0);
  g.insert<Set<double>>({1}, a);         // 0
  g.insert<Copy<double>>({}, a, b);      // 1: reads a (RAW 0)
  g.insert<Copy<double>>({}, a, c);      // 2: reads a (RAW 0)
  g.insert<Set<double>>({2}, a);         // 3: overwrites a (WAR 1, 2)
  g.insert<Set<double>>({3}, a);         // 4: WAW 3
  g.insert<AddAnyOrder<double>>({}, a);  // 5: after 4
  g.insert<AddAnyOrder<double>>({}, a);  // 6: after 4, not after 5
  g.insert<Affine<double>>({}, a);       // 7: after 5, 6
  g.insert<AddAnyOrder<double>>({}, b);  // 8: after 1 only
  g.insert<Copy<double>>({}, a, b);      // 9: after 7 (a) and 8 (b)
  g.insert<Set<double>>({}, c);          // 10: WAW 2
  const Edges expected{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}, {4, 6},
                       {5, 7}, {6, 7}, {1, 8}, {7, 9}, {8, 9}, {2, 10}};
  const Dot dot = dot_of(g);
  CHECK(dot.nodes == 11);
  CHECK(dot.edges == expected);
  CHECK_FALSE(dot.repeated);
  CHECK(dot.text.find("test_affine\\nA(0,0)") != std::string::npos);
  CHECK(dot.text.find("#00ff00\", fontcolor=\"black\"") != std::string::npos);
}

TEST_CASE("two tasks that share several tiles have one edge, and scratch and a new graph have none") {
  struct Two {
    static void insert(Graph& g, const Tile<double>& x, const Tile<double>& y) { g.insert<Copy<double>>({}, x, y); }
  };
  Runtime runtime({.gpus = 0});
  const TileMatrix<double> A(runtime, 2, 1, {1, 1});
  {
    Graph g(runtime, {.record = true});
    g.insert<Set<double>>({1}, A(0, 0));  // 0
    Two::insert(g, A(0, 0), A(1, 0));     // 1
    Two::insert(g, A(0, 0), A(1, 0));     // 2: after 0 (RAW) and 1 (WAW)
    Two::insert(g, A(1, 0), A(0, 0));     // 3: after 1 and 2 (WAR), 2 also by RAW
    const Dot dot = dot_of(g);
    CHECK(dot.edges == Edges{{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}});
    CHECK_FALSE(dot.repeated);
  }
  Graph g(runtime, {.record = true});
  g.insert<Affine<double>>({}, A(0, 0));
  g.insert<Affine<double>>({}, A(1, 0));
  CHECK(dot_of(g).edges.empty());
}

CORES_TEST_CASE("a picture can omit the edges that only statuses cause") {
  const TileMatrix<double> A(runtime, 2, 1, {1, 1});
  Graph g(runtime, {.record = true});
  const Tile<int> info = g.status();
  g.insert<Set<double>>({1}, A(0, 0));                   // 0
  g.insert<SetWithStatus>({}, A(1, 0), info);            // 1: writes the status
  g.insert<CopyWithStatus>({}, A(1, 0), A(0, 0), info);  // 2: after 0 (WAW) and 1 (a tile, and the status)
  g.insert<CopyWithStatus>({}, A(0, 0), A(1, 0), info);  // 3: after 2 (RAW, WAR) and 1 (the status alone)
  g.insert<SetWithStatus>({}, A(1, 0), info);            // 4: after 3 (WAW) and 2 (the status alone)
  CHECK(dot_of(g).edges == Edges{{0, 2}, {1, 2}, {2, 3}, {1, 3}, {3, 4}, {2, 4}});
  CHECK(dot_of(g, false).edges == Edges{{0, 2}, {1, 2}, {2, 3}, {3, 4}});
}

CORES_TEST_CASE("reducing tasks form a group") {
  const TileMatrix<double> A(runtime, 1, 1, {1, 1});
  Graph g(runtime, {.record = true});
  g.reduction<Set<double>, Combine<double>>(A(0, 0));
  g.insert<Set<double>>({1}, A(0, 0));
  g.insert<Contribute<double>>({1}, A(0, 0));
  g.insert<Contribute<double>>({1}, A(0, 0));
  g.insert<Affine<double>>({}, A(0, 0));
  CHECK(dot_of(g).edges == Edges{{0, 1}, {0, 2}, {1, 3}, {2, 3}});
}

CORES_TEST_CASE("names and labels with special characters of Graphviz are quoted") {
  const TileMatrix<double> A(runtime, 1, 1, {1, 1}, "a \"b\" \\ c");
  Graph g(runtime, {.record = true});
  g.insert<Set<double>>({1}, A(0, 0));
  const Dot dot = dot_of(g);
  CHECK(dot.text.find("\\\"b\\\" \\\\ c") != std::string::npos);
}

TEST_CASE("Graphviz reads the output of write_dot") {
  if (std::system("dot -V > /dev/null 2>&1") != 0) SKIP("no Graphviz here");
  Runtime runtime({.gpus = 0});
  Graph g(runtime, {.record = true});
  CHECK(dot_of(g).nodes == 0);
}

CORES_TEST_CASE("write_dot reports errors") {
  Graph g(runtime), recorded(runtime, {.record = true});
  CHECK_THROWS_AS(g.write_dot("unrecorded.dot"), ArgumentError);
  CHECK_FALSE(std::filesystem::exists("unrecorded.dot"));
  CHECK_THROWS_AS(recorded.write_dot("/dev/null/graph.dot"), FileError);
  if (!std::filesystem::exists("/dev/full")) SKIP("no /dev/full here");
  CHECK_THROWS_AS(recorded.write_dot("/dev/full"), FileError);
}

CORES_TEST_CASE("flops of a chain, a fan and a diamond are correct with and without recording") {
  for (const bool record : {false, true}) {
    CAPTURE(record);
    const TileMatrix<double> A(runtime, 9, 1, {1, 1});
    const auto bounds_of = [&](auto insert) {
      Graph g(runtime, {.record = record});
      insert(g);
      const Bounds bounds = g.bounds();
      CHECK(bounds.untimed <= bounds.tasks);
      return bounds;
    };
    const Bounds empty = bounds_of([](Graph&) {});
    CHECK(empty.tasks == 0);
    CHECK(empty.work_flops == 0);
    CHECK(empty.path_flops == 0);
    CHECK(empty.lower_bound_seconds() == 0);

    const Bounds chain = bounds_of([&](Graph& g) {
      g.insert<Set<double>>({1}, A(0, 0));
      for (int i = 0; i < 5; ++i) g.insert<Affine<double>>({}, A(0, 0));
    });
    CHECK(chain.tasks == 6);
    CHECK(chain.work_flops == 51);
    CHECK(chain.path_flops == 51);

    const Bounds fan = bounds_of([&](Graph& g) {
      g.insert<Set<double>>({1}, A(0, 0));
      for (index_t i = 1; i < 9; ++i) g.insert<Copy<double>>({}, A(0, 0), A(i, 0));
      g.insert<Affine<double>>({}, A(3, 0));
    });
    CHECK(fan.tasks == 10);
    CHECK(fan.work_flops == 811);
    CHECK(fan.path_flops == 111);

    const Bounds diamond = bounds_of([&](Graph& g) {
      g.insert<Set<double>>({1}, A(0, 0));           // 1
      g.insert<Copy<double>>({}, A(0, 0), A(1, 0));  // 100
      g.insert<Copy<double>>({}, A(0, 0), A(2, 0));  // 100
      g.insert<Affine<double>>({}, A(2, 0));         // 10
      g.insert<Copy<double>>({}, A(2, 0), A(1, 0));  // 100, after both
    });
    CHECK(diamond.work_flops == 311);
    CHECK(diamond.path_flops == 211);

    const Bounds commuting = bounds_of([&](Graph& g) {
      g.insert<Set<double>>({1}, A(0, 0));
      for (int i = 0; i < 3; ++i) g.insert<AddAnyOrder<double>>({}, A(0, 0));
      g.insert<Affine<double>>({}, A(0, 0));
    });
    CHECK(commuting.path_flops == 1011);
  }
}

TEST_CASE("the area bound agrees with cases computed by hand") {
  CHECK(area({}, 2, 1) == 0);
  CHECK_THAT(area({{6, infinite}}, 3, 0), WithinRel(2.0, 1e-12));  // CPU only
  CHECK_THAT(area({{6, infinite}}, 3, 2), WithinRel(2.0, 1e-12));  // a GPU that cannot help
  CHECK_THAT(area({{infinite, 8}}, 3, 2), WithinRel(4.0, 1e-12));  // GPU only
  CHECK_THAT(area({{infinite, 8}}, 0, 2), WithinRel(4.0, 1e-12));  // no CPU
  CHECK_THAT(area({{100, 8}}, 0, 2), WithinRel(4.0, 1e-12));       // CPU times, but no CPU
  CHECK_THAT(area({{6, infinite}, {infinite, 8}}, 3, 2), WithinRel(4.0, 1e-12));
  // One class on both: share x on the GPU, (1 - x) 10 / 1 = x 2 / 1, x = 10 / 12.
  CHECK_THAT(area({{10, 2}}, 1, 1), WithinRel(20.0 / 12.0, 1e-12));
  // Accelerations 10 and 2 on one CPU and one GPU: the first class runs on the GPU (1); for the second, 12 (1 - x) = 1
  // + 6 x.
  CHECK_THAT(area({{12, 6}, {10, 1}}, 1, 1), WithinRel(1 + 6 * 11.0 / 18.0, 1e-12));
  // The CPU-only work, 30 / 2, exceeds all other work, which runs on the GPU.
  CHECK_THAT(area({{30, infinite}, {4, 2}}, 2, 1), WithinRel(15.0, 1e-12));
  // The GPU-only work exceeds all other work, which stays on the CPUs.
  CHECK_THAT(area({{4, 2}, {infinite, 30}}, 2, 1), WithinRel(30.0, 1e-12));
}

TEST_CASE("the bounds in seconds lie below a measured run, and near it for a chain") {
  const Calibration calibration;
  Runtime runtime({.gpus = 0});
  const TileMatrix<int> A(runtime, 2, 1, {1, 1});
  for (index_t i = 0; i < 2; ++i) A(i, 0).write().data[0] = 0;
  {
    Graph g(runtime);
    for (int t = 0; t < 12; ++t) g.insert<Sleep>({20, nullptr}, A(0, 0));
    g.wait();
  }
  Graph g(runtime, {.record = true});
  const auto start = std::chrono::steady_clock::now();
  for (int t = 0; t < 20; ++t) g.insert<Sleep>({20, nullptr}, A(0, 0));
  g.insert<Sleep>({20, nullptr}, A(1, 0));
  g.wait();
  const double measured = seconds_since(start);
  const Bounds bounds = g.bounds();
  CHECK(bounds.untimed == 0);
  CHECK(bounds.path_seconds >= 0.399);
  CHECK(bounds.path_seconds <= 1.5 * measured);  // the model is a mean, so the bound may exceed a single run
  CHECK_THAT(bounds.area_seconds, WithinRel(bounds.path_seconds * 21 / 20 / runtime.cpus(), 1e-6));
  CHECK(bounds.lower_bound_seconds() == std::max(bounds.path_seconds, bounds.area_seconds));
}
