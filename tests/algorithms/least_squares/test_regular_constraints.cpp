#include "tests/support/least_squares.hpp"
#include "tests/support/machine.hpp"
#include <tesela/algorithms/least_squares/internal/lse_parts.hpp>

#include <optional>

using namespace tesela::test;

namespace {

using Answer = ConstrainedLeastSquares<double>;

/// Solves by the method for triangles in tiles, which GPUs use, on any workers.
std::optional<Answer> in_place(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& d) {
  const index_t m = a.rows(), n = a.cols(), r = b.cols();
  const TileMatrix<double> A(runtime(), m, n, {m, 16}), B(runtime(), m, r, {m, r});
  A.copy_from(a.data(), a.ld());
  B.copy_from(b.data(), b.ld());
  Graph g(runtime());
  const QrFactorization<double> factors = qr(g, A);
  factors.apply(g, Side::left, Op::transpose, B);
  return detail::lse_on_device(g, factors, B, c, d, 1e-13);
}

Answer at_home(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& d) {
  return on_copies(runtime(), a, b, {40, 16},
                   [&](Graph& g, const auto& A, const auto& B) { return lse(g, triangle_of(g, A, B), c, d); });
}

double multiplier(const Answer& answer, index_t i, index_t k) {
  return std::ldexp(answer.multipliers(i, k), answer.multiplier_exponents[static_cast<std::size_t>(k)] +
                                                  answer.multiplier_row_exponents[static_cast<std::size_t>(i)]);
}

void require_same(const Answer& answer, const Answer& reference, index_t p, double bound) {
  CHECK(answer.status == SolveStatus::ok);
  CHECK(answer.rank == reference.rank);
  CHECK(answer.constraint_rank == p);
  REQUIRE(answer.X.shape() == reference.X.shape());
  for (index_t k = 0; k < answer.X.cols(); ++k) {
    for (index_t j = 0; j < answer.X.rows(); ++j)
      CHECK(std::abs(answer.X(j, k) - reference.X(j, k)) <= bound * norm(reference.X));
    for (index_t i = 0; i < p; ++i)
      CHECK(std::abs(multiplier(answer, i, k) - multiplier(reference, i, k)) <=
            bound * (1 + std::abs(multiplier(reference, i, k))) * 1e2);
    const auto at = static_cast<std::size_t>(k);
    CHECK(std::abs(answer.residual_norms[at] - reference.residual_norms[at]) <= 1e-12 * reference.residual_norms[at]);
  }
}

Matrix scaled(const Matrix& a, const std::vector<int>& rows, const std::vector<int>& columns) {
  return made(a.rows(), a.cols(), [&](index_t i, index_t j) {
    return std::ldexp(a(i, j), (rows.empty() ? 0 : rows[static_cast<std::size_t>(i)]) +
                                   (columns.empty() ? 0 : columns[static_cast<std::size_t>(j)]));
  });
}

}  // namespace

TEST_CASE("constraints on a triangle in tiles give the solution of a triangle in host memory") {
  for (const auto& [m, n, p, r] : {std::array<index_t, 4>{200, 33, 7, 3},
                                   {64, 64, 5, 1},
                                   {90, 20, 20, 2},
                                   {5, 3, 1, 1},
                                   {1, 1, 1, 1},
                                   {300, 70, 40, 8}}) {
    CAPTURE(m, n, p, r);
    const Matrix a = random(m, n, 1), b = random(m, r, 2), c = random(p, n, 3), d = random(p, r, 4);
    const auto answer = in_place(a, b, c, d);
    if (m == n && n > 1) continue;  // a random square matrix may be too ill-conditioned
    if (n == p && n > 1) {
      CHECK((!answer || answer->status == SolveStatus::ok));
      continue;
    }
    REQUIRE(answer);
    require_same(*answer, at_home(a, b, c, d), p, 1e-11);
  }
}

TEST_CASE("powers of two in rows of C, unknowns and right-hand sides scale X with a triangle in tiles") {
  const index_t m = 120, n = 24, p = 6, r = 2;
  const Matrix a = random(m, n, 1), b = random(m, r, 2), c = random(p, n, 3), d = random(p, r, 4);
  const auto plain = in_place(a, b, c, d);
  REQUIRE(plain);
  std::vector<int> rows, unknowns, turned;
  for (int i = 0; i < p; ++i) rows.push_back(17 * (i - 3));
  for (int j = 0; j < n; ++j) unknowns.push_back(9 * (j - 11)), turned.push_back(-unknowns.back());
  const auto other = in_place(scaled(a, {}, unknowns), b, scaled(c, rows, unknowns), scaled(d, rows, {}));
  REQUIRE(other);
  for (index_t k = 0; k < r; ++k)
    for (index_t j = 0; j < n; ++j) {
      const double expected = std::ldexp(plain->X(j, k), turned[static_cast<std::size_t>(j)]);
      CHECK(std::abs(other->X(j, k) - expected) <=
            1e-11 * std::abs(expected) + 1e-13 * std::ldexp(norm(plain->X), turned[static_cast<std::size_t>(j)]));
    }
  const std::vector<int> far(static_cast<std::size_t>(m), 900), far_d(static_cast<std::size_t>(p), 900);
  const auto large = in_place(a, scaled(b, far, {}), c, scaled(d, far_d, {}));
  REQUIRE(large);
  for (index_t k = 0; k < plain->X.size(); ++k) CHECK(large->X.data()[k] == std::ldexp(plain->X.data()[k], 900));
}

TEST_CASE("a small x determined by constraints keeps its digits") {
  const index_t m = 80, n = 10, p = 6;
  const Matrix a = random(m, n, 1), b = scaled(random(m, 1, 2), std::vector<int>(m, 40), {}), c = random(p, n, 3),
               d = random(p, 1, 4);
  const auto answer = in_place(a, b, c, d);
  REQUIRE(answer);
  double most = 0;
  for (index_t i = 0; i < p; ++i) {
    double sum = -d(i, 0), size = std::abs(d(i, 0));
    for (index_t j = 0; j < n; ++j) sum += c(i, j) * answer->X(j, 0), size += std::abs(c(i, j) * answer->X(j, 0));
    most = std::max(most, std::abs(sum) / size);
  }
  CHECK(most <= 1e-14);
}

TEST_CASE("ill-conditioned problems are rejected by the method for triangles in tiles") {
  const index_t m = 60, n = 8;
  const Matrix a = random(m, n, 1), b = random(m, 1, 2), d = random(3, 1, 4);
  Matrix c = random(3, n, 3);
  REQUIRE(in_place(a, b, c, d));
  Matrix dependent = c.clone();
  for (index_t j = 0; j < n; ++j) dependent(2, j) = dependent(0, j) + 1e-5 * dependent(1, j);
  CHECK(!in_place(a, b, dependent, d));
  for (index_t j = 0; j < n; ++j) dependent(2, j) = dependent(0, j);
  CHECK(!in_place(a, b, dependent, d));
  Matrix zero = c.clone();
  for (index_t j = 0; j < n; ++j) zero(1, j) = 0;
  CHECK(!in_place(a, b, zero, d));
  Matrix deficient = a.clone();
  for (index_t i = 0; i < m; ++i) deficient(i, 5) = deficient(i, 2) + 1e-6 * deficient(i, 1);
  CHECK(!in_place(deficient, b, c, d));
  Matrix large = c.clone();
  for (index_t i = 0; i < 3; ++i) large(i, 4) *= 1e8;
  CHECK(!in_place(a, b, large, d));
  Matrix nan = a.clone();
  nan(3, 3) = std::nan("");
  CHECK(!in_place(nan, b, c, d));
  CHECK(!in_place(a, b, Matrix(0, n), Matrix(0, 1)));
}
