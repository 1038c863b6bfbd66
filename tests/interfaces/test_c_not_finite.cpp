#include "tests/support/c_interface.hpp"

#include <set>

using namespace tesela::test;

namespace {

std::string said() { return tesela_error(); }

template <class T>
std::vector<T> strange() {
  using Limits = std::numeric_limits<T>;
  return {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()};
}

}  // namespace

TEMPLATE_TEST_CASE("C: solvers report elements that are not finite", "[c][finite]", float, double) {
  using T = TestType;
  const index_t n = 90, r = 3;
  const auto gesv = of<T>(tesela_sgesv, tesela_dgesv);
  const auto posv = of<T>(tesela_sposv, tesela_dposv);
  const auto potrf = of<T>(tesela_spotrf, tesela_dpotrf);
  const auto general = Padded<T>::random(n, n, 1), positive = symmetric<T>(n, 2, 20),
             right = Padded<T>::random(n, r, 3);
  for (const T bad : strange<T>()) {
    for (const index_t row : {index_t{0}, index_t{50}, n - 1}) {
      CAPTURE(bad, row);
      auto a = general, b = right;
      b(row, 1) = bad;
      CHECK(gesv(n, r, a.data(), a.ld, nullptr, b.data(), b.ld) == n + 2);
      CHECK(said().find("column 2 of X is not finite") != std::string::npos);
      a = positive, b = right;
      b(row, 1) = bad;
      CHECK(posv('U', n, r, a.data(), a.ld, b.data(), b.ld) == n + 2);
      a = positive;
      a(row, row) = bad;
      CHECK(potrf('U', n, a.data(), a.ld) == row + 1);
      for (const index_t column : {row, n - 1}) {
        a = positive, b = right;
        a(row, column) = bad;
        const std::int64_t info = potrf('U', n, a.data(), a.ld);
        CHECK((info >= row + 1 && info <= n));
        a = general, b = right;
        a(column, row) = bad;
        const std::int64_t pivot = gesv(n, r, a.data(), a.ld, nullptr, b.data(), b.ld);
        CHECK((pivot > 0 && pivot <= n));
      }
    }
  }
  auto a = general, b = right;
  CHECK_OK(gesv(n, r, a.data(), a.ld, nullptr, b.data(), b.ld));
  a = positive, b = right;
  CHECK_OK(posv('U', n, r, a.data(), a.ld, b.data(), b.ld));
}

TEMPLATE_TEST_CASE("C: an overflow of a solution is reported", "[c][finite]", float, double) {
  using T = TestType;
  std::vector<T> a{T(1e-30), 0, 0, 1}, b{std::numeric_limits<T>::max(), 1};
  CHECK(of<T>(tesela_sgesv, tesela_dgesv)(2, 1, a.data(), 2, nullptr, b.data(), 2) == 3);
  a = {T(1e-30), 0, 0, 1}, b = {std::numeric_limits<T>::max(), 1};
  CHECK(of<T>(tesela_sposv, tesela_dposv)('U', 2, 1, a.data(), 2, b.data(), 2) == 3);
}

TEMPLATE_TEST_CASE("C: QR reports elements that are not finite", "[c][finite]", float, double) {
  using T = TestType;
  const auto geqrf = of<T>(tesela_sgeqrf, tesela_dgeqrf);
  const auto ormqr = of<T>(tesela_sormqr, tesela_dormqr);
  for (const auto& [m, n] : {std::pair<index_t, index_t>{120, 40}, {40, 40}, {40, 120}, {1, 1}, {1, 5}, {5, 1}})
    for (const T bad : strange<T>())
      for (const bool zeros : {false, true})  // QR leaves a triangle unchanged, and with it the bad element
        for (const index_t i : {index_t{0}, m / 2, m - 1})
          for (const index_t j : {index_t{0}, n / 2, n - 1}) {
            auto a = Padded<T>::random(m, n, 1);
            for (index_t k = 0; zeros && k < n; ++k)
              for (index_t l = k + 1; l < m; ++l) a(l, k) = 0;
            a(i, j) = bad;
            tesela_qr* qr = nullptr;
            CAPTURE(m, n, bad, zeros, i, j);
            CHECK(geqrf(m, n, a.data(), a.ld, &qr) == j + 1);
            CHECK(said().find("of R is not finite") != std::string::npos);
            CHECK(qr == nullptr);
          }
  auto a = Padded<T>::random(70, 20, 1), c = Padded<T>::random(70, 5, 2);
  tesela_qr* qr = nullptr;
  REQUIRE(geqrf(70, 20, a.data(), a.ld, &qr) == 0);
  CHECK_OK(ormqr('L', 'T', 70, 5, qr, c.data(), c.ld));
  c(60, 3) = strange<T>()[0];
  CHECK(ormqr('L', 'N', 70, 5, qr, c.data(), c.ld) == 4);
  CHECK_OK(tesela_qr_free(qr));
}

TEST_CASE("C: graphs report elements that are not finite in the input of QR", "[c][finite][graph]") {
  tesela_matrix *a = nullptr, *q = nullptr;
  tesela_graph* g = nullptr;
  tesela_qr* qr = nullptr;
  auto numbers = Padded<double>::random(30, 10, 1);
  numbers(20, 6) = strange<double>()[0];
  REQUIRE(tesela_dmatrix_create(30, 10, 8, 4, &a) == 0);
  REQUIRE(tesela_dmatrix_create(30, 10, 8, 4, &q) == 0);
  REQUIRE(tesela_dmatrix_set(a, numbers.data(), numbers.ld) == 0);
  REQUIRE(tesela_graph_create(&g) == 0);
  CHECK_OK(tesela_dgeqrf_async(g, a, &qr));
  CHECK_OK(tesela_dorgqr_async(g, qr, q));
  CHECK(tesela_graph_wait(g) == 7);
  CHECK_OK(tesela_graph_wait(g));
  CHECK(tesela_dorgqr_tile(qr, q) > 0);
  CHECK_OK(tesela_qr_free(qr));
  CHECK(tesela_dmatrix_set(a, numbers.data(), numbers.ld) == 0);
  CHECK(tesela_dgeqrf_tile(a, &qr) == 7);
  CHECK(qr == nullptr);
  CHECK_OK(tesela_graph_free(g));
  CHECK_OK(tesela_matrix_free(a));
  CHECK_OK(tesela_matrix_free(q));
}

TEMPLATE_TEST_CASE("C: tridiagonal systems report elements that are not finite", "[c][finite]", float, double) {
  using T = TestType;
  for (const index_t n : {1, 2, 3, 5, 1000})
    for (const bool periodic : {false, true})
      for (const T bad : strange<T>())
        for (int vector = 0; vector < 4; ++vector)
          for (const index_t i : std::set<index_t>{0, 1 % n, n / 2, (n + n - 2) % n, n - 1}) {
            std::vector<T> of_all[4];
            for (int v = 0; v < 4; ++v)
              of_all[v].assign(static_cast<std::size_t>(n), v == 1 ? T(2.5) : v == 3 ? T(1) : T(-1));
            auto& [dl, d, du, b] = of_all;
            CAPTURE(n, periodic, bad, vector, i);
            of_all[vector][static_cast<std::size_t>(i)] = bad;
            const auto whole = of<T>(tesela_stridiagonal_solve, tesela_dtridiagonal_solve);
            const bool unread = !periodic && ((vector == 0 && i == 0) || (vector == 2 && i == n - 1));
            const auto b_too = b;
            const std::int64_t info = whole(n, 1, 1, periodic ? 1 : 0, dl.data(), d.data(), du.data(), n, b.data(), n);
            CHECK((unread ? info == 0 : info > 0 && info <= n));
            if (periodic || unread) continue;
            b = b_too;
            CHECK(of<T>(tesela_sgtsv, tesela_dgtsv)(n, 1, dl.data() + 1, d.data(), du.data(), b.data(), n) > 0);
          }
  // For several systems the message names the system, counted from 0.
  std::vector<T> dl(20, T(-1)), d(20, T(2.5)), du(20, T(-1)), b(20, T(1));
  d[4 * 3 + 3] = strange<T>()[1];
  const std::int64_t info = of<T>(tesela_stridiagonal_solve, tesela_dtridiagonal_solve)(4, 5, 5, 0, dl.data(), d.data(),
                                                                                        du.data(), 4, b.data(), 4);
  CHECK((info - 1) / 4 == 3);
  CHECK(said().find("of system 3, systems counted from 0,") != std::string::npos);
}

TEMPLATE_TEST_CASE("C: eigenvalues beyond the largest number are a failure", "[c][finite]", float, double) {
  using T = TestType;
  const T most = std::numeric_limits<T>::max(), small = 1 / std::sqrt(most);
  const auto syev = of<T>(tesela_ssyev, tesela_dsyev);
  const auto sygv = of<T>(tesela_ssygv, tesela_dsygv);
  const auto stev = of<T>(tesela_sstev, tesela_dstev);
  const auto toeplitz = of<T>(tesela_stoeplitz_eig, tesela_dtoeplitz_eig);
  for (const char vectors : {'N', 'V'}) {
    CAPTURE(vectors);
    std::vector<T> a(9, most / 2), w(3), z(9), t(3, most / 2);
    CHECK(syev(vectors, 'L', 3, a.data(), 3, w.data()) > 0);
    CHECK(said().find("overflow") != std::string::npos);
    std::vector<T> one{std::sqrt(most)}, other{small};
    CHECK(sygv(1, vectors, 'L', 1, one.data(), 1, other.data(), 1, w.data()) == 0);
    one = {most / 2}, other = {small};
    CHECK(sygv(1, vectors, 'L', 1, one.data(), 1, other.data(), 1, w.data()) > 0);
    CHECK(said().find("overflow") != std::string::npos);
    std::vector<T> d(2, most);
    const std::vector<T> e(1, most);
    CHECK(stev(vectors, 2, d.data(), e.data(), z.data(), 2) > 0);
    CHECK(said().find("overflow") != std::string::npos);
    CHECK(toeplitz(vectors, 3, t.data(), w.data(), z.data(), 3) > 0);
    CHECK(said().find("overflow") != std::string::npos);
  }
}
