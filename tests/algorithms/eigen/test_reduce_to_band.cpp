#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/eigen/reduce_to_band.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/tiles/generator.hpp>

#include <cstdio>

using namespace tesela;
using tesela::test::runtime;

namespace {

template <class T>
struct Problem {
  index_t n, b, w, band_tile;
  ReduceToBandOptions options;
};

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

/// Returns x + y i, or x for a real T.
template <class T>
T number(real_t<T> x, [[maybe_unused]] real_t<T> y) {
  if constexpr (is_complex<T>)
    return {x, y};
  else
    return x;
}

/// Column-major, n x n, symmetric or Hermitian; the upper triangle and imaginary parts of the diagonal must not be
/// read.
template <class T>
std::vector<T> symmetric(index_t n) {
  constexpr auto nan = std::numeric_limits<real_t<T>>::quiet_NaN();
  const Generator<real_t<T>> random{Pattern::uniform, 7, -1, 1};
  std::vector<T> a(at(n * n), number<T>(nan, nan));
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j; i < n; ++i) a[at(i + j * n)] = number<T>(random(i, j), i > j ? random(j, i) : nan);
  return a;
}

template <class T>
double norm(const std::vector<T>& a) {
  double squares = 0;
  for (const T x : a) squares += std::norm(with_parts<T, double>(x));
  return std::sqrt(squares);
}

/// Checks ||A - Q B Q^H||_F / ||A||_F and ||I - Q^H Q||_F.
template <class T>
void check(const Problem<T>& p) {
  CAPTURE(p.n, p.b, p.w, p.band_tile, p.options.block, p.options.update, p.options.parts);
  const index_t n = p.n;
  std::vector<T> lower = symmetric<T>(n);
  std::vector<T> a = lower;
  for (index_t j = 0; j < n; ++j) {
    a[at(j + j * n)] = real_part(a[at(j + j * n)]);
    for (index_t i = 0; i < j; ++i) a[at(i + j * n)] = conj(a[at(j + i * n)]);
  }
  const index_t ld = std::max<index_t>(n, 1);
  std::vector<T> q(at(n * n)), dense(at(n * n));
  {
    Graph g(runtime());
    const auto A = TileMatrix<T>::map(runtime(), lower.data(), n, n, ld, {ld, p.w});
    const index_t b = std::clamp<index_t>(p.b, 1, std::max<index_t>(n - 1, 1));
    const SymmetricBand<T> B(runtime(), n, b, std::max<index_t>(2, ceil_div(p.band_tile, b)) * b);
    const TileMatrix<T>& band = B.tiles();
    const BandReduction<T> reduction = reduce_to_band(g, A, B, p.options);
    const TileMatrix<T> Q(runtime(), n, n, {ld, 37}, "Q");
    Q.for_each_tile([&](const Tile<T>& tile, index_t, index_t column) {
      const auto x = tile.write();
      for (index_t j = 0; j < x.cols; ++j)
        for (index_t i = 0; i < n; ++i) x(i, j) = i == column + j ? T(1) : T(0);
    });
    reduction.apply(g, Op::none, Q);
    REQUIRE(g.wait().ok());
    Q.copy_to(q.data(), ld);
    band.for_each_tile([&](const Tile<T>& tile, index_t, index_t column) {
      const auto x = tile.read();
      for (index_t j = 0; j < x.cols; ++j)
        for (index_t i = 0; i < x.rows && column + j + i < n; ++i) {
          if (i > B.half_width()) REQUIRE(x(i, j) == T(0));
          if (i == 0) REQUIRE(x(i, j) == T(real_part(x(i, j))));
          dense[at(column + j + i + (column + j) * n)] = x(i, j);
          dense[at(column + j + (column + j + i) * n)] = conj(x(i, j));
        }
    });
    // Applying Q^H to Q must give the identity.
    reduction.apply(g, adjoint<T>, Q);
    REQUIRE(g.wait().ok());
    std::vector<T> identity(at(n * n));
    Q.copy_to(identity.data(), ld);
    for (index_t j = 0; j < n; ++j) identity[at(j + j * n)] -= 1;
    const double bound = (std::is_same_v<real_t<T>, float> ? 2e-5 : 1e-13) * std::sqrt(static_cast<double>(n));
    CAPTURE(norm(identity), bound);
    CHECK(norm(identity) <= bound);
  }
  if (n == 0) return;
  std::vector<T> qb(at(n * n)), residual = a, gram(at(n * n));
  blas::gemm<T>(Op::none, Op::none, n, n, n, 1, q.data(), n, dense.data(), n, 0, qb.data(), n);
  blas::gemm<T>(Op::none, adjoint<T>, n, n, n, -1, qb.data(), n, q.data(), n, 1, residual.data(), n);
  blas::gemm<T>(adjoint<T>, Op::none, n, n, n, 1, q.data(), n, q.data(), n, 0, gram.data(), n);
  for (index_t j = 0; j < n; ++j) gram[at(j + j * n)] -= 1;
  const double root = std::sqrt(static_cast<double>(n)),
               bound = (std::is_same_v<real_t<T>, float> ? 1e-6 : 5e-15) * root,
               orthogonal = (std::is_same_v<real_t<T>, float> ? 2e-5 : 1e-13) * root;
  CAPTURE(norm(residual) / norm(a), bound, norm(gram), orthogonal);
  CHECK(norm(residual) <= bound * norm(a));
  CHECK(norm(gram) <= orthogonal);
}

}  // namespace

#define EIG_TYPES float, double, std::complex<float>, std::complex<double>

TEMPLATE_TEST_CASE("reduce_to_band: A = Q B Q^H", "[gpu]", EIG_TYPES) {
  const auto [b, w, band_tile] = GENERATE(table<index_t, index_t, index_t>(
      {{1, 1, 5}, {2, 6, 4}, {3, 300, 300}, {8, 16, 40}, {8, 8, 16}, {32, 64, 128}, {64, 128, 128}}));
  for (const index_t n : {0, 1, 2, 3, 9, 33, 64, 65, 100}) check<TestType>({n, b, w, band_tile, {}});
  for (const index_t n : {130, 257})
    if (b > 2) {
      check<TestType>({n, b, w, band_tile, {.block = 64, .update = 64}});
      check<TestType>({n, b, w, band_tile, {.block = 3 * b, .update = 2 * b, .parts = 5}});
    }
}

TEMPLATE_TEST_CASE("reduce_to_band: A = Q B Q^H under a sanitizer", "[gpu][sanitize]", EIG_TYPES) {
  check<TestType>({40, 8, 16, 40, {}});
  check<TestType>({130, 64, 192, 192, {.block = 64, .update = 64}});
  for (const index_t n : {2, 20, 70}) check<TestType>({n, 1, 4096, 4096, {.block = 30}});
}

TEMPLATE_TEST_CASE("reduce_to_band reduces to half-width 1 in one step", "[gpu]", EIG_TYPES) {
  for (const index_t n : {0, 1, 2, 3, 9, 33, 65, 130, 257}) check<TestType>({n, 1, 4096, 4096, {}});
  check<TestType>({200, 1, 4096, 4096, {.block = 30}});  // several tiles of V
}

TEMPLATE_TEST_CASE("reduce_to_band reduces to half-width 1 at the full width of the GPU's kernels", "[gpu]", float,
                   double) {
  if (runtime().gpus() == 0) SKIP("no GPU");
  for (const index_t n : {511, 512, 513, 1024, 1025, 1700, 2047, 2048}) check<TestType>({n, 1, 4096, 4096, {}});
}
