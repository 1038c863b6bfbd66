#include "tests/support/commands/process.hpp"
#include "tests/support/least_squares.hpp"
#include "tests/support/machine.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <utility>

using namespace tesela;
using namespace tesela::kernels;
using namespace tesela::test;

TEST_CASE("well conditioned problems of every shape agree with dgels") {
  const auto [m, n] = GENERATE(table<index_t, index_t>(
      {{1, 1}, {5, 1}, {1, 5}, {16, 16}, {31, 30}, {100, 37}, {37, 100}, {150, 64}, {700, 11}, {15, 14}}));
  const index_t r = GENERATE(1, 3, 17);
  const TileShape tile = GENERATE(TileShape{16, 16}, TileShape{32, 7}, TileShape{5, 24}, TileShape{1000, 1000});
  CAPTURE(m, n, r, tile.mb, tile.nb);
  // Square random matrices can be ill-conditioned; these matrices have a condition of 30.
  const Matrix a = made(m, n, ProductForm<double>(m, n, spectrum(std::min(m, n), 30), 7)), b = random(m, r, 8);
  const auto answer = solve(runtime(), a, b, tile);
  REQUIRE(answer.status == SolveStatus::ok);
  REQUIRE(answer.original_units);
  REQUIRE(answer.condition >= 1);
  REQUIRE(answer.condition <= 30.0 * static_cast<double>(n) * 10);
  require_agreement(answer, reference_of(a, b), b, 1e-12);
}

TEST_CASE("every method agrees with dgels") {
  const auto [m, n] = GENERATE(table<index_t, index_t>({{90, 20}, {40, 40}, {20, 90}}));
  CAPTURE(m, n);
  const Matrix a = made(m, n, ProductForm<double>(m, n, spectrum(std::min(m, n), 30), 7)), b = random(m, 4, 8);
  const Reference reference = reference_of(a, b);
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
  const test::TemporaryFolder folder;
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

TEST_CASE("GPUs agree with dgels for full and deficient rank", "[gpu]") {
  test::require_gpu();
  const auto [m, n] = GENERATE(table<index_t, index_t>({{3000, 300}, {300, 700}, {5000, 12}, {64, 64}}));
  const index_t rank = GENERATE(index_t{1000}, index_t{11});
  CAPTURE(m, n, rank);
  const index_t full = std::min(m, n);
  const Matrix a = rank >= full ? made(m, n, ProductForm<double>(m, n, spectrum(full, 30), 7)) : of_rank(m, n, rank, 3);
  const Matrix b = random(m, 3, 8);
  const auto answer = solve(runtime(), a, b, ols_tile(runtime(), OlsMethod::tiles, {m, n}));
  CHECK(answer.status == (rank >= full ? SolveStatus::ok : SolveStatus::rank_deficient));
  require_agreement(answer, reference_of(a, b, 1e-12), b, 1e-10);
}

TEST_CASE("least squares is solved on a GPU under a sanitizer", "[gpu][sanitize]") {
  test::require_gpu();
  for (const auto& [m, n] : {std::pair<index_t, index_t>{90, 33}, {33, 50}, {2000, 12}}) {
    CAPTURE(m, n);
    const Matrix a = made(m, n, ProductForm<double>(m, n, spectrum(std::min(m, n), 30), 7)), b = random(m, 3, 8);
    const auto answer = solve(runtime(), a, b, ols_tile(runtime(), OlsMethod::tiles, {m, n}));
    CHECK(answer.status == SolveStatus::ok);
    require_agreement(answer, reference_of(a, b, 1e-12), b, 1e-10);
  }
}

TEST_CASE("NaN and infinities are reported at any place") {
  const auto [m, n] = GENERATE(table<index_t, index_t>({{24, 10}, {10, 24}, {10, 10}}));
  const OlsMethod method = GENERATE(OlsMethod::tiles, OlsMethod::tall_skinny, OlsMethod::givens);
  const double bad = GENERATE(not_a_number, infinity, -infinity);
  CAPTURE(m, n, int(method), bad);
  const OlsOptions options{.method = method};
  const TileShape tile = method == OlsMethod::givens ? ols_tile(runtime(), method, {m, n}) : TileShape{8, 8};
  const auto require_refused = [&](const Matrix& a, const Matrix& b) {
    const auto answer = solve(runtime(), a, b, tile, options);
    REQUIRE(answer.status == SolveStatus::not_finite);
    REQUIRE(answer.X.size() == 0);
    REQUIRE(std::isnan(answer.residual_norms[0]));
    REQUIRE(std::isnan(answer.condition));
  };
  for (const auto& [i, j] :
       {std::pair<index_t, index_t>{0, 0}, {m - 1, 0}, {0, n - 1}, {m - 1, n - 1}, {m / 2, n / 2}}) {
    Matrix a = random(m, n, 1);
    a(i, j) = bad;
    require_refused(a, random(m, 2, 2));
  }
  for (const index_t i : {index_t{0}, m / 2, m - 1}) {
    Matrix b = random(m, 2, 2);
    b(i, 1) = bad;
    require_refused(random(m, n, 1), b);
    require_refused(Matrix::zeros(m, n), b);
  }
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
  // Columns: employment, price deflator, gross national product, unemployed, armed forces, population, year (1947 to
  // 1962).
  const double data[16][7] = {
      {60323, 83.0, 234289, 2356, 1590, 107608, 1947},  {61122, 88.5, 259426, 2325, 1456, 108632, 1948},
      {60171, 88.2, 258054, 3682, 1616, 109773, 1949},  {61187, 89.5, 284599, 3351, 1650, 110929, 1950},
      {63221, 96.2, 328975, 2099, 3099, 112075, 1951},  {63639, 98.1, 346999, 1932, 3594, 113270, 1952},
      {64989, 99.0, 365385, 1870, 3547, 115094, 1953},  {63761, 100.0, 363112, 3578, 3350, 116219, 1954},
      {66019, 101.2, 397469, 2904, 3048, 117388, 1955}, {67857, 104.6, 419180, 2822, 2857, 118734, 1956},
      {68169, 108.4, 442769, 2936, 2798, 120445, 1957}, {66513, 110.8, 444546, 4681, 2637, 121950, 1958},
      {68655, 112.6, 482704, 3813, 2552, 123366, 1959}, {69564, 114.2, 502601, 3931, 2514, 125368, 1960},
      {69331, 115.7, 518173, 4806, 2572, 127852, 1961}, {70551, 116.9, 554894, 4007, 2827, 130081, 1962}};
  const double certified[7] = {-3482258.63459582, 15.0618722713733,    -0.0358191792925910, -2.02022980381683,
                               -1.03322686717359, -0.0511041056535807, 1829.15146461355};
  const double certified_sum_of_squares = 836424.055505915;
  const Matrix a = made(16, 7, [&](index_t i, index_t j) { return j == 0 ? 1 : data[i][j]; });
  const Matrix b = made(16, 1, [&](index_t i, index_t) { return data[i][0]; });
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
