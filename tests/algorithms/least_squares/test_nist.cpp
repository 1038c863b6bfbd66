#include "tests/support/least_squares.hpp"

// NIST's Statistical Reference Datasets and their certified values.

using namespace tesela;
using namespace tesela::test;

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
    OlsOptions options;
    options.method = method;
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
