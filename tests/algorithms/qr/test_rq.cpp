#include "tests/support/least_squares.hpp"
#include "tests/support/machine.hpp"
#include <tesela/algorithms/qr/generalized_qr.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>

using namespace tesela;
using namespace tesela::test;

extern "C" {
void dgerqf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void dgelqf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
}

namespace {

Matrix contents(const TileMatrix<double>& A) {
  Matrix a(A.m(), A.n());
  A.copy_to(a.data(), a.ld());
  return a;
}

TileMatrix<double> tiles(Runtime& runtime, const Matrix& a, TileShape tile) {
  TileMatrix<double> A(runtime, a.rows(), a.cols(), tile);
  A.copy_from(a.data(), a.ld());
  return A;
}

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

void check(Runtime& runtime, bool of_rq, Shape shape, TileShape tile, const RqOptions& options) {
  const auto [m, n] = shape;
  const index_t k = std::min(m, n), cut = options.tile.mb > 0 ? options.tile.mb : tile.nb;
  const Matrix a = random(m, n, 5), c = random(n, 3, 6), d = random(2, n, 7);
  const auto A = tiles(runtime, a, tile), C = tiles(runtime, c, {cut, 2}), D = tiles(runtime, d, {2, cut});
  const TileMatrix<double> Q(runtime, k, n, {4, 5}), F(runtime, n, n, {3, 9}), R(runtime, m, k, {5, 4});
  Graph g(runtime);
  const auto factors = of_rq ? rq(g, A, options) : lq(g, A, options);
  factors.form_q(g, Q);
  factors.form_q(g, F);
  factors.extract(g, R);
  factors.apply(g, Side::left, Op::none, C);
  factors.apply(g, Side::right, Op::none, D);
  const Matrix qc = contents(C), dq = contents(D);
  C.copy_from(c.data(), c.ld());
  D.copy_from(d.data(), d.ld());
  factors.apply(g, Side::left, Op::transpose, C);
  factors.apply(g, Side::right, Op::transpose, D);
  REQUIRE(g.wait().ok());

  const Matrix q = contents(Q), full = contents(F), r = contents(R);
  const double tolerance = 30 * epsilon * std::sqrt(static_cast<double>(m + n + 1));
  CHECK(distance(product(Op::none, full, Op::transpose, full), identity(n)) <= tolerance * std::sqrt(n));
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < k; ++i) REQUIRE(std::abs(q(i, j) - full(of_rq ? n - k + i : i, j)) <= tolerance);
  CHECK(distance(product(Op::none, r, Op::none, q), a) <= tolerance * norm(a));
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < m; ++i)
      if (of_rq ? i - (m - k) > j : i < j) REQUIRE(r(i, j) == 0);
  CHECK(distance_up_to_signs(r, lapack_triangle(a, of_rq)) <= 1000 * tolerance * norm(a));
  CHECK(distance(product(Op::none, full, Op::none, c), qc) <= tolerance * norm(c));
  CHECK(distance(product(Op::none, d, Op::none, full), dq) <= tolerance * norm(d));
  CHECK(distance(product(Op::transpose, full, Op::none, c), contents(C)) <= tolerance * norm(c));
  CHECK(distance(product(Op::none, d, Op::transpose, full), contents(D)) <= tolerance * norm(d));
  CHECK(distance(contents(A), a) == 0);
}

constexpr Shape shapes[] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {7, 1}, {1, 7}, {12, 12}, {13, 30}, {30, 13}, {41, 40}};

/// Checks Q^T A = [R; 0], Q^T B V = S, and the zeros of S.
void check_gqr(Runtime& runtime, index_t m, index_t n, index_t p, TileShape tile) {
  CAPTURE(m, n, p, tile.mb, tile.nb);
  const Matrix a = random(m, n, 1), b = random(m, p, 2);
  const index_t k = std::min(m, p);
  const auto A = tiles(runtime, a, tile), B = tiles(runtime, b, {tile.mb, 6});
  const TileMatrix<double> Q(runtime, m, m, tile), V(runtime, p, p, {4, 4}), R(runtime, std::min(m, n), n, tile),
      S(runtime, m, k, tile);
  const auto C = tiles(runtime, identity(p), {6, 3});
  Graph g(runtime);
  const auto factors = gqr(g, A, B);
  factors.of_a.form_q(g, Q);
  factors.of_a.extract_r(g, R);
  factors.of_qb.extract(g, S);
  factors.form_v(g, V);
  factors.apply_v(g, Side::left, Op::none, C);
  REQUIRE(g.wait().ok());
  const Matrix q = contents(Q), v = contents(V), r = contents(R), s = contents(S);
  const double tolerance = 50 * epsilon * std::sqrt(static_cast<double>(m + n + p + 1));
  CHECK(distance(product(Op::transpose, v, Op::none, v), identity(p)) <= tolerance * std::sqrt(p));
  CHECK(distance(contents(C), v) <= tolerance * std::sqrt(p));
  const Matrix qr_a = made(m, n, [&](index_t i, index_t j) { return i < r.rows() && i <= j ? r(i, j) : 0.0; });
  CHECK(distance(product(Op::transpose, q, Op::none, a), qr_a) <= tolerance * norm(a));
  const Matrix all_s = made(m, p, [&](index_t i, index_t j) { return j < p - k ? 0.0 : s(i, j - (p - k)); });
  const Matrix qbv = product(Op::none, product(Op::transpose, q, Op::none, b), Op::none, v);
  CHECK(distance(qbv, all_s) <= tolerance * norm(b));
  for (index_t j = 0; j < k; ++j)
    for (index_t i = j + 1 + (m - k); i < m; ++i) REQUIRE(s(i, j) == 0);
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
          const Matrix b = contents(B);
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
        const Matrix b = contents(B);
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

TEST_CASE("rq and lq factor every shape") {
  const bool of_rq = GENERATE(true, false);
  for (const Shape shape : shapes)
    for (const TileShape tile : {TileShape{4, 6}, {64, 64}}) {
      CAPTURE(of_rq, shape.rows, shape.cols, tile.mb);
      check(runtime(), of_rq, shape, tile, {});
    }
  check(runtime(), of_rq, {30, 41}, {8, 8}, {.qr = {.tree = "greedy", .ib = 3}, .tile = {7, 5}});
}

TEST_CASE("gqr factors any m, n and p") {
  const index_t m = GENERATE(0, 1, 7, 33);
  for (const index_t n : {0, 1, 7, 20, 40})
    for (const index_t p : {0, 1, 7, 33, 50}) check_gqr(runtime(), m, n, p, {8, 5});
}

TEST_CASE("grq gives A Q^T = [0 R] and Z^T B Q^T = T") {
  Runtime& r = runtime();
  for (const auto& [m, n, p] : {std::array<index_t, 3>{7, 20, 12}, {20, 7, 30}, {12, 12, 5}}) {
    CAPTURE(m, n, p);
    const Matrix a = random(m, n, 1), b = random(p, n, 2);
    const index_t k = std::min(p, n);
    const auto A = tiles(r, a, {4, 6}), B = tiles(r, b, {5, 6});
    const TileMatrix<double> Q(r, n, n, {4, 4}), Z(r, p, p, {5, 6}), T(r, k, n, {5, 6}),
        R(r, m, std::min(m, n), {4, 4});
    Graph g(r);
    const auto factors = grq(g, A, B);
    factors.of_a.form_q(g, Q);
    factors.of_a.extract(g, R);
    factors.of_bq.form_q(g, Z);
    factors.of_bq.extract_r(g, T);
    REQUIRE(g.wait().ok());
    const Matrix q = contents(Q), z = contents(Z), t = contents(T), triangle = contents(R);
    const Matrix aq = product(Op::none, a, Op::transpose, q);
    const index_t first = n - triangle.cols();
    const Matrix expected = made(m, n, [&](index_t i, index_t j) { return j < first ? 0.0 : triangle(i, j - first); });
    CHECK(distance(aq, expected) <= 1e-13 * norm(a));
    const Matrix zbq = product(Op::none, product(Op::transpose, z, Op::none, b), Op::transpose, q);
    const Matrix upper = made(p, n, [&](index_t i, index_t j) { return i < k && i <= j ? t(i, j) : 0.0; });
    CHECK(distance(zbq, upper) <= 1e-13 * norm(b));
  }
  Graph g(r);
  CHECK_THROWS_AS(gqr(g, tiles(r, random(4, 3, 1), {2, 2}), tiles(r, random(5, 3, 1), {2, 2})), ArgumentError);
  CHECK_THROWS_AS(grq(g, tiles(r, random(4, 3, 1), {2, 2}), tiles(r, random(4, 2, 1), {2, 2})), ArgumentError);
}

TEST_CASE("rq and gqr work on a GPU", "[gpu][sanitize]") {
  require_gpu();
  for (const Shape shape : {Shape{13, 30}, {30, 13}}) check(runtime(), true, shape, {8, 6}, {});
  check_gqr(runtime(), 33, 12, 50, {8, 5});
  check_gqr(runtime(), 33, 12, 7, {64, 64});
}
