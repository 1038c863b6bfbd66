#include "tests/support/number_types.hpp"
#include <tesela/algorithms/qr/generalized_qr.hpp>

// RQ, LQ and the generalized factorizations of real and complex numbers: one body for four types.

using namespace tesela;
using namespace tesela::test;

namespace {

template <class T>
HostMatrix<T> contents(const TileMatrix<T>& A) {
  HostMatrix<T> a(A.m(), A.n());
  A.copy_to(a.data(), a.ld());
  return a;
}

template <class T>
TileMatrix<T> tiles(const HostMatrix<T>& a, TileShape tile) {
  TileMatrix<T> A(runtime(), a.rows(), a.cols(), tile);
  A.copy_from(a.data(), a.ld());
  return A;
}

template <class T>
HostMatrix<T> adjoint_of(const HostMatrix<T>& a) {
  return filled<T>({a.cols(), a.rows()}, [&](index_t i, index_t j) { return conj(a(j, i)); });
}

template <class T>
HostMatrix<T> identity(index_t n) {
  return filled<T>({n, n}, [](index_t i, index_t j) { return i == j ? T(1) : T(0); });
}

/// Returns [zeros A], or [A; zeros], of this shape.
template <class T>
HostMatrix<T> padded(const HostMatrix<T>& a, Shape shape) {
  return filled<T>(shape, [&, right = shape.cols - a.cols()](index_t i, index_t j) {
    return i < a.rows() && j >= right ? a(i, j - right) : T(0);
  });
}

constexpr Shape shapes[] = {{1, 1}, {7, 1}, {1, 7}, {12, 12}, {13, 30}, {30, 13}, {41, 40}};

}  // namespace

TEMPLATE_TEST_CASE("A = R Q and A = L Q with a unitary Q in every type", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  for (const Shape shape : shapes)
    for (const bool of_rq : {true, false}) {
      const auto [m, n] = shape;
      const index_t k = std::min(m, n);
      CAPTURE(m, n, of_rq);
      const HostMatrix<T> a = uniform<T>(m, n, 5), c = uniform<T>(n, 3, 6), d = uniform<T>(2, n, 7);
      const auto A = tiles(a, {5, 6});
      const TileMatrix<T> Q(runtime(), k, n, {4, 5}), F(runtime(), n, n, {3, 9}), R(runtime(), m, k, {5, 4});
      Graph g(runtime());
      const auto factors = of_rq ? rq(g, A) : lq(g, A);
      factors.form_q(g, Q);
      factors.form_q(g, F);
      factors.extract(g, R);
      REQUIRE(g.wait().ok());
      const HostMatrix<T> q = contents(F), r = contents(R);
      const double rounding = 50 * eps<T> * std::sqrt(static_cast<double>(m + n));
      CHECK(apart(times(q, adjoint_of(q)), identity<T>(n)) <= rounding * std::sqrt(static_cast<double>(n)));
      CHECK(apart(times(r, contents(Q)), a) <= rounding * size_of(a));
      for (index_t j = 0; j < k; ++j)
        for (index_t i = 0; i < m; ++i)
          if (of_rq ? i - (m - k) > j : i < j) REQUIRE(r(i, j) == T(0));
      for (const Op op : {Op::none, Op::conjugate}) {
        const auto C = tiles(c, {6, 2}), D = tiles(d, {2, 6});
        factors.apply(g, Side::left, op, C);
        factors.apply(g, Side::right, op, D);
        REQUIRE(g.wait().ok());
        CHECK(apart(contents(C), times(op, q, c)) <= rounding * size_of(c));
        CHECK(apart(contents(D), times(d, op == Op::none ? q.clone() : adjoint_of(q))) <= rounding * size_of(d));
      }
      if (is_complex<T>) CHECK_THROWS_AS(factors.apply(g, Side::left, Op::transpose, tiles(c, {6, 2})), ArgumentError);
    }
}

TEMPLATE_TEST_CASE("generalized QR and RQ factor both matrices in every type", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  const auto [m, n, p] = GENERATE(
      table<index_t, index_t, index_t>({{1, 1, 1}, {20, 8, 30}, {20, 8, 9}, {8, 20, 13}, {33, 33, 33}, {40, 7, 3}}));
  CAPTURE(m, n, p);
  const double rounding = 50 * eps<T> * std::sqrt(static_cast<double>(m + n + p));
  const HostMatrix<T> a = uniform<T>(m, n, 1), b = uniform<T>(m, p, 2);
  {
    const index_t k = std::min(m, p);
    const TileMatrix<T> Q(runtime(), m, m, {5, 6}), V(runtime(), p, p, {4, 4}), R(runtime(), std::min(m, n), n, {5, 6}),
        S(runtime(), m, k, {5, 6});
    const auto C = tiles(identity<T>(p), {6, 3});
    Graph g(runtime());
    const auto factors = gqr(g, tiles(a, {5, 6}), tiles(b, {5, 6}));
    factors.of_a.form_q(g, Q);
    factors.of_a.extract_r(g, R);
    factors.of_qb.extract(g, S);
    factors.form_v(g, V);
    factors.apply_v(g, Side::left, Op::none, C);
    REQUIRE(g.wait().ok());
    const HostMatrix<T> q = contents(Q), v = contents(V), s = contents(S), qa = times(Op::conjugate, q, a),
                        qbv = times(times(Op::conjugate, q, b), v);
    CHECK(apart(times(Op::conjugate, v, v), identity<T>(p)) <= rounding * std::sqrt(static_cast<double>(p)));
    CHECK(apart(contents(C), v) <= rounding * std::sqrt(static_cast<double>(p)));
    CHECK(apart(qbv, padded(s, {m, p})) <= rounding * size_of(b));
    CHECK(apart(qa, padded(contents(R), {m, n})) <= rounding * size_of(a));
  }
  const HostMatrix<T> of_a = adjoint_of(b), of_b = adjoint_of(a);  // p x m and n x m
  const index_t k = std::min(p, m), l = std::min(n, m);
  const auto A = tiles(of_a, {5, 6}), B = tiles(of_b, {7, 6});
  const TileMatrix<T> Q(runtime(), m, m, {5, 6}), Z(runtime(), n, n, {7, 6}), R(runtime(), p, k, {5, 6}),
      U(runtime(), l, m, {7, 6});
  Graph g(runtime());
  const auto factors = grq(g, A, B);
  factors.of_a.form_q(g, Q);
  factors.of_a.extract(g, R);
  factors.of_bq.form_q(g, Z);
  factors.of_bq.extract_r(g, U);
  REQUIRE(g.wait().ok());
  const HostMatrix<T> q = adjoint_of(contents(Q));
  CHECK(apart(times(of_a, q), padded(contents(R), {p, m})) <= rounding * size_of(of_a));
  CHECK(apart(times(times(Op::conjugate, contents(Z), of_b), q), padded(contents(U), {n, m})) <=
        rounding * size_of(of_b));
}
