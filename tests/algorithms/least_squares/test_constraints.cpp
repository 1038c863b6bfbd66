#include "tests/support/commands/process.hpp"
#include "tests/support/least_squares.hpp"
#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>
#include <tesela/algorithms/least_squares/internal/lse_parts.hpp>
#include <tesela/tiles/io/file_formats.hpp>

using namespace tesela::test;

namespace {

template <class T>
using Answer = ConstrainedLeastSquares<T>;

/// Solves in tiles, or in memory if the tile is 0 x 0.
template <class T>
Answer<T> constrained(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& c, const HostMatrix<T>& d,
                      TileShape tile = {32, 16}, const OlsOptions& options = {}) {
  return on_copies(runtime(), a, b, tile,
                   [&](auto& on, const auto& A, const auto& B) { return lse(on, A, B, c, d, options); });
}

template <class T>
struct Problem {
  HostMatrix<T> a, b, c, d;

  Answer<T> solve(TileShape tile = {16, 16}, const OlsOptions& options = {}) const {
    return constrained(a, b, c, d, tile, options);
  }

  HostMatrix<T> by_gglse() const {
    HostMatrix<T> X(a.cols(), b.cols());
    for (index_t k = 0; k < b.cols(); ++k) {
      HostMatrix<T> f = a.clone(), e = c.clone(), rhs = b.clone(), of_d = d.clone();
      REQUIRE(lapack::gglse(a.rows(), a.cols(), c.rows(), f.data(), f.ld(), e.data(), e.ld(), rhs.data() + k * rhs.ld(),
                            of_d.data() + k * of_d.ld(), X.data() + k * X.ld()) == 0);
    }
    return X;
  }

  /// Requires C x = d, A^H (b - A x) = C^H lambda, and the reported norms of the residuals.
  void require_optimal(const Answer<T>& answer) const {
    const HostMatrix<T> rest = minus(b, product(a, answer.X));
    const double size = norm(a) * norm(answer.X) + norm(b);
    CHECK(distance(product(c, answer.X), d) <= 500 * eps<T> * (norm(c) * norm(answer.X) + norm(d)));
    const HostMatrix<T> lambda = filled<T>(answer.multipliers.shape(), [&](index_t i, index_t k) {
      return times_power_of_two(answer.multipliers(i, k),
                                answer.multiplier_exponents[static_cast<std::size_t>(k)] +
                                    answer.multiplier_row_exponents[static_cast<std::size_t>(i)]);
    });
    CHECK(distance(product(Op::conjugate, a, rest), product(Op::conjugate, c, lambda)) <=
          500 * eps<T> * norm(a) * size);
    for (index_t k = 0; k < b.cols(); ++k)
      CHECK(std::abs(static_cast<double>(blas::nrm2(b.rows(), rest.data() + k * rest.ld()) -
                                         answer.residual_norms[static_cast<std::size_t>(k)])) <= 500 * eps<T> * size);
  }
};

template <class T>
Problem<T> of_shape(index_t m, index_t n, index_t p, index_t r = 2) {
  return {random<T>(m, n, 1), random<T>(m, r, 2), random<T>(p, n, 3), random<T>(p, r, 4)};
}

/// Requires the solution of gglse and its optimality.
template <class T>
void require_gglse(index_t m, index_t n, index_t p, index_t r, TileShape tile,
                   OlsMethod method = OlsMethod::automatic) {
  CAPTURE(m, n, p, r, tile.mb, static_cast<int>(method));
  const Problem<T> problem = of_shape<T>(m, n, p, r);
  const Answer<T> answer = problem.solve(tile, {.method = method});
  REQUIRE(answer.status == SolveStatus::ok);
  CHECK(answer.constraint_rank == p);
  CHECK(answer.rank == n - p);
  CHECK(answer.dropped_rows.empty());
  CHECK(distance(answer.X, problem.by_gglse()) <=
        1e4 * eps<T> * answer.condition * answer.constraint_condition * norm(answer.X));
  problem.require_optimal(answer);
}

}  // namespace

TEMPLATE_TEST_CASE("constrained problems of every shape agree with gglse", "", FOUR_TYPES) {
  const auto [m, n, p] = GENERATE(table<index_t, index_t, index_t>({{1, 1, 1},
                                                                    {5, 3, 1},
                                                                    {64, 7, 3},
                                                                    {64, 64, 7},
                                                                    {200, 33, 20},
                                                                    {40, 64, 31},
                                                                    {517, 64, 64},
                                                                    {300, 5, 2},
                                                                    {90, 24, 0}}));
  const TileShape tile = GENERATE(TileShape{0, 0}, TileShape{16, 16}, TileShape{100, 7}, TileShape{1000, 1000});
  for (const index_t r : {1, 3}) require_gglse<TestType>(m, n, p, r, tile);
  if (tile.mb == 0)
    for (const OlsMethod method : {OlsMethod::tall_skinny, OlsMethod::givens})
      require_gglse<TestType>(m, n, p, 2, tile, method);
}

TEMPLATE_TEST_CASE("constrained problems agree with gglse on a GPU", "[gpu][sanitize]", FOUR_TYPES) {
  require_gpu();
  for (const auto& [m, n, p] : {std::array<index_t, 3>{200, 33, 7}, {600, 12, 5}, {40, 64, 31}, {300, 64, 64}})
    require_gglse<TestType>(m, n, p, 3, ols_tile(runtime(), OlsMethod::tiles, {m, n}));
}

TEMPLATE_TEST_CASE("constraints on a triangle in tiles, which GPUs use, are met on any workers", "", FOUR_TYPES) {
  using T = TestType;
  for (const auto& [m, n, p] : {std::array<index_t, 3>{5, 3, 1}, {200, 33, 7}, {300, 70, 40}}) {
    CAPTURE(m, n, p);
    const Problem<T> problem = of_shape<T>(m, n, p);
    const TileMatrix<T> A(runtime(), m, n, {m, 16}), B(runtime(), m, 2, {m, 2});
    A.copy_from(problem.a.data(), problem.a.ld());
    B.copy_from(problem.b.data(), problem.b.ld());
    Graph g(runtime());
    const QrFactorization<T> factors = qr(g, A);
    factors.apply(g, Side::left, adjoint<T>, B);
    const auto answer = detail::lse_on_device(g, factors, B, problem.c, problem.d, 1e-5);
    REQUIRE(answer);
    CHECK(distance(answer->X, problem.by_gglse()) <= 1e4 * eps<T> * norm(answer->X));
    problem.require_optimal(*answer);
  }
}

TEST_CASE("one triangle of A, from memory or a file, solves several sets of constraints") {
  const index_t m = 1003, n = 9;
  const TemporaryFolder folder;
  const Matrix a = random(m, n, 1), b = random(m, 2, 2);
  write_matrix(folder / "a.npy", a);
  Graph g(runtime());
  const OlsOptions options{.rows = 100};
  const auto triangle = triangle_of(g, MatrixRows<double>(folder / "a.npy"), b, options);
  for (const index_t p : {0, 1, 4, 9}) {
    const Problem<double> problem{a.clone(), b.clone(), random(p, n, 3), random(p, 2, 4)};
    const auto answer = lse(g, triangle, problem.c, problem.d);
    CHECK(answer.status == SolveStatus::ok);
    CHECK(distance(answer.X, problem.by_gglse()) <= 1e-11 * norm(answer.X));
    problem.require_optimal(answer);
  }
}

TEMPLATE_TEST_CASE("redundant rows of C are dropped and named, and contradictions found", "", FOUR_TYPES) {
  using T = TestType;
  const index_t n = 12, r = 2;
  const int far = sizeof(real_t<T>) == 8 ? 30 : 4;
  T factor = T(3);
  if constexpr (is_complex<T>) factor = T(0, 3);
  Problem<T> problem = of_shape<T>(80, n, 7, r);
  for (HostMatrix<T>* const of : {&problem.c, &problem.d})
    for (index_t j = 0; j < of->cols(); ++j) {
      (*of)(4, j) = (*of)(1, j) - factor * (*of)(2, j);
      (*of)(6, j) = times_power_of_two((*of)(0, j), far);
    }
  const Answer<T> answer = problem.solve();
  REQUIRE(answer.status == SolveStatus::ok);
  CHECK(answer.constraint_rank == 5);
  REQUIRE(answer.dropped_rows.size() == 2);
  for (const index_t row : answer.dropped_rows) CHECK((row == 0 || row == 6 || row == 1 || row == 2 || row == 4));
  problem.require_optimal(answer);
  const auto kept = [](const HostMatrix<T>& of) {
    return filled<T>({5, of.cols()}, [&](index_t i, index_t j) { return of(i == 4 ? 5 : i, j); });
  };
  const Problem<T> regular{problem.a.clone(), problem.b.clone(), kept(problem.c), kept(problem.d)};
  CHECK(distance(answer.X, regular.by_gglse()) <= 1e4 * eps<T> * norm(answer.X));

  problem.d(4, 1) += factor;  // in the second right-hand side only
  const Answer<T> none = problem.solve();
  CHECK(none.status == SolveStatus::inconsistent);
  CHECK(none.X.size() == 0);
  CHECK(none.distances[0] == 0);
  // Distance to the constraint d(4) - d(1) + factor d(2) = factor.
  CHECK(std::abs(none.distances[1] - 3 / std::sqrt(11.0)) <= 1e-4);
}

TEMPLATE_TEST_CASE("with at least as many constraints as unknowns, X does not depend on A", "", FOUR_TYPES) {
  using T = TestType;
  const index_t n = 8, p = GENERATE(8, 20);
  Problem<T> problem = of_shape<T>(50, n, p);
  const HostMatrix<T> x = random<T>(n, 2, 5);
  problem.d = product(problem.c, x);
  const Answer<T> answer = problem.solve();
  REQUIRE(answer.status == SolveStatus::ok);
  CHECK(answer.constraint_rank == n);
  CHECK(answer.dropped_rows.size() == static_cast<std::size_t>(p - n));
  CHECK(distance(answer.X, x) <= 1e3 * eps<T> * answer.constraint_condition * norm(x));
  problem.require_optimal(answer);
  CHECK(constrained(HostMatrix<T>(0, n), HostMatrix<T>(0, 2), problem.c, problem.d).status == SolveStatus::ok);
  if (p == n) return;
  problem.d(p - 1, 0) += T(1);
  const Answer<T> none = problem.solve();
  CHECK(none.status == SolveStatus::inconsistent);
  CHECK(none.distances[0] > 0.01);
  CHECK(none.distances[1] == 0);
}

TEMPLATE_TEST_CASE("unknowns that nothing determines have least norm", "", FOUR_TYPES) {
  using T = TestType;
  const index_t n = 20, p = 6;
  // A has fewer rows than unknowns remain, or a deficient rank, or both.
  const auto [m, rank] = GENERATE(table<index_t, index_t>({{9, 9}, {100, 9}, {16, 9}, {11, 9}, {0, 0}}));
  CAPTURE(m, rank);
  Problem<T> problem = of_shape<T>(m, n, p);
  if (m > 0) problem.a = of_values<T>(m, n, kernels::spectrum(rank, 4));
  const double rcond = 1e-4;
  const Answer<T> answer = problem.solve({16, 16}, {.rcond = rcond});
  REQUIRE(answer.status == SolveStatus::rank_deficient);
  CHECK(answer.rank == rank);
  CHECK(answer.original_units);
  problem.require_optimal(answer);
  // x has least norm if it is orthogonal to the null space of [A; C], that is, if gelsd finds x itself.
  const HostMatrix<T> whole = above(problem.a, problem.c);
  const auto least = reference_of(whole, product(whole, answer.X), rcond);
  CHECK(least.rank == rank + p);
  CHECK(distance(least.X, answer.X) <= 2000 * eps<T> * norm(answer.X));
}

TEST_CASE("a row of zeros with a nonzero right-hand side is inconsistent") {
  const Matrix a = random(40, 6, 1), b = random(40, 1, 2);
  Matrix c = random(4, 6, 3), d = random(4, 1, 4);
  for (index_t j = 0; j < 6; ++j) c(2, j) = 0;
  for (const double right : {1.0, -1e-14, 1e-300}) {
    d(2, 0) = right;
    const auto answer = constrained(a, b, c, d);
    CHECK(answer.status == SolveStatus::inconsistent);
    CHECK(answer.distances[0] > 0);
  }
  d(2, 0) = 0;
  CHECK(constrained(a, b, c, d).status == SolveStatus::ok);
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
  const auto answer = constrained(a, b, c, d);
  CHECK(answer.status == SolveStatus::rank_deficient);
  CHECK(answer.original_units);
  Problem<double>{a.clone(), b.clone(), c.clone(), d.clone()}.require_optimal(answer);
  for (index_t k = 0; k < 2; ++k) CHECK(std::abs(answer.X(absent, k)) <= 1e-15);
  CHECK(norm(answer.X) <= 10);
}

TEST_CASE("the units of columns change no digit") {
  const index_t n = 11;
  const auto [a, b, c, d] = of_shape<double>(70, n, 4, 1);
  const auto plain = constrained(a, b, c, d);
  const int e = GENERATE(-1000, 1000);
  const auto of_columns = [&](const Matrix& x) {
    return made(x.rows(), n,
                [&](index_t i, index_t j) { return std::ldexp(x(i, j), static_cast<int>(j % 2) * e / 2); });
  };
  const auto units = constrained(of_columns(a), b, of_columns(c), d);
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
      const auto answer = constrained(a, b, constraints, d);
      REQUIRE(answer.X.shape() == Shape{n, 2});
      CHECK(norm(minus(product(constraints, answer.X), d)) <= 1e-14 * (norm(constraints) * norm(answer.X) + norm(d)));
    }
}

TEST_CASE("rounding errors on the null space of C do not count as rank of A") {
  const auto matrix = [](index_t rows, index_t cols, const std::vector<double>& by_rows) {
    return made(rows, cols, [&](index_t i, index_t j) { return by_rows[static_cast<std::size_t>(i * cols + j)]; });
  };
  // A is a multiple of C and adds no information.
  const auto none = constrained(matrix(1, 2, {1, 3}), matrix(1, 1, {6}), matrix(1, 2, {2, 6}), matrix(1, 1, {5}));
  CHECK(none.status == SolveStatus::rank_deficient);
  CHECK(none.rank == 0);
  CHECK(distance(none.X, matrix(2, 1, {0.25, 0.75})) <= 1e-15);
  const auto one = constrained(matrix(4, 3, {1, 1, 0, 2, 2, 0, 0, 0, 1, 0, 0, 2}), matrix(4, 1, {1, 2, 3, 4}),
                               matrix(1, 3, {1, 1, 0}), matrix(1, 1, {1}));
  CHECK(one.status == SolveStatus::rank_deficient);
  CHECK(one.rank == 1);
  CHECK(distance(one.X, matrix(3, 1, {0.5, 0.5, 2.2})) <= 1e-14);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix c = random(3, 8, seed), a = product(random(12, 3, seed + 100), c), d = random(3, 1, seed + 200);
    const auto answer = constrained(a, random(12, 1, seed + 300), c, d);
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
  const auto answer = constrained(a, b, c, d);
  CHECK(answer.status == SolveStatus::ok);
  CHECK(answer.constraint_rank == 2);
  REQUIRE(answer.X.rows() == 3);
  CHECK(std::abs(answer.X(0, 0) * large - 1) <= 1e-14);
  CHECK(std::abs(answer.X(1, 0) + 1) <= 1e-14);
  // Contradictory rows are found despite the large column.
  Matrix twice = above(c, c), of_twice = above(d, d);
  of_twice(3, 0) = 2;
  CHECK(constrained(a, b, twice, of_twice).status == SolveStatus::inconsistent);

  const Matrix plain = random(14, 7, 1), right = random(14, 1, 2), rows = random(3, 7, 3), of_rows = random(3, 1, 4);
  const auto limit = constrained(  // the limit as the first unknown goes to zero
      made(14, 6, [&](index_t i, index_t j) { return plain(i, j + 1); }), right,
      made(3, 6, [&](index_t i, index_t j) { return rows(i, j + 1); }), of_rows);
  for (const int e : {60, 100, 500}) {
    const auto big =
        constrained(made(14, 7, [&](index_t i, index_t j) { return std::ldexp(plain(i, j), j == 0 ? e : 0); }), right,
                    rows, of_rows);
    CHECK(big.status == SolveStatus::ok);
    CHECK(big.rank == 4);
    // The large column can only reduce the residual below that limit.
    CHECK(big.residual_norms[0] <= limit.residual_norms[0] * (1 + 1e-10));
  }
}

TEMPLATE_TEST_CASE("powers of two scale X exactly", "", FOUR_TYPES) {
  using T = TestType;
  const RuntimeOfCores cores;
  const auto [a, b, c, d] = of_shape<T>(70, 11, 4, 1);
  const HostMatrix<T> x = constrained(a, b, c, d).X;
  const int most = std::numeric_limits<real_t<T>>::max_exponent - 24, e = GENERATE_COPY(-most, most);
  const HostMatrix<T> a_e = times_two_to(e, a), b_e = times_two_to(e, b), d_e = times_two_to(e, d);
  CHECK(distance(constrained(a_e, b_e, c, d).X, x) == 0);
  CHECK(distance(constrained(a, b, times_two_to(e, c), d_e).X, x) == 0);
  CHECK(distance(constrained(a, b_e, c, d_e).X, times_two_to(e, x)) == 0);
  CHECK(distance(constrained(a_e, b, c, times_two_to(-e, d)).X, times_two_to(-e, x)) == 0);
}

TEMPLATE_TEST_CASE("an element that is not finite gives no X", "", FOUR_TYPES) {
  using T = TestType;
  const TileShape tile = GENERATE(TileShape{0, 0}, TileShape{8, 8});
  for (const T value : not_finite<T>())
    for (HostMatrix<T> Problem<T>::*const part : {&Problem<T>::a, &Problem<T>::b, &Problem<T>::c, &Problem<T>::d}) {
      Problem<T> problem = of_shape<T>(30, 6, 2);
      (problem.*part)(1, 0) = value;
      const Answer<T> answer = problem.solve(tile);
      CHECK(answer.status == SolveStatus::not_finite);
      CHECK(answer.X.size() == 0);
      CHECK(std::isnan(answer.residual_norms[0]));
    }
}

TEST_CASE("shapes that do not match are refused, and rows of zeros are redundant or inconsistent") {
  const Matrix a = random(30, 6, 1), b = random(30, 1, 2), c = random(2, 6, 3), d = random(2, 1, 4);
  CHECK_THROWS_WITH(constrained(a, b, random(2, 5, 3), d), ContainsSubstring("C: 2 x 5"));
  CHECK_THROWS_WITH(constrained(a, b, c, random(3, 1, 4)), ContainsSubstring("D: 3 x 1"));
  const Matrix zeros = Matrix::zeros(2, 6);
  CHECK(constrained(a, b, zeros, Matrix::zeros(2, 1)).dropped_rows == std::vector<index_t>{0, 1});
  CHECK(constrained(a, b, zeros, d).status == SolveStatus::inconsistent);
  CHECK(constrained(Matrix(30, 0), b, Matrix(2, 0), Matrix::zeros(2, 1)).status == SolveStatus::ok);
  CHECK(constrained(Matrix(30, 0), b, Matrix(2, 0), d).status == SolveStatus::inconsistent);
  CHECK(constrained(a, Matrix(30, 0), c, Matrix(2, 0)).X.shape() == Shape{6, 0});
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
  CHECK(constrained_errors(a, identity(2), {}) == std::vector<double>{0, 0});
}
