#include "tests/support/number_types.hpp"
#include <tesela/algorithms/least_squares/weighted_least_squares.hpp>

// Weighted least squares of real and complex numbers: one body for four types. LAPACK's gelsd and gglse are the
// references.

using namespace tesela;
using namespace tesela::test;

namespace {

template <class T>
using Weights = std::vector<real_t<T>>;

/// Solves in tiles, or in memory if the tile is 0 x 0.
template <class T>
LeastSquares<T> solve(const HostMatrix<T>& a, const HostMatrix<T>& b, const Weights<T>& w, TileShape tile = {16, 16},
                      const OlsOptions& options = {}) {
  if (tile.mb > 0)
    return in_tiles(a, b, tile, [&](Graph& g, const auto& A, const auto& B) { return wls(g, A, B, w, options); });
  HostMatrix<T> A = a.clone(), B = b.clone();
  return wls(runtime(), MatrixView(A), MatrixView(B), w, options);
}

/// Returns rows times the roots of their weights.
template <class T>
HostMatrix<T> scaled(const HostMatrix<T>& a, const Weights<T>& w) {
  return filled<T>(a.shape(),
                   [&](index_t i, index_t j) { return a(i, j) * std::sqrt(w[static_cast<std::size_t>(i)]); });
}

/// Returns m weights between 10^-spread and 10^spread.
template <class T>
Weights<T> weights(index_t m, double spread) {
  Weights<T> w;
  for (index_t i = 0; i < m; ++i)
    w.push_back(static_cast<real_t<T>>(std::pow(10, spread * std::sin(static_cast<double>(7 * i + 1)))));
  return w;
}

template <class T>
HostMatrix<T> rows_from(const HostMatrix<T>& a, index_t first, index_t count) {
  return filled<T>({count, a.cols()}, [&](index_t i, index_t j) { return a(first + i, j); });
}

/// Requires the solution of a problem of this rank and the norms of its residuals.
template <class T>
void require_gelsd(index_t m, index_t n, index_t rank, double spread, TileShape tile,
                   OlsMethod method = OlsMethod::automatic) {
  CAPTURE(m, n, rank, spread, tile.mb, static_cast<int>(method));
  const HostMatrix<T> a = of_values<T>(m, n, kernels::spectrum(rank, 4)), b = uniform<T>(m, 3, 8);
  const Weights<T> w = weights<T>(m, spread);
  const double rcond = 1e-4;
  const LeastSquares<T> answer = solve(a, b, w, tile, {.method = method, .rcond = rcond});
  const HostMatrix<T> of_a = scaled(a, w), of_b = scaled(b, w);
  const Gelsd<T> expected = gelsd(of_a, of_b, rcond);
  REQUIRE(answer.status == (rank < std::min(m, n) ? SolveStatus::rank_deficient : SolveStatus::ok));
  CHECK(answer.rank == rank);
  CHECK(answer.degrees_of_freedom == m - rank);
  CHECK(apart(answer.X, expected.X) <= 1e4 * eps<T> * size_of(expected.X));
  const HostMatrix<T> rest = minus(of_b, times(of_a, expected.X));
  for (index_t k = 0; k < 3; ++k)
    CHECK(std::abs(static_cast<double>(answer.residual_norms[static_cast<std::size_t>(k)] -
                                       blas::nrm2(m, &rest(0, k)))) <= 1e3 * eps<T> * size_of(of_b));
}

}  // namespace

TEMPLATE_TEST_CASE("weighted problems of any shape and rank agree with gelsd in every type", "", float, double,
                   std::complex<float>, std::complex<double>) {
  const auto [m, n, rank] = GENERATE(table<index_t, index_t, index_t>(
      {{1, 1, 1}, {9, 4, 4}, {4, 9, 4}, {70, 20, 20}, {33, 20, 7}, {300, 5, 5}, {90, 40, 13}}));
  const double spread = GENERATE(0.1, 1.0);  // one class of weights, several classes
  const TileShape tile = GENERATE(TileShape{0, 0}, TileShape{16, 16}, TileShape{7, 30});
  require_gelsd<TestType>(m, n, rank, spread, tile);
  require_gelsd<TestType>(m, n, rank, spread, tile, tile.mb > 0 ? OlsMethod::tall_skinny : OlsMethod::givens);
}

TEMPLATE_TEST_CASE("weighted problems agree with gelsd on a GPU", "[gpu][sanitize]", float, double, std::complex<float>,
                   std::complex<double>) {
  test::require_gpu();
  const double spread = GENERATE(0.1, 1.0);
  for (const auto& [m, n, rank] : {std::array<index_t, 3>{900, 12, 12}, {300, 40, 40}, {90, 40, 13}})
    for (const OlsMethod method : {OlsMethod::tall_skinny, OlsMethod::tiles})
      require_gelsd<TestType>(m, n, rank, spread, {450, n}, method);
}

TEMPLATE_TEST_CASE("rows of enormous weights become constraints in every type", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  const index_t m = 60, n = 11, heavy = 6;
  const bool deficient = GENERATE(false, true);
  HostMatrix<T> a = uniform<T>(m, n, 1), b = uniform<T>(m, 2, 2);
  if (deficient) {  // two of the heavy rows are multiples of others, and agree with them
    T factor = T(-2);
    if constexpr (is_complex<T>) factor = T(1, -2);
    for (HostMatrix<T>* const of : {&a, &b})
      for (index_t j = 0; j < of->cols(); ++j) (*of)(4, j) = factor * (*of)(0, j), (*of)(5, j) = factor * (*of)(1, j);
  }
  Weights<T> w = weights<T>(m, 0.1);
  for (std::size_t i = 0; i < heavy; ++i) w[i] *= static_cast<real_t<T>>(1 / eps<T> / eps<T>);
  const LeastSquares<T> answer = solve(a, b, w);
  REQUIRE(answer.status == SolveStatus::ok);
  CHECK(answer.rank == n);
  // The solution with constraints differs by about the ratio of the weights.
  const index_t kept = deficient ? 4 : heavy;
  const Weights<T> light(w.begin() + heavy, w.end());
  HostMatrix<T> X(n, 2);
  for (index_t k = 0; k < 2; ++k) {
    HostMatrix<T> of_a = scaled(rows_from(a, heavy, m - heavy), light),
                  of_b = scaled(rows_from(b, heavy, m - heavy), light), c = rows_from(a, 0, kept),
                  d = rows_from(b, 0, kept);
    REQUIRE(lapack::gglse(m - heavy, n, kept, of_a.data(), of_a.ld(), c.data(), c.ld(), &of_b(0, k), &d(0, k),
                          &X(0, k)) == 0);
  }
  CHECK(apart(answer.X, X) <= 1e3 * eps<T> * size_of(X));
  CHECK(apart(times(rows_from(a, 0, heavy), answer.X), rows_from(b, 0, heavy)) <=
        100 * eps<T> * (size_of(a) * size_of(X) + size_of(b)));
}

TEMPLATE_TEST_CASE("rows of weight 0 do not count, also if a part of a number in them is NaN", "", std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  const index_t m = 40, n = 5;
  const TileShape tile = GENERATE(TileShape{0, 0}, TileShape{8, 8});
  const auto nan = std::numeric_limits<real_t<T>>::quiet_NaN();
  HostMatrix<T> a = uniform<T>(m, n, 1), b = uniform<T>(m, 1, 2);
  Weights<T> w = weights<T>(m, 1);
  a(17, 2) = T(1, nan), b(20, 0) = T(nan, 1);
  for (const std::size_t row : {17, 20}) {
    const LeastSquares<T> answer = solve(a, b, w, tile);
    CHECK(answer.status == SolveStatus::not_finite);
    CHECK(answer.X.size() == 0);
    w[row] = 0;
  }
  const LeastSquares<T> answer = solve(a, b, w, tile);
  CHECK(answer.status == SolveStatus::ok);
  CHECK(answer.degrees_of_freedom == m - 2 - n);
}

TEMPLATE_TEST_CASE("powers of two as units of weighted problems change X by powers of two", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  const HostMatrix<T> a = uniform<T>(30, 6, 1), b = uniform<T>(30, 1, 2);
  const double spread = GENERATE(0.1, 3.0);
  const Weights<T> w = weights<T>(30, spread);
  const HostMatrix<T> x = solve(a, b, w).X;
  const int most = std::numeric_limits<real_t<T>>::max_exponent / 2, e = GENERATE_COPY(-most, most);
  Weights<T> units = w;
  for (real_t<T>& weight : units) weight = std::ldexp(weight, e);
  CHECK(apart(solve(a, b, units).X, x) <= 100 * eps<T> * size_of(x));
  CHECK(apart(solve(times_two_to(e, a), times_two_to(e, b), w).X, x) <= 100 * eps<T> * size_of(x));
  CHECK(apart(times_two_to(e, solve(times_two_to(e, a), b, w).X), x) <= 100 * eps<T> * size_of(x));
}

TEST_CASE("wls refuses wrong weights of complex problems") {
  using Z = std::complex<double>;
  const HostMatrix<Z> a = uniform<Z>(64, 2, 1), b = uniform<Z>(64, 1, 2);
  std::vector<double> w = weights<Z>(64, 1);
  w[7] = -1;
  CHECK_THROWS_WITH(solve(a, b, w), ContainsSubstring("row 8 has weight -1"));
}
