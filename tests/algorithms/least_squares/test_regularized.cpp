#include "tests/support/least_squares.hpp"
#include "tests/support/test.hpp"
#include <tesela/algorithms/least_squares/regularized_least_squares.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/filled.hpp>

#include <cstring>

using namespace tesela::test;

namespace {

template <class T, class U>
HostMatrix<T> in_type(const HostMatrix<U>& a) {
  return filled<T>(a.shape(), [&](index_t i, index_t j) { return static_cast<T>(a(i, j)); });
}

template <class T>
Regularized<T> solve(const Matrix& a, const Matrix& b, const RegularizedOptions& options = {}) {
  HostMatrix<T> A = in_type<T>(a), B = in_type<T>(b);
  const HostMatrix<T> before = A.clone();
  Regularized<T> found = regularized_least_squares(runtime(), MatrixView(A), MatrixView(B), options);
  CHECK(std::memcmp(A.data(), before.data(), static_cast<std::size_t>(A.size()) * sizeof(T)) == 0);
  return found;
}

/// Returns the ridge solution by LAPACK's gelsd of [A; sqrt(lambda) I].
Matrix reference(const Matrix& a, const Matrix& b, double lambda) {
  const index_t m = a.rows(), n = a.cols();
  Matrix rows = made(m + n, n, [&](index_t i, index_t j) {
    return i < m ? a(i, j) : i - m == j ? std::sqrt(lambda) : 0;
  });
  Matrix right = made(m + n, b.cols(), [&](index_t i, index_t j) { return i < m ? b(i, j) : 0; });
  lapack::gelsd(m + n, n, b.cols(), rows.data(), rows.ld(), right.data(), right.ld(), 1e-15);
  return made(n, b.cols(), [&](index_t i, index_t j) { return right(i, j); });
}

double relative_distance(const auto& x, const Matrix& y) {
  double apart = 0, size = 0;
  for (index_t k = 0; k < y.size(); ++k) {
    apart = std::hypot(apart, static_cast<double>(x.data()[k]) - y.data()[k]);
    size = std::hypot(size, y.data()[k]);
  }
  return size > 0 ? apart / size : apart;
}

/// Returns G and its degrees of freedom from the hat matrix of the normal equations, for well conditioned problems.
std::pair<double, double> cross_validation(const Matrix& a, const Matrix& b, double lambda) {
  const index_t m = a.rows();
  const Matrix identity = made(m, m, [](index_t i, index_t j) { return i == j ? 1 : 0; });
  const Matrix hat = reference(a, identity, lambda), x = reference(a, b, lambda);
  double trace = 0, squares = 0;
  for (index_t i = 0; i < m; ++i) {
    double r = b(i, 0);
    for (index_t j = 0; j < a.cols(); ++j) trace += a(i, j) * hat(j, i), r -= a(i, j) * x(j, 0);
    squares += r * r;
  }
  const double rest = static_cast<double>(m) - trace;
  return {static_cast<double>(m) * squares / (rest * rest), trace};
}

}  // namespace

TEMPLATE_TEST_CASE("a ridge solution is that of the augmented rows", "", float, double) {
  const double rounding = static_cast<double>(std::numeric_limits<TestType>::epsilon());
  for (const Shape shape : {Shape{40, 7}, {7, 40}, {9, 9}, {1, 1}, {500, 3}, {300, 120}, {120, 300}})
    for (const double lambda : {1e-2, 1.0, 100.0}) {
      const Matrix a = in_type<double>(in_type<TestType>(random(shape.rows, shape.cols, 1))),
                   b = in_type<double>(in_type<TestType>(random(shape.rows, 3, 2)));
      const auto found = solve<TestType>(a, b, {.parameter = lambda});
      CAPTURE(to_string(shape), lambda);
      CHECK(found.status == SolveStatus::ok);
      CHECK(found.backward_error.good());
      CHECK(relative_distance(found.X, reference(a, b, lambda)) <= 2000 * rounding);
      CHECK(found.fits.front().curve.empty());
    }
}

TEST_CASE("degrees of freedom and cross-validation agree with the hat matrix") {
  const Matrix a = random(30, 6, 3), b = random(30, 1, 4);
  for (const double lambda : {0.0, 0.1, 10.0}) {
    const auto found = solve<double>(a, b, {.parameter = lambda});
    const auto [gcv, df] = cross_validation(a, b, lambda);
    CHECK(std::abs(found.fits[0].gcv / gcv - 1) <= 1e-10);
    CHECK(std::abs(found.fits[0].effective_df - df) <= 1e-10);
  }
  const auto chosen = solve<double>(a, b);
  for (const GcvPoint& point : chosen.fits[0].curve) CHECK(chosen.fits[0].gcv <= point.gcv * (1 + 1e-12));
  CHECK(chosen.fits[0].curve.size() == 201);
  const double at = chosen.fits[0].parameter;
  CHECK(std::abs(cross_validation(a, b, at).first / chosen.fits[0].gcv - 1) <= 1e-10);
}

TEST_CASE("an ill-posed problem needs a lambda, and cross-validation finds a good one") {
  const index_t n = 32;
  const Matrix a = made(n, n, [](index_t i, index_t j) {  // a smooth kernel, condition above 1e16
    const double s = static_cast<double>(i - j) / 8;
    return std::exp(-s * s);
  });
  const Matrix noise = random(n, 1, 5);
  Matrix b(n, 1);
  for (index_t i = 0; i < n; ++i) {
    b(i, 0) = 1e-3 * noise(i, 0);
    for (index_t j = 0; j < n; ++j) b(i, 0) += a(i, j);
  }
  const Matrix ones = made(n, 1, [](index_t, index_t) { return 1; });
  for (const Regularization kind : {Regularization::ridge, Regularization::truncated}) {
    const auto found = solve<double>(a, b, {.kind = kind});
    CHECK(found.status == SolveStatus::ok);
    CHECK(relative_distance(found.X, ones) < 0.3);
    CHECK(found.fits[0].parameter > 0);
    CHECK(found.fits[0].effective_df < 16);
  }
  CHECK(relative_distance(solve<double>(a, b, {.parameter = 0}).X, ones) > 100);
}

TEST_CASE("nothing to explain shrinks x, and an exact fit has lambda 0") {
  const Matrix a = random(50, 4, 6);
  const auto exact = solve<double>(a, made(50, 1, [&](index_t i, index_t) { return a(i, 0) - 2 * a(i, 3); }));
  CHECK(exact.fits[0].parameter <= 1e-10);
  CHECK(std::abs(exact.X(3, 0) + 2) <= 1e-12);
  Matrix unrelated = random(50, 1, 7);  // orthogonal to A
  const auto rest = solve<double>(a, unrelated, {.parameter = 0});
  for (index_t i = 0; i < 50; ++i)
    for (index_t j = 0; j < 4; ++j) unrelated(i, 0) -= a(i, j) * rest.X(j, 0);
  const auto none = solve<double>(a, unrelated);
  CHECK(none.fits[0].at_end);
  CHECK(std::abs(none.X(0, 0)) <= 1e-12);
}

TEST_CASE("an intercept is not penalized") {
  const Matrix numbers = random(60, 3, 8);
  const Matrix a = made(60, 3, [&](index_t i, index_t j) { return numbers(i, j) + 1e3; });
  const Matrix b = made(60, 2, [&](index_t i, index_t j) { return 5e4 + a(i, 0) * static_cast<double>(j + 1); });
  const auto found = solve<double>(a, b, {.parameter = 3, .intercept = true});
  CHECK(found.status == SolveStatus::ok);
  for (index_t k = 0; k < 2; ++k) {  // residuals sum to 0, and the gradient for the other unknowns is lambda x
    double sum = 0;
    std::vector<double> gradient(3), means(3);
    for (index_t j = 0; j < 3; ++j)
      for (index_t i = 0; i < 60; ++i) means[static_cast<std::size_t>(j)] += a(i, j) / 60;
    for (index_t i = 0; i < 60; ++i) {
      double r = b(i, k) - found.fits[static_cast<std::size_t>(k)].intercept;
      for (index_t j = 0; j < 3; ++j) r -= a(i, j) * found.X(j, k);
      sum += r;
      for (std::size_t j = 0; j < 3; ++j) gradient[j] += (a(i, static_cast<index_t>(j)) - means[j]) * r;
    }
    CHECK(std::abs(sum) <= 1e-8);
    for (index_t j = 0; j < 3; ++j) CHECK(std::abs(gradient[static_cast<std::size_t>(j)] - 3 * found.X(j, k)) <= 1e-8);
  }
  const auto constant = solve<double>(made(5, 1, [](index_t, index_t) { return 0.1; }), random(5, 1, 1),
                                      {.parameter = 1, .intercept = true});
  CHECK(constant.rank == 0);
  CHECK(constant.X(0, 0) == 0);
  CHECK(constant.fits[0].effective_df == 1);
}

TEST_CASE("truncated solutions are those of gelsd") {
  for (const Shape shape : {Shape{50, 8}, {8, 50}, {300, 100}}) {
    const Matrix a = random(shape.rows, shape.cols, 9), b = random(shape.rows, 2, 10);
    const index_t least = std::min(shape.rows, shape.cols);
    const RegularizedOptions too_many{.kind = Regularization::truncated, .parameter = double(least + 1)};
    CHECK_THROWS_AS(solve<double>(a, b, too_many), ArgumentError);
    for (const index_t k : {index_t{0}, index_t{1}, least / 2, least}) {
      const auto found = solve<double>(a, b, {.kind = Regularization::truncated, .parameter = double(k)});
      CAPTURE(to_string(shape), k);
      CHECK(found.status == SolveStatus::ok);
      CHECK(found.backward_error.good());
      if (k == 0) {
        CHECK(std::all_of(found.X.data(), found.X.data() + found.X.size(), [](double x) { return x == 0; }));
        continue;
      }
      const auto at = static_cast<std::size_t>(k);
      const double rcond = k < least ? (found.values[at - 1] + found.values[at]) / 2 / found.values[0] : 1e-14;
      Matrix copy = a.clone(), x = Matrix::zeros(std::max(shape.rows, shape.cols), 2);
      for (index_t j = 0; j < 2; ++j) std::copy_n(&b(0, j), shape.rows, &x(0, j));
      REQUIRE(lapack::gelsd(shape.rows, shape.cols, 2, copy.data(), copy.ld(), x.data(), x.ld(), rcond).rank == k);
      CHECK(relative_distance(found.X, made(shape.cols, 2, [&](index_t i, index_t j) { return x(i, j); })) <= 1e-10);
    }
  }
}

TEST_CASE("powers of two as factors change x by powers of two, up to the ends of the range") {
  const Matrix a = random(40, 5, 11), b = random(40, 1, 12);
  const auto plain = solve<double>(a, b);
  for (const int exponent : {-1000, -600, -500, -400, 400, 500, 600, 1000})
    for (const int of_b : {-900, 0, 900}) {
      if (std::abs(of_b - exponent) > 1000) continue;
      const auto found = solve<double>(made(40, 5, [&](index_t i, index_t j) { return std::ldexp(a(i, j), exponent); }),
                                       made(40, 1, [&](index_t i, index_t j) { return std::ldexp(b(i, j), of_b); }));
      CAPTURE(exponent, of_b);
      CHECK(found.status == SolveStatus::ok);
      CHECK(relative_distance(found.X, made(5, 1, [&](index_t i, index_t) {
                                return std::ldexp(plain.X(i, 0), of_b - exponent);
                              })) <= 1e-6);
      CHECK(std::abs(std::ldexp(found.fits[0].root / plain.fits[0].root, -exponent) - 1) <= 1e-6);
    }
  // lambda is far above or below A: x = A^T b / lambda, or the least-squares solution.
  for (const double size : {1e-200, 1e200}) {
    const auto found =
        solve<double>(made(40, 5, [&](index_t i, index_t j) { return size * a(i, j); }), b, {.parameter = 1});
    CHECK(found.status == SolveStatus::ok);
    double expected = 0;
    for (index_t i = 0; i < 40; ++i) expected += a(i, 2) * b(i, 0);
    if (size > 1) expected = solve<double>(a, b, {.parameter = 0}).X(2, 0);
    CHECK(std::abs(found.X(2, 0) * (size > 1 ? size : 1 / size) / expected - 1) <= 1e-12);
  }
}

TEST_CASE("a ridge solution does not lose the columns in small units") {
  for (const double large : {1e10, 1e17, 1e200}) {
    const auto found =
        solve<double>(made(2, 2, [&](index_t i, index_t j) { return i != j   ? 0
                                                                    : i == 0 ? 1
                                                                             : large; }),
                      made(2, 1, [&](index_t i, index_t) { return i == 0 ? 1 : large; }), {.parameter = 1});
    CAPTURE(large, found.X(0, 0), found.X(1, 0));
    CHECK(found.status == SolveStatus::ok);
    CHECK(std::abs(found.X(0, 0) - 0.5) <= 1e-7);
    CHECK(std::abs(found.X(1, 0) - 1) <= 1e-15);
    CHECK(std::abs(found.fits.front().residual_norm - 0.5) <= 1e-7);
  }
  const double units[] = {1e-200, 1, 1, 1e200};
  const Matrix a = random(30, 4, 15), b = random(30, 1, 16);
  const auto found =
      solve<double>(made(30, 4, [&](index_t i, index_t j) { return units[j] * a(i, j); }), b, {.parameter = 1});
  // The penalty of the last column is negligible, and the first column is.
  Matrix rows = made(32, 3, [&](index_t i, index_t j) { return i < 30 ? a(i, j + 1) : i - 30 == j ? 1 : 0; });
  Matrix x = made(32, 1, [&](index_t i, index_t) { return i < 30 ? b(i, 0) : 0; });
  lapack::gelsd(32, 3, 1, rows.data(), rows.ld(), x.data(), x.ld(), 1e-15);
  CHECK(found.status == SolveStatus::ok);
  CHECK(std::abs(found.X(1, 0) / x(0, 0) - 1) <= 1e-12);
  CHECK(std::abs(found.X(2, 0) / x(1, 0) - 1) <= 1e-12);
  CHECK(std::abs(found.X(3, 0) * 1e200 / x(2, 0) - 1) <= 1e-12);
}

TEST_CASE("collinear, empty and infinite problems have their statuses") {
  const Matrix one = random(20, 1, 13), b = random(20, 1, 14);
  const Matrix twice = made(20, 2, [&](index_t i, index_t) { return one(i, 0); });
  const auto zero = solve<double>(twice, b, {.parameter = 0});
  CHECK(zero.status == SolveStatus::rank_deficient);
  CHECK(zero.rank == 1);
  CHECK(std::abs(zero.X(0, 0) - zero.X(1, 0)) <= 1e-14);
  CHECK(solve<double>(twice, b).status != SolveStatus::inaccurate);
  CHECK(solve<double>(twice, b, {.parameter = 1}).status == SolveStatus::ok);
  for (const Shape shape : {Shape{0, 0}, {0, 3}, {4, 0}}) {
    const auto found = solve<double>(random(shape.rows, shape.cols, 1), random(shape.rows, 2, 1), {.parameter = 1});
    CHECK(found.X.shape() == Shape{shape.cols, 2});
    CHECK(found.status == SolveStatus::ok);
  }
  CHECK(solve<double>(random(4, 0, 1), random(4, 0, 1)).X.shape() == Shape{0, 0});
  for (const double bad : {not_a_number, infinity}) {
    Matrix broken = twice.clone(), right = b.clone();
    broken(3, 1) = bad;
    right(3, 0) = bad;
    for (const bool intercept : {false, true}) {
      CHECK(solve<double>(broken, b, {.intercept = intercept}).status == SolveStatus::not_finite);
      CHECK(solve<double>(twice, right, {.intercept = intercept}).status == SolveStatus::not_finite);
    }
  }
  CHECK_THROWS_AS(solve<double>(twice, random(3, 1, 1)), ArgumentError);
  for (const double bad : {-1.0, infinity, not_a_number})
    CHECK_THROWS_AS(solve<double>(twice, b, {.parameter = bad}), ArgumentError);
  CHECK_THROWS_AS(solve<double>(twice, b, {.kind = Regularization::truncated, .parameter = 0.5}), ArgumentError);
}
