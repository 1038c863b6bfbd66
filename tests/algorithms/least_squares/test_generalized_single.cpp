#include "tests/support/glm.hpp"
#include "tests/support/machine.hpp"
#include "tools/checks/glm_error.hpp"
#include "tools/checks/lse_error.hpp"
#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>
#include <tesela/algorithms/least_squares/covariance.hpp>

using namespace tesela;
using namespace tesela::test;

// Short versions of the tests in double precision.

namespace {

using Single = HostMatrix<float>;

Single rounded(const Matrix& a, int e = 0) {
  Single result(a.rows(), a.cols());
  for (index_t k = 0; k < a.size(); ++k) result.data()[k] = std::ldexp(static_cast<float>(a.data()[k]), e);
  return result;
}

TileMatrix<float> map(Single& a, TileShape tile) {
  return TileMatrix<float>::map(runtime(), a.data(), a.rows(), a.cols(), a.ld(), tile, "A");
}

Glm<float> solve(const Single& a, const Single& b, const Single& y, GlmOptions options, TileShape tile = {64, 32}) {
  Single work = a.clone(), factor = b.clone(), rhs = y.clone();
  if (options.method == GlmMethod::givens) tile.mb = std::max<index_t>(a.rows(), 1);
  const auto A = map(work, tile), B = map(factor, {tile.mb, 40}), Y = map(rhs, {tile.mb, 2});
  Graph g(runtime());
  options.multipliers = options.keep_spread = true;
  return glm(g, A, B, Y, options);
}

double relative_distance(const Single& x, const Matrix& reference) {
  REQUIRE(x.shape() == reference.shape());
  double sum = 0;
  for (index_t k = 0; k < x.size(); ++k) sum = std::hypot(sum, static_cast<double>(x.data()[k]) - reference.data()[k]);
  return sum / std::max(norm(reference), 1e-300);
}

void require_rounding(const Single& a, const Single& b, const Single& y, const Glm<float>& s) {
  const GlmError error = glm_error(a, b, y, s.X, s.U, s.multipliers, s.multiplier_exponents);
  CHECK(error.constraint <= 2e-6);
  CHECK(error.optimality <= 2e-6 * error.optimality_scale);
}

}  // namespace

TEST_CASE("general linear models are solved in single precision") {
  const GlmMethod method = GENERATE(GlmMethod::tiles, GlmMethod::gqr, GlmMethod::givens);
  for (const auto& [m, n, p] :
       {std::array<index_t, 3>{0, 7, 3}, {1, 1, 1}, {7, 0, 7}, {64, 7, 64}, {97, 20, 130}, {97, 20, 40}, {20, 64, 7}}) {
    CAPTURE(name_of(glm_methods(), method), m, n, p);
    const Model model = consistent(random(m, n, 1), random(m, p, 2), 2);
    const Single a = rounded(model.a), b = rounded(model.b), y = rounded(model.y);
    const auto s = solve(a, b, y, {.method = method});
    if (m - n > p) {  // rounding y makes it inconsistent by less than the tolerance
      CHECK((s.status == SolveStatus::ok || s.distances[0] <= 1e-4));
      continue;
    }
    CHECK(s.status == SolveStatus::ok);
    require_rounding(a, b, y, s);
    if (n <= m && p >= m) CHECK(relative_distance(s.X, reference_of(model).X) <= 1e-4);
  }
}

TEST_CASE("single precision: ranks, inconsistent models, powers of two and standard errors are correct") {
  const RuntimeOfCores cores;
  const GlmMethod method = GENERATE(GlmMethod::tiles, GlmMethod::gqr);
  const index_t m = 70, n = 12;
  const Model model = consistent(random(m, n, 1), random(m, 80, 2), 2);
  const Single b = rounded(model.b), y = rounded(model.y);
  const auto deficient = solve(rounded(of_rank(m, n, 5, 1)), b, y, {.method = method});
  CHECK(deficient.status == SolveStatus::rank_deficient);
  CHECK(deficient.rank == 5);
  CHECK(deficient.spread.size() == 0);
  const auto none = solve(rounded(model.a), rounded(random(m, 9, 2)), y, {.method = method});
  CHECK(none.status == SolveStatus::inconsistent);
  CHECK(none.distances[0] > 0.1);

  const auto plain = solve(rounded(model.a), b, y, {.method = method});
  Graph g(runtime());
  const auto errors = standard_errors(g, plain);
  REQUIRE(errors.size() == static_cast<std::size_t>(n));
  const auto in_double = standard_errors(g, solve(runtime(), model, {.method = method, .keep_spread = true}));
  for (std::size_t j = 0; j < errors.size(); ++j)
    CHECK(std::abs(static_cast<double>(errors[j]) / in_double[j] - 1) <= 1e-4);
  for (const int e : {-100, 100}) {
    const auto large = solve(rounded(model.a, e), b, y, {.method = method});
    for (index_t k = 0; k < plain.X.size(); ++k) CHECK(large.X.data()[k] == std::ldexp(plain.X.data()[k], -e));
    const auto other = solve(rounded(model.a), rounded(model.b, e), y, {.method = method});
    for (index_t k = 0; k < plain.X.size(); ++k) CHECK(other.X.data()[k] == plain.X.data()[k]);
    CHECK(standard_errors(g, other)[3] == std::ldexp(errors[3], e));
  }
}

TEST_CASE("constrained problems are solved in single precision") {
  const index_t m = 90, n = 20;
  for (const index_t p : {0, 1, 7, 20}) {
    Single a = rounded(random(m, n, 1)), b = rounded(random(m, 2, 2));
    const Single c = rounded(random(p, n, 3)), d = rounded(random(p, 2, 4)), a0 = a.clone(), b0 = b.clone();
    const auto A = map(a, {32, 16}), B = map(b, {32, 2});
    Graph g(runtime());
    const auto s = lse(g, A, B, c, d);
    CAPTURE(p);
    CHECK(s.status == SolveStatus::ok);
    CHECK(s.constraint_rank == p);
    const LseError error =
        lse_error(a0, b0, c, d, s.X, s.multipliers, s.multiplier_exponents, s.multiplier_row_exponents);
    CHECK(error.constraint <= 2e-6);
    CHECK(error.optimality <= 2e-6);
  }
}

TEST_CASE("models in single precision are solved on a GPU", "[gpu][sanitize]") {
  require_gpu();
  const Model model = consistent(random(60, 20, 1), random(60, 90, 2), 2);
  const Single a = rounded(model.a), b = rounded(model.b), y = rounded(model.y);
  for (const GlmMethod method : {GlmMethod::tiles, GlmMethod::gqr}) {
    const auto s = solve(a, b, y, {.method = method}, {60, 32});
    CHECK(s.status == SolveStatus::ok);
    require_rounding(a, b, y, s);
    CHECK(relative_distance(s.X, reference_of(model).X) <= 1e-4);
  }
}
