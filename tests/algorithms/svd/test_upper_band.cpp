#include "tests/support/two_sided.hpp"
#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/algorithms/svd/band_to_bidiagonal.hpp>
#include <tesela/algorithms/svd/svd_matrices.hpp>
#include <tesela/runtime/errors.hpp>

using namespace tesela::test;

namespace {

/// Returns Q, from apply(g, X) for an identity X in tiles of 37 columns.
template <class T, class Apply>
HostMatrix<T> formed(Graph& g, index_t n, const Apply& apply) {
  HostMatrix<T> q = identity<T>(n);
  const auto Q = TileMatrix<T>::map(g.runtime(), q.data(), n, n, q.ld(), {std::max<index_t>(n, 1), 37});
  apply(g, Q);
  REQUIRE(g.wait().ok());
  Q.bring_home();
  return q;
}

/// Returns the band as a full matrix, and requires zeros in the room for bulges.
template <class T>
HostMatrix<T> dense(const UpperBand<T>& band) {
  const index_t n = band.order(), b = band.half_width();
  auto a = HostMatrix<T>::zeros(n, n);
  band.tiles().read_each_tile([&](const auto& x, index_t, index_t column) {
    for (index_t j = 0; j < x.cols; ++j)
      for (index_t r = 0; r < x.rows; ++r) {
        const index_t i = column + j + r - (2 * b - 1);
        if (i < 0 || i >= n) continue;
        if (r < b - 1 || r > 2 * b - 1) REQUIRE(x(r, j) == T(0));
        a(i, column + j) = x(r, j);
      }
  });
  return a;
}

/// Checks both stages for a matrix in tiles of w columns and a band in tiles of `window` columns.
template <class T>
void check(Runtime& runtime, const char* kind, index_t n, index_t b, index_t w, index_t window,
           const ReduceToUpperBandOptions& options = {}, const BulgeOptions& chase_options = {}) {
  const WorkerCounts workers = workers_for<T>(runtime);
  if (workers.gpus > 0 && workers.cpus == 0) b = std::min(b, largest_half_width(workers));
  CAPTURE(kind, n, b, w, window, options.block, options.parts, chase_options.sweeps);
  const HostMatrix<T> a = svd_matrix<T>({n, n}, kind, 5);
  HostMatrix<T> work = a.clone();
  Graph g(runtime);
  const index_t clamped = std::clamp<index_t>(b, 1, std::max<index_t>(n - 1, 1));
  const UpperBand<T> band(runtime, n, b, std::max<index_t>(2, ceil_div(window, clamped)) * clamped);
  const auto A = TileMatrix<T>::map(runtime, work.data(), n, n, work.ld(),
                                    {std::max<index_t>(n, 1), ceil_div(w, clamped) * clamped});
  const auto reduction = reduce_to_upper_band(g, A, band, options);
  REQUIRE(g.wait().ok());
  const auto q_of = [&](const auto& of, Side side) {
    return formed<T>(g, n, [&](Graph& graph, const TileMatrix<T>& Q) { of.apply(graph, side, Op::none, Q); });
  };
  const HostMatrix<T> b_dense = dense(band);
  check_two_sided(a, q_of(reduction, Side::left), b_dense, q_of(reduction, Side::right));
  const auto chase = band_to_bidiagonal(g, band, chase_options);
  const std::vector<T> d = chase.diagonal(), e = chase.off_diagonal();
  REQUIRE(static_cast<index_t>(d.size()) == n);
  auto bidiagonal = HostMatrix<T>::zeros(n, n);
  for (index_t i = 0; i < n; ++i) {
    bidiagonal(i, i) = d[static_cast<std::size_t>(i)];
    if (i + 1 < n) bidiagonal(i, i + 1) = e[static_cast<std::size_t>(i)];
  }
  check_two_sided(b_dense, q_of(chase, Side::left), bidiagonal, q_of(chase, Side::right));
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("reduce_to_upper_band and band_to_bidiagonal: A = U B V^H", "", FOUR_TYPES) {
  for (const auto& [b, w, window] : std::vector<std::array<index_t, 3>>{
           {1, 1, 5}, {2, 6, 4}, {3, 300, 300}, {8, 16, 40}, {32, 64, 128}, {64, 128, 128}})
    for (const index_t n : {0, 1, 2, 3, 4, 9, 33, 64, 65, 100}) check<TestType>(runtime, "uniform", n, b, w, window);
  for (const index_t n : {130, 257}) {
    check<TestType>(runtime, "uniform", n, 8, 40, 32, {.block = 64, .parts = 3}, {.sweeps = 1});
    check<TestType>(runtime, "normal", n, 8, 40, 1000, {.block = 16, .parts = 1}, {.sweeps = 3});
    check<TestType>(runtime, "uniform", n, 32, 128, 96, {.block = 32, .parts = 1});
  }
  for (const char* kind : {"graded", "zero", "rank:1", "rank:20", "kahan", "band:4"})
    check<TestType>(runtime, kind, 75, 8, 24, 32);
}

WORKERS_TEMPLATE_TEST_CASE("reduce_to_upper_band and band_to_bidiagonal for the band that a runtime selects", "",
                           FOUR_TYPES) {
  for (const index_t b : {8, 32, 64})
    for (const index_t n : {70, 200, 333}) check<TestType>(runtime, "normal", n, b, n, band_window(runtime, n, b));
  for (const char* kind : {"graded", "rank:20", "zero"})
    for (const index_t b : {8, 32, 64}) check<TestType>(runtime, kind, 150, b, 2 * b, band_window(runtime, 150, b));
  // Two groups in one tile, and groups that follow each other in two tiles.
  check<TestType>(runtime, "uniform", 200, 64, 200, 256, {}, {.sweeps = 70});
  check<TestType>(runtime, "uniform", 301, 64, 128, 192, {.block = 128}, {.sweeps = 1});
  check<TestType>(runtime, "uniform", 150, 64, 128, 192, {}, {.block = 40, .bundle = 500});
}

GPU_TEST_CASE("band_to_bidiagonal refuses a band that is too wide for GPUs without cores", "") {
  Graph g(runtime);
  const UpperBand<double> band(runtime, 200, 65, 4 * 65);
  CHECK_THROWS_AS(band_to_bidiagonal(g, band), ArgumentError);
}

WORKERS_TEMPLATE_TEST_CASE("reduce_to_upper_band and band_to_bidiagonal under a sanitizer", "[sanitize]", FOUR_TYPES) {
  check<TestType>(runtime, "uniform", 70, 8, 70, band_window(runtime, 70, 8));
  check<TestType>(runtime, "graded", 70, 32, 32, 64);
}

GPU_TEMPLATE_TEST_CASE("reduce_to_upper_band and band_to_bidiagonal of a larger matrix", "", FOUR_TYPES) {
  const index_t n = 700;  // three groups of sweeps, and blocks of 256 reflectors in several tiles
  check<TestType>(runtime, "uniform", n, 64, n, band_window(runtime, n, 64));
  check<TestType>(runtime, "uniform", n, 64, 256, band_window(runtime, n, 64), {.block = 256});
}

CORES_TEST_CASE("band_to_bidiagonal: reflectors that are not kept give the same values", "") {
  const index_t n = 150, b = 8;
  std::vector<std::vector<double>> found;
  for (const bool vectors : {true, false}) {
    HostMatrix<double> a = svd_matrix<double>({n, n}, "uniform", 5);
    Graph g(runtime);
    const UpperBand<double> band(runtime, n, b, 32);
    const auto A = TileMatrix<double>::map(runtime, a.data(), n, n, n, {n, 48});
    const auto reduction = reduce_to_upper_band(g, A, band, {.vectors = vectors});
    const auto chase = band_to_bidiagonal(g, band, {.vectors = vectors});
    found.push_back(chase.diagonal());
    REQUIRE(g.wait().ok());
    if (vectors) continue;
    const TileMatrix<double> X(runtime, n, 1, {n, 1});
    CHECK_THROWS_AS(reduction.apply(g, Side::left, Op::none, X), ArgumentError);
    CHECK_THROWS_AS(chase.apply(g, Side::left, Op::none, X), ArgumentError);
  }
  CHECK(found[0] == found[1]);
}

CORES_TEST_CASE("UpperBand and reduce_to_upper_band refuse other shapes", "") {
  CHECK_THROWS_AS(UpperBand<double>(runtime, -1, 2, 4), ArgumentError);
  CHECK_THROWS_AS(UpperBand<double>(runtime, 10, 4, 4), ArgumentError);
  CHECK_THROWS_AS(UpperBand<double>(runtime, 10, 4, 9), ArgumentError);
  Graph g(runtime);
  const UpperBand<double> band(runtime, 10, 2, 4);
  for (const auto& [m, n, mb, nb] :
       std::vector<std::array<index_t, 4>>{{9, 10, 9, 10}, {10, 10, 5, 10}, {10, 10, 10, 3}, {9, 9, 9, 9}}) {
    const TileMatrix<double> A(runtime, m, n, {mb, nb});
    CHECK_THROWS_AS(reduce_to_upper_band(g, A, band), ArgumentError);
  }
}
