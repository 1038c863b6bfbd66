#include "tests/support/commands/process.hpp"
#include "tests/support/least_squares.hpp"
#include "tests/support/machine.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <utility>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

/// Requires LAPACK's solution of a problem of this rank and its norms of residuals.
template <class T>
void require_gelsd(index_t m, index_t n, index_t rank, TileShape tile, OlsMethod method = OlsMethod::automatic,
                   index_t r = 3) {
  CAPTURE(m, n, rank, r, tile.mb, tile.nb, static_cast<int>(method));
  const HostMatrix<T> a = of_values<T>(m, n, spectrum(rank, 30)), b = random<T>(m, r, 8);
  const double rcond = 1e-4;
  const LeastSquares<T> answer = solve(runtime(), a, b, tile, {.method = method, .rcond = rcond});
  REQUIRE(answer.status == (rank < std::min(m, n) ? SolveStatus::rank_deficient : SolveStatus::ok));
  CHECK(answer.original_units);
  CHECK(answer.degrees_of_freedom == m - rank);
  CHECK(answer.condition >= 1);
  if (rank == std::min(m, n)) CHECK(answer.condition <= 300.0 * static_cast<double>(n));
  const Reference<T> expected = reference_of(a, b, rcond);
  REQUIRE(expected.rank == rank);
  require_agreement(answer, expected, b, 4e3 * eps<T>);
}

}  // namespace

TEMPLATE_TEST_CASE("problems of any shape and rank agree with gelsd", "", FOUR_TYPES) {
  const auto [tile, method, r] = GENERATE(table<TileShape, OlsMethod, index_t>({{{0, 0}, OlsMethod::automatic, 3},
                                                                                {{16, 16}, OlsMethod::automatic, 17},
                                                                                {{7, 30}, OlsMethod::automatic, 1},
                                                                                {{32, 7}, OlsMethod::automatic, 3},
                                                                                {{5, 24}, OlsMethod::automatic, 17},
                                                                                {{1000, 1000}, OlsMethod::automatic, 1},
                                                                                {{0, 0}, OlsMethod::givens, 3}}));
  for (const auto& [m, n, rank] : {std::array<index_t, 3>{1, 1, 1},
                                   {5, 1, 1},
                                   {1, 5, 1},
                                   {9, 4, 4},
                                   {4, 9, 4},
                                   {15, 14, 14},
                                   {16, 16, 16},
                                   {31, 30, 30},
                                   {33, 20, 7},
                                   {20, 33, 7},
                                   {100, 37, 37},
                                   {37, 100, 37},
                                   {700, 11, 11},
                                   {170, 150, 150},
                                   {150, 170, 150},
                                   {170, 150, 60},
                                   {150, 170, 60}})
    require_gelsd<TestType>(m, n, rank, tile, method, r);
}

TEMPLATE_TEST_CASE("problems of any shape and rank agree with gelsd on a GPU", "[gpu][sanitize]", FOUR_TYPES) {
  require_gpu();
  for (const auto& [m, n, rank] : {std::array<index_t, 3>{90, 33, 33}, {33, 50, 33}, {150, 60, 30}, {700, 12, 12}})
    require_gelsd<TestType>(m, n, rank, ols_tile(runtime(), OlsMethod::tiles, {m, n}));
}

TEMPLATE_TEST_CASE("larger problems of any rank agree with gelsd on a GPU", "[gpu]", FOUR_TYPES) {
  require_gpu();
  for (const auto& [m, n] : {Shape{3000, 300}, {300, 700}, {300, 120}, {5000, 12}, {64, 64}})
    for (const index_t rank : {std::min(m, n), index_t{11}})
      require_gelsd<TestType>(m, n, rank, ols_tile(runtime(), OlsMethod::tiles, {m, n}));
}

TEMPLATE_TEST_CASE("one pass over tall matrices agrees with gelsd", "", FOUR_TYPES) {
  using T = TestType;
  const auto [m, n, rank] =
      GENERATE(table<index_t, index_t, index_t>({{300, 5, 5}, {300, 5, 3}, {4, 6, 4}, {400, 40, 40}, {500, 200, 200}}));
  const TileShape tile = GENERATE(TileShape{0, 0}, TileShape{64, 512}, TileShape{97, 3});
  require_gelsd<T>(m, n, rank, tile, OlsMethod::tall_skinny, 2);
}

TEST_CASE("every method agrees with gelsd") {
  const auto [m, n] = GENERATE(table<index_t, index_t>({{90, 20}, {40, 40}, {20, 90}}));
  CAPTURE(m, n);
  const Matrix a = of_values(m, n, spectrum(std::min(m, n), 30)), b = random(m, 4, 8);
  const auto reference = reference_of(a, b);
  const auto require_for = [&](const TileShape& tile, const OlsOptions& options) {
    require_agreement(solve(runtime(), a, b, tile, options), reference, b, 1e-12);
  };
  for (const GivensMethod rotations : {GivensMethod::sequential, GivensMethod::stages, GivensMethod::chain})
    require_for(ols_tile(runtime(), OlsMethod::givens, {m, n}),
                {.method = OlsMethod::givens, .givens = {.method = rotations}});
  for (const char* tree : {"diagonal", "greedy", "binary"})
    require_for({8, 8}, {.method = OlsMethod::tiles, .qr = {.tree = tree}});
  for (const index_t nb : {n, index_t{7}}) require_for({13, nb}, {.method = OlsMethod::tall_skinny});
}

TEST_CASE("empty problems are solved") {
  const auto nothing = solve(runtime(), Matrix(0, 5), Matrix(0, 2), {8, 8});
  CHECK(nothing.status == SolveStatus::ok);
  CHECK(nothing.rank == 0);
  CHECK(distance(nothing.X, Matrix::zeros(5, 2)) == 0);
  CHECK(nothing.residual_norms == std::vector<double>{0, 0});

  Matrix b = random(20, 1, 2);
  const auto no_unknowns = solve(runtime(), Matrix(20, 0), b, {8, 8});
  CHECK(no_unknowns.status == SolveStatus::ok);
  CHECK(no_unknowns.X.shape() == Shape{0, 1});
  CHECK(std::abs(no_unknowns.residual_norms[0] - norm(b)) <= 1e-14 * norm(b));
  b(13, 0) = not_a_number;
  CHECK(solve(runtime(), Matrix(20, 0), b, {8, 8}).status == SolveStatus::not_finite);

  for (const auto& [m, n] : {std::pair<index_t, index_t>{20, 5}, {5, 20}, {200, 2}}) {
    const auto no_rhs = solve(runtime(), random(m, n, 1), Matrix(m, 0), {8, 8});
    CHECK(no_rhs.status == SolveStatus::ok);
    CHECK(no_rhs.rank == std::min(m, n));
    CHECK(no_rhs.X.shape() == Shape{n, 0});
  }
}

TEMPLATE_TEST_CASE("a known solution is recovered in both precisions", "", float, double) {
  const double bound = 2000 * static_cast<double>(std::numeric_limits<TestType>::epsilon());
  const index_t m = 120, n = 30;
  const auto element = ProductForm<double>(m, n, spectrum(n, 10), 3);
  HostMatrix<TestType> a(m, n), b(m, 1);
  for (index_t i = 0; i < m; ++i) {
    b(i, 0) = 0;
    for (index_t j = 0; j < n; ++j) a(i, j) = static_cast<TestType>(element(i, j)), b(i, 0) += a(i, j);
  }
  const auto in_tiles =
      on_copies(runtime(), a, b, {32, 8}, [](Graph& g, const auto& A, const auto& B) { return ols(g, A, B); });
  const auto in_memory = ols(runtime(), MatrixView(a), MatrixView(b));
  for (const auto* const answer : {&in_tiles, &in_memory}) {
    REQUIRE(answer->status == SolveStatus::ok);
    for (index_t j = 0; j < n; ++j) CHECK(std::abs(static_cast<double>(answer->X(j, 0)) - 1) <= bound);
  }
}

TEST_CASE("the equations of a wide A hold for columns of any size, and their residual is reported") {
  const index_t m = 2, n = 8;
  const int of_rows = GENERATE(0, 25);  // ratio of the two equations, as a power of two
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Matrix sizes = random(1, n, 100 + seed), b = random(m, 2, 200 + seed);
    Matrix a = random(m, n, seed);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i)
        a(i, j) = std::ldexp(a(i, j), static_cast<int>(60 * sizes(0, j)) - 30 + static_cast<int>(i) * of_rows);
    const auto answer = solve(runtime(), a, b, {8, 8});
    CAPTURE(seed, answer.condition);
    REQUIRE(answer.status == SolveStatus::ok);
    for (index_t k = 0; k < 2; ++k) {
      long double sum = 0;
      for (index_t i = 0; i < m; ++i) {
        long double rest = b(i, k);
        for (index_t j = 0; j < n; ++j) rest -= static_cast<long double>(a(i, j)) * answer.X(j, k);
        sum = std::hypot(sum, rest);
      }
      const double missed = static_cast<double>(sum), size = std::hypot(b(0, k), b(1, k));
      const double reported = answer.residual_norms[static_cast<std::size_t>(k)];
      CHECK((of_rows > 0 || missed <= 1e-10 * size));
      // Both are rounding errors, which differ between BLAS kernels and on a GPU.
      CHECK(missed <= 300 * reported + 1e-13 * size);
      CHECK(reported <= 300 * missed + 1e-13 * size);
    }
  }
}

TEST_CASE("a file is read once by blocks of rows and gives the solution from memory") {
  const index_t m = 1003, n = 6;
  const index_t rows = GENERATE(1, 10, 100, 5000, 0);
  const TemporaryFolder folder;
  const Matrix a = random(m, n, 1), b = random(m, 2, 2);
  write_matrix(folder / "a.npy", a);
  Graph g(runtime());
  const OlsOptions options{.rows = rows};
  require_agreement(ols(g, MatrixRows<double>(folder / "a.npy"), b, options), reference_of(a, b), b, 1e-12);
  CHECK_THROWS_WITH(ols(g, MatrixRows<double>(folder / "a.npy"), Matrix::zeros(5, 1)), ContainsSubstring("rows"));
}

TEST_CASE("shapes that do not match are refused and the data are unchanged") {
  Matrix a = random(20, 5, 1), b = random(20, 2, 2);
  const auto A = TileMatrix<double>::map(runtime(), a.data(), 20, 5, 20, {8, 8});
  Graph g(runtime());
  const auto ols_with = [&](const TileMatrix<double>& B, double rcond = 0) {
    const OlsOptions options{.rcond = rcond};
    static_cast<void>(ols(g, A, B, options));
  };
  CHECK_THROWS_AS(ols_with(TileMatrix<double>::map(runtime(), b.data(), 19, 2, 20, {8, 8})), ArgumentError);
  CHECK_THROWS_AS(ols_with(TileMatrix<double>::map(runtime(), b.data(), 20, 2, 20, {7, 8})), ArgumentError);
  CHECK_THROWS_AS(ols_with(A), ArgumentError);
  const auto B = TileMatrix<double>::map(runtime(), b.data(), 20, 2, 20, {8, 8});
  for (const double rcond : {-1.0, 1.0, not_a_number}) CHECK_THROWS_AS(ols_with(B, rcond), ArgumentError);
  CHECK(g.tasks() == 0);
  CHECK(distance(a, random(20, 5, 1)) == 0);
}

TEMPLATE_TEST_CASE("NaN and infinities are reported at any place", "", FOUR_TYPES) {
  using T = TestType;
  const auto [m, n] = GENERATE(table<index_t, index_t>({{24, 10}, {10, 24}, {10, 10}, {200, 180}}));
  const auto [tile, method] = GENERATE(table<TileShape, OlsMethod>({{{8, 8}, OlsMethod::tiles},
                                                                    {{8, 8}, OlsMethod::tall_skinny},
                                                                    {{0, 0}, OlsMethod::givens},
                                                                    {{0, 0}, OlsMethod::automatic}}));
  if (m == 200 && method != OlsMethod::automatic) return;
  CAPTURE(m, n, int(method));
  const auto require_refused = [&](const HostMatrix<T>& a, const HostMatrix<T>& b) {
    const auto answer = solve(runtime(), a, b, tile, {.method = method});
    REQUIRE(answer.status == SolveStatus::not_finite);
    REQUIRE(answer.X.size() == 0);
    REQUIRE(std::isnan(answer.residual_norms[0]));
    REQUIRE(std::isnan(answer.condition));
  };
  for (const T bad : not_finite<T>()) {
    CAPTURE(bad);
    for (const auto& [i, j] : {Shape{0, 0}, {m - 1, 0}, {0, n - 1}, {m - 1, n - 1}, {m / 2, n / 2}}) {
      HostMatrix<T> a = random<T>(m, n, 1);
      a(i, j) = bad;
      require_refused(a, random<T>(m, 2, 2));
    }
    for (const index_t i : {index_t{0}, m / 2, m - 1}) {
      HostMatrix<T> b = random<T>(m, 2, 2);
      b(i, 1) = bad;
      require_refused(random<T>(m, n, 1), b);
      require_refused(HostMatrix<T>::zeros(m, n), b);
    }
  }
}

TEMPLATE_TEST_CASE("powers of two as units change X by powers of two", "", FOUR_TYPES) {
  using T = TestType;
  const int most = std::numeric_limits<real_t<T>>::max_exponent - 20;
  const auto [m, n, rank] =
      GENERATE(table<index_t, index_t, index_t>({{30, 12, 12}, {12, 30, 12}, {30, 12, 5}, {12, 30, 5}}));
  const int of_a = GENERATE_COPY(-most, 3, most), of_b = GENERATE_COPY(-most / 2, 5, most / 2);
  CAPTURE(m, n, rank, of_a, of_b);
  const HostMatrix<T> a = of_values<T>(m, n, spectrum(rank, 2)), b = random<T>(m, 1, 8);
  const LeastSquares<T> plain = solve(runtime(), a, b, {8, 8}, {.rcond = 1e-3}),
                        other = solve(runtime(), times_two_to(of_a, a), times_two_to(of_b, b), {8, 8}, {.rcond = 1e-3});
  if (of_b - of_a > most + 10) {  // X overflows
    CHECK(other.status == SolveStatus::not_finite);
    return;
  }
  CHECK(other.rank == rank);
  if (of_b - of_a < -most) return;  // X underflows
  REQUIRE(other.status == plain.status);
  CHECK(distance(times_two_to(of_a - of_b, other.X), plain.X) <= 100 * eps<T> * norm(plain.X));
}

TEST_CASE("the automatic method of complex problems is tiles") {
  CHECK(ols_method<double>(OlsMethod::automatic, {1000, 2}, 1) == OlsMethod::tall_skinny);
  CHECK(ols_method<std::complex<double>>(OlsMethod::automatic, {1000, 2}, 1) == OlsMethod::tiles);
}

TEST_CASE("a solution that overflows is reported as not finite") {
  Matrix a = random(20, 3, 1), b = random(20, 1, 2);
  for (index_t k = 0; k < a.size(); ++k) a.data()[k] *= 1e-200;
  for (index_t k = 0; k < b.size(); ++k) b.data()[k] *= 1e200;
  CHECK(solve(runtime(), a, b, {8, 8}).status == SolveStatus::not_finite);
}

// NIST's Statistical Reference Datasets and their certified values.

namespace {

/// Returns the number of correct digits of x: -log10 of the relative error.
double digits(double x, double certified) {
  return -std::log10(std::max(std::abs(x - certified) / std::abs(certified), epsilon));
}

}  // namespace

TEST_CASE("NIST's Longley data give at least 9 digits of the certified coefficients") {
  const double certified[7] = {-3482258.63459582, 15.0618722713733,    -0.0358191792925910, -2.02022980381683,
                               -1.03322686717359, -0.0511041056535807, 1829.15146461355};
  const double certified_sum_of_squares = 836424.055505915;
  const Matrix a = made(16, 7, [&](index_t i, index_t j) { return j == 0 ? 1 : longley[i][j]; });
  const Matrix b = made(16, 1, [&](index_t i, index_t) { return longley[i][0]; });
  for (const OlsMethod method : {OlsMethod::tiles, OlsMethod::tall_skinny, OlsMethod::givens}) {
    const OlsOptions options{.method = method};
    const auto answer =
        solve(runtime(), a, b, method == OlsMethod::givens ? TileShape{16, 4} : TileShape{5, 4}, options);
    REQUIRE(answer.status == SolveStatus::ok);
    for (index_t j = 0; j < 7; ++j) {
      CAPTURE(int(method), j, answer.X(j, 0), certified[j]);
      CHECK(digits(answer.X(j, 0), certified[j]) >= 9);
    }
    CHECK(digits(answer.residual_norms[0] * answer.residual_norms[0], certified_sum_of_squares) >= 9);
  }
}

TEST_CASE("NIST's Wampler1 and NoInt1 data give the certified coefficients") {
  // y = 1 + x + … + x^5 for x = 0, 1, …, 20, exactly.
  const Matrix a =
      made(21, 6, [](index_t i, index_t j) { return std::pow(static_cast<double>(i), static_cast<double>(j)); });
  const Matrix b = made(21, 1, [&](index_t i, index_t) {
    double sum = 0;
    for (index_t j = 0; j < 6; ++j) sum += a(i, j);
    return sum;
  });
  const auto wampler = solve(runtime(), a, b, {8, 4});
  REQUIRE(wampler.status == SolveStatus::ok);
  // Rounding times the condition of A, 6e6, is 1e-9. LAPACK's gels and gelsd reach 9.4 and 9.3 digits; other tile sizes
  // reach 9.2 to 10.3.
  for (index_t j = 0; j < 6; ++j) CHECK(digits(wampler.X(j, 0), 1) >= 8.5);

  const auto line = solve(runtime(), made(11, 1, [](index_t i, index_t) { return 60.0 + static_cast<double>(i); }),
                          made(11, 1, [](index_t i, index_t) { return 130.0 + static_cast<double>(i); }), {4, 1});
  CHECK(digits(line.X(0, 0), 2.07438016528926) >= 14);
  CHECK(digits(line.residual_norms[0] * line.residual_norms[0], 127.272727272727) >= 13);
}
