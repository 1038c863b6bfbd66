#include "tests/support/number_types.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>

// Least squares with real and complex numbers: one body for four types. LAPACK's gelsd is the reference. A missing
// conjugate fails for complex numbers, whose phases are random.

using namespace tesela;
using namespace tesela::test;

namespace {

/// Solves copies of A and B in tiles, or in memory if the tile is 0 x 0.
template <class T>
LeastSquares<T> solve(const HostMatrix<T>& a, const HostMatrix<T>& b, TileShape tile, const OlsOptions& options = {}) {
  if (tile.mb > 0)
    return in_tiles(a, b, tile, [&](Graph& g, const auto& A, const auto& B) { return ols(g, A, B, options); });
  HostMatrix<T> A = a.clone(), B = b.clone();
  return ols(runtime(), MatrixView(A), MatrixView(B), options);
}

/// Requires the solution of a problem of this rank and the norms of its residuals.
template <class T>
void require_gelsd(index_t m, index_t n, index_t rank, TileShape tile, OlsMethod method = OlsMethod::automatic) {
  CAPTURE(m, n, rank, tile.mb, static_cast<int>(method));
  const HostMatrix<T> a = of_values<T>(m, n, kernels::spectrum(rank, 10)), b = uniform<T>(m, 3, 8);
  const double rcond = 1e-4;
  const LeastSquares<T> answer = solve(a, b, tile, {.method = method, .rcond = rcond});
  const Gelsd<T> expected = gelsd(a, b, rcond);
  REQUIRE(answer.status == (rank < std::min(m, n) ? SolveStatus::rank_deficient : SolveStatus::ok));
  REQUIRE(answer.rank == rank);
  REQUIRE(expected.rank == rank);
  CHECK(answer.original_units);
  CHECK(answer.degrees_of_freedom == m - rank);
  CHECK(apart(answer.X, expected.X) <= 1e4 * eps<T> * size_of(expected.X));
  HostMatrix<T> rest = b.clone();
  blas::gemm(Op::none, Op::none, m, 3, n, T(-1), a.data(), a.ld(), expected.X.data(), expected.X.ld(), T(1),
             rest.data(), rest.ld());
  for (index_t k = 0; k < 3; ++k)
    CHECK(std::abs(static_cast<double>(answer.residual_norms[static_cast<std::size_t>(k)] -
                                       blas::nrm2(m, &rest(0, k)))) <= 1e3 * eps<T> * size_of(b));
}

}  // namespace

TEMPLATE_TEST_CASE("problems of any shape and rank agree with gelsd", "", float, double, std::complex<float>,
                   std::complex<double>) {
  const auto [m, n, rank] = GENERATE(table<index_t, index_t, index_t>({{1, 1, 1},
                                                                       {9, 4, 4},
                                                                       {4, 9, 4},
                                                                       {33, 20, 20},
                                                                       {20, 33, 20},
                                                                       {33, 20, 7},
                                                                       {20, 33, 7},
                                                                       {300, 5, 5},
                                                                       {170, 150, 150},
                                                                       {150, 170, 150},
                                                                       {170, 150, 60},
                                                                       {150, 170, 60}}));
  const auto [tile, method] = GENERATE(table<TileShape, OlsMethod>({{{0, 0}, OlsMethod::automatic},
                                                                    {{16, 16}, OlsMethod::automatic},
                                                                    {{7, 30}, OlsMethod::automatic},
                                                                    {{0, 0}, OlsMethod::givens}}));
  require_gelsd<TestType>(m, n, rank, tile, method);
}

TEMPLATE_TEST_CASE("problems of any shape and rank agree with gelsd on a GPU", "[gpu][sanitize]", float, double,
                   std::complex<float>, std::complex<double>) {
  test::require_gpu();
  for (const auto& [m, n, rank] :
       {std::array<index_t, 3>{90, 33, 33}, {33, 50, 33}, {300, 120, 60}, {2000, 12, 12}, {3000, 300, 300}})
    require_gelsd<TestType>(m, n, rank, ols_tile(runtime(), OlsMethod::tiles, {m, n}));
}

TEMPLATE_TEST_CASE("powers of two as units change X by powers of two", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  const int most = std::numeric_limits<real_t<T>>::max_exponent - 20;
  const auto [m, n, rank] =
      GENERATE(table<index_t, index_t, index_t>({{30, 12, 12}, {12, 30, 12}, {30, 12, 5}, {12, 30, 5}}));
  const int of_a = GENERATE_COPY(-most, 3, most), of_b = GENERATE_COPY(-most / 2, 5, most / 2);
  CAPTURE(m, n, rank, of_a, of_b);
  const HostMatrix<T> a = of_values<T>(m, n, kernels::spectrum(rank, 2)), b = uniform<T>(m, 1, 8);
  const LeastSquares<T> plain = solve(a, b, {8, 8}, {.rcond = 1e-3}),
                        other = solve(times_two_to(of_a, a), times_two_to(of_b, b), {8, 8}, {.rcond = 1e-3});
  if (of_b - of_a > most + 10) {  // X overflows
    CHECK(other.status == SolveStatus::not_finite);
    return;
  }
  CHECK(other.rank == rank);
  if (of_b - of_a < -most) return;  // X underflows
  REQUIRE(other.status == plain.status);
  CHECK(apart(times_two_to(of_a - of_b, other.X), plain.X) <= 100 * eps<T> * size_of(plain.X));
}

TEMPLATE_TEST_CASE("NaN and infinities in either part are reported", "", std::complex<float>, std::complex<double>) {
  using T = TestType;
  using Real = real_t<T>;
  const auto [m, n] = GENERATE(table<index_t, index_t>({{24, 10}, {10, 24}, {200, 180}}));
  const Real bad = GENERATE(std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity());
  const TileShape tile = GENERATE(TileShape{0, 0}, TileShape{8, 8});
  for (const T value : {T(bad, 1), T(1, bad)})
    for (const bool in_a : {true, false}) {
      HostMatrix<T> a = uniform<T>(m, n, 1), b = uniform<T>(m, 2, 2);
      (in_a ? a(m / 2, n - 1) : b(m - 1, 1)) = value;
      const LeastSquares<T> answer = solve(a, b, tile);
      CHECK(answer.status == SolveStatus::not_finite);
      CHECK(answer.X.size() == 0);
      CHECK(std::isnan(answer.residual_norms[0]));
    }
}

TEMPLATE_TEST_CASE("one pass over tall matrices agrees with gelsd", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  const auto [m, n, rank] =
      GENERATE(table<index_t, index_t, index_t>({{300, 5, 5}, {300, 5, 3}, {4, 6, 4}, {400, 40, 40}, {500, 200, 200}}));
  const TileShape tile = GENERATE(TileShape{0, 0}, TileShape{64, 512}, TileShape{97, 3});
  CAPTURE(m, n, rank, tile.mb);
  const HostMatrix<T> a = of_values<T>(m, n, kernels::spectrum(rank, 10)), b = uniform<T>(m, 2, 8);
  const double rcond = 1e-4;
  const LeastSquares<T> answer = solve(a, b, tile, {.method = OlsMethod::tall_skinny, .rcond = rcond});
  const Gelsd<T> expected = gelsd(a, b, rcond);
  REQUIRE(answer.rank == rank);
  CHECK(apart(answer.X, expected.X) <= 1e4 * eps<T> * size_of(expected.X));
}

TEST_CASE("the automatic method of complex problems is tiles") {
  CHECK(ols_method<double>(OlsMethod::automatic, {1000, 2}, 1) == OlsMethod::tall_skinny);
  CHECK(ols_method<std::complex<double>>(OlsMethod::automatic, {1000, 2}, 1) == OlsMethod::tiles);
}
