#include "tests/support/four_types.hpp"
#include "tests/support/vector_targets.hpp"
#include "tools/checks/svd_error.hpp"
#include <tesela/algorithms/svd/svd_batch.hpp>
#include <tesela/algorithms/svd/svd_matrices.hpp>

using namespace tesela;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::vector<const char*> kinds{"uniform", "hilbert", "zero",       "band:0", "kahan",
                                     "rank:1",  "index",   "kappa:1e10", "graded"};

/// Returns `count` matrices side by side, cycling through kinds and scales.
template <class T>
HostMatrix<T> batch_of(Shape shape, index_t count, const std::vector<const char*>& which,
                       const std::vector<real_t<T>>& scales) {
  HostMatrix<T> a(shape.rows, shape.cols * count);
  for (index_t k = 0; k < count; ++k) {
    const HostMatrix<T> one =
        svd_matrix<T>(shape, which[static_cast<std::size_t>(k) % which.size()], static_cast<std::uint64_t>(k) + 1);
    const real_t<T> scale = scales[static_cast<std::size_t>(k) % scales.size()];
    for (index_t j = 0; j < shape.cols; ++j)
      for (index_t i = 0; i < shape.rows; ++i) a(i, k * shape.cols + j) = scale * one(i, j);
  }
  return a;
}

/// Returns the columns of matrix k, of `each` columns.
template <class T>
HostMatrix<T> part(const HostMatrix<T>& batch, index_t k, index_t each) {
  HostMatrix<T> one(batch.rows(), each);
  std::copy_n(batch.data() + k * each * batch.rows(), one.size(), one.data());
  return one;
}

template <class T>
void check(const HostMatrix<T>& a, index_t n, const SvdBatch<T>& s, index_t k) {
  const index_t m = a.rows(), least = std::min(m, n), count = a.cols() / n;
  CAPTURE(m, n, k);
  const HostMatrix<T> one = part(a, k, n);
  const std::vector<double> values(&s.values(0, k), &s.values(0, k) + least),
      reference = reference_singular_values(one);
  const SvdBounds bounds = svd_bounds<T>(m, n);
  const double rounding =
      reference.front() > 0 ? static_cast<double>(std::numeric_limits<real_t<T>>::denorm_min()) / reference.front() : 0;
  CHECK(std::is_sorted(values.rbegin(), values.rend()));
  CHECK(singular_value_error(values, reference) <= bounds.value + rounding);
  CHECK(norm_drift(one, values) <= bounds.value + rounding);
  if (!s.u) return;
  const SvdError error = svd_error(one, values, part(*s.u, k, s.u->cols() / count), part(*s.v, k, s.v->cols() / count));
  CAPTURE(error.residual, error.orthogonality_u, error.orthogonality_v);
  CHECK(error.residual <= bounds.value + rounding);
  CHECK(error.orthogonality_u <= bounds.orthogonality);
  CHECK(error.orthogonality_v <= bounds.orthogonality);
}

}  // namespace

NUMBERS_TEST_CASE("svd_batch decomposes every kind, shape and number of matrices", "") {
  TESELA_ON_EACH_VECTOR_TARGET(runtime);
  using T = TestType;
  for (const Shape shape : {Shape{1, 1},
                            {2, 2},
                            {3, 3},
                            {8, 8},
                            {16, 16},
                            {33, 33},
                            {64, 64},
                            {5, 3},
                            {40, 7},
                            {7, 40},
                            {1, 9},
                            {9, 1},
                            {200, 3},
                            {64, 63},
                            {6, 1024}})
    for (const index_t count : {1, 2, 13}) {
      if (count == 13 && shape.rows > 40) continue;
      const HostMatrix<T> a = batch_of<T>(shape, count, kinds, {1});
      const HostMatrix<T> before = a.clone();
      for (const SvdVectors vectors : {SvdVectors::none, SvdVectors::economic, SvdVectors::all}) {
        if (vectors == SvdVectors::all && std::max(shape.rows, shape.cols) > 200) continue;
        HostMatrix<T> given = a.clone();
        const SvdBatch<T> s = svd_batch<T>(runtime, given, count, vectors);
        REQUIRE(s.ok());
        CHECK(s.u.has_value() == (vectors != SvdVectors::none));
        for (index_t k = 0; k < count; ++k) check(a, shape.cols, s, k);
        CHECK(std::equal(given.data(), given.data() + given.size(), before.data()));
      }
    }
}

NUMBERS_TEST_CASE("svd_batch under a sanitizer", "[sanitize]") {
  for (const Shape shape : {Shape{5, 3}, {12, 20}, {33, 33}}) {
    HostMatrix<TestType> a = batch_of<TestType>(shape, 5, kinds, {1});
    const SvdBatch<TestType> s = svd_batch<TestType>(runtime, a, 5, SvdVectors::all);
    REQUIRE(s.ok());
    for (index_t k = 0; k < 5; ++k) check(a, shape.cols, s, k);
  }
}

NUMBERS_TEST_CASE("svd_batch decomposes empty batches and matrices without elements", "") {
  using T = TestType;
  for (const auto& [shape, count] : {std::pair{Shape{3, 0}, index_t{0}}, {{0, 0}, 4}, {{0, 6}, 3}, {{5, 0}, 3}}) {
    HostMatrix<T> a(shape.rows, shape.cols);
    const SvdBatch<T> s = svd_batch<T>(runtime, a, count, SvdVectors::all);
    CHECK(s.ok());
    CHECK(s.values.shape() == Shape{0, count});
    const index_t n = count > 0 ? shape.cols / count : 0;
    CHECK(s.u->shape() == Shape{shape.rows, shape.rows * count});
    CHECK(s.v->shape() == Shape{n, n * count});
    for (index_t j = 0; j < s.v->cols(); ++j)
      for (index_t i = 0; i < n; ++i) CHECK((*s.v)(i, j) == (i == j % n ? T(1) : T(0)));
  }
}

NUMBERS_TEST_CASE("svd_batch accepts scales from both ends of the range in one batch", "") {
  TESELA_ON_EACH_VECTOR_TARGET(runtime);
  using T = TestType;
  using Real = real_t<T>;
  constexpr bool single = sizeof(Real) == 4;
  const Real high = single ? Real(1e36) : Real(1e300), low = single ? Real(1e-36) : Real(1e-300);
  for (const Shape shape : {Shape{1, 1}, {8, 8}, {20, 9}}) {
    HostMatrix<T> a = batch_of<T>(shape, 24, {"uniform", "kappa:1e4"}, {high, Real(1), low});
    const SvdBatch<T> s = svd_batch<T>(runtime, a, 24);
    REQUIRE(s.ok());
    for (index_t k = 0; k < 24; ++k) check(a, shape.cols, s, k);
  }
  HostMatrix<T> one = batch_of<T>({20, 12}, 3, {"uniform"}, {1}), other = one.clone();
  for (index_t j = 12; j < 24; ++j)
    for (index_t i = 0; i < 20; ++i) other(i, j) = times_power_of_two(other(i, j), -60);
  const SvdBatch<T> p = svd_batch<T>(runtime, one, 3), q = svd_batch<T>(runtime, other, 3);
  CHECK(std::equal(p.u->data(), p.u->data() + p.u->size(), q.u->data()));
  CHECK(std::equal(p.v->data(), p.v->data() + p.v->size(), q.v->data()));
  for (index_t i = 0; i < 12; ++i) CHECK(q.values(i, 1) == std::ldexp(p.values(i, 1), -60));
}

WORKERS_TEST_CASE("svd_batch computes small values of scaled rows and columns to full relative accuracy", "") {
  TESELA_ON_EACH_VECTOR_TARGET(runtime);
  // D B D with a Vandermonde-like B = I + ones / 4: the values of the scaled matrix by products of 2 x 2 closed forms
  // are not known, so the reference is that of the inverse, (D B D)^-1 = D^-1 B^-1 D^-1, whose largest value is the
  // reciprocal of the least one and is computed to full accuracy.
  constexpr index_t n = 10;
  HostMatrix<double> a(n, n), inverse(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      const int exponent = -static_cast<int>(8 * (i + j));
      const double unit = i == j ? 1 : 0;
      a(i, j) = std::ldexp(unit + 0.25, exponent);
      inverse(i, j) = std::ldexp(unit - 0.25 / (1 + 0.25 * static_cast<double>(n)), -exponent);
    }
  const double least = 1 / reference_singular_values(inverse).front();
  for (const bool turned : {false, true}) {  // ascending or descending rows and columns
    HostMatrix<double> b(n, n);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i) b(i, j) = turned ? a(n - 1 - i, n - 1 - j) : a(i, j);
    const SvdBatch<double> s = svd_batch<double>(runtime, b, 1);
    REQUIRE(s.ok());
    CHECK(least < 1e-40);
    CHECK(std::abs(s.values(n - 1, 0) / least - 1) < 1e-13);
  }
}

NUMBERS_TEST_CASE("svd_batch names a matrix that is not finite or overflows and decomposes the others", "") {
  using T = TestType;
  using Limits = std::numeric_limits<real_t<T>>;
  // Complex numbers have it in the imaginary part.
  const auto number = [](real_t<T> bad) {
    if constexpr (is_complex<T>)
      return T(1, bad);
    else
      return bad;
  };
  const HostMatrix<T> good = batch_of<T>({6, 4}, 11, {"uniform"}, {1});
  HostMatrix<T> whole = good.clone();
  const SvdBatch<T> expected = svd_batch<T>(runtime, whole, 11);
  for (const real_t<T> bad : {Limits::quiet_NaN(), Limits::infinity()}) {
    HostMatrix<T> a = good.clone();
    a(4, 5 * 4 + 2) = number(bad);
    for (index_t j = 0; j < 4; ++j)
      for (index_t i = 0; i < 6; ++i) a(i, 7 * 4 + j) = Limits::max();
    const SvdBatch<T> s = svd_batch<T>(runtime, a, 11);
    REQUIRE(s.failures.size() == 2);
    CHECK(s.failures[0].matrix == 5);
    CHECK((s.failures[0].status.row == 4 && s.failures[0].status.column == 2));
    CHECK_THAT(to_string(s.failures[0]), ContainsSubstring("not finite: A(5, 3) of matrix 6"));
    CHECK(s.failures[1].matrix == 7);
    CHECK(s.failures[1].status.verdict == SvdStatus::Verdict::overflow);
    CHECK(std::isinf(s.values(0, 7)));
    for (index_t k = 0; k < 11; ++k)
      if (k == 5)
        CHECK((std::isnan(s.values(0, k)) && !is_finite((*s.u)(0, k * 4)) && !is_finite((*s.v)(3, k * 4 + 3))));
      else if (k != 7)
        CHECK((std::equal(&s.values(0, k), &s.values(0, k) + 4, &expected.values(0, k)) &&
               std::equal(&(*s.u)(0, k * 4), &(*s.u)(0, k * 4) + 24, &(*expected.u)(0, k * 4))));
  }
  HostMatrix<T> wide(3, 8);
  std::fill_n(wide.data(), wide.size(), T(1));
  wide(2, 1) = wide(0, 3) = number(Limits::quiet_NaN());
  CHECK_THAT(to_string(svd_batch<T>(runtime, wide, 2).failures.front()), ContainsSubstring("A(3, 2) of matrix 1"));
}

CORES_TEST_CASE("svd_batch refuses invalid shapes", "") {
  const auto refused = [&](Shape a, index_t count) {
    HostMatrix<double> given(a.rows, a.cols);
    CHECK_THROWS_AS(svd_batch<double>(runtime, given, count), ArgumentError);
  };
  refused({65, 65}, 1);
  refused({1025, 2}, 1);
  refused({2, 1025}, 1);
  refused({4, 9}, 2);
  refused({4, 4}, 0);
  refused({4, 4}, -1);
  Graph g(runtime);
  const TileMatrix<double> A(runtime, 4, 6, {4, 3}), S(runtime, 3, 2, {3, 1}), U(runtime, 4, 6, {4, 3}),
      V(runtime, 3, 6, {3, 3}), wrong(runtime, 4, 6, {4, 6}), square(runtime, 4, 8, {4, 4});
  CHECK_THROWS_AS(svd_batch<double>(g, A, S, &U, nullptr), ArgumentError);
  CHECK_THROWS_AS(svd_batch<double>(g, A, S, &wrong, &V), ArgumentError);
  CHECK_THROWS_AS(svd_batch<double>(g, A, S, &square, &V), ArgumentError);
  CHECK_THROWS_AS(svd_batch<double>(g, wrong, S, &U, &V), ArgumentError);
  CHECK_THROWS_AS(svd_batch<double>(g, A, V, &U, &V), ArgumentError);
}
