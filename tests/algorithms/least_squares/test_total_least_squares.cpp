#include "tests/support/least_squares.hpp"
#include "tests/support/test.hpp"
#include <tesela/algorithms/least_squares/total_least_squares.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/filled.hpp>

using namespace tesela::test;

namespace {

template <class T>
TotalLeastSquares<T> solve(const Matrix& a, const Matrix& b, const TlsOptions& options = {}) {
  const auto in_type = [](const Matrix& x) {
    return filled<T>(x.shape(), [&](index_t i, index_t j) { return static_cast<T>(x(i, j)); });
  };
  HostMatrix<T> A = in_type(a), B = in_type(b);
  return tls(runtime(), MatrixView(A), MatrixView(B), options);
}

Matrix multiplied(const Matrix& a, const Matrix& x) {
  return made(a.rows(), x.cols(), [&](index_t i, index_t j) {
    double sum = 0;
    for (index_t k = 0; k < a.cols(); ++k) sum += a(i, k) * x(k, j);
    return sum;
  });
}

}  // namespace

TEST_CASE("one unknown has the closed form of orthogonal regression") {
  const Matrix a = random(50, 1, 1), noise = random(50, 1, 2);
  const Matrix b = made(50, 1, [&](index_t i, index_t) { return 3 * a(i, 0) + 0.1 * noise(i, 0); });
  for (const bool intercept : {false, true}) {
    double mean_a = 0, mean_b = 0;
    for (index_t i = 0; intercept && i < 50; ++i) mean_a += a(i, 0) / 50, mean_b += b(i, 0) / 50;
    double aa = 0, ab = 0, bb = 0;
    for (index_t i = 0; i < 50; ++i) {
      const double x = a(i, 0) - mean_a, y = b(i, 0) - mean_b;
      aa += x * x, ab += x * y, bb += y * y;
    }
    const double slope = (bb - aa + std::hypot(bb - aa, 2 * ab)) / (2 * ab);
    const auto found = solve<double>(a, b, {.intercept = intercept});
    CHECK(found.status == TlsStatus::ok);
    CHECK(std::abs(found.X(0, 0) / slope - 1) <= 1e-13);
    if (intercept) CHECK(std::abs(found.intercepts[0] - (mean_b - slope * mean_a)) <= 1e-12);
    CHECK(std::abs(found.correction * found.correction - (aa + bb - std::hypot(bb - aa, 2 * ab)) / 2) <= 1e-12);
  }
}

TEMPLATE_TEST_CASE("several unknowns and right-hand sides satisfy (A^T A - s^2 I) x = A^T b and are recovered", "",
                   float, double) {
  const double rounding = static_cast<double>(std::numeric_limits<TestType>::epsilon());
  for (const Shape shape : {Shape{60, 4}, {7, 6}, {400, 90}, {6, 6}})
    for (const index_t r : {1, 3}) {
      const Matrix a = random(shape.rows, shape.cols, 3), x = random(shape.cols, r, 4);
      const auto exact = solve<TestType>(a, multiplied(a, x));
      CAPTURE(to_string(shape), r);
      if (shape.rows < shape.cols + r && shape.rows <= shape.cols) continue;  // A has no independent rows to spare
      CHECK(exact.status == TlsStatus::ok);
      CHECK(exact.backward_error.good());
      double apart = 0;
      for (index_t k = 0; k < x.size(); ++k)
        apart = std::max(apart, std::abs(static_cast<double>(exact.X.data()[k]) - x.data()[k]));
      CHECK(apart <= 1e5 * rounding);
    }
  const Matrix a = random(80, 5, 5), b = random(80, 1, 6);
  const auto found = solve<double>(a, b);
  CHECK(found.status == TlsStatus::ok);
  const double squared = found.values[5] * found.values[5];
  for (index_t j = 0; j < 5; ++j) {
    double gradient = squared * found.X(j, 0);
    for (index_t i = 0; i < 80; ++i) {
      double rest = b(i, 0);
      for (index_t k = 0; k < 5; ++k) rest -= a(i, k) * found.X(k, 0);
      gradient += a(i, j) * rest;
    }
    CHECK(std::abs(gradient) <= 1e-11 * (1 + std::abs(found.X(j, 0))));
  }
}

TEST_CASE("the example of Golub and Van Loan is nongeneric, and so are dependent columns") {
  const Matrix a = made(3, 2, [](index_t i, index_t j) { return i == 0 && j == 0 ? 1 : 0; });
  const auto found = solve<double>(a, made(3, 1, [](index_t, index_t) { return 1; }));
  CHECK(found.status == TlsStatus::nongeneric);
  CHECK(found.X.size() == 0);
  const Matrix one = random(20, 1, 7);
  CHECK(solve<double>(made(20, 2, [&](index_t i, index_t) { return one(i, 0); }), random(20, 1, 8)).status ==
        TlsStatus::nongeneric);
}

TEST_CASE("without a unique solution x has least norm") {
  // Consistent equations with dependent columns: x = (1, 1) is the shortest of x1 + x2 = 2.
  const Matrix one = random(20, 1, 9);
  const auto found = solve<double>(made(20, 2, [&](index_t i, index_t) { return one(i, 0); }),
                                   made(20, 1, [&](index_t i, index_t) { return 2 * one(i, 0); }));
  CHECK(found.status == TlsStatus::not_unique);
  CHECK(std::abs(found.X(0, 0) - 1) <= 1e-13);
  CHECK(std::abs(found.X(1, 0) - 1) <= 1e-13);
  CHECK(found.gap <= 1e-14);
}

TEST_CASE("the correction of a tiny B keeps its digits") {
  constexpr double elements[3][2] = {{1, 2}, {3, 4}, {5, 7}};
  const Matrix a = made(3, 2, [&](index_t i, index_t j) { return elements[i][j]; }),
               b = made(3, 1, [](index_t i, index_t) { return std::exp2(i); });
  const double expected =
      solve<double>(made(3, 2, [&](index_t i, index_t j) { return 1e100 * a(i, j); }), b).correction;
  for (const double factor : {1e160, 1e170, 1e300}) {
    const auto found = solve<double>(made(3, 2, [&](index_t i, index_t j) { return factor * a(i, j); }), b);
    CHECK(found.status == TlsStatus::ok);
    CHECK(std::abs(found.correction / expected - 1) <= 1e-12);
  }
}

TEST_CASE("factors of the data do not change x, up to the ends of the range; empty and infinite problems") {
  const Matrix a = random(30, 3, 10), b = random(30, 2, 11);
  const auto plain = solve<double>(a, b);
  REQUIRE(plain.status == TlsStatus::ok);
  for (const double factor : {1e150, 1e-150, 1e300, 1e-300}) {
    const auto found = solve<double>(made(30, 3, [&](index_t i, index_t j) { return factor * a(i, j); }),
                                     made(30, 2, [&](index_t i, index_t j) { return factor * b(i, j); }));
    CHECK(found.status == TlsStatus::ok);
    for (index_t k = 0; k < 6; ++k) CHECK(std::abs(found.X.data()[k] - plain.X.data()[k]) <= 1e-11);
    CHECK(std::abs(found.correction / factor / plain.correction - 1) <= 1e-12);
  }
  CHECK(solve<double>(random(5, 0, 1), random(5, 2, 1)).X.shape() == Shape{0, 2});
  CHECK(solve<double>(random(5, 2, 1), random(5, 0, 1)).X.shape() == Shape{2, 0});
  CHECK(solve<double>(random(0, 2, 1), random(0, 1, 1)).status != TlsStatus::inaccurate);
  for (const double bad : {not_a_number, infinity}) {
    Matrix broken = a.clone();
    broken(4, 1) = bad;
    CHECK(solve<double>(broken, b).status == TlsStatus::not_finite);
    CHECK(solve<double>(broken, b, {.intercept = true}).status == TlsStatus::not_finite);
  }
  CHECK_THROWS_AS(solve<double>(a, random(3, 1, 1)), ArgumentError);
}

TEST_CASE("a wrong x has a large error") {
  const Matrix a = random(30, 3, 12), b = random(30, 1, 13);
  auto found = solve<double>(a, b);
  const Matrix both = made(30, 4, [&](index_t i, index_t j) { return j < 3 ? a(i, j) : b(i, 0); });
  CHECK(tls_error(both, found.X).invariance <= 1e-14);
  CHECK(std::abs(tls_error(both, found.X).correction - found.correction) <= 1e-13);
  found.X(1, 0) *= 1 + 1e-8;
  CHECK(tls_error(both, found.X).invariance > 1e-11);
}

TEST_CASE("x of a small B has all digits, and a wrong one is inaccurate") {
  const Matrix a = random(40, 3, 14), b = random(40, 2, 15);
  Matrix copy = a.clone(), limit = b.clone();  // least squares
  lapack::gelsd(40, 3, 2, copy.data(), 40, limit.data(), 40, 1e-15);
  for (const double factor : {0.1, 1e-3, 1e-8, 1e-12, 1e-17, 1e-100, 1e-300}) {
    CAPTURE(factor);
    const Matrix small = made(40, 2, [&](index_t i, index_t j) { return factor * b(i, j); });
    auto found = solve<double>(a, small);
    CHECK(found.status == TlsStatus::ok);
    Matrix rest = made(40, 2, [&](index_t i, index_t j) {
      double sum = b(i, j);
      for (index_t k = 0; k < 3; ++k) sum -= a(i, k) * (found.X(k, j) / factor);
      return sum;
    });
    for (index_t j = 0; j < 2; ++j)
      for (index_t i = 0; i < 3; ++i) {
        double gradient = 0;  // (A^T R + X B^T R)(i, j) for R = B - A X, all over the factor
        for (index_t l = 0; l < 40; ++l) {
          gradient += a(l, i) * rest(l, j);
          for (index_t k = 0; k < 2; ++k) gradient += factor * found.X(i, k) * b(l, k) * rest(l, j);
        }
        CHECK(std::abs(gradient) <= 1e-12);
        if (factor <= 1e-8) CHECK(std::abs(found.X(i, j) / factor / limit(i, j) - 1) <= 1e-12);
      }
    const Matrix whole = made(40, 5, [&](index_t i, index_t j) { return j < 3 ? a(i, j) : small(i, j - 3); });
    CHECK(tls_error(whole, found.X).invariance <= 1e-14);
    found.X(1, 0) *= 1 + 1e-6;
    CHECK(tls_error(whole, found.X).invariance > 1e-9);
  }
}

TEST_CASE("a column of X without digits is inaccurate beside one with all digits") {
  const Matrix a = random(40, 3, 16), b = random(40, 2, 17);
  for (const double factor : {1.0, 1e-3, 1e-6, 1e-9, 1e-13, 1e-15, 1e-20, 1e-40}) {
    CAPTURE(factor);
    const Matrix graded = made(40, 2, [&](index_t i, index_t j) { return (j == 0 ? 1 : factor) * b(i, j); });
    const auto found = solve<double>(a, graded);
    if (factor >= 1e-9) CHECK(found.status == TlsStatus::ok);
    if (found.status != TlsStatus::ok) {
      CHECK(found.status == TlsStatus::inaccurate);
      continue;
    }
    // A^T R + X B^T R = 0 in the second column, R = A X - B, all over the factor.
    std::vector<double> rest(40);
    for (index_t l = 0; l < 40; ++l) {
      double sum = -b(l, 1);
      for (index_t k = 0; k < 3; ++k) sum += a(l, k) * (found.X(k, 1) / factor);
      rest[static_cast<std::size_t>(l)] = sum;
    }
    for (index_t i = 0; i < 3; ++i) {
      double gradient = 0;
      for (index_t l = 0; l < 40; ++l) {
        const double r = rest[static_cast<std::size_t>(l)];
        gradient += a(l, i) * r + (found.X(i, 0) * graded(l, 0) + found.X(i, 1) * graded(l, 1)) * r;
      }
      CHECK(std::abs(gradient) <= 1e-5);
    }
  }
}
