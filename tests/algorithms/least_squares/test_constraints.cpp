#include "tests/support/commands/process.hpp"
#include "tests/support/least_squares.hpp"
#include "tests/support/machine.hpp"
#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/io/file_formats.hpp>

using namespace tesela;
using namespace tesela::test;

namespace {

using Answer = ConstrainedLeastSquares<double>;

Matrix times(const Matrix& a, int e) {
  return made(a.rows(), a.cols(), [&](index_t i, index_t j) { return std::ldexp(a(i, j), e); });
}

/// A above B.
Matrix stacked(const Matrix& a, const Matrix& b) {
  return made(a.rows() + b.rows(), a.cols(),
              [&](index_t i, index_t j) { return i < a.rows() ? a(i, j) : b(i - a.rows(), j); });
}

Answer constrained(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& d, TileShape tile = {32, 16},
                   const OlsOptions& options = {}) {
  return on_copies(runtime(), a, b, tile,
                   [&](Graph& g, const auto& A, const auto& B) { return lse(g, A, B, c, d, options); });
}

Matrix by_lapack(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& d) {
  const index_t m = a.rows(), n = a.cols(), p = c.rows();
  Matrix X(n, b.cols());
  for (index_t k = 0; k < b.cols(); ++k) {
    Matrix f = a.clone(), e = c.clone(), rhs = b.clone(), of_d = d.clone();
    REQUIRE(lapack::gglse(m, n, p, f.data(), f.ld(), e.data(), e.ld(), &rhs(0, k), of_d.data() + k * of_d.ld(),
                          &X(0, k)) == 0);
  }
  return X;
}

/// Requires C x = d, A^T (b - A x) = C^T lambda, and the reported norms of the residuals.
void require_optimal(const Answer& answer, const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& d) {
  const Matrix r = difference(b, product(a, answer.X));
  const double size = norm(a) * norm(answer.X) + norm(b);
  CHECK(norm(difference(product(c, answer.X), d)) <= 1e-13 * (norm(c) * norm(answer.X) + norm(d)));
  const Matrix multipliers = made(c.rows(), b.cols(), [&](index_t i, index_t k) {
    return std::ldexp(answer.multipliers(i, k), answer.multiplier_exponents[static_cast<std::size_t>(k)] +
                                                    answer.multiplier_row_exponents[static_cast<std::size_t>(i)]);
  });
  CHECK(norm(difference(product(transposed(a), r), product(transposed(c), multipliers))) <= 1e-13 * norm(a) * size);
  for (index_t k = 0; k < b.cols(); ++k) {
    double sum = 0;
    for (index_t i = 0; i < b.rows(); ++i) sum = std::hypot(sum, r(i, k));
    CHECK(std::abs(sum - answer.residual_norms[static_cast<std::size_t>(k)]) <= 1e-12 * size);
  }
}

}  // namespace

TEST_CASE("constrained problems of every shape agree with dgglse") {
  const auto [m, n, p] = GENERATE(table<index_t, index_t, index_t>(
      {{1, 1, 1}, {5, 3, 1}, {64, 7, 3}, {64, 64, 7}, {200, 33, 20}, {40, 64, 31}, {517, 64, 64}, {300, 5, 2}}));
  const index_t r = GENERATE(1, 3);
  CAPTURE(m, n, p, r);
  const Matrix a = random(m, n, 1), b = random(m, r, 2), c = random(p, n, 3), d = random(p, r, 4);
  const Matrix reference = by_lapack(a, b, c, d);
  for (const TileShape tile : {TileShape{16, 16}, {100, 7}, {1000, 1000}}) {
    const Answer answer = constrained(a, b, c, d, tile);
    CHECK(answer.status == SolveStatus::ok);
    CHECK(answer.constraint_rank == p);
    CHECK(answer.rank == n - p);
    CHECK(answer.dropped_rows.empty());
    CHECK(distance(answer.X, reference) <= 1e-10 * norm(reference));
    require_optimal(answer, a, b, c, d);
  }
}

TEST_CASE("one triangle of A, from memory or a file, solves several sets of constraints") {
  const index_t m = 1003, n = 9;
  const test::TemporaryFolder folder;
  const Matrix a = random(m, n, 1), b = random(m, 2, 2);
  write_matrix(folder / "a.npy", a);
  Graph g(runtime());
  const OlsOptions options{.rows = 100};
  const auto triangle = triangle_of(g, MatrixRows<double>(folder / "a.npy"), b, options);
  for (const index_t p : {0, 1, 4, 9}) {
    const Matrix c = random(p, n, 3), d = random(p, 2, 4);
    const Answer answer = lse(g, triangle, c, d);
    CHECK(answer.status == SolveStatus::ok);
    CHECK(distance(answer.X, by_lapack(a, b, c, d)) <= 1e-11 * norm(answer.X));
    require_optimal(answer, a, b, c, d);
  }
}

TEST_CASE("redundant rows of C are dropped and named") {
  const index_t m = 80, n = 12, p = 7;
  const Matrix a = random(m, n, 1), b = random(m, 2, 2);
  Matrix c = random(p, n, 3), d = random(p, 2, 4);
  const auto combine = [&](Matrix& of) {
    for (index_t j = 0; j < of.cols(); ++j) {
      of(4, j) = of(1, j) - 3 * of(2, j);
      of(6, j) = 1e9 * of(0, j);
    }
  };
  combine(c), combine(d);
  const Answer answer = constrained(a, b, c, d);
  CHECK(answer.status == SolveStatus::ok);
  CHECK(answer.constraint_rank == 5);
  REQUIRE(answer.dropped_rows.size() == 2);
  for (const index_t row : answer.dropped_rows) CHECK((row == 0 || row == 6 || row == 1 || row == 2 || row == 4));
  Matrix kept(5, n), kept_d(5, 2);
  for (const index_t i : {0, 1, 2, 3, 4}) {
    const index_t from = i == 4 ? 5 : i;
    for (index_t j = 0; j < n; ++j) kept(i, j) = c(from, j);
    for (index_t k = 0; k < 2; ++k) kept_d(i, k) = d(from, k);
  }
  CHECK(distance(answer.X, by_lapack(a, b, kept, kept_d)) <= 1e-10 * norm(answer.X));
  require_optimal(answer, a, b, c, d);

  d(4, 1) += 1;  // only in the second right-hand side
  const Answer none = constrained(a, b, c, d);
  CHECK(none.status == SolveStatus::inconsistent);
  CHECK(none.X.size() == 0);
  CHECK(none.distances[0] == 0);
  // Distance to the constraint d(4) - d(1) + 3 d(2) = 1.
  CHECK(std::abs(none.distances[1] - 1 / std::sqrt(11.0)) <= 1e-6);
}

TEST_CASE("a row of zeros with a nonzero right-hand side is inconsistent") {
  const Matrix a = random(40, 6, 1), b = random(40, 1, 2);
  Matrix c = random(4, 6, 3), d = random(4, 1, 4);
  for (index_t j = 0; j < 6; ++j) c(2, j) = 0;
  for (const double right : {1.0, -1e-14, 1e-300}) {
    d(2, 0) = right;
    const Answer answer = constrained(a, b, c, d);
    CHECK(answer.status == SolveStatus::inconsistent);
    CHECK(answer.distances[0] > 0);
  }
  d(2, 0) = 0;
  CHECK(constrained(a, b, c, d).status == SolveStatus::ok);
}

TEST_CASE("with at least as many constraints as unknowns, X does not depend on A") {
  const index_t m = 50, n = 8;
  const index_t p = GENERATE(8, 20);
  const Matrix a = random(m, n, 1), b = random(m, 2, 2), c = random(p, n, 3), x = random(n, 2, 4);
  Matrix d = product(c, x);
  const Answer answer = constrained(a, b, c, d);
  CHECK(answer.status == SolveStatus::ok);
  CHECK(answer.constraint_rank == n);
  CHECK(answer.dropped_rows.size() == static_cast<std::size_t>(p - n));
  CHECK(distance(answer.X, x) <= 1e-11 * norm(x));
  require_optimal(answer, a, b, c, d);
  CHECK(constrained(Matrix(0, n), Matrix(0, 2), c, d).status == SolveStatus::ok);
  if (p > n) {
    d(p - 1, 0) += 1;
    const Answer none = constrained(a, b, c, d);
    CHECK(none.status == SolveStatus::inconsistent);
    CHECK(none.distances[0] > 0.01);
    CHECK(none.distances[1] == 0);
  }
}

TEST_CASE("unknowns that A and C do not determine have least norm, and the status reports it") {
  const index_t n = 20, p = 6;
  const bool wide = GENERATE(false, true);
  const Matrix a = wide ? random(9, n, 1) : of_rank(100, n, 9, 1), b = random(a.rows(), 2, 2);
  const Matrix c = random(p, n, 3), d = random(p, 2, 4);
  const Answer answer = constrained(a, b, c, d);
  CHECK(answer.status == SolveStatus::rank_deficient);
  CHECK(answer.rank == 9);
  require_optimal(answer, a, b, c, d);
  // x has least norm if it is orthogonal to the null space of [A; C], that is, if min ||[A; C] (z - x)|| gives z = x.
  const Matrix whole = stacked(a, c);
  const Reference least = reference_of(whole, product(whole, answer.X), 1e-11);
  CHECK(least.rank == 15);
  CHECK(distance(answer.X, least.X) <= 1e-11 * norm(answer.X));
  const Answer no_rows = constrained(Matrix(0, n), Matrix(0, 2), c, d);
  CHECK(no_rows.status == SolveStatus::rank_deficient);
  CHECK(distance(no_rows.X, reference_of(c, d).X) <= 1e-12 * norm(no_rows.X));
}

TEST_CASE("unknowns that neither A nor C contains are zero, and the others have least norm") {
  Matrix a = random(7, 6, 1), c = random(2, 6, 2);
  const index_t absent = GENERATE(0, 3, 5);
  for (index_t j : {absent, index_t{2}}) {
    for (index_t i = 0; i < a.rows(); ++i) a(i, j) = 0;
    for (index_t i = 0; i < c.rows() && j == absent; ++i) c(i, j) = 0;
  }
  for (index_t i = 0; i < a.rows(); ++i) a(i, 4) = a(i, 1);
  const Matrix b = random(7, 2, 3), d = random(2, 2, 4);
  const Answer answer = constrained(a, b, c, d);
  CHECK(answer.status == SolveStatus::rank_deficient);
  CHECK(answer.original_units);
  require_optimal(answer, a, b, c, d);
  for (index_t k = 0; k < 2; ++k) CHECK(std::abs(answer.X(absent, k)) <= 1e-15);
  CHECK(norm(answer.X) <= 10);
}

TEST_CASE("powers of two scale X exactly, and the units of columns change no digit") {
  const RuntimeOfCores cores;
  const index_t m = 70, n = 11, p = 4;
  const Matrix a = random(m, n, 1), b = random(m, 1, 2), c = random(p, n, 3), d = random(p, 1, 4);
  const Answer plain = constrained(a, b, c, d);
  const int e = GENERATE(-1000, 1000);
  CHECK(distance(constrained(times(a, e), times(b, e), c, d).X, plain.X) == 0);
  CHECK(distance(constrained(a, b, times(c, e), times(d, e)).X, plain.X) == 0);
  CHECK(distance(constrained(a, times(b, e), c, times(d, e)).X, times(plain.X, e)) == 0);
  CHECK(distance(constrained(times(a, e), b, c, times(d, -e)).X, times(plain.X, -e)) == 0);
  const auto of_columns = [&](const Matrix& x) {
    return made(x.rows(), n,
                [&](index_t i, index_t j) { return std::ldexp(x(i, j), static_cast<int>(j % 2) * e / 2); });
  };
  const Answer units = constrained(of_columns(a), b, of_columns(c), d);
  CHECK(units.status == SolveStatus::ok);
  for (index_t j = 0; j < n; ++j)
    CHECK(std::abs(std::ldexp(units.X(j, 0), static_cast<int>(j % 2) * e / 2) - plain.X(j, 0)) <= 1e-12);
}

TEST_CASE("constraints hold for any scaling of the columns of A and C") {
  const index_t n = 40, p = GENERATE(10, 40);
  const auto small = [&](index_t j) { return std::exp2(-static_cast<double>(j)); };
  const Matrix plain = random(90, n, 1), b = random(90, 2, 2), c = random(p, n, 3), x = random(n, 2, 4);
  const auto graded = [&](const Matrix& of) {
    return made(of.rows(), n, [&](index_t i, index_t j) { return of(i, j) * small(j); });
  };
  for (const bool of_a : {false, true})
    for (const bool of_c : {false, true}) {
      const Matrix a = of_a ? graded(plain) : plain.clone(), constraints = of_c ? graded(c) : c.clone();
      const Matrix d = product(constraints, x);
      const Answer answer = constrained(a, b, constraints, d);
      REQUIRE(answer.X.shape() == Shape{n, 2});
      CHECK(norm(difference(product(constraints, answer.X), d)) <=
            1e-14 * (norm(constraints) * norm(answer.X) + norm(d)));
    }
}

TEST_CASE("rounding errors on the null space of C do not count as rank of A") {
  const auto matrix = [](index_t rows, index_t cols, const std::vector<double>& by_rows) {
    return made(rows, cols, [&](index_t i, index_t j) { return by_rows[static_cast<std::size_t>(i * cols + j)]; });
  };
  // A is a multiple of C and adds no information.
  const Answer none = constrained(matrix(1, 2, {1, 3}), matrix(1, 1, {6}), matrix(1, 2, {2, 6}), matrix(1, 1, {5}));
  CHECK(none.status == SolveStatus::rank_deficient);
  CHECK(none.rank == 0);
  CHECK(distance(none.X, matrix(2, 1, {0.25, 0.75})) <= 1e-15);
  const Answer one = constrained(matrix(4, 3, {1, 1, 0, 2, 2, 0, 0, 0, 1, 0, 0, 2}), matrix(4, 1, {1, 2, 3, 4}),
                                 matrix(1, 3, {1, 1, 0}), matrix(1, 1, {1}));
  CHECK(one.status == SolveStatus::rank_deficient);
  CHECK(one.rank == 1);
  CHECK(distance(one.X, matrix(3, 1, {0.5, 0.5, 2.2})) <= 1e-14);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix c = random(3, 8, seed), a = product(random(12, 3, seed + 100), c), d = random(3, 1, seed + 200);
    const Answer answer = constrained(a, random(12, 1, seed + 300), c, d);
    CHECK(answer.status == SolveStatus::rank_deficient);
    CHECK(answer.rank == 0);
    CHECK(norm(answer.X) <= 100);
  }
}

TEST_CASE("a large column of C drops no row, and a large column of A hides no unknown") {
  const double large = std::exp2(60);
  Matrix c = Matrix::zeros(2, 3), a = Matrix::zeros(3, 3), b(3, 1), d = Matrix::zeros(2, 1);
  for (index_t i = 0; i < 3; ++i) a(i, i) = b(i, 0) = 1;
  c(0, 0) = c(1, 0) = large, c(0, 1) = 1, d(1, 0) = 1;
  const Answer answer = constrained(a, b, c, d);
  CHECK(answer.status == SolveStatus::ok);
  CHECK(answer.constraint_rank == 2);
  REQUIRE(answer.X.rows() == 3);
  CHECK(std::abs(answer.X(0, 0) * large - 1) <= 1e-14);
  CHECK(std::abs(answer.X(1, 0) + 1) <= 1e-14);
  // Contradictory rows are found despite the large column.
  Matrix twice = stacked(c, c), of_twice = stacked(d, d);
  of_twice(3, 0) = 2;
  CHECK(constrained(a, b, twice, of_twice).status == SolveStatus::inconsistent);

  const Matrix plain = random(14, 7, 1), right = random(14, 1, 2), rows = random(3, 7, 3), of_rows = random(3, 1, 4);
  const Answer limit = constrained(  // the limit as the first unknown goes to zero
      made(14, 6, [&](index_t i, index_t j) { return plain(i, j + 1); }), right,
      made(3, 6, [&](index_t i, index_t j) { return rows(i, j + 1); }), of_rows);
  for (const int e : {60, 100, 500}) {
    const Answer big =
        constrained(made(14, 7, [&](index_t i, index_t j) { return std::ldexp(plain(i, j), j == 0 ? e : 0); }), right,
                    rows, of_rows);
    CHECK(big.status == SolveStatus::ok);
    CHECK(big.rank == 4);
    // The large column can only reduce the residual below that limit.
    CHECK(big.residual_norms[0] <= limit.residual_norms[0] * (1 + 1e-10));
  }
}

TEST_CASE("an element that is not finite gives no X, and shapes that do not match are refused") {
  const Matrix a = random(30, 6, 1), b = random(30, 1, 2), c = random(2, 6, 3), d = random(2, 1, 4);
  const auto with = [](const Matrix& from, double value) {
    Matrix changed = from.clone();
    changed(1, 0) = value;
    return changed;
  };
  for (const double value : {not_a_number, infinity}) {
    CHECK(constrained(with(a, value), b, c, d).status == SolveStatus::not_finite);
    CHECK(constrained(a, with(b, value), c, d).status == SolveStatus::not_finite);
    CHECK(constrained(a, b, with(c, value), d).status == SolveStatus::not_finite);
    CHECK(constrained(a, b, c, with(d, value)).status == SolveStatus::not_finite);
  }
  CHECK_THROWS_WITH(constrained(a, b, random(2, 5, 3), d), ContainsSubstring("C: 2 x 5"));
  CHECK_THROWS_WITH(constrained(a, b, c, random(3, 1, 4)), ContainsSubstring("D: 3 x 1"));
  const Matrix zeros = Matrix::zeros(2, 6);
  CHECK(constrained(a, b, zeros, Matrix::zeros(2, 1)).dropped_rows == std::vector<index_t>{0, 1});
  CHECK(constrained(a, b, zeros, d).status == SolveStatus::inconsistent);
  CHECK(constrained(Matrix(30, 0), b, Matrix(2, 0), Matrix::zeros(2, 1)).status == SolveStatus::ok);
  CHECK(constrained(Matrix(30, 0), b, Matrix(2, 0), d).status == SolveStatus::inconsistent);
  CHECK(constrained(a, Matrix(30, 0), c, Matrix(2, 0)).X.shape() == Shape{6, 0});
}

TEST_CASE("constrained problems on GPUs agree with dgglse", "[gpu][sanitize]") {
  test::require_gpu();
  for (const auto& [m, n, p] :
       {std::tuple<index_t, index_t, index_t>{200, 33, 7}, {600, 12, 5}, {40, 64, 31}, {300, 64, 64}}) {
    CAPTURE(m, n, p);
    const Matrix a = random(m, n, 1), b = random(m, 3, 2), c = random(p, n, 3), d = random(p, 3, 4);
    const Answer answer = constrained(a, b, c, d, ols_tile(runtime(), OlsMethod::tiles, {m, n}));
    CHECK(answer.status == SolveStatus::ok);
    CHECK(distance(answer.X, by_lapack(a, b, c, d)) <= 1e-10 * norm(answer.X));
    require_optimal(answer, a, b, c, d);
  }
}

TEST_CASE("the standard errors of constrained unknowns follow from the free ones") {
  // x0 + 2 x1 = d leaves x1 free: the error of x1 is 1 / ||a1 - 2 a0||. The second row is dropped.
  const Matrix a = made(7, 2, [](index_t i, index_t j) { return std::cos(static_cast<double>(3 * i + 5 * j)); }),
               c = made(2, 2, [](index_t i, index_t j) { return static_cast<double>((i + 1) * (j + 1)); });
  double norm = 0;
  for (index_t i = 0; i < a.rows(); ++i) norm = std::hypot(norm, a(i, 1) - 2 * a(i, 0));
  const std::vector<double> errors = constrained_errors(a, c, {1});
  REQUIRE(errors.size() == 2);
  CHECK(std::abs(errors[1] * norm - 1) < 1e-14);
  CHECK(std::abs(errors[0] * norm - 2) < 1e-14);
  CHECK(constrained_errors(a, made(2, 2, [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; }), {}) ==
        std::vector<double>{0, 0});
}
