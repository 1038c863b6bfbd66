#include "tests/support/test.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal_methods.hpp>

#include <array>
#include <set>

using namespace tesela;

namespace {

/// Returns positions of a vector: all of them for a short one.
std::set<index_t> some(index_t n) {
  if (n <= 10) {
    std::set<index_t> all;
    for (index_t i = 0; i < n; ++i) all.insert(i);
    return all;
  }
  return {0, 1, 64, n / 2, n - 2, n - 1};
}

/// k diagonally dominant systems of n equations, in columns or rows, with one matrix for each or one for all.
template <class T>
struct Systems {
  index_t n, k, matrices;
  std::array<std::vector<T>, 4> of;  // dl, d, du, b
  Systems(index_t equations, index_t systems, bool single = false)
      : n(equations), k(systems), matrices(single ? 1 : systems) {
    for (int v = 0; v < 4; ++v)
      of[static_cast<std::size_t>(v)].assign(static_cast<std::size_t>(n * (v == 3 ? k : matrices)),
                                             std::array{T(-1), T(2.5), T(-1), T(1)}[static_cast<std::size_t>(v)]);
  }
  T& at(int vector, index_t i, index_t s, bool rows) {
    const index_t systems = vector == 3 ? k : matrices;
    return of[static_cast<std::size_t>(vector)][static_cast<std::size_t>(rows ? s + i * systems : i + s * n)];
  }

  Status solve(Runtime& runtime, TileShape along_across, const TridiagonalMethodOptions& options) {
    const bool rows = options.systems.systems == SystemsIn::rows;
    const auto map = [&](int v) {
      const index_t systems = v == 3 ? k : matrices, across = systems == 1 ? 1 : along_across.nb;
      T* const data = of[static_cast<std::size_t>(v)].data();
      return rows ? TileMatrix<T>::map(runtime, data, systems, n, systems, {across, along_across.mb})
                  : TileMatrix<T>::map(runtime, data, n, systems, n, {along_across.mb, across});
    };
    Graph g(runtime);
    const TileMatrix<T> B = map(3);
    tridiagonal_solve_by(g, {map(0), map(1), map(2)}, B, options);
    const Status status = g.wait();
    B.bring_home();
    return status;
  }
};

constexpr std::array names{"dl", "d", "du", "b"};

/// Returns whether the entry belongs to the system.
bool counts(int vector, index_t i, index_t n, bool periodic) {
  return periodic || !((vector == 0 && i == 0) || (vector == 2 && i == n - 1));
}

template <class T>
void every_place(Runtime& runtime, index_t n, index_t tile, const TridiagonalMethodOptions& options, index_t k = 1,
                 bool single = false) {
  using Limits = std::numeric_limits<T>;
  const bool rows = options.systems.systems == SystemsIn::rows;
  const index_t bad = k - 1 > 1 ? 1 : k - 1;  // system that gets the bad entry
  CAPTURE(n, tile, k, single, rows, options.systems.periodic, options.systems.equilibrate,
          name_of(tridiagonal_methods(), options.method));
  CHECK(Systems<T>(n, k, single).solve(runtime, {tile, 7}, options).ok());
  for (const T value : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
    if (value < 0 && n > 10) continue;
    for (int vector = 0; vector < 4; ++vector)
      for (const index_t i : some(n)) {
        if (!counts(vector, i, n, options.systems.periodic)) continue;
        Systems<T> systems(n, k, single);
        systems.at(vector, i, vector == 3 || !single ? bad : 0, rows) = value;
        const Status status = systems.solve(runtime, {tile, 7}, options);
        CAPTURE(names[static_cast<std::size_t>(vector)], i, value, status.info);
        REQUIRE(!status.ok());
        if (vector == 3 || !single) REQUIRE((status.info - 1) / n == bad);
      }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("tridiagonal: an entry that is not finite is reported at any place by every method", "[tridiagonal]",
                   float, double) {
  Runtime runtime({.cpus = 2, .gpus = 0});
  for (const index_t n : {1, 2, 3, 5, 1000})
    for (const auto& entry : tridiagonal_methods())
      for (const index_t tile : {n, index_t{300}})
        if (tile <= n) every_place<TestType>(runtime, n, tile, {entry.value, {}, 16});
}

TEMPLATE_TEST_CASE("tridiagonal: an entry that is not finite is reported for periodic, scaled and several systems",
                   "[tridiagonal]", float, double) {
  Runtime runtime({.cpus = 2, .gpus = 0});
  const auto automatic = [](SystemsIn systems, bool periodic, bool equilibrate = false) {
    return TridiagonalMethodOptions{TridiagonalMethod::automatic, {systems, periodic, equilibrate}, 16};
  };
  for (const index_t n : {1, 2, 3, 5, 1000})
    for (const index_t tile : {n, index_t{300}}) {
      if (tile > n) continue;
      every_place<TestType>(runtime, n, tile, automatic(SystemsIn::columns, true));
      every_place<TestType>(runtime, n, tile, automatic(SystemsIn::columns, false, true));
      for (const bool periodic : {false, true})
        for (const bool single : {false, true})
          for (const SystemsIn systems : {SystemsIn::columns, SystemsIn::rows})
            every_place<TestType>(runtime, n, tile, automatic(systems, periodic), single ? 3 : 19, single);
    }
}
