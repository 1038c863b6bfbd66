#include "tests/support/matrices.hpp"
#include "tests/support/variable.hpp"
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/schedule.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <random>

using namespace tesela;
using test::eps, test::norm, test::random;

namespace {

/// Returns R of LAPACK's geqrf, the upper trapezoid min(m, n) x n.
template <class T>
HostMatrix<T> lapack_r(const HostMatrix<T>& a) {
  HostMatrix<T> f = a.clone();
  std::vector<T> tau(static_cast<std::size_t>(std::min(a.rows(), a.cols())) + 1);
  lapack::geqrf(a.rows(), a.cols(), f.data(), f.ld(), tau.data());
  HostMatrix<T> r = HostMatrix<T>::zeros(std::min(a.rows(), a.cols()), a.cols());
  for (index_t j = 0; j < r.cols(); ++j)
    for (index_t i = 0; i <= std::min(j, r.rows() - 1); ++i) r(i, j) = f(i, j);
  return r;
}

/// Returns C = op(A) B in double precision.
template <class A, class B>
HostMatrix<with_parts<A, double>> product(Op op, const HostMatrix<A>& a, const HostMatrix<B>& b) {
  return test::product(op, test::wide(a), test::wide(b));
}

template <class A, class B>
double distance(const HostMatrix<A>& a, const HostMatrix<B>& b) {
  return test::distance(test::wide(a), test::wide(b));
}

/// Factors a random matrix in padded memory and checks A = QR, Q^H Q = I, R against LAPACK, products with Q and Q^H
/// from both sides, a real diagonal of R, and unchanged padding.
template <class T>
void check_qr(Runtime& runtime, Shape size, TileShape tile, const QrOptions& options) {
  const auto [m, n] = size;
  const index_t k = std::min(m, n), ld = m + 3, p = 5;
  const HostMatrix<T> a = random<T>(m, n, 7), b = random<T>(m, p, 8), c = random<T>(p, m, 9);
  std::vector<T> memory(static_cast<std::size_t>(ld * std::max<index_t>(n, 1)), T(-77));
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) memory[static_cast<std::size_t>(i + j * ld)] = a(i, j);
  HostMatrix<T> q(m, k), full(m, m), r(k, n), qtb(m, p), back(m, p), cq(p, m), cqt(p, m);
  {
    const auto A = TileMatrix<T>::map(runtime, memory.data(), m, n, ld, tile);
    const TileMatrix<T> Q(runtime, m, k, tile), F(runtime, m, m, tile), R(runtime, k, n, tile),
        B(runtime, m, p, {tile.mb, 3}), C(runtime, p, m, {2, tile.mb});
    Graph g(runtime);
    const auto factorization = qr(g, A, options);
    factorization.form_q(g, Q);
    factorization.form_q(g, F);
    factorization.extract_r(g, R);
    B.copy_from(b.data(), b.ld());
    factorization.apply(g, Side::left, Op::conjugate, B);
    B.copy_to(qtb.data(), qtb.ld());
    factorization.apply(g, Side::left, Op::none, B);
    B.copy_to(back.data(), back.ld());
    C.copy_from(c.data(), c.ld());
    factorization.apply(g, Side::right, Op::none, C);
    C.copy_to(cq.data(), cq.ld());
    C.copy_from(c.data(), c.ld());
    factorization.apply(g, Side::right, adjoint<T>, C);
    C.copy_to(cqt.data(), cqt.ld());
    REQUIRE(g.wait().ok());
    Q.copy_to(q.data(), q.ld());
    F.copy_to(full.data(), full.ld());
    R.copy_to(r.data(), r.ld());
  }
  for (index_t j = 0; j < n; ++j)
    for (index_t i = m; i < ld; ++i) REQUIRE(memory[static_cast<std::size_t>(i + j * ld)] == T(-77));
  const double tolerance = 30 * eps<T> * std::sqrt(static_cast<double>(m + n + 1));
  CHECK(distance(product(adjoint<T>, full, full), test::identity<T>(m)) <=
        tolerance * std::sqrt(static_cast<double>(m)));
  CHECK(distance(product(Op::none, q, r), a) <= tolerance * norm(a));
  bool same = true, upper = true;
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < m; ++i) same = same && static_cast<double>(std::abs(q(i, j) - full(i, j))) <= tolerance;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j; i < k; ++i) upper = upper && r(i, j) == (i == j ? conj(r(i, j)) : T(0));
  REQUIRE(same);
  REQUIRE(upper);
  CHECK(distance(product(adjoint<T>, full, b), qtb) <= tolerance * norm(b));
  CHECK(distance(back, b) <= tolerance * norm(b));
  CHECK(distance(product(Op::none, c, full), cq) <= tolerance * norm(c));
  CHECK(distance(product(Op::none, c, test::adjoint_of(full)), cqt) <= tolerance * norm(c));

  const HostMatrix<T> expected = lapack_r(a);
  for (index_t i = 0; i < k; ++i) {
    const T sign = (real_part(r(i, i)) < 0) == (real_part(expected(i, i)) < 0) ? T(1) : T(-1);
    for (index_t j = 0; j < n; ++j) r(i, j) *= sign;
  }
  // R of a square matrix is as sensitive as the matrix is ill-conditioned; this one is well conditioned.
  CHECK(distance(expected, r) <= 1000 * tolerance * norm(a));
}

/// Checks only Q^T A = [R; 0] and Q Q^T A = A, which runs every kernel a few times.
template <class T>
void check_qr_briefly(Runtime& runtime, Shape size, TileShape tile, const QrOptions& options) {
  const auto [m, n] = size;
  const HostMatrix<T> a = random<T>(m, n, 7);
  const TileMatrix<T> A(runtime, m, n, tile), B(runtime, m, n, tile), R(runtime, n, n, tile);
  A.copy_from(a.data(), a.ld());
  B.copy_from(a.data(), a.ld());
  Graph g(runtime);
  const auto factorization = qr(g, A, options);
  HostMatrix<T> r(n, n), turned(m, n), back(m, n);
  factorization.extract_r(g, R);
  factorization.apply(g, Side::left, adjoint<T>, B);
  B.copy_to(turned.data(), turned.ld());
  factorization.apply(g, Side::left, Op::none, B);
  B.copy_to(back.data(), back.ld());
  REQUIRE(g.wait().ok());
  R.copy_to(r.data(), r.ld());
  HostMatrix<T> expected = HostMatrix<T>::zeros(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i) expected(i, j) = r(i, j);
  const double tolerance = 30 * eps<T> * std::sqrt(static_cast<double>(m + n)) * norm(a);
  CHECK(distance(turned, expected) <= tolerance);
  CHECK(distance(back, a) <= tolerance);
}

struct Case {
  Shape size;
  TileShape tile;
};
const Case cases[] = {{{1, 1}, {4, 4}},    {{7, 1}, {2, 3}},     {{1, 7}, {2, 3}},    {{12, 12}, {4, 4}},
                      {{13, 12}, {4, 4}},  {{31, 17}, {6, 4}},   {{31, 17}, {4, 6}},  {{17, 31}, {5, 7}},
                      {{40, 9}, {64, 4}},  {{40, 23}, {64, 64}}, {{50, 20}, {7, 20}}, {{64, 32}, {8, 8}},
                      {{33, 32}, {33, 5}}, {{90, 41}, {24, 8}}};

void check_every_tree(Runtime& runtime, auto zero, const std::vector<index_t>& inner) {
  using T = decltype(zero);
  for (const auto& [size, tile] : cases)
    for (std::string tree : schedule_orders())
      for (const bool triangles : {false, true})
        for (const index_t ib : inner) {
          if (tree == "domain") tree = "domain:3";
          CAPTURE(size.rows, size.cols, tile.mb, tile.nb, tree, triangles, ib);
          check_qr<T>(runtime, size, tile, {tree, ib, triangles, (size.rows + ib) % 2 == 0});
        }
}

/// Cycles through the variants, one for each tree and shape, or for each third of these pairs: on a GPU a small graph
/// takes a tenth of a second.
void check_every_tree_once(Runtime& runtime, auto zero, bool third = false) {
  using T = decltype(zero);
  int turn = 0;
  for (const auto& [size, tile] : cases)
    for (std::string tree : schedule_orders()) {
      const bool triangles = turn % 2 != 0;
      const index_t ib = turn % 4 < 2 ? 0 : 3;
      if (++turn % 3 != 0 && third) continue;
      if (tree == "domain") tree = "domain:3";
      CAPTURE(size.rows, size.cols, tile.mb, tile.nb, tree, triangles, ib);
      check_qr<T>(runtime, size, tile, {tree, ib, triangles, (size.rows + ib) % 2 == 0});
    }
}

}  // namespace

CORES_TEMPLATE_TEST_CASE("every tree factors every shape on CPU cores", "", float, double) {
  check_every_tree(runtime, TestType(0), {0, 3});
}

CORES_TEMPLATE_TEST_CASE("every tree factors every shape of complex numbers", "", COMPLEX_TYPES) {
  check_every_tree_once(runtime, TestType(0));
}

CORES_TEST_CASE("the transpose of a complex Q is refused, and the adjoint of a real Q is its transpose") {
  using Z = std::complex<double>;
  const HostMatrix<Z> a = random<Z>(20, 10, 1);
  const TileMatrix<Z> A(runtime, 20, 10, {8, 4}), C(runtime, 20, 3, {8, 4});
  A.copy_from(a.data(), a.ld());
  C.copy_from(a.data(), a.ld());
  Graph g(runtime);
  const auto f = qr(g, A);
  CHECK_THROWS_WITH(f.apply(g, Side::left, Op::transpose, C), Catch::Matchers::ContainsSubstring("conjugate"));
  CHECK(g.wait().ok());
}

CORES_TEMPLATE_TEST_CASE("blocks of columns are factored one after the other", "", float, double,
                         std::complex<double>) {
  for (const char* width : {"1", "2"}) {
    const test::Variable blocks("TESELA_BLOCK_COLUMNS", width);
    check_every_tree_once(runtime, TestType(0));
  }
}

GPU_TEMPLATE_TEST_CASE("every tree factors every shape on a GPU", "", FOUR_TYPES) {
  check_every_tree_once(runtime, TestType(0), !std::is_same_v<TestType, double>);
}

TEMPLATE_TEST_CASE("every tree factors every shape on cores and GPUs together", "[gpu]", float, double,
                   std::complex<double>) {
  test::require_gpu();
  Runtime runtime({.scheduler = "random"});
  check_every_tree_once(runtime, TestType(0), true);
}

WORKERS_TEMPLATE_TEST_CASE("narrow steps factor wide tiles", "", FOUR_TYPES) {
  const auto factor = [&](Shape size, TileShape tile, index_t step, index_t ib, const std::string& tree) {
    CAPTURE(size.rows, size.cols, tile.mb, tile.nb, step, ib, tree);
    check_qr<TestType>(runtime, size, tile, {.tree = tree, .ib = ib, .step = step});
  };
  factor({40, 23}, {64, 64}, 8, 0, "diagonal");  // one tile
  factor({33, 32}, {33, 14}, 4, 3, "diagonal");
  factor({23, 40}, {64, 16}, 5, 0, "diagonal");  // more columns than rows
  factor({50, 20}, {7, 20}, 3, 2, "greedy");     // steps end at tile rows
  factor({31, 17}, {12, 8}, 1, 0, "binary");
  factor({31, 17}, {31, 8}, 100, 0, "diagonal");  // longer than a tile
}

GPU_TEMPLATE_TEST_CASE("wide and tall tiles are factored on a GPU", "", FOUR_TYPES) {
  check_qr<TestType>(runtime, {700, 300}, {700, 100}, {});
  check_qr<TestType>(runtime, {700, 300}, {256, 128}, {"domain:2", 0, false, true});
  check_qr<TestType>(runtime, {700, 300}, {128, 128}, {"greedy", 48, true, true});
  check_qr<TestType>(runtime, {1100, 150}, {1100, 150}, {"diagonal", 70, false, true});
  check_qr<TestType>(runtime, {1250, 40}, {520, 20}, {"binary", 0, false, true});
}

GPU_TEMPLATE_TEST_CASE("every tile QR kernel runs under a sanitizer", "[sanitize]", FOUR_TYPES) {
  check_qr<TestType>(runtime, {20, 9}, {8, 5}, {"diagonal", 3, false, true});
  check_qr_briefly<TestType>(runtime, {20, 9}, {8, 5}, {"greedy", 0, true, false});
  // Panels of several thread blocks, which have at most 256 (double complex) to 1024 rows (float).
  check_qr_briefly<TestType>(runtime, {1100, 35}, {1100, 35}, {});
  check_qr_briefly<TestType>(runtime, {1050, 24}, {520, 12}, {"binary", 0, false, true});
}

GPU_TEMPLATE_TEST_CASE("narrow steps factor wide tiles under a sanitizer", "[sanitize]", FOUR_TYPES) {
  check_qr_briefly<TestType>(runtime, {20, 12}, {32, 32}, {.step = 8});
  check_qr_briefly<TestType>(runtime, {19, 11}, {7, 11}, {.tree = "greedy", .ib = 2, .step = 5});
}

CORES_TEST_CASE("qr refuses shapes that do not match and inserts no task") {
  const TileMatrix<double> A(runtime, 20, 10, {8, 4});
  std::vector<double> memory(20);
  const auto wide = TileMatrix<double>::map(runtime, memory.data(), 20, 1, index_t{1} << 31, {8, 4});
  Graph g(runtime);
  CHECK_THROWS_AS(static_cast<void>(qr(g, A, {.tree = "willow"})), ArgumentError);
  CHECK_THROWS_AS(static_cast<void>(qr(g, A, {.ib = -1})), ArgumentError);
  CHECK_THROWS_AS(static_cast<void>(qr(g, A, {.step = -1})), ArgumentError);
  CHECK_THROWS_AS(static_cast<void>(qr(g, wide)), ArgumentError);
  CHECK(g.tasks() == 0);

  const auto values = random<double>(20, 10, 1);
  A.copy_from(values.data(), values.ld());
  const auto f = qr(g, A);
  const index_t inserted = g.tasks();
  const auto refuse = [&](const TileMatrix<double>& C, Side side) {
    CHECK_THROWS_AS(f.apply(g, side, Op::none, C), ArgumentError);
  };
  refuse(TileMatrix<double>(runtime, 19, 10, {8, 4}), Side::left);
  refuse(TileMatrix<double>(runtime, 20, 10, {7, 4}), Side::left);
  refuse(TileMatrix<double>(runtime, 20, 10, {8, 4}), Side::right);
  refuse(A, Side::left);
  CHECK_THROWS_AS(f.form_q(g, TileMatrix<double>(runtime, 20, 21, {8, 4})), ArgumentError);
  CHECK_THROWS_AS(f.form_q(g, TileMatrix<double>(runtime, 20, 10, {4, 4})), ArgumentError);
  CHECK_THROWS_AS(f.extract_r(g, TileMatrix<double>(runtime, 9, 10, {8, 4})), ArgumentError);
  CHECK_THROWS_AS(f.extract_r(g, TileMatrix<double>(runtime, 10, 10, {8, 5})), ArgumentError);
  CHECK(g.tasks() == inserted);
  CHECK(g.wait().ok());
}

namespace {

/// Checks that R in the memory of A equals extract_r and has zeros below, and that the padding is unchanged.
template <class T>
void check(Runtime& runtime, Shape size, TileShape tile) {
  const auto [m, n] = size;
  const index_t ld = m + 3, k = std::min(m, n);
  CAPTURE(m, n, tile.mb, tile.nb);
  std::mt19937 random(5);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T> a(static_cast<std::size_t>(ld * std::max<index_t>(n, 1)), T(-77));
  for (index_t j = 0; j < n; ++j) std::generate_n(a.data() + j * ld, m, [&] { return uniform(random); });
  HostMatrix<T> r(k, n);
  {
    const auto A = TileMatrix<T>::map(runtime, a.data(), m, n, ld, tile);
    const TileMatrix<T> R(runtime, k, n, tile);
    Graph g(runtime);
    const auto factorization = qr(g, A);
    factorization.extract_r(g, R);
    keep_r(g, factorization);
    REQUIRE(g.wait().ok());
    R.copy_to(r.data(), r.ld());
  }
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < ld; ++i)
      REQUIRE(a[static_cast<std::size_t>(i + j * ld)] == (i >= m ? T(-77) : i < k ? r(i, j) : T(0)));
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("keep_r leaves R in the memory of A", "", float, double) {
  for (const Shape size : {Shape{0, 0}, {0, 3}, {3, 0}, {1, 1}, {1, 7}, {7, 1}, {20, 20}, {33, 20}, {20, 33}, {40, 7}})
    for (const TileShape tile : {TileShape{8, 8}, {7, 5}, {5, 7}, {40, 4}, {4, 40}, {64, 64}})
      check<TestType>(runtime, size, tile);
  for (const Shape size : {Shape{0, 0}, {0, 3}, {3, 0}, {1, 1}, {1, 7}, {7, 1}, {6, 6}, {7, 5}, {5, 7}})
    check<TestType>(runtime, size, {1, 1});
}

GPU_TEMPLATE_TEST_CASE("keep_r leaves R in the memory of A under a sanitizer", "[sanitize]", float, double) {
  for (const Shape size : {Shape{20, 13}, {13, 20}}) check<TestType>(runtime, size, {7, 5});
}
