#include "tests/support/least_squares.hpp"

#include <utility>

using namespace tesela;
using namespace tesela::test;

TEST_CASE("NaN and infinities are reported at any place") {
  const auto [m, n] = GENERATE(table<index_t, index_t>({{24, 10}, {10, 24}, {10, 10}}));
  const OlsMethod method = GENERATE(OlsMethod::tiles, OlsMethod::tall_skinny, OlsMethod::givens);
  const double bad = GENERATE(not_a_number, infinity, -infinity);
  CAPTURE(m, n, int(method), bad);
  OlsOptions options;
  options.method = method;
  const TileShape tile = method == OlsMethod::givens ? suitable_ols_tile(runtime(), method, m, n) : TileShape{8, 8};
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
