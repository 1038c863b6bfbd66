#include "tests/support/number_types.hpp"
#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>
#include <tesela/algorithms/least_squares/internal/lse_parts.hpp>

// Least squares with constraints of real and complex numbers: one body for four types. LAPACK's gglse is the reference.

using namespace tesela;
using namespace tesela::test;

namespace {

template <class T>
using Answer = ConstrainedLeastSquares<T>;

template <class T>
struct Problem {
  HostMatrix<T> a, b, c, d;

  /// Solves in tiles, or in memory if the tile is 0 x 0.
  Answer<T> solve(TileShape tile = {16, 16}, const OlsOptions& options = {}) const {
    if (tile.mb > 0)
      return in_tiles(a, b, tile, [&](Graph& g, const auto& A, const auto& B) { return lse(g, A, B, c, d, options); });
    HostMatrix<T> A = a.clone(), B = b.clone();
    return lse(runtime(), MatrixView(A), MatrixView(B), c, d, options);
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
    const HostMatrix<T> rest = minus(b, times(a, answer.X));
    const double size = size_of(a) * size_of(answer.X) + size_of(b);
    CHECK(apart(times(c, answer.X), d) <= 500 * eps<T> * (size_of(c) * size_of(answer.X) + size_of(d)));
    const HostMatrix<T> lambda = filled<T>(answer.multipliers.shape(), [&](index_t i, index_t k) {
      return times_power_of_two(answer.multipliers(i, k),
                                answer.multiplier_exponents[static_cast<std::size_t>(k)] +
                                    answer.multiplier_row_exponents[static_cast<std::size_t>(i)]);
    });
    CHECK(apart(times(Op::conjugate, a, rest), times(Op::conjugate, c, lambda)) <= 500 * eps<T> * size_of(a) * size);
    for (index_t k = 0; k < b.cols(); ++k)
      CHECK(std::abs(static_cast<double>(blas::nrm2(b.rows(), rest.data() + k * rest.ld()) -
                                         answer.residual_norms[static_cast<std::size_t>(k)])) <= 500 * eps<T> * size);
  }
};

template <class T>
Problem<T> of_shape(index_t m, index_t n, index_t p, index_t r = 2) {
  return {uniform<T>(m, n, 1), uniform<T>(m, r, 2), uniform<T>(p, n, 3), uniform<T>(p, r, 4)};
}

/// Requires the solution of gglse and its optimality.
template <class T>
void require_gglse(index_t m, index_t n, index_t p, TileShape tile, OlsMethod method = OlsMethod::automatic) {
  CAPTURE(m, n, p, tile.mb, static_cast<int>(method));
  const Problem<T> problem = of_shape<T>(m, n, p);
  const Answer<T> answer = problem.solve(tile, {.method = method});
  REQUIRE(answer.status == SolveStatus::ok);
  CHECK(answer.constraint_rank == p);
  CHECK(answer.rank == n - p);
  CHECK(answer.dropped_rows.empty());
  CHECK(apart(answer.X, problem.by_gglse()) <=
        1e4 * eps<T> * answer.condition * answer.constraint_condition * size_of(answer.X));
  problem.require_optimal(answer);
}

}  // namespace

TEMPLATE_TEST_CASE("constrained problems of every shape agree with gglse in every type", "", float, double,
                   std::complex<float>, std::complex<double>) {
  const auto [m, n, p] = GENERATE(table<index_t, index_t, index_t>(
      {{1, 1, 1}, {5, 3, 1}, {64, 7, 3}, {64, 64, 7}, {200, 33, 20}, {40, 64, 31}, {130, 40, 40}, {90, 24, 0}}));
  const TileShape tile = GENERATE(TileShape{0, 0}, TileShape{16, 16}, TileShape{100, 7});
  require_gglse<TestType>(m, n, p, tile);
  if (tile.mb == 0)
    for (const OlsMethod method : {OlsMethod::tall_skinny, OlsMethod::givens})
      require_gglse<TestType>(m, n, p, tile, method);
}

TEMPLATE_TEST_CASE("constrained problems agree with gglse on a GPU", "[gpu][sanitize]", float, double,
                   std::complex<float>, std::complex<double>) {
  test::require_gpu();
  for (const auto& [m, n, p] : {std::array<index_t, 3>{200, 33, 7}, {600, 12, 5}, {40, 64, 31}, {300, 64, 64}})
    require_gglse<TestType>(m, n, p, ols_tile(runtime(), OlsMethod::tiles, {m, n}));
}

TEMPLATE_TEST_CASE("constraints on a triangle in tiles, which GPUs use, are met on any workers in every type", "",
                   float, double, std::complex<float>, std::complex<double>) {
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
    CHECK(apart(answer->X, problem.by_gglse()) <= 1e4 * eps<T> * size_of(answer->X));
    problem.require_optimal(*answer);
  }
}

TEMPLATE_TEST_CASE("redundant rows of C are dropped and contradictions found in every type", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  T factor = T(3);
  if constexpr (is_complex<T>) factor = T(0, 3);
  Problem<T> problem = of_shape<T>(80, 12, 7);
  for (HostMatrix<T>* const of : {&problem.c, &problem.d})
    for (index_t j = 0; j < of->cols(); ++j) (*of)(4, j) = (*of)(1, j) - factor * (*of)(2, j);
  const Answer<T> answer = problem.solve();
  REQUIRE(answer.status == SolveStatus::ok);
  CHECK(answer.constraint_rank == 6);
  REQUIRE(answer.dropped_rows.size() == 1);
  const index_t dropped = answer.dropped_rows[0];
  CHECK((dropped == 1 || dropped == 2 || dropped == 4));
  problem.require_optimal(answer);
  problem.d(4, 1) += factor;  // in the second right-hand side only
  const Answer<T> none = problem.solve();
  CHECK(none.status == SolveStatus::inconsistent);
  CHECK(none.X.size() == 0);
  CHECK(none.distances[0] == 0);
  CHECK(std::abs(none.distances[1] - 3 / std::sqrt(11.0)) <= 1e-4);
}

TEMPLATE_TEST_CASE("unknowns that nothing determines have least norm in every type", "", float, double,
                   std::complex<float>, std::complex<double>) {
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
  const Gelsd<T> least = gelsd(whole, times(whole, answer.X), rcond);
  CHECK(least.rank == rank + p);
  CHECK(apart(least.X, answer.X) <= 2000 * eps<T> * size_of(answer.X));
}

TEMPLATE_TEST_CASE("with at least as many constraints as unknowns X solves C x = d in every type", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  const index_t n = 8, p = GENERATE(8, 20);
  Problem<T> problem = of_shape<T>(50, n, p);
  const HostMatrix<T> x = uniform<T>(n, 2, 5);
  problem.d = times(problem.c, x);
  const Answer<T> answer = problem.solve();
  REQUIRE(answer.status == SolveStatus::ok);
  CHECK(answer.constraint_rank == n);
  CHECK(apart(answer.X, x) <= 1e3 * eps<T> * answer.constraint_condition * size_of(x));
  problem.require_optimal(answer);
}

TEMPLATE_TEST_CASE("powers of two as units of constrained problems change X by powers of two", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  const Problem<T> plain = of_shape<T>(70, 11, 4, 1);
  const HostMatrix<T> x = plain.solve().X;
  const int most = std::numeric_limits<real_t<T>>::max_exponent - 24, e = GENERATE_COPY(-most, most);
  const auto close = [&](const Problem<T>& problem, int exponent) {
    const Answer<T> answer = problem.solve();
    REQUIRE(answer.status == SolveStatus::ok);
    CHECK(apart(times_two_to(-exponent, answer.X), x) <= 100 * eps<T> * size_of(x));
  };
  const auto copy = [](const HostMatrix<T>& m) { return m.clone(); };
  close({times_two_to(e, plain.a), times_two_to(e, plain.b), copy(plain.c), copy(plain.d)}, 0);
  close({copy(plain.a), copy(plain.b), times_two_to(e, plain.c), times_two_to(e, plain.d)}, 0);
  close({copy(plain.a), times_two_to(e, plain.b), copy(plain.c), times_two_to(e, plain.d)}, e);
}

TEMPLATE_TEST_CASE("NaN and infinities in either part of constrained problems are reported", "", std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  using Real = real_t<T>;
  const Real bad = GENERATE(std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity());
  const TileShape tile = GENERATE(TileShape{0, 0}, TileShape{8, 8});
  for (const T value : {T(bad, 1), T(1, bad)})
    for (HostMatrix<T> Problem<T>::*const part : {&Problem<T>::a, &Problem<T>::b, &Problem<T>::c, &Problem<T>::d}) {
      Problem<T> problem = of_shape<T>(30, 6, 2);
      (problem.*part)(1, 0) = value;
      const Answer<T> answer = problem.solve(tile);
      CHECK(answer.status == SolveStatus::not_finite);
      CHECK(answer.X.size() == 0);
      CHECK(std::isnan(answer.residual_norms[0]));
    }
}
