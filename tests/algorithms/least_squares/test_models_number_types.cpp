#include "tests/support/number_types.hpp"
#include <tesela/algorithms/least_squares/generalized_least_squares.hpp>
#include <tesela/algorithms/least_squares/glm.hpp>

// Gauss-Markov models and covariances of real and complex numbers: one body for four types. LAPACK's ggglm and gelsd
// are the references.

using namespace tesela;
using namespace tesela::test;

namespace {

template <class T>
HostMatrix<T> scaled(const HostMatrix<T>& multipliers, const std::vector<int>& exponents) {
  return filled<T>(multipliers.shape(), [&](index_t i, index_t j) {
    return times_power_of_two(multipliers(i, j), exponents[static_cast<std::size_t>(j)]);
  });
}

/// The model y = A x + B u.
template <class T>
struct Model {
  HostMatrix<T> a, b, y;

  /// Solves in tiles, or in memory if the tile is 0 x 0 or rotations need whole columns.
  Glm<T> solve(const GlmOptions& options = {}, TileShape tile = {16, 16}) const {
    HostMatrix<T> A = a.clone(), B = b.clone(), Y = y.clone();
    if (tile.mb == 0 || options.method == GlmMethod::givens)
      return glm(runtime(), MatrixView(A), MatrixView(B), MatrixView(Y), options);
    Graph g(runtime());
    return glm(g, MatrixView(A).in_tiles(runtime(), tile, "A"), MatrixView(B).in_tiles(runtime(), tile, "B"),
               MatrixView(Y).in_tiles(runtime(), {tile.mb, 2}, "y"), options);
  }

  /// Requires y = A x + B u, and with multipliers A^H lambda = 0 and B^H lambda = u.
  void require_solution(const Glm<T>& s, double factor = 500) const {
    const double size = size_of(a) * size_of(s.X) + size_of(b) * size_of(s.U) + size_of(y);
    CHECK(apart(minus(y, times(a, s.X)), times(b, s.U)) <= factor * eps<T> * size);
    if (s.multipliers.cols() != y.cols()) return;
    const HostMatrix<T> lambda = scaled(s.multipliers, s.multiplier_exponents);
    CHECK(size_of(times(Op::conjugate, a, lambda)) <= factor * eps<T> * size_of(a) * size_of(lambda));
    CHECK(apart(times(Op::conjugate, b, lambda), s.U) <= factor * eps<T> * size_of(b) * size_of(lambda));
  }

  void require_agreement_with_ggglm(const Glm<T>& s) const {
    const index_t m = a.rows(), n = a.cols(), p = b.cols();
    HostMatrix<T> X(n, y.cols()), U(p, y.cols());
    for (index_t k = 0; k < y.cols(); ++k) {
      HostMatrix<T> A = a.clone(), B = b.clone(), Y = y.clone();
      REQUIRE(lapack::ggglm(m, n, p, A.data(), A.ld(), B.data(), B.ld(), &Y(0, k), X.data() + k * X.ld(),
                            U.data() + k * U.ld()) == 0);
    }
    const double factor = 1e3 * eps<T> * s.condition * s.condition_b;
    CHECK(apart(s.X, X) <= factor * (size_of(X) + size_of(U)));
    CHECK(apart(s.U, U) <= factor * (size_of(X) + size_of(U)));
  }
};

template <class T>
Model<T> of_shape(index_t m, index_t n, index_t p) {
  return {uniform<T>(m, n, 1), uniform<T>(m, p, 2), uniform<T>(m, 2, 3)};
}

/// Sets y to A x + B u of random x and u.
template <class T>
Model<T> consistent(Model<T> model) {
  const HostMatrix<T> of_x = times(model.a, uniform<T>(model.a.cols(), 2, 8)),
                      of_u = times(model.b, uniform<T>(model.b.cols(), 2, 9));
  model.y = filled<T>(of_x.shape(), [&](index_t i, index_t j) { return of_x(i, j) + of_u(i, j); });
  return model;
}

constexpr GlmMethod methods[] = {GlmMethod::seminormal, GlmMethod::tiles, GlmMethod::gqr, GlmMethod::givens};

/// Requires the solution of ggglm by every method.
template <class T>
void require_ggglm(index_t m, index_t n, index_t p, TileShape tile) {
  for (const GlmMethod method : methods) {
    CAPTURE(m, n, p, tile.mb, name_of(glm_methods(), method));
    const Model<T> model = of_shape<T>(m, n, p);
    const Glm<T> s = model.solve({.method = method, .multipliers = true}, tile);
    REQUIRE(s.status == SolveStatus::ok);
    CHECK(s.rank == n);
    CHECK(s.rank_b == m - n);
    CHECK(s.backward_error.good());
    model.require_solution(s);
    model.require_agreement_with_ggglm(s);
    if (method == GlmMethod::seminormal && tile.mb >= 200 && m > n && s.condition_b < 100)
      CHECK(s.used == GlmMethod::seminormal);
    if (method == GlmMethod::gqr && p >= m && m > n) CHECK(s.used == GlmMethod::gqr);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("general linear models agree with ggglm in every type", "", float, double, std::complex<float>,
                   std::complex<double>) {
  const auto [m, n, p] = GENERATE(table<index_t, index_t, index_t>(
      {{1, 1, 1}, {9, 4, 9}, {9, 4, 5}, {40, 40, 7}, {64, 20, 64}, {64, 20, 130}, {97, 33, 64}, {50, 0, 60}}));
  const TileShape tile = GENERATE(TileShape{0, 0}, TileShape{16, 16}, TileShape{200, 7});
  require_ggglm<TestType>(m, n, p, tile);
}

TEMPLATE_TEST_CASE("general linear models agree with ggglm on a GPU", "[gpu][sanitize]", float, double,
                   std::complex<float>, std::complex<double>) {
  test::require_gpu();
  for (const auto& [m, n, p] : {std::array<index_t, 3>{60, 20, 90}, {60, 20, 45}, {97, 33, 64}, {200, 30, 400}})
    require_ggglm<TestType>(m, n, p, {std::max<index_t>(m, 200), 32});
}

TEMPLATE_TEST_CASE("deficient ranks of A and B give least norms and contradictions in every type", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  const index_t m = 40, n = 12, p = 30;
  const double rcond = 1e-4;
  for (const GlmMethod method : methods) {
    CAPTURE(name_of(glm_methods(), method));
    Model<T> model = of_shape<T>(m, n, p);
    model.a = of_values<T>(m, n, kernels::spectrum(7, 4), 5);
    model.b = of_values<T>(m, p, kernels::spectrum(20, 4), 6);
    const Glm<T> none = model.solve({.method = method, .rcond = rcond});
    CHECK(none.status == SolveStatus::inconsistent);
    CHECK(none.X.size() == 0);
    CHECK(none.distances[0] > 0.01);
    model = consistent(std::move(model));
    const Glm<T> s = model.solve({.method = method, .rcond = rcond, .multipliers = true});
    REQUIRE(s.status == SolveStatus::rank_deficient);
    CHECK(s.rank == 7);
    const HostMatrix<T> both =
        filled<T>({m, n + p}, [&](index_t i, index_t j) { return j < n ? model.a(i, j) : model.b(i, j - n); });
    CHECK(s.rank_b == gelsd(both, model.y, rcond).rank - 7);
    model.require_solution(s, 2e3);
    // No x of less norm has the same A x, and no u of less norm the same B u.
    for (const auto& [matrix, found] : {std::pair{&model.a, &s.X}, {&model.b, &s.U}})
      CHECK(apart(gelsd(*matrix, times(*matrix, *found), rcond).X, *found) <= 2e3 * eps<T> * size_of(*found));
  }
}

TEMPLATE_TEST_CASE("columns of B and equations of any sizes keep their digits in every type", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  const index_t m = 30, n = 8, p = 36;
  const bool of_rows = GENERATE(false, true);
  const int little = std::numeric_limits<real_t<T>>::digits;
  const auto size = [&](index_t k) { return static_cast<int>(of_rows ? (k % 3) * little / 2 : (k % 2) * little); };
  Model<T> model = of_shape<T>(m, n, p);
  const auto graded = [&](const HostMatrix<T>& x) {
    return filled<T>(x.shape(), [&](index_t i, index_t j) {
      return times_power_of_two(x(i, j), of_rows ? size(i) : &x == &model.b ? size(j) : 0);
    });
  };
  const Model<T> sized{graded(model.a), graded(model.b), graded(model.y)};
  const Glm<T> s = sized.solve({.multipliers = true});
  REQUIRE(s.status == SolveStatus::ok);
  if (of_rows) {  // equations in other units
    const Glm<T> plain = model.solve();
    CHECK(apart(s.X, plain.X) <= 1e3 * eps<T> * plain.condition_b * size_of(plain.X));
    CHECK(apart(s.U, plain.U) <= 1e3 * eps<T> * plain.condition_b * size_of(plain.U));
  }
  // Each equation holds relative to its terms.
  const HostMatrix<T> rest = minus(minus(sized.y, times(sized.a, s.X)), times(sized.b, s.U));
  for (index_t i = 0; i < m; ++i) {
    double terms = static_cast<double>(std::abs(sized.y(i, 0)));
    for (index_t j = 0; j < n; ++j) terms += static_cast<double>(std::abs(sized.a(i, j) * s.X(j, 0)));
    for (index_t j = 0; j < p; ++j) terms += static_cast<double>(std::abs(sized.b(i, j) * s.U(j, 0)));
    CHECK(static_cast<double>(std::abs(rest(i, 0))) <= 200 * eps<T> * terms);
  }
  // u = B^H lambda, relative to each column of B, and A^H lambda = 0.
  const HostMatrix<T> lambda = scaled(s.multipliers, s.multiplier_exponents), u = times(Op::conjugate, sized.b, lambda);
  for (index_t j = 0; j < p; ++j) {
    double terms = 0;
    for (index_t i = 0; i < m; ++i) terms += static_cast<double>(std::abs(sized.b(i, j) * lambda(i, 0)));
    CHECK(static_cast<double>(std::abs(u(j, 0) - s.U(j, 0))) <= 1e3 * eps<T> * terms);
  }
}

TEMPLATE_TEST_CASE("powers of two as units of models change x and u by powers of two", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  const Model<T> plain = of_shape<T>(40, 9, 45);
  const GlmMethod method = GENERATE(GlmMethod::seminormal, GlmMethod::gqr);
  const Glm<T> s = plain.solve({.method = method});
  const int most = std::numeric_limits<real_t<T>>::max_exponent - 24, e = GENERATE_COPY(-most, most);
  const auto close = [&](const Model<T>& model, int of_x, int of_u) {
    const Glm<T> other = model.solve({.method = method});
    REQUIRE(other.status == SolveStatus::ok);
    CHECK(apart(times_two_to(-of_x, other.X), s.X) <= 300 * eps<T> * size_of(s.X));
    CHECK(apart(times_two_to(-of_u, other.U), s.U) <= 300 * eps<T> * size_of(s.U));
  };
  close({times_two_to(e, plain.a), times_two_to(e, plain.b), times_two_to(e, plain.y)}, 0, 0);
  close({plain.a.clone(), plain.b.clone(), times_two_to(e, plain.y)}, e, e);
  close({times_two_to(e, plain.a), plain.b.clone(), plain.y.clone()}, -e, 0);
}

TEMPLATE_TEST_CASE("NaN and infinities in either part of models are reported", "", std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  using Real = real_t<T>;
  const Real bad = GENERATE(std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity());
  for (const T value : {T(bad, 1), T(1, bad)})
    for (HostMatrix<T> Model<T>::*const part : {&Model<T>::a, &Model<T>::b, &Model<T>::y})
      for (const GlmMethod method : methods) {
        Model<T> model = of_shape<T>(30, 6, 40);
        (model.*part)(29, 1) = value;
        const Glm<T> s = model.solve({.method = method});
        CHECK(s.status == SolveStatus::not_finite);
        CHECK(s.X.size() == 0);
      }
}

namespace {

/// A problem of generalized least squares with the covariance F F^H.
template <class T>
struct Covariances {
  HostMatrix<T> a, b, f;

  HostMatrix<T> sigma() const {
    HostMatrix<T> s = HostMatrix<T>::zeros(f.rows(), f.rows());
    blas::gemm(Op::none, adjoint<T>, f.rows(), f.rows(), f.cols(), T(1), f.data(), f.ld(), f.data(), f.ld(), T(0),
               s.data(), s.ld());
    for (index_t j = 0; j < s.cols(); ++j) {
      for (index_t i = 0; i < j; ++i) s(j, i) = conj(s(i, j));
      s(j, j) = T(real_part(s(j, j)));
    }
    return s;
  }
  GeneralizedLeastSquares<T> solve(bool by_sigma) const {
    return in_tiles(a, b, {16, 16}, [&](Graph& g, const auto& A, const auto& B) {
      const OlsOptions options{.multipliers = true};
      return by_sigma ? gls_covariance(g, A, B, sigma(), options) : gls_factor(g, A, B, f.clone(), options);
    });
  }
  /// Requires A^H V^-1 (A x - b) = 0 for V = F F^H.
  void require_agreement(const GeneralizedLeastSquares<T>& s, double factor) const {
    const index_t m = f.rows(), n = a.cols(), r = b.cols();
    HostMatrix<T> both(m, n + r), lu = f.clone();  // F^-1 [A b]
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n + r; ++j) both(i, j) = j < n ? a(i, j) : b(i, j - n);
    std::vector<int> swaps(static_cast<std::size_t>(m));
    REQUIRE(lapack::getrf(m, m, lu.data(), lu.ld(), swaps.data()) == 0);
    for (index_t j = 0; j < n + r; ++j)
      for (index_t i = 0; i < m; ++i) std::swap(both(i, j), both(swaps[static_cast<std::size_t>(i)] - 1, j));
    blas::solve_unit_lower(Op::none, m, n + r, lu.data(), lu.ld(), both.data(), both.ld());
    blas::trsm(Op::none, m, n + r, lu.data(), lu.ld(), both.data(), both.ld());
    const HostMatrix<T> whole_a = filled<T>({m, n}, [&](index_t i, index_t j) { return both(i, j); }),
                        whole_b = filled<T>({m, r}, [&](index_t i, index_t j) { return both(i, n + j); });
    const HostMatrix<T> X = gelsd(whole_a, whole_b, 1e-6).X, rest = minus(whole_b, times(whole_a, X));
    CHECK(apart(s.X, X) <= factor * eps<T> * size_of(X));
    for (index_t k = 0; k < r; ++k)
      CHECK(std::abs(static_cast<double>(s.residual_norms[static_cast<std::size_t>(k)] - blas::nrm2(m, &rest(0, k)))) <=
            factor * eps<T> * size_of(whole_b));
  }
};

template <class T>
Covariances<T> of_condition(double condition) {
  const index_t m = 40;
  std::vector<double> s;
  for (index_t i = 0; i < m; ++i) s.push_back(std::pow(condition, -static_cast<double>(i) / (m - 1)));
  return {uniform<T>(m, 7, 1), uniform<T>(m, 2, 2), of_values<T>(m, m, s)};
}

}  // namespace

TEMPLATE_TEST_CASE("factors and covariances of every path agree with gelsd in every type", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  const bool by_sigma = GENERATE(false, true);
  const Covariances<T> whitened = of_condition<T>(3);
  const auto by_division = whitened.solve(by_sigma);
  REQUIRE(by_division.status == SolveStatus::ok);
  CHECK(by_division.path == CovariancePath::whitened);
  whitened.require_agreement(by_division, 1e4);

  Covariances<T> diagonal = of_condition<T>(3);  // variances are real, elements of a factor need not be
  diagonal.f = HostMatrix<T>::zeros(40, 40);
  const HostMatrix<T> d = uniform<T>(40, 1, 5);
  for (index_t i = 0; i < 40; ++i) diagonal.f(i, i) = d(i, 0) + T(2);
  const auto by_rows = diagonal.solve(by_sigma);
  REQUIRE(by_rows.status == SolveStatus::ok);
  CHECK(by_rows.path == CovariancePath::rows);
  diagonal.require_agreement(by_rows, 1e4);

  if (by_sigma) return;
  for (const bool lower : {false, true}) {  // triangular factors are divided by substitution
    Covariances<T> triangular = of_condition<T>(3);
    triangular.f = filled<T>({40, 40}, [&](index_t i, index_t j) {
      return i == j ? d(i, 0) + T(3) : (lower ? i > j : i < j) ? whitened.f(i, j) : T(0);
    });
    const auto by_substitution = triangular.solve(false);
    REQUIRE(by_substitution.status == SolveStatus::ok);
    CHECK(by_substitution.path == CovariancePath::whitened);
    triangular.require_agreement(by_substitution, 1e4);
  }
}

TEMPLATE_TEST_CASE("singular covariances hold some equations exactly in every type", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  const bool by_sigma = GENERATE(false, true);
  const index_t m = 30, rank = 22;
  Covariances<T> problem = of_condition<T>(1);
  problem.a = uniform<T>(m, 5, 1), problem.b = uniform<T>(m, 2, 2);
  problem.f = filled<T>(
      {m, m}, [factor = uniform<T>(m, rank, 3)](index_t i, index_t j) { return j < rank ? factor(i, j) : T(0); });
  CHECK(problem.solve(by_sigma).status == SolveStatus::inconsistent);
  const HostMatrix<T> of_x = times(problem.a, uniform<T>(5, 2, 4)), of_u = times(problem.f, uniform<T>(m, 2, 5));
  problem.b = filled<T>({m, 2}, [&](index_t i, index_t j) { return of_x(i, j) + of_u(i, j); });
  const auto s = problem.solve(by_sigma);
  REQUIRE(s.status == SolveStatus::ok);
  CHECK(s.path == CovariancePath::model);
  CHECK(s.covariance_rank == rank);
  const HostMatrix<T> lambda = scaled(s.multipliers, s.multiplier_exponents),
                      left = minus(problem.b, times(problem.a, s.X));
  CHECK(apart(times(problem.sigma(), lambda), left) <=
        1e3 * eps<T> * (size_of(problem.sigma()) * size_of(lambda) + size_of(problem.b)));
  CHECK(size_of(times(Op::conjugate, problem.a, lambda)) <= 1e3 * eps<T> * size_of(problem.a) * size_of(lambda));
}

TEMPLATE_TEST_CASE("covariances that are indefinite or not Hermitian are refused", "", std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  const Covariances<T> problem = of_condition<T>(3);
  const auto with = [&](index_t i, index_t j, T change, bool both) {
    HostMatrix<T> s = problem.sigma();
    s(i, j) += change;
    if (both) s(j, i) = conj(s(i, j));
    return in_tiles(problem.a, problem.b, {16, 16},
                    [&](Graph& g, const auto& A, const auto& B) { return gls_covariance(g, A, B, std::move(s)); });
  };
  CHECK_NOTHROW(with(3, 5, T(0, real_t<T>(eps<T>) / 16), true));
  CHECK_THROWS_WITH(with(3, 5, T(0, real_t<T>(0.25)), false), ContainsSubstring("not Hermitian: worst at (4, 6)"));
  CHECK_THROWS_WITH(with(7, 7, T(0, real_t<T>(0.25)), false), ContainsSubstring("the imaginary part in row 8 is 0.25"));
  CHECK_THROWS_WITH(with(3, 5, T(0, 9), true), ContainsSubstring("indefinite"));
  CHECK_THROWS_WITH(with(7, 7, T(-9), false), ContainsSubstring("indefinite"));
}
