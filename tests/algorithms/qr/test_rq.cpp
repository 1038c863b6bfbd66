#include "tests/support/matrices.hpp"
#include <tesela/algorithms/qr/generalized_qr.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>

using namespace tesela::test;

extern "C" {
void dgerqf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void dgelqf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
}

namespace {

/// Returns the m x min(m, n) triangle of LAPACK's gerqf or gelqf.
Matrix lapack_triangle(const Matrix& a, bool of_rq) {
  const int m = static_cast<int>(a.rows()), n = static_cast<int>(a.cols()), k = std::min(m, n),
            lwork = 100 * (m + n + 1);
  if (k == 0) return {m, 0};
  Matrix f = a.clone();
  std::vector<double> tau(static_cast<std::size_t>(k)), work(static_cast<std::size_t>(lwork));
  int info = 0;
  (of_rq ? dgerqf_ : dgelqf_)(&m, &n, f.data(), &m, tau.data(), work.data(), &lwork, &info);
  REQUIRE(info == 0);
  return made(m, k, [&](index_t i, index_t j) {
    if (!of_rq) return i >= j ? f(i, j) : 0.0;
    return i - (m - k) <= j ? f(i, n - k + j) : 0.0;
  });
}

/// Returns the distance of x and y up to the sign of each column.
double distance_up_to_signs(const Matrix& x, const Matrix& y) {
  double worst = 0;
  for (index_t j = 0; j < x.cols(); ++j) {
    double dot = 0;
    for (index_t i = 0; i < x.rows(); ++i) dot += x(i, j) * y(i, j);
    for (index_t i = 0; i < x.rows(); ++i) worst = std::max(worst, std::abs(x(i, j) - (dot < 0 ? -1 : 1) * y(i, j)));
  }
  return worst;
}

template <class T>
void check(bool of_rq, Shape shape, TileShape tile, const RqOptions& options = {}) {
  const auto [m, n] = shape;
  CAPTURE(of_rq, m, n, tile.mb);
  const index_t k = std::min(m, n), cut = options.tile.mb > 0 ? options.tile.mb : tile.nb;
  const HostMatrix<T> a = random<T>(m, n, 5), c = random<T>(n, 3, 6), d = random<T>(2, n, 7);
  const auto A = tiles(runtime(), a, tile), C = tiles(runtime(), c, {cut, 2}), D = tiles(runtime(), d, {2, cut});
  const TileMatrix<T> Q(runtime(), k, n, {4, 5}), F(runtime(), n, n, {3, 9}), R(runtime(), m, k, {5, 4});
  Graph g(runtime());
  const auto factors = of_rq ? rq(g, A, options) : lq(g, A, options);
  factors.form_q(g, Q);
  factors.form_q(g, F);
  factors.extract(g, R);
  factors.apply(g, Side::left, Op::none, C);
  factors.apply(g, Side::right, Op::none, D);
  const HostMatrix<T> qc = C.to_host(), dq = D.to_host();
  C.copy_from(c.data(), c.ld());
  D.copy_from(d.data(), d.ld());
  factors.apply(g, Side::left, Op::conjugate, C);
  factors.apply(g, Side::right, Op::conjugate, D);
  REQUIRE(g.wait().ok());

  const HostMatrix<T> q = Q.to_host(), full = F.to_host(), r = R.to_host();
  const double tolerance = 30 * eps<T> * std::sqrt(static_cast<double>(m + n + 1));
  CHECK(distance(product(Op::none, full, Op::conjugate, full), identity<T>(n)) <= tolerance * std::sqrt(n));
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < k; ++i) REQUIRE(std::abs(q(i, j) - full(of_rq ? n - k + i : i, j)) <= tolerance);
  CHECK(distance(product(r, q), a) <= tolerance * norm(a));
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < m; ++i)
      if (of_rq ? i - (m - k) > j : i < j) REQUIRE(r(i, j) == T(0));
  if constexpr (std::is_same_v<T, double>)
    CHECK(distance_up_to_signs(r, lapack_triangle(a, of_rq)) <= 1000 * tolerance * norm(a));
  CHECK(distance(product(full, c), qc) <= tolerance * norm(c));
  CHECK(distance(product(d, full), dq) <= tolerance * norm(d));
  CHECK(distance(product(Op::conjugate, full, c), C.to_host()) <= tolerance * norm(c));
  CHECK(distance(product(Op::none, d, Op::conjugate, full), D.to_host()) <= tolerance * norm(d));
  CHECK(distance(A.to_host(), a) == 0);
  if (is_complex<T>) CHECK_THROWS_AS(factors.apply(g, Side::left, Op::transpose, C), ArgumentError);
}

constexpr Shape shapes[] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {7, 1}, {1, 7}, {12, 12}, {13, 30}, {30, 13}, {41, 40}};

/// Returns [zeros A], or [A; zeros], of this shape.
template <class T>
HostMatrix<T> padded(const HostMatrix<T>& a, Shape shape) {
  return filled<T>(shape, [&, right = shape.cols - a.cols()](index_t i, index_t j) {
    return i < a.rows() && j >= right ? a(i, j - right) : T(0);
  });
}

/// Checks Q^H A = [R; 0], Q^H B V = S, and the zeros of S.
template <class T>
void check_gqr(index_t m, index_t n, index_t p, TileShape tile) {
  CAPTURE(m, n, p, tile.mb, tile.nb);
  const HostMatrix<T> a = random<T>(m, n, 1), b = random<T>(m, p, 2);
  const index_t k = std::min(m, p);
  const auto A = tiles(runtime(), a, tile), B = tiles(runtime(), b, {tile.mb, 6});
  const TileMatrix<T> Q(runtime(), m, m, tile), V(runtime(), p, p, {4, 4}), R(runtime(), std::min(m, n), n, tile),
      S(runtime(), m, k, tile);
  const auto C = tiles(runtime(), identity<T>(p), {6, 3});
  Graph g(runtime());
  const auto factors = gqr(g, A, B);
  factors.of_a.form_q(g, Q);
  factors.of_a.extract_r(g, R);
  factors.of_qb.extract(g, S);
  factors.form_v(g, V);
  factors.apply_v(g, Side::left, Op::none, C);
  REQUIRE(g.wait().ok());
  const HostMatrix<T> q = Q.to_host(), v = V.to_host(), r = R.to_host(), s = S.to_host();
  const double tolerance = 50 * eps<T> * std::sqrt(static_cast<double>(m + n + p + 1));
  CHECK(distance(product(Op::conjugate, v, v), identity<T>(p)) <= tolerance * std::sqrt(p));
  CHECK(distance(C.to_host(), v) <= tolerance * std::sqrt(p));
  CHECK(distance(product(Op::conjugate, q, a), padded(r, {m, n})) <= tolerance * norm(a));
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j + 1; i < r.rows(); ++i) REQUIRE(r(i, j) == T(0));
  CHECK(distance(product(product(Op::conjugate, q, b), v), padded(s, {m, p})) <= tolerance * norm(b));
  for (index_t j = 0; j < k; ++j)
    for (index_t i = j + 1 + (m - k); i < m; ++i) REQUIRE(s(i, j) == T(0));
}

/// Checks A Q^H = [0 R] and Z^H B Q^H = T.
template <class T>
void check_grq(index_t m, index_t n, index_t p) {
  CAPTURE(m, n, p);
  const HostMatrix<T> a = random<T>(m, n, 1), b = random<T>(p, n, 2);
  const auto A = tiles(runtime(), a, {4, 6}), B = tiles(runtime(), b, {5, 6});
  const TileMatrix<T> Q(runtime(), n, n, {4, 4}), Z(runtime(), p, p, {5, 6}), U(runtime(), std::min(p, n), n, {5, 6}),
      R(runtime(), m, std::min(m, n), {4, 4});
  Graph g(runtime());
  const auto factors = grq(g, A, B);
  factors.of_a.form_q(g, Q);
  factors.of_a.extract(g, R);
  factors.of_bq.form_q(g, Z);
  factors.of_bq.extract_r(g, U);
  REQUIRE(g.wait().ok());
  const HostMatrix<T> q = Q.to_host(), zb = product(Op::conjugate, Z.to_host(), b), u = U.to_host();
  const double tolerance = 50 * eps<T> * std::sqrt(static_cast<double>(m + n + p + 1));
  CHECK(distance(product(Op::none, a, Op::conjugate, q), padded(R.to_host(), {m, n})) <= tolerance * norm(a));
  CHECK(distance(product(Op::none, zb, Op::conjugate, q), padded(u, {p, n})) <= tolerance * norm(b));
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j + 1; i < u.rows(); ++i) REQUIRE(u(i, j) == T(0));
}

}  // namespace

TEST_CASE("rearrange copies a part of a matrix, transposed or reversed, into other tiles") {
  Runtime& r = runtime();
  const Matrix a = random(23, 17, 3);
  const auto A = tiles(r, a, {5, 4});
  for (const Op op : {Op::none, Op::transpose})
    for (const bool rows : {false, true})
      for (const bool columns : {false, true})
        for (const TileShape tile : {TileShape{5, 4}, {3, 7}, {40, 40}}) {
          const TileMatrix<double> B(r, 11, 9, tile);
          Graph g(r);
          rearrange(g, A, {3, 2, op, rows, columns}, B);
          REQUIRE(g.wait().ok());
          const Matrix b = B.to_host();
          for (index_t j = 0; j < 9; ++j)
            for (index_t i = 0; i < 11; ++i) {
              const index_t down = rows ? 10 - i : i, across = columns ? 8 - j : j;
              REQUIRE(b(i, j) == (op == Op::none ? a(3 + down, 2 + across) : a(3 + across, 2 + down)));
            }
        }
  for (const bool gpus : {false, true})
    for (const Op op : {Op::none, Op::transpose})
      for (const TileShape tile : {TileShape{5, 4}, {3, 7}, {40, 40}}) {  // A lies in B, or ends in B
        const TileMatrix<double> B(r, 30, 26, tile);
        Graph g(r);
        rearrange(g, A, {.row = 1, .column = 2, .op = op, .padded = true, .on_gpus = gpus}, B);
        REQUIRE(g.wait().ok());
        const Matrix b = B.to_host();
        for (index_t j = 0; j < 26; ++j)
          for (index_t i = 0; i < 30; ++i) {
            const index_t down = 1 + (op == Op::none ? i : j), across = 2 + (op == Op::none ? j : i);
            const bool inside = down < 23 && across < 17;
            REQUIRE(b(i, j) == (inside ? a(down, across) : i == j ? 1.0 : 0.0));
          }
      }
  Graph g(r);
  CHECK_THROWS_AS(rearrange(g, A, {.reverse_rows = true, .padded = true}, TileMatrix<double>(r, 4, 4, {2, 2})),
                  ArgumentError);
  CHECK_THROWS_AS(rearrange(g, A, {.row = 20}, A.view(0, 0, 1, 1)), ArgumentError);
  CHECK_THROWS_AS(rearrange(g, A, {.row = 20}, TileMatrix<double>(r, 4, 4, {2, 2})), ArgumentError);
  CHECK_NOTHROW(rearrange(g, A, {.row = 23}, TileMatrix<double>(r, 0, 4, {2, 2})));
}

TEMPLATE_TEST_CASE("rq and lq factor every shape", "", FOUR_TYPES) {
  const bool of_rq = GENERATE(true, false);
  for (const Shape shape : shapes)
    for (const TileShape tile : {TileShape{4, 6}, {64, 64}}) check<TestType>(of_rq, shape, tile);
  check<TestType>(of_rq, {30, 41}, {8, 8}, {.qr = {.tree = "greedy", .ib = 3}, .tile = {7, 5}});
}

TEMPLATE_TEST_CASE("gqr factors any m, n and p", "", FOUR_TYPES) {
  const index_t m = GENERATE(0, 1, 7, 33);
  for (const index_t n : {0, 1, 7, 20, 40})
    for (const index_t p : {0, 1, 7, 33, 50}) check_gqr<TestType>(m, n, p, {8, 5});
}

TEMPLATE_TEST_CASE("grq factors any m, n and p", "", FOUR_TYPES) {
  for (const auto& [m, n, p] :
       {std::array<index_t, 3>{1, 1, 1}, {7, 20, 12}, {20, 7, 30}, {12, 12, 5}, {13, 8, 20}, {33, 33, 33}, {3, 40, 7}})
    check_grq<TestType>(m, n, p);
}

TEST_CASE("generalized factorizations refuse shapes that do not match") {
  Graph g(runtime());
  const auto matrix = [](index_t m, index_t n) { return tiles(runtime(), random(m, n, 1), {2, 2}); };
  CHECK_THROWS_AS(gqr(g, matrix(4, 3), matrix(5, 3)), ArgumentError);
  CHECK_THROWS_AS(grq(g, matrix(4, 3), matrix(4, 2)), ArgumentError);
}

TEMPLATE_TEST_CASE("rq and gqr work on a GPU", "[gpu][sanitize]", FOUR_TYPES) {
  require_gpu();
  for (const Shape shape : {Shape{13, 30}, {30, 13}}) check<TestType>(true, shape, {8, 6});
  check_gqr<TestType>(33, 12, 50, {8, 5});
  check_gqr<TestType>(33, 12, 7, {64, 64});
}
