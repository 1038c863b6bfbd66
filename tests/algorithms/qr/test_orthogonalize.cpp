#include "tests/support/four_types.hpp"
#include "tools/checks/qr_error.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/qr/orthogonalize.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/filled.hpp>

using namespace tesela;
using tesela::test::runtime;
using tesela::test::RuntimeOfCores;

namespace {

template <class T>
struct Result {
  HostMatrix<T> q, r;
  index_t broken = 0;
  bool shifted = false;
  QrError error;
};

template <class T>
Result<T> run(const HostMatrix<T>& a, Orthogonalization method, TileShape tile = {}, Runtime& where = runtime()) {
  const index_t m = a.rows(), n = a.cols();
  if (tile.mb == 0) tile = orthogonalization_tile(where, method, m, n);
  Result<T> result{a.clone(), HostMatrix<T>(n, n), 0, false, {}};
  const auto A = TileMatrix<T>::map(where, result.q.data(), m, n, std::max<index_t>(m, 1), tile);
  Graph g(where);
  const Orthogonalized<T> found = orthogonalize(g, A, method);
  result.broken = found.broken, result.shifted = found.shifted;
  A.bring_home();
  if (n == 0 || found.broken > 0) return result;
  found.R.copy_to(result.r.data(), n);
  result.error = qr_error(a, result.r, result.q);
  return result;
}

HostMatrix<double> of_condition(index_t m, index_t n, double kappa) {
  RandomMatrix kind;
  kind.condition = kappa;
  return generate<double>({m, n}, kind, 5);
}

}  // namespace

TEMPLATE_TEST_CASE("orthogonalize works for every method, shape and tile", "", FOUR_TYPES) {
  using T = TestType;
  for (const Shape shape : {Shape{0, 0}, {1, 1}, {5, 0}, {5, 1}, {7, 7}, {40, 12}, {65, 64}, {100, 33}}) {
    const HostMatrix<T> a = generate<T>(shape, RandomMatrix{}, 3);
    for (const Named<Orthogonalization>& method : orthogonalizations())
      for (const index_t wide : {0, 1, 5, 16}) {
        const bool gram = method.value == Orthogonalization::cholesky_qr2,
                   tiles = method.value == Orthogonalization::householder;
        // A random square matrix may be too ill-conditioned.
        if (gram && shape.rows == shape.cols && shape.rows > 1) continue;
        const index_t rows = std::max<index_t>(shape.rows, 1), columns = std::max<index_t>(shape.cols, 1);
        const TileShape tile = wide == 0 ? TileShape{}
                               : gram    ? TileShape{wide, columns}
                                         : TileShape{tiles ? 9 : rows, wide};
        CAPTURE(method.name, shape.rows, shape.cols, wide);
        const Result<T> x = run(a, method.value, tile);
        REQUIRE(x.broken == 0);
        const QrBounds bounds = qr_bounds<T>(shape.rows, shape.cols);
        const double loose =
            method.value == Orthogonalization::gram_schmidt || method.value == Orthogonalization::mgs ? 1e3 : 1;
        CHECK(x.error.backward <= 3 * bounds.backward);
        if (shape.rows > shape.cols) CHECK(x.error.orthogonality <= loose * (gram ? 1 : 3) * bounds.orthogonality);
        for (index_t j = 0; j < shape.cols; ++j)
          for (index_t i = j; i < shape.cols; ++i) CHECK(x.r(i, j) == T(i > j ? 0 : real_part(x.r(j, j))));
      }
  }
}

TEST_CASE("orthogonalize: the orthogonality of Q follows theory for conditions 1 … 1e16") {
  constexpr double u = 1.1e-16;
  for (int e = 0; e <= 16; e += 2) {
    const double kappa = std::pow(10.0, e);
    const HostMatrix<double> a = of_condition(200, 40, kappa);
    const auto q = [&](Orthogonalization method) {
      return run(a, method, {method == Orthogonalization::cholesky_qr2 ? 64 : 200, 40});
    };
    CAPTURE(kappa);
    const double cgs = q(Orthogonalization::gram_schmidt).error.orthogonality,
                 mgs = q(Orthogonalization::mgs).error.orthogonality;
    CHECK(cgs <= std::min(40.0, 200 * u * kappa * kappa + 1e-14));
    CHECK(mgs <= std::min(40.0, 200 * u * kappa + 1e-14));
    for (const index_t wide : {7, 16, 32, 39})
      CHECK(run(a, Orthogonalization::mgs, {200, wide}).error.orthogonality <= std::min(40.0, 200 * u * kappa + 1e-14));
    if (e >= 6 && e <= 14) CHECK(mgs >= u * kappa / 100);
    if (e >= 6) CHECK(cgs >= 10 * mgs);
    CHECK(q(Orthogonalization::householder).error.orthogonality <= 1e-13);
    if (e <= 14) CHECK(q(Orthogonalization::cgs2).error.orthogonality <= 1e-14);
    const Result<double> gram = q(Orthogonalization::cholesky_qr2);
    if (e <= 6) CHECK(!gram.shifted);
    if (e >= 10) CHECK((gram.shifted || gram.broken > 0));
    if (e <= 14) {
      REQUIRE(gram.broken == 0);
      CHECK(gram.error.orthogonality <= 1e-13);
    }
  }
}

TEST_CASE("orthogonalize: a stable method loses no accuracy in blocks") {
  const HostMatrix<double> a = of_condition(150, 48, 1e12);
  for (const index_t wide : {1, 7, 16, 48})
    CHECK(run(a, Orthogonalization::cgs2, {150, wide}).error.orthogonality <= 1e-13);
}

TEMPLATE_TEST_CASE("orthogonalize names a dependent column and makes the diagonal of R positive", "", double,
                   std::complex<double>) {
  using T = TestType;
  HostMatrix<T> a = generate<T>({20, 6}, RandomMatrix{}, 2);
  for (index_t i = 0; i < 20; ++i) a(i, 3) = 0;
  for (const Orthogonalization method :
       {Orthogonalization::gram_schmidt, Orthogonalization::mgs, Orthogonalization::cgs2})
    for (const index_t wide : {1, 2, 6}) CHECK(run(a, method, {20, wide}).broken == 4);
  T bad = std::nan("");
  if constexpr (is_complex<T>) bad = T(1, std::nan(""));
  a(5, 1) = bad;
  for (const Named<Orthogonalization>& method : orthogonalizations())
    if (method.value != Orthogonalization::householder) CHECK(run(a, method.value).broken > 0);

  const HostMatrix<T> good = generate<T>({30, 8}, RandomMatrix{}, 2);
  Result<T> p = run(good, Orthogonalization::householder), q = run(good, Orthogonalization::cgs2);
  make_diagonal_positive(p.r, p.q);
  make_diagonal_positive(q.r, q.q);
  for (index_t i = 0; i < p.r.size(); ++i) CHECK(std::abs(p.r.data()[i] - q.r.data()[i]) <= 1e-13);
  for (index_t i = 0; i < p.q.size(); ++i) CHECK(std::abs(p.q.data()[i] - q.q.data()[i]) <= 1e-13);
}

TEMPLATE_TEST_CASE("orthogonalize: a power of two scales R and changes no bit of Q", "", FOUR_TYPES) {
  const RuntimeOfCores cores;
  using T = TestType;
  const HostMatrix<T> a = generate<T>({40, 12}, RandomMatrix{}, 3);
  for (const Named<Orthogonalization>& method : orthogonalizations()) {
    const bool gram = method.value == Orthogonalization::cholesky_qr2,
               tiles = method.value == Orthogonalization::householder;
    const TileShape tile = gram ? TileShape{16, 12} : tiles ? TileShape{9, 5} : TileShape{40, 5};
    const Result<T> one = run(a, method.value, tile);
    constexpr bool wide = sizeof(real_t<T>) == 8;
    for (const int e : {wide ? 1000 : 110, wide ? -960 : -90}) {
      CAPTURE(method.name, e);
      const Result<T> far =
          run(filled<T>({40, 12}, [&](index_t i, index_t j) { return times_power_of_two(a(i, j), e); }), method.value,
              tile);
      REQUIRE(far.broken == 0);
      CHECK(std::equal(one.q.data(), one.q.data() + one.q.size(), far.q.data()));
      for (index_t i = 0; i < one.r.size(); ++i) CHECK(far.r.data()[i] == times_power_of_two(one.r.data()[i], e));
    }
  }
}

TEST_CASE("orthogonalize refuses invalid shapes") {
  Graph g(runtime());
  const auto refused = [&](Shape a, TileShape tile, Orthogonalization method) {
    const TileMatrix<double> A(runtime(), a.rows, a.cols, tile);
    CHECK_THROWS_AS(orthogonalize(g, A, method), ArgumentError);
  };
  refused({3, 4}, {3, 4}, Orthogonalization::mgs);
  refused({4, 3}, {2, 3}, Orthogonalization::mgs);
  refused({4, 3}, {4, 2}, Orthogonalization::cholesky_qr2);
}

GPU_TEMPLATE_TEST_CASE("orthogonalize works on a GPU", "[sanitize]", float, double) {
  using T = TestType;
  for (const Shape shape : {Shape{5, 1}, {40, 12}, {100, 33}}) {
    const HostMatrix<T> a = generate<T>(shape, RandomMatrix{}, 3);
    for (const Named<Orthogonalization>& method : orthogonalizations()) {
      CAPTURE(method.name, shape.rows);
      Result<T> x = run(a, method.value, {}, runtime);
      REQUIRE(x.broken == 0);
      const QrBounds bounds = qr_bounds<T>(shape.rows, shape.cols);
      CHECK(x.error.backward <= 3 * bounds.backward);
      CHECK(x.error.orthogonality <= 1e3 * bounds.orthogonality);
    }
  }
  HostMatrix<T> a = generate<T>({20, 6}, RandomMatrix{}, 2);
  for (index_t i = 0; i < 20; ++i) a(i, 3) = 0;
  CHECK(run(a, Orthogonalization::cgs2, {}, runtime).broken == 4);
}

GPU_TEMPLATE_TEST_CASE("orthogonalize on a GPU runs cgs2 in strips", "", float, double) {
  using T = TestType;
  for (const Shape shape : {Shape{300, 150}, {5000, 513}, {70000, 40}})
    for (const double kappa : {1.0, 1e3, sizeof(T) == 8 ? 1e13 : 1e4})
      for (const index_t wide : {index_t{0}, index_t{100}}) {
        RandomMatrix kind;
        kind.condition = kappa;
        HostMatrix<T> a = generate<T>(shape, kind, 5);
        // The squares of these elements underflow.
        for (index_t i = 0; i < shape.rows; ++i) a(i, 17) *= sizeof(T) == 8 ? T(1e-250) : T(1e-28);
        CAPTURE(shape.rows, kappa, wide);
        const Result<T> x =
            run(a, Orthogonalization::cgs2, wide > 0 ? TileShape{shape.rows, wide} : TileShape{}, runtime);
        REQUIRE(x.broken == 0);
        const QrBounds bounds = qr_bounds<T>(shape.rows, shape.cols);
        CHECK(x.error.backward <= 3 * bounds.backward);
        CHECK(x.error.orthogonality <= 3 * bounds.orthogonality);
      }
  HostMatrix<T> a = generate<T>({400, 150}, RandomMatrix{}, 2);
  for (index_t i = 0; i < 400; ++i) a(i, 140) = 0;
  CHECK(run(a, Orthogonalization::cgs2, {}, runtime).broken == 141);
  a(7, 33) = std::numeric_limits<T>::quiet_NaN();
  CHECK(run(a, Orthogonalization::cgs2, {}, runtime).broken > 0);
}
