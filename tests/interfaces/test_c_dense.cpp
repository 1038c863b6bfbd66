#include "tests/support/c_interface.hpp"
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/host/lapack/lapack.hpp>

using namespace tesela::test;

TEMPLATE_TEST_CASE("C: gemm accepts the arguments of BLAS", "[c][gemm]", float, double) {
  const auto gemm = of<TestType>(tesela_sgemm, tesela_dgemm);
  for (const auto [m, n, k] : {std::array<index_t, 3>{0, 0, 0}, {1, 1, 1}, {3, 0, 4}, {5, 4, 0}, {70, 33, 129}}) {
    for (const char* ops : {"NN", "tN", "nT", "CT"}) {
      const bool turn_a = ops[0] == 't' || ops[0] == 'C', turn_b = ops[1] == 'T';
      const auto a = turn_a ? Padded<TestType>::random(k, m, 1) : Padded<TestType>::random(m, k, 1);
      const auto b = Padded<TestType>::random(k, n, 2);
      Padded<TestType> given = b;
      if (turn_b) {
        given = Padded<TestType>(n, k);
        for (index_t j = 0; j < n; ++j)
          for (index_t l = 0; l < k; ++l) given(j, l) = b(l, j);
      }
      auto c = Padded<TestType>::random(m, n, 3);
      CHECK_OK(gemm(ops[0], ops[1], m, n, k, TestType(1), a.data(), a.ld, given.data(), given.ld, TestType(0), c.data(),
                    c.ld));
      CHECK(c.intact());
      CHECK(product_error(a, turn_a, b, c, m, k) <= 20 * eps<TestType>() * static_cast<double>(m * n + 1));
    }
  }
}

TEMPLATE_TEST_CASE("C: a product has the bits of C++", "[c][gemm]", float, double) {
  const index_t m = 300, n = 200, k = 250;
  const auto a = Padded<TestType>::random(m, k, 1), b = Padded<TestType>::random(k, n, 2);
  auto from_c = Padded<TestType>::random(m, n, 3), from_cpp = from_c;
  CHECK_OK(of<TestType>(tesela_sgemm, tesela_dgemm)('N', 'N', m, n, k, TestType(2), a.data(), a.ld, b.data(), b.ld,
                                                    TestType(-1), from_c.data(), from_c.ld));
  CHECK_OK(tesela_stop());
  Runtime runtime;
  const GemmTile tile = gemm_tile(runtime, m, n, k);
  {
    const auto A = TileMatrix<TestType>::map(runtime, a.data(), m, k, a.ld, {tile.mb, tile.kb});
    const auto B = TileMatrix<TestType>::map(runtime, b.data(), k, n, b.ld, {tile.kb, tile.nb});
    const auto C = TileMatrix<TestType>::map(runtime, from_cpp.data(), m, n, from_cpp.ld, {tile.mb, tile.nb});
    Graph g(runtime);
    gemm(g, Op::none, Op::none, TestType(2), A, B, TestType(-1), C);
    g.wait();
  }
  CHECK(from_c == from_cpp);
}

TEMPLATE_TEST_CASE("C: Q and R of any shape are correct", "[c][qr]", float, double) {
  const auto geqrf = of<TestType>(tesela_sgeqrf, tesela_dgeqrf);
  const auto ormqr = of<TestType>(tesela_sormqr, tesela_dormqr);
  const auto orgqr = of<TestType>(tesela_sorgqr, tesela_dorgqr);
  for (const auto [m, n] : {std::array<index_t, 2>{0, 0}, {1, 1}, {0, 3}, {40, 40}, {150, 70}, {60, 140}}) {
    const auto a = Padded<TestType>::random(m, n, 7);
    auto factors = a;
    tesela_qr* qr = nullptr;
    CHECK_OK(geqrf(m, n, factors.data(), factors.ld, &qr));
    REQUIRE(qr != nullptr);
    CHECK(factors.intact());
    const index_t k = std::min(m, n);
    const double bound = 30 * eps<TestType>() * static_cast<double>(m + n + 1);
    Padded<TestType> q(m, k), r(k, n), qr_product(m, n);
    CHECK_OK(orgqr(m, k, qr, q.data(), q.ld));
    CHECK(q.intact());
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < k; ++i) r(i, j) = i <= j ? factors(i, j) : TestType(0);
    CHECK(product_error(q, false, r, a, m, k) <= bound);
    Padded<TestType> identity(k, k);
    for (index_t j = 0; j < k; ++j)
      for (index_t i = 0; i < k; ++i) identity(i, j) = i == j ? TestType(1) : TestType(0);
    CHECK(product_error(q, true, q, identity, k, m) <= bound);
    // Q^T A = R, from the left, and A^T Q = R^T, from the right.
    auto left = a;
    CHECK_OK(ormqr('L', 'T', m, n, qr, left.data(), left.ld));
    CHECK(left.intact());
    Padded<TestType> right(n, m);
    for (index_t j = 0; j < m; ++j)
      for (index_t i = 0; i < n; ++i) right(i, j) = a(j, i);
    CHECK_OK(ormqr('R', 'N', n, m, qr, right.data(), right.ld));
    double difference = 0;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) {
        const TestType expected = i < k ? r(i, j) : TestType(0);
        difference = std::max<double>(difference, std::abs(left(i, j) - expected));
        difference = std::max<double>(difference, std::abs(right(j, i) - expected));
      }
    CHECK(difference <= bound);
    CHECK_OK(tesela_qr_free(qr));
  }
}

TEMPLATE_TEST_CASE("C: LAPACK reads the vectors and tau of geqrf_tau", "[c][qr]", float, double) {
  using T = TestType;
  const auto geqrf_tau = of<T>(tesela_sgeqrf_tau, tesela_dgeqrf_tau);
  for (const auto [m, n] :
       {std::array<index_t, 2>{0, 0}, {1, 1}, {0, 3}, {3, 0}, {40, 40}, {150, 70}, {60, 140}, {300, 129}}) {
    CAPTURE(m, n);
    const auto a = Padded<T>::random(m, n, 7);
    auto factors = a;
    const index_t k = std::min(m, n);
    std::vector<T> tau(static_cast<std::size_t>(k));
    CHECK_OK(geqrf_tau(m, n, factors.data(), factors.ld, tau.data()));
    CHECK(factors.intact());
    auto difference = a, expected = a;  // Q^T A = R
    lapack::ormqr(Op::transpose, m, n, k, factors.data(), factors.ld, tau.data(), difference.data(), difference.ld);
    std::vector<T> other(static_cast<std::size_t>(k));
    lapack::geqrf(m, n, expected.data(), expected.ld, other.data());
    double error = 0, apart = 0;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) {
        error = std::max<double>(error, std::abs(difference(i, j) - (i <= j && i < k ? factors(i, j) : T(0))));
        if (i <= j && i < k)
          apart = std::max<double>(apart, std::abs(std::abs(factors(i, j)) - std::abs(expected(i, j))));
      }
    CHECK(error <= 30 * eps<T>() * static_cast<double>(m + n + 1));
    if (m > n) CHECK(apart <= 3000 * eps<T>() * static_cast<double>(m + n + 1));  // R is unique up to signs
    for (const T x : tau) CHECK((x >= 0 && x <= T(2.001)));
  }
  auto bad = Padded<T>::random(5, 2, 1);
  bad(3, 1) = std::numeric_limits<T>::infinity();
  T tau[2];
  CHECK(geqrf_tau(5, 2, bad.data(), bad.ld, tau) == 2);
  CHECK(geqrf_tau(5, 2, bad.data(), bad.ld, nullptr) == -5);
}

TEMPLATE_TEST_CASE("C: systems are solved by LU and by Cholesky", "[c][solve]", float, double) {
  const auto gesv = of<TestType>(tesela_sgesv, tesela_dgesv);
  const auto posv = of<TestType>(tesela_sposv, tesela_dposv);
  for (const index_t n : {0, 1, 5, 64, 130}) {
    const index_t r = 3;
    const double bound = 100 * eps<TestType>() * static_cast<double>((n + 1) * (n + 1));
    const auto a = symmetric<TestType>(n, 1, static_cast<double>(n)), b = Padded<TestType>::random(n, r, 2);
    auto factors = a, x = b;
    std::vector<std::int64_t> rows(static_cast<std::size_t>(n), -1);
    CHECK_OK(gesv(n, r, factors.data(), factors.ld, rows.data(), x.data(), x.ld));
    CHECK((factors.intact() && x.intact()));
    CHECK(product_error(a, false, x, b, n, n) <= bound);
    std::sort(rows.begin(), rows.end());
    for (index_t i = 0; i < n; ++i) CHECK(rows[static_cast<std::size_t>(i)] == i);
    factors = a, x = b;
    CHECK_OK(posv('U', n, r, factors.data(), factors.ld, x.data(), x.ld));
    CHECK((factors.intact() && x.intact()));
    CHECK(product_error(a, false, x, b, n, n) <= bound);
    factors = a;
    CHECK_OK(of<TestType>(tesela_spotrf, tesela_dpotrf)('U', n, factors.data(), factors.ld));
    for (index_t j = 0; j < n; ++j)
      for (index_t i = j + 1; i < n; ++i) factors(i, j) = 0;
    CHECK(product_error(factors, true, factors, a, n, n) <= bound);
  }
}

TEST_CASE("C: info has LAPACK's meaning", "[c][solve]") {
  Padded<double> a = symmetric<double>(6, 1, 6), b = Padded<double>::random(6, 1, 2);
  a(3, 3) = -1;
  auto copy = a;
  CHECK(tesela_dposv('U', 6, 1, copy.data(), copy.ld, b.data(), b.ld) == 4);
  CHECK(std::string(tesela_error()).find("tesela_dposv: the leading minor of order 4") == 0);
  for (index_t i = 0; i < 6; ++i) a(i, 2) = 0;
  CHECK(tesela_dgesv(6, 1, a.data(), a.ld, nullptr, b.data(), b.ld) == 3);
  CHECK(std::string(tesela_error()).find("pivot 3") != std::string::npos);
}

TEST_CASE("C: gesv solves a system whose products overflow", "[c][solve]") {
  Padded<double> a(3, 3), b(3, 1);
  const double given[] = {1, 2, 3, 2, -1, 1, 1, 1, -2}, size[] = {1e200, 1, 1e-200};
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 3; ++j) a(i, j) = given[3 * i + j] * size[i];
    b(i, 0) = 1;
  }
  CHECK_OK(tesela_dgesv(3, 1, a.data(), a.ld, nullptr, b.data(), b.ld));
  for (index_t i = 0; i < 3; ++i) CHECK(std::abs(b(i, 0) / (i < 2 ? 2.5e199 : -2.5e199) - 1) <= 1e-14);
  CHECK(a.intact());
  CHECK(a(0, 0) == 1e200);  // U of A itself
}

TEMPLATE_TEST_CASE("C: an X without a correct digit gives an info above n + nrhs", "[c][solve]", float, double) {
  const auto gesv = of<TestType>(tesela_sgesv, tesela_dgesv);
  const auto posv = of<TestType>(tesela_sposv, tesela_dposv);
  const index_t n = sizeof(TestType) == 8 ? 14 : 9, r = 2;
  Padded<TestType> hilbert(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) hilbert(i, j) = static_cast<TestType>(1.0 / static_cast<double>(i + j + 1));
  auto a = hilbert, b = Padded<TestType>::random(n, r, 2);
  CHECK(gesv(n, r, a.data(), a.ld, nullptr, b.data(), b.ld) == n + r + 1);
  const std::string words = tesela_error();
  CHECK(words.find("gesv: A is singular to working precision") != std::string::npos);
  CHECK(words.find("reciprocal condition number") != std::string::npos);
  a = hilbert;
  const std::int64_t info = posv('U', n, r, a.data(), a.ld, b.data(), b.ld);
  CHECK((info > 0 && info != n + r && (info <= n || info > n + r)));  // a minor or the condition
  // Elements grow by 2^(n - 1) although the condition is about n.
  const index_t large = sizeof(TestType) == 8 ? 80 : 50;
  Padded<TestType> growth(large, large), x(large, r);
  for (index_t j = 0; j < large; ++j)
    for (index_t i = 0; i < large; ++i)
      growth(i, j) = i == j || j == large - 1 ? TestType(1) : i > j ? TestType(-1) : TestType(0);
  for (index_t j = 0; j < r; ++j)
    for (index_t i = 0; i < large; ++i) x(i, j) = TestType(1) + static_cast<TestType>(i);
  CHECK(gesv(large, r, growth.data(), growth.ld, nullptr, x.data(), x.ld) == large + r + 2);
  CHECK(std::string(tesela_error()).find("X may be wrong: inaccurate") != std::string::npos);
}
