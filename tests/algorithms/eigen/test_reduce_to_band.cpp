#include "tests/support/padded.hpp"
#include "tests/support/two_sided.hpp"
#include <tesela/algorithms/eigen/reduce_to_band.hpp>

using namespace tesela::test;

namespace {

template <class T>
struct Problem {
  index_t n, b, w, band_tile;
  ReduceToBandOptions options;
};

/// Returns a symmetric or Hermitian matrix; the upper triangle and imaginary parts of the diagonal, which must not be
/// read, are NaN.
template <class T>
HostMatrix<T> lower_triangle(index_t n) {
  const Generator<double> random{Pattern::uniform, 7, -1, 1};
  return filled<T>({n, n}, [&](index_t i, index_t j) {
    return i < j ? nan_of<T> : number<T>(random(i, j), i > j ? random(j, i) : not_a_number);
  });
}

/// Checks A = Q B Q^H and Q^H Q = I.
template <class T>
void check(const Problem<T>& p) {
  CAPTURE(p.n, p.b, p.w, p.band_tile, p.options.block, p.options.update, p.options.parts);
  const index_t n = p.n;
  HostMatrix<T> lower = lower_triangle<T>(n), dense = HostMatrix<T>::zeros(n, n);
  const HostMatrix<T> a = filled<T>({n, n}, [&](index_t i, index_t j) {
    return i == j ? T(real_part(lower(i, i))) : i > j ? lower(i, j) : conj(lower(j, i));
  });
  const index_t ld = std::max<index_t>(n, 1);
  Graph g(runtime());
  const auto A = TileMatrix<T>::map(runtime(), lower.data(), n, n, lower.ld(), {ld, p.w});
  const index_t b = std::clamp<index_t>(p.b, 1, std::max<index_t>(n - 1, 1));
  const SymmetricBand<T> B(runtime(), n, b, std::max<index_t>(2, ceil_div(p.band_tile, b)) * b);
  const BandReduction<T> reduction = reduce_to_band(g, A, B, p.options);
  const TileMatrix<T> Q = tiles(runtime(), identity<T>(n), {ld, 37});
  reduction.apply(g, Op::none, Q);
  REQUIRE(g.wait().ok());
  const HostMatrix<T> q = Q.to_host();
  B.tiles().read_each_tile([&](const auto& x, index_t, index_t column) {
    for (index_t j = 0; j < x.cols; ++j)
      for (index_t i = 0; i < x.rows && column + j + i < n; ++i) {
        if (i > B.half_width()) REQUIRE(x(i, j) == T(0));
        if (i == 0) REQUIRE(x(i, j) == T(real_part(x(i, j))));
        dense(column + j + i, column + j) = x(i, j);
        dense(column + j, column + j + i) = conj(x(i, j));
      }
  });
  reduction.apply(g, adjoint<T>, Q);  // to Q gives the identity
  REQUIRE(g.wait().ok());
  CHECK(distance(Q.to_host(), identity<T>(n)) <= orthogonality_bound<T>(n));
  check_two_sided(a, q, dense, q);
}

}  // namespace

TEMPLATE_TEST_CASE("reduce_to_band: A = Q B Q^H", "[gpu]", FOUR_TYPES) {
  const auto [b, w, band_tile] = GENERATE(table<index_t, index_t, index_t>(
      {{1, 1, 5}, {2, 6, 4}, {3, 300, 300}, {8, 16, 40}, {8, 8, 16}, {32, 64, 128}, {64, 128, 128}}));
  for (const index_t n : {0, 1, 2, 3, 9, 33, 64, 65, 100}) check<TestType>({n, b, w, band_tile, {}});
  for (const index_t n : {130, 257})
    if (b > 2) {
      check<TestType>({n, b, w, band_tile, {.block = 64, .update = 64}});
      check<TestType>({n, b, w, band_tile, {.block = 3 * b, .update = 2 * b, .parts = 5}});
    }
}

TEMPLATE_TEST_CASE("reduce_to_band: A = Q B Q^H under a sanitizer", "[gpu][sanitize]", FOUR_TYPES) {
  check<TestType>({40, 8, 16, 40, {}});
  check<TestType>({130, 64, 192, 192, {.block = 64, .update = 64}});
  for (const index_t n : {2, 20, 70}) check<TestType>({n, 1, 4096, 4096, {.block = 30}});
}

TEMPLATE_TEST_CASE("reduce_to_band reduces to half-width 1 in one step", "[gpu]", FOUR_TYPES) {
  for (const index_t n : {0, 1, 2, 3, 9, 33, 65, 130, 257}) check<TestType>({n, 1, 4096, 4096, {}});
  check<TestType>({200, 1, 4096, 4096, {.block = 30}});  // several tiles of V
}

TEMPLATE_TEST_CASE("reduce_to_band reduces to half-width 1 at the full width of the GPU's kernels", "[gpu]", float,
                   double) {
  if (runtime().gpus() == 0) SKIP("no GPU");
  for (const index_t n : {511, 512, 513, 1024, 1025, 1700, 2047, 2048}) check<TestType>({n, 1, 4096, 4096, {}});
}
