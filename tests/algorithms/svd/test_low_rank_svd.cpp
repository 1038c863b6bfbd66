#include "tests/support/matrices.hpp"
#include "tools/checks/svd_error.hpp"
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/svd/low_rank_svd.hpp>
#include <tesela/algorithms/svd/svd_matrices.hpp>
#include <tesela/runtime/errors.hpp>

using namespace tesela::test;

namespace {

/// Checks shapes, orthogonality, and that the bound holds and is not useless.
template <class T>
void check(const HostMatrix<T>& a, const LowRankSvd<T>& found, index_t rank) {
  REQUIRE(found.status.ok());
  REQUIRE(std::ssize(found.values) == rank);
  REQUIRE(found.u->shape() == Shape{a.rows(), rank});
  REQUIRE(found.v->shape() == Shape{a.cols(), rank});
  const SvdBounds bounds = svd_bounds<T>(a.rows(), a.cols());
  const SvdError error = svd_error(a, found.values, *found.u, *found.v);
  CHECK(error.orthogonality_u <= bounds.orthogonality);
  CHECK(error.orthogonality_v <= bounds.orthogonality);
  const HostMatrix<T> us = filled<T>(found.u->shape(), [&](index_t i, index_t j) {
    return (*found.u)(i, j) * static_cast<real_t<T>>(found.values[static_cast<std::size_t>(j)]);
  });
  HostMatrix<T> vh = filled<T>({rank, a.cols()}, [&](index_t i, index_t j) { return conj((*found.v)(j, i)); });
  CHECK(distance(a, test::product(us, vh)) <=
        std::sqrt(static_cast<double>(std::min(a.rows(), a.cols()))) * found.error_bound);
  if (found.norm == 0) return;
  const double off = low_rank_error(a, found.values, *found.u, *found.v, found.norm),
               bound = found.error_bound / found.norm;
  CAPTURE(a.rows(), a.cols(), rank, off, bound);
  CHECK(off <= bound);
  CHECK(bound <= 60 * off + 20 * bounds.value);
  const std::vector<double> reference = reference_singular_values(a);
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    CHECK(found.values[i] <= reference[i] + bounds.value * reference[0]);
    CHECK(found.values[i] >= reference[i] - found.error_bound);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("low_rank_svd has an error below its bound for every kind and shape", "", FOUR_TYPES) {
  using T = TestType;
  for (const char* const kind : {"uniform", "kappa:1e6", "rank:5", "hilbert", "graded", "zero"})
    for (const Shape shape : {Shape{90, 90}, {200, 40}, {33, 150}, {1, 1}, {5, 1}})
      for (const int power : {0, 2}) {
        CAPTURE(kind, power);
        HostMatrix<T> a = svd_matrix<T>(shape, kind, 3);
        const index_t rank = std::min<index_t>(7, std::min(shape.rows, shape.cols));
        check(a, low_rank_svd<T>(runtime(), a, {.rank = rank, .oversampling = 5, .power = power}), rank);
      }
}

WORKERS_TEST_CASE("low_rank_svd finds more values than a tile has rows", "") {
  for (const char* const kind : {"rank:5", "zero", "uniform", "kappa:1e15"})
    for (const Shape shape : {Shape{300, 300}, {600, 280}, {280, 600}})
      for (const index_t rank : {120, 150, 200}) {
        CAPTURE(kind);
        HostMatrix<double> a = svd_matrix<double>(shape, kind, 3);
        const LowRankSvd<double> found = low_rank_svd<double>(runtime, a, {.rank = rank});
        check(a, found, rank);
        CHECK(found.values == low_rank_svd<double>(runtime, a, {.rank = rank}).values);
      }
}

TEST_CASE("low_rank_svd: the bound covers the rounding of all values") {
  for (const index_t n : {40, 125, 400}) {
    HostMatrix<double> a = svd_matrix<double>({n, n}, "kappa:1e30", 3);
    check(a, low_rank_svd<double>(runtime(), a, {.rank = n}), n);
  }
}

TEST_CASE("QrFactorization::extract_r refuses an R that is cut otherwise than A") {
  Graph g(runtime());
  const TileMatrix<double> A(runtime(), 40, 20, {8, 20}), R(runtime(), 20, 20, {20, 20});
  A.copy_from(svd_matrix<double>({40, 20}, "uniform", 1).data(), 40);
  const auto factors = qr(g, A);
  CHECK_THROWS_AS(factors.extract_r(g, R), ArgumentError);
}

NUMBERS_TEST_CASE("low_rank_svd leaves vectors in tiles on request, for tall, wide and badly scaled matrices", "") {
  using T = TestType;
  for (const Shape shape : {Shape{700, 300}, {300, 700}, {64, 9}, {9, 64}})
    for (const double scale : {1.0, 1e25, 1e-25})
      for (const index_t rank : {0, 6}) {
        HostMatrix<T> a = svd_matrix<T>(shape, "kappa:1e4", 3);
        for (index_t i = 0; i < a.size(); ++i) a.data()[i] *= static_cast<real_t<T>>(scale);
        CAPTURE(shape.rows, shape.cols, scale, rank);
        Graph g(runtime);
        LowRankSvd<T> found =
            low_rank_svd<T>(g, MatrixView<T>(a), {.rank = rank, .oversampling = rank == 0 ? 0 : 10, .in_tiles = true});
        REQUIRE((found.u_tiles && found.v_tiles && !found.u && !found.v));
        found.u.emplace(shape.rows, rank), found.v.emplace(shape.cols, rank);
        found.u_tiles->copy_to(found.u->data(), found.u->ld());
        found.v_tiles->copy_to(found.v->data(), found.v->ld());
        for (index_t i = 0; i < a.size(); ++i) a.data()[i] /= static_cast<real_t<T>>(scale);
        for (double& value : found.values) value /= scale;
        found.norm /= scale, found.error_bound /= scale;
        check(a, found, rank);
      }
}

TEMPLATE_TEST_CASE("low_rank_svd: the bound is a multiple of the largest product with its random vectors", "",
                   FOUR_TYPES) {
  using T = TestType;
  // A has rank 3 and Q two columns, so (I - Q Q^H) A = s x y^H. The largest of 20 products is s times the largest
  // magnitude of 20 normal numbers, whose expectation is the integral of 1 - P(magnitude <= t)^20.
  double expected = 0;
  for (double t = 0.5e-3; t < 12; t += 1e-3)
    expected += 1e-3 * (1 - std::pow(is_complex<T> ? 1 - std::exp(-t * t / 2) : std::erf(t / std::sqrt(2)), 20));
  expected *= is_complex<T> ? std::sqrt(1.5) : 3 * std::sqrt(2 / 3.141592653589793);
  HostMatrix<T> a = svd_matrix<T>({30, 12}, "rank:3", 3);
  double sum = 0;
  constexpr std::uint64_t seeds = 200;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const LowRankSvd<T> found = low_rank_svd<T>(runtime(), a, {.rank = 2, .oversampling = 0, .power = 0, .seed = seed});
    sum += found.error_bound / (low_rank_error(a, found.values, *found.u, *found.v, found.norm) * found.norm);
  }
  CHECK(std::abs(sum / seeds - expected) <= 0.04 * expected);
}

TEST_CASE("low_rank_svd finds an exact low rank, and more power reduces the error") {
  HostMatrix<double> exact = svd_matrix<double>({120, 80}, "rank:6", 1);
  const LowRankSvd<double> found = low_rank_svd<double>(runtime(), exact, {.rank = 6});
  CHECK(found.error_bound < 1e-13);
  for (const double value : found.values) CHECK(std::abs(value - 1) < 1e-13);
  HostMatrix<double> slow = svd_matrix<double>({300, 300}, "uniform", 1);
  double before = std::numeric_limits<double>::infinity();
  for (const int power : {0, 1, 4}) {
    const LowRankSvd<double> each = low_rank_svd<double>(runtime(), slow, {.rank = 10, .power = power});
    const double error = low_rank_error(slow, each.values, *each.u, *each.v, each.norm);
    CHECK(error < before);
    before = error;
  }
}

TEST_CASE("low_rank_svd depends only on the seed, and a power of two scales only the values") {
  HostMatrix<double> a = svd_matrix<double>({70, 50}, "kappa:1e3", 2), scaled = a.clone();
  for (index_t i = 0; i < a.size(); ++i) scaled.data()[i] = std::ldexp(a.data()[i], -700);
  const LowRankOptions options{.rank = 4, .seed = 9};
  const LowRankSvd<double> p = low_rank_svd<double>(runtime(), a, options),
                           q = low_rank_svd<double>(runtime(), a, options),
                           s = low_rank_svd<double>(runtime(), scaled, options),
                           other = low_rank_svd<double>(runtime(), a, {.rank = 4, .seed = 10});
  CHECK(p.values == q.values);
  CHECK(std::equal(p.u->data(), p.u->data() + p.u->size(), q.u->data()));
  CHECK(p.values != other.values);
  for (std::size_t i = 0; i < 4; ++i) CHECK(s.values[i] == std::ldexp(p.values[i], -700));
  CHECK(s.error_bound == std::ldexp(p.error_bound, -700));
}

TEMPLATE_TEST_CASE("low_rank_svd finds NaN in either part and overflow", "", COMPLEX_TYPES) {
  using T = TestType;
  using Real = real_t<T>;
  constexpr Real nan = std::numeric_limits<Real>::quiet_NaN(), most = std::numeric_limits<Real>::max();
  for (const Shape shape : {Shape{6, 5}, {50, 40}})
    for (const T bad : {T(nan, 1), T(1, nan), T(1, std::numeric_limits<Real>::infinity())}) {
      HostMatrix<T> a = svd_matrix<T>(shape, "uniform", 1);
      a(4, 2) = bad;
      const SvdStatus status = low_rank_svd<T>(runtime(), a, {.rank = 2}).status;
      CHECK((status.verdict == SvdStatus::Verdict::not_finite && status.row == 4 && status.column == 2));
    }
  HostMatrix<T> large = filled<T>({50, 40}, [](index_t, index_t) { return T(most / 2, most / 2); });
  CHECK(low_rank_svd<T>(runtime(), large, {.rank = 2}).status.verdict == SvdStatus::Verdict::overflow);
}

TEST_CASE("low_rank_svd reports NaN and refuses wrong options") {
  HostMatrix<double> a = svd_matrix<double>({6, 5}, "uniform", 1);
  CHECK_THROWS_AS(low_rank_svd<double>(runtime(), a, {.rank = 6}), ArgumentError);
  CHECK_THROWS_AS(low_rank_svd<double>(runtime(), a, {.rank = -1}), ArgumentError);
  CHECK_THROWS_AS(low_rank_svd<double>(runtime(), a, {.rank = 2, .oversampling = -1}), ArgumentError);
  CHECK_THROWS_AS(low_rank_svd<double>(runtime(), a, {.rank = 2, .power = -1}), ArgumentError);
  CHECK(low_rank_svd<double>(runtime(), a, {.rank = 0}).values.empty());
  a(4, 2) = std::numeric_limits<double>::quiet_NaN();
  const SvdStatus status = low_rank_svd<double>(runtime(), a, {.rank = 2}).status;
  CHECK((status.verdict == SvdStatus::Verdict::not_finite && status.row == 4 && status.column == 2));
}
