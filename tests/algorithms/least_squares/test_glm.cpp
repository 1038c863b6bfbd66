#include "tests/support/glm.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/quadruple.hpp"
#include <tesela/host/minimum_norm.hpp>

using namespace tesela::test;

namespace {

GlmMethod any_method() { return GENERATE(GlmMethod::seminormal, GlmMethod::tiles, GlmMethod::gqr, GlmMethod::givens); }

template <class T>
Model<T> of_shape(index_t m, index_t n, index_t p) {
  return {random<T>(m, n, 1), random<T>(m, p, 2), random<T>(m, 2, 3)};
}

/// Requires the solution of ggglm by every method for any right-hand side.
template <class T>
void require_solutions(index_t m, index_t n, index_t p, TileShape tile) {
  const Model<T> model = of_shape<T>(m, n, p);
  for (const GlmMethod method : every_glm_method) {
    CAPTURE(m, n, p, tile.mb, name_of(glm_methods(), method));
    const Glm<T> s = solve(runtime(), model, {.method = method}, tile);
    REQUIRE(s.status == SolveStatus::ok);
    CHECK(s.rank == n);
    CHECK(s.rank_b == m - n);
    CHECK(s.backward_error.good());
    require_solution(model, s);
    require_ggglm(model, s);
    if (method == GlmMethod::seminormal && tile.mb > 0 && m > n && s.condition_b < 100)
      CHECK(s.used == GlmMethod::seminormal);
    if (method == GlmMethod::gqr && p >= m && m > n) CHECK(s.used == GlmMethod::gqr);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("consistent models of any shape agree with ggglm", "", FOUR_TYPES) {
  using T = TestType;
  const GlmMethod method = any_method();
  for (const index_t m : {0, 1, 7, 64, 97})
    for (const index_t n : {0, 1, 7, 64})
      for (const index_t p : {0, 1, 7, 64, 130}) {
        CAPTURE(name_of(glm_methods(), method), m, n, p);
        const Model<T> model = consistent(random<T>(m, n, 1), random<T>(m, p, 2), 3);
        const auto s = solve(runtime(), model, {.method = method});
        CHECK(s.status == SolveStatus::ok);
        CHECK(s.rank == std::min(m, n));
        require_solution(model, s);
        if (n <= m && m <= n + p) require_ggglm(model, s);
      }
}

TEMPLATE_TEST_CASE("models with any right-hand side agree with ggglm", "", FOUR_TYPES) {
  const TileShape tile = GENERATE(TileShape{0, 0}, TileShape{16, 16}, TileShape{200, 7});
  for (const auto& [m, n, p] : {std::array<index_t, 3>{1, 1, 1},
                                {9, 4, 9},
                                {9, 4, 5},
                                {40, 40, 7},
                                {64, 20, 64},
                                {64, 20, 130},
                                {97, 33, 64},
                                {50, 0, 60}})
    require_solutions<TestType>(m, n, p, tile);
}

TEMPLATE_TEST_CASE("general linear models agree with ggglm on a GPU", "[gpu][sanitize]", FOUR_TYPES) {
  require_gpu();
  for (const auto& [m, n, p] : {std::array<index_t, 3>{60, 20, 90}, {60, 20, 45}, {97, 33, 64}, {200, 30, 400}})
    require_solutions<TestType>(m, n, p, {std::max<index_t>(m, 200), 32});
}

TEST_CASE("B = I is ordinary least squares") {
  const Model<double> model{random(120, 30, 1), identity(120), random(120, 2, 3)};
  const auto s = solve(runtime(), model);
  const auto reference = reference_of(model.a, model.y);
  CHECK(distance(s.X, reference.X) <= 1e-12 * norm(reference.X));
  for (index_t j = 0; j < 2; ++j)
    CHECK(std::abs(kernels::euclidean_norm(s.U.rows(), &s.U(0, j)) -
                   reference.residual_norms[static_cast<std::size_t>(j)]) <= 1e-12);
}

TEST_CASE("with a B of deficient row rank, inconsistency and its distance are reported") {
  const GlmMethod method = any_method();
  const index_t m = 80, n = 15;
  for (const index_t p : {5, 40, 64, 100}) {
    CAPTURE(name_of(glm_methods(), method), p);
    const Model<double> good = consistent(random(m, n, 1), of_rank(m, p, std::min<index_t>(p, 30), 2), 2);
    const auto s = solve(runtime(), good, {.method = method});
    CHECK(s.status == SolveStatus::ok);
    CHECK(s.rank_b == std::min<index_t>(p, 30));
    require_solution(good, s, 4500);

    Model<double> bad{good.a.clone(), good.b.clone(), good.y.clone()};
    const Matrix other = random(m, 1, 5);
    for (index_t i = 0; i < m; ++i) bad.y(i, 1) += 1e-3 * other(i, 0);
    const auto f = solve(runtime(), bad, {.method = method});
    CHECK(f.status == SolveStatus::inconsistent);
    CHECK(f.X.size() == 0);
    CHECK(f.U.size() == 0);
    CHECK(f.consistent == std::vector<bool>{true, false});
    CHECK(f.distances[0] <= f.tolerances[0]);
    // The distance is the residual norm of min ||[A B] z - y||, here by gelsy.
    Matrix both(m, n + p);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n + p; ++j) both(i, j) = j < n ? bad.a(i, j) : bad.b(i, j - n);
    const auto reference = reference_of(both, bad.y, 1e-12);
    CHECK(std::abs(f.distances[1] - reference.residual_norms[1]) <= 1e-9 * reference.residual_norms[1]);
  }
}

TEST_CASE("with an A of deficient rank, x has least norm and u fits the remaining rows") {
  const GlmMethod method = any_method();
  for (const auto& [m, n, p] : {std::array<index_t, 3>{70, 20, 90}, {70, 20, 30}, {20, 50, 30}}) {
    CAPTURE(name_of(glm_methods(), method), m, n, p);
    const Model<double> model = consistent(of_rank(m, n, 8, 1), random(m, p, 2), 2);
    const auto s = solve(runtime(), model, {.method = method});
    CHECK(s.status == SolveStatus::rank_deficient);
    CHECK(s.rank == 8);
    require_solution(model, s, 4500);
    // x is orthogonal to the null space of A: x = A^+ (b - B u).
    const Matrix rest = sum(model.y, product(model.b, s.U), -1);
    CHECK(distance(s.X, reference_of(model.a, rest, 1e-12).X) <= 1e-10 * norm(s.X));
  }
}

TEMPLATE_TEST_CASE("deficient ranks of A and B give least norms and contradictions", "", FOUR_TYPES) {
  using T = TestType;
  const index_t m = 40, n = 12, p = 30;
  const double rcond = 1e-4;
  for (const GlmMethod method : every_glm_method) {
    CAPTURE(name_of(glm_methods(), method));
    Model<T> model = of_shape<T>(m, n, p);
    model.a = of_values<T>(m, n, kernels::spectrum(7, 4), 5);
    model.b = of_values<T>(m, p, kernels::spectrum(20, 4), 6);
    const Glm<T> none = solve(runtime(), model, {.method = method, .rcond = rcond});
    CHECK(none.status == SolveStatus::inconsistent);
    CHECK(none.X.size() == 0);
    CHECK(none.distances[0] > 0.01);
    model = consistent(std::move(model.a), std::move(model.b), 2);
    const Glm<T> s = solve(runtime(), model, {.method = method, .rcond = rcond});
    REQUIRE(s.status == SolveStatus::rank_deficient);
    CHECK(s.rank == 7);
    const HostMatrix<T> both =
        filled<T>({m, n + p}, [&](index_t i, index_t j) { return j < n ? model.a(i, j) : model.b(i, j - n); });
    CHECK(s.rank_b == reference_of(both, model.y, rcond).rank - 7);
    require_solution(model, s, 2e3);
    // No x of less norm has the same A x, and no u of less norm the same B u.
    for (const auto& [matrix, found] : {std::pair{&model.a, &s.X}, {&model.b, &s.U}})
      CHECK(distance(reference_of(*matrix, product(*matrix, *found), rcond).X, *found) <= 2e3 * eps<T> * norm(*found));
  }
}

TEMPLATE_TEST_CASE("powers of two scale x and u exactly", "", FOUR_TYPES) {
  using T = TestType;
  const RuntimeOfCores cores;
  const GlmMethod method = GENERATE(GlmMethod::seminormal, GlmMethod::tiles, GlmMethod::gqr);
  const auto deficient = [](index_t m, index_t n, index_t rank, std::uint64_t seed) {
    return of_values<T>(m, n, kernels::spectrum(rank, 1), seed);
  };
  const std::array<Model<T>, 3> models{consistent(random<T>(60, 20, 1), random<T>(60, 90, 2), 2),
                                       consistent(random<T>(60, 20, 1), deficient(60, 25, 20, 2), 2),
                                       consistent(deficient(60, 20, 9, 1), random<T>(60, 90, 2), 2)};
  const int most = std::numeric_limits<real_t<T>>::max_exponent - 24;
  for (const Model<T>& model : models) {
    const auto s = solve(runtime(), model, {.method = method});
    REQUIRE(s.X.size() > 0);
    for (const auto& [a, b, y] : {std::array<int, 3>{most, 0, 0},
                                  {-most, 0, 0},
                                  {0, most, 0},
                                  {0, -most, 0},
                                  {0, 0, most},
                                  {0, 0, -most},
                                  {most / 10 * 9, most / 10 * 9, most / 10 * 9},
                                  {-most / 2, most / 5 * 2, most / 2}}) {
      CAPTURE(a, b, y);
      const Model<T> other{times_two_to(a, model.a), times_two_to(b, model.b), times_two_to(y, model.y)};
      const auto t = solve(runtime(), other, {.method = method});
      CHECK(t.status == s.status);
      CHECK(t.condition == s.condition);
      REQUIRE(t.X.shape() == s.X.shape());
      CHECK(distance(t.X, times_two_to(y - a, s.X)) == 0);
      CHECK(distance(t.U, times_two_to(y - b, s.U)) == 0);
    }
  }
}

TEMPLATE_TEST_CASE("elements that are not finite are a status", "", FOUR_TYPES) {
  using T = TestType;
  for (const T value : not_finite<T>())
    for (HostMatrix<T> Model<T>::*const part : {&Model<T>::a, &Model<T>::b, &Model<T>::y})
      for (const GlmMethod method : every_glm_method) {
        Model<T> model = of_shape<T>(30, 6, 40);
        (model.*part)(29, 1) = value;
        const Glm<T> s = solve(runtime(), model, {.method = method});
        CHECK(s.status == SolveStatus::not_finite);
        CHECK(s.X.size() == 0);
      }
}

TEST_CASE("shapes and tiles of models that do not match are refused") {
  Graph g(runtime());
  const auto matrix = [](index_t m, index_t n, index_t mb) { return TileMatrix<double>(runtime(), m, n, {mb, 4}); };
  CHECK_THROWS_AS(glm(g, matrix(8, 2, 4), matrix(7, 2, 4), matrix(8, 1, 4)), ArgumentError);
  CHECK_THROWS_AS(glm(g, matrix(8, 2, 4), matrix(8, 2, 4), matrix(8, 1, 3)), ArgumentError);
  CHECK_THROWS_AS(glm(g, matrix(8, 2, 4), matrix(8, 2, 4), matrix(8, 1, 4), {.rcond = 1}), ArgumentError);
}

TEST_CASE("standard deviations may be 24 orders of magnitude apart") {
  const index_t m = 12, n = 3;
  const HostMatrix<double> a = random(m, n, 1), y = random(m, 1, 2);
  for (const int last : {2, 6, 12}) {
    HostMatrix<double> b = HostMatrix<double>::zeros(m, m);
    for (index_t i = 0; i < m; ++i)
      b(i, i) = std::pow(10.0, -last + 2.0 * last * static_cast<double>(i * 5 % m) / static_cast<double>(m - 1));
    std::vector<double> weights;
    for (index_t i = 0; i < m; ++i) weights.push_back(1 / (b(i, i) * b(i, i)));
    const HostMatrix<double> reference = quadruple_wls(a, y, weights);
    for (const GlmMethod method : {GlmMethod::tiles, GlmMethod::gqr, GlmMethod::givens}) {
      CAPTURE(last, method);
      const auto s = solve(runtime(), Model{a.clone(), b.clone(), y.clone()}, {.method = method});
      CHECK(s.status == SolveStatus::ok);
      CHECK(s.rank_b == m - n);
      REQUIRE(s.X.rows() == n);
      CHECK(distance(s.X, reference) <= 1e-12 * norm(reference));
    }
  }
}

TEST_CASE("a large column of B that u does not use hides no inconsistency") {
  HostMatrix<double> a = HostMatrix<double>::zeros(4, 1), b = HostMatrix<double>::zeros(4, 2),
                     y = HostMatrix<double>::zeros(4, 1);
  a(0, 0) = 1, b(1, 0) = std::exp2(48), b(2, 1) = 1, y(0, 0) = y(2, 0) = 1, y(3, 0) = 1e-3;
  CHECK(solve(runtime(), Model{a.clone(), b.clone(), y.clone()}).status == SolveStatus::inconsistent);
  y(3, 0) = 0;
  CHECK(solve(runtime(), Model{a.clone(), b.clone(), y.clone()}).status == SolveStatus::ok);
}

TEMPLATE_TEST_CASE("columns of B and equations of any sizes keep their digits", "", FOUR_TYPES) {
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
  const Glm<T> s = solve(runtime(), sized);
  REQUIRE(s.status == SolveStatus::ok);
  if (of_rows) {  // equations in other units
    const Glm<T> plain = solve(runtime(), model);
    CHECK(distance(s.X, plain.X) <= 1e3 * eps<T> * plain.condition_b * norm(plain.X));
    CHECK(distance(s.U, plain.U) <= 1e3 * eps<T> * plain.condition_b * norm(plain.U));
  }
  // Each equation holds relative to its terms.
  const HostMatrix<T> rest = minus(minus(sized.y, product(sized.a, s.X)), product(sized.b, s.U));
  for (index_t i = 0; i < m; ++i) {
    double terms = static_cast<double>(std::abs(sized.y(i, 0)));
    for (index_t j = 0; j < n; ++j) terms += static_cast<double>(std::abs(sized.a(i, j) * s.X(j, 0)));
    for (index_t j = 0; j < p; ++j) terms += static_cast<double>(std::abs(sized.b(i, j) * s.U(j, 0)));
    CHECK(static_cast<double>(std::abs(rest(i, 0))) <= 200 * eps<T> * terms);
  }
  // u = B^H lambda, relative to each column of B, and A^H lambda = 0.
  const HostMatrix<T> lambda = scaled(s.multipliers, s.multiplier_exponents),
                      u = product(Op::conjugate, sized.b, lambda);
  for (index_t j = 0; j < p; ++j) {
    double terms = 0;
    for (index_t i = 0; i < m; ++i) terms += static_cast<double>(std::abs(sized.b(i, j) * lambda(i, 0)));
    CHECK(static_cast<double>(std::abs(u(j, 0) - s.U(j, 0))) <= 1e3 * eps<T> * terms);
  }
}

TEST_CASE("columns of A and b may be of any size") {
  const Model<double> model = consistent(random(40, 6, 1), random(40, 50, 2), 2);
  const auto plain = solve(runtime(), model);
  for (const int e : {300, 540, 900}) {
    HostMatrix<double> a = model.a.clone(), y = model.y.clone();
    for (index_t i = 0; i < 40; ++i) {
      a(i, 0) = std::ldexp(a(i, 0), e), a(i, 3) = std::ldexp(a(i, 3), -e);
      y(i, 1) = std::ldexp(y(i, 1), -e);
    }
    const auto s = solve(runtime(), Model{std::move(a), model.b.clone(), std::move(y)});
    CAPTURE(e);
    CHECK(s.status == SolveStatus::ok);
    CHECK(s.rank == 6);
    REQUIRE(s.X.shape() == plain.X.shape());
    for (index_t j = 0; j < 6; ++j)
      CHECK(std::abs(std::ldexp(s.X(j, 0), j == 0 ? e : j == 3 ? -e : 0) - plain.X(j, 0)) <= 1e-12);
    CHECK(std::abs(std::ldexp(s.U(0, 1), e) - plain.U(0, 1)) <= 1e-12);
  }
}

namespace {

Matrix rows_times(const Matrix& a, int (*exponent)(index_t)) {
  return made(a.rows(), a.cols(), [&](index_t i, index_t j) { return std::ldexp(a(i, j), exponent(i)); });
}

void check_sizes_of_equations(GlmMethod method) {
  const Model<double> plain = consistent(random(60, 20, 1), random(60, 70, 2), 2);
  const GlmOptions options{.method = method, .multipliers = true};
  const auto expected = solve(runtime(), plain, options);
  for (int (*exponent)(index_t) :
       {+[](index_t i) { return i == 4 ? -100 : 0; }, +[](index_t i) { return i == 4 ? 300 : 0; },
        +[](index_t i) { return static_cast<int>(30 * (i % 7)) - 60; },
        +[](index_t i) { return i % 2 == 0 ? -980 : 900; }}) {
    const Model<double> model{rows_times(plain.a, exponent), rows_times(plain.b, exponent),
                              rows_times(plain.y, exponent)};
    const auto s = solve(runtime(), model, options);
    CAPTURE(name_of(glm_methods(), method), exponent(4), exponent(5));
    CHECK(s.status == SolveStatus::ok);
    CHECK(s.rank_b == 40);
    CHECK(distance(s.X, expected.X) <= 1e-12 * norm(expected.X));
    CHECK(distance(s.U, expected.U) <= 1e-12 * norm(expected.U));
    if (exponent(5) == 900) continue;  // one power of two per column cannot represent multipliers 2^1880 apart
    Matrix multipliers = s.multipliers.clone();
    for (index_t j = 0; j < 2; ++j)
      for (index_t i = 0; i < 60; ++i)
        multipliers(i, j) =
            std::ldexp(multipliers(i, j), s.multiplier_exponents[static_cast<std::size_t>(j)] + exponent(i));
    CHECK(distance(product(Op::transpose, plain.b, multipliers), expected.U) <= 1e-12 * norm(expected.U));
  }
}

}  // namespace

TEST_CASE("equations may be of any size") {
  for (const GlmMethod method : every_glm_method) check_sizes_of_equations(method);
}

TEST_CASE("equations may be of any size on a GPU", "[gpu]") {
  require_gpu();
  check_sizes_of_equations(GlmMethod::seminormal);
  check_sizes_of_equations(GlmMethod::tiles);
}

TEST_CASE("automatic uses products for a well-conditioned B and QR otherwise") {
  for (const auto& [ratio, expected] : {std::pair{1.0, GlmMethod::seminormal},
                                        {1e-2, GlmMethod::seminormal},
                                        {1e-5, GlmMethod::tiles},
                                        {1e-12, GlmMethod::tiles}}) {
    CAPTURE(ratio);
    const Matrix random_b = random(70, 90, 2);
    // Rows of different size, rotated so that QR of A does not separate them.
    const Matrix turn = random(70, 70, 5);
    const Model<double> model =
        consistent(random(70, 20, 1),
                   product(turn, made(70, 90,
                                      [&](index_t i, index_t j) {
                                        return random_b(i, j) * std::pow(ratio, static_cast<double>(i) / 69);
                                      })),
                   2);
    const auto s = solve(runtime(), model);
    CHECK(s.used == expected);
    CHECK(s.status == SolveStatus::ok);
    require_solution(model, s);
    const auto by_qr = solve(runtime(), model, {.method = GlmMethod::tiles});
    CHECK(by_qr.used == GlmMethod::tiles);
    if (ratio >= 1e-5) CHECK(distance(s.U, by_qr.U) <= 1e-9 * norm(by_qr.U));
    // The condition is an estimate.
    CHECK(s.condition_b <= 10 * by_qr.condition_b);
  }
}

TEST_CASE("products run in several strips on a GPU, and QR replaces them for an ill-conditioned B", "[gpu]") {
  require_gpu();
  const index_t m = 1500, n = 90, p = 1700;
  const Matrix turn = random(m, m, 5), base = random(m, p, 2);
  for (const auto& [ratio, expected] : {std::pair{1.0, GlmMethod::seminormal}, {1e-6, GlmMethod::tiles}}) {
    CAPTURE(ratio);
    const Matrix rows = made(m, p, [&](index_t i, index_t j) {
      return base(i, j) * std::pow(ratio, static_cast<double>(i) / static_cast<double>(m - 1));
    });
    const Model<double> model = consistent(random(m, n, 1), ratio < 1 ? product(turn, rows) : rows.clone(), 2);
    const auto s = solve(runtime(), model, {}, {m, 128});
    CHECK(s.status == SolveStatus::ok);
    CHECK(s.used == expected);
    require_solution(model, s);
  }
}

TEST_CASE("general linear models are solved on a GPU", "[gpu][sanitize]") {
  require_gpu();
  for (const auto& [m, n, p] : {std::array<index_t, 3>{60, 20, 90}, {60, 20, 25}}) {
    const Model<double> model = consistent(random(m, n, 1), random(m, p, 2), 2);
    for (const GlmMethod method : every_glm_method) {
      const auto s = solve(runtime(), model, {.method = method}, {m, 32});
      CHECK(s.status == SolveStatus::ok);
      require_solution(model, s);
    }
  }
}
