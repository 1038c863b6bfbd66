#include "tests/support/c_interface.hpp"
#include "tests/support/four_types.hpp"
#include <tesela/host/lapack/lapack.hpp>

// The functions c and z. Matrices are random, so that a transpose in place of an adjoint fails.

using namespace tesela::test;

namespace {

template <class T, class C, class Z>
auto either(C single, Z other) {
  if constexpr (std::is_same_v<T, std::complex<float>>)
    return single;
  else
    return other;
}

template <class T>
Padded<T> random(index_t m, index_t n, std::uint64_t seed) {
  return Padded<T>::random(m, n, seed);
}

/// Returns op(A) B.
template <class T>
Padded<T> product(char op, const Padded<T>& a, const Padded<T>& b) {
  const index_t m = op == 'N' ? a.m : a.n, k = op == 'N' ? a.n : a.m;
  Padded<T> c(m, b.n, T(0));
  for (index_t j = 0; j < b.n; ++j)
    for (index_t i = 0; i < m; ++i)
      for (index_t l = 0; l < k; ++l) {
        const T x = op == 'N' ? a(i, l) : op == 'T' ? a(l, i) : std::conj(a(l, i));
        c(i, j) += x * b(l, j);
      }
  return c;
}

template <class T>
double apart(const Padded<T>& a, const Padded<T>& b, index_t rows) {
  double most = 0;
  for (index_t j = 0; j < b.n; ++j)
    for (index_t i = 0; i < rows; ++i) most = std::max(most, static_cast<double>(std::abs(a(i, j) - b(i, j))));
  return most;
}

template <class T>
constexpr double rounding = 300 * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());

}  // namespace

TEMPLATE_TEST_CASE("C: complex products conjugate by C and transpose by T", "[c][gemm]", COMPLEX_TYPES) {
  using T = TestType;
  const auto gemm = either<T>(tesela_cgemm, tesela_zgemm);
  const index_t m = 70, n = 33, k = 41;
  for (const char op : {'N', 'T', 'C'}) {
    const auto a = op == 'N' ? random<T>(m, k, 1) : random<T>(k, m, 1), b = random<T>(k, n, 2);
    auto c = random<T>(m, n, 3);
    const T alpha(2, -1), beta(0, 1);
    auto expected = product(op, a, b);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) expected(i, j) = alpha * expected(i, j) + beta * c(i, j);
    CHECK_OK(gemm(op, 'N', m, n, k, alpha, a.data(), a.ld, b.data(), b.ld, beta, c.data(), c.ld));
    CHECK(c.intact());
    CHECK(apart(c, expected, m) <= rounding<T>);
  }
}

TEMPLATE_TEST_CASE("C: complex QR by its handle and in LAPACK's form", "[c][qr]", COMPLEX_TYPES) {
  using T = TestType;
  const index_t m = 90, n = 40;
  const auto a = random<T>(m, n, 4);
  auto factors = a, rotated = a;
  tesela_qr* qr = nullptr;
  CHECK_OK(either<T>(tesela_cgeqrf, tesela_zgeqrf)(m, n, factors.data(), factors.ld, &qr));
  const auto unmqr = either<T>(tesela_cunmqr, tesela_zunmqr);
  CHECK_OK(unmqr('L', 'C', m, n, qr, rotated.data(), rotated.ld));
  CHECK(unmqr('L', 'T', m, n, qr, rotated.data(), rotated.ld) == -2);
  Padded<T> q(m, n), r(m, n, T(0));
  CHECK_OK(either<T>(tesela_cungqr, tesela_zungqr)(m, n, qr, q.data(), q.ld));
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i) r(i, j) = factors(i, j);
  CHECK(apart(rotated, r, m) <= rounding<T>);
  r.m = n;
  CHECK(apart(product('N', q, r), a, m) <= rounding<T>);
  CHECK_OK(tesela_qr_free(qr));

  factors = a, rotated = a;
  std::vector<T> tau(static_cast<std::size_t>(n));
  CHECK_OK(either<T>(tesela_cgeqrf_tau, tesela_zgeqrf_tau)(m, n, factors.data(), factors.ld, tau.data()));
  lapack::ormqr(Op::conjugate, m, n, n, factors.data(), factors.ld, tau.data(), rotated.data(), rotated.ld);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) r(i, j) = i <= j ? factors(i, j) : T(0);
  CHECK(apart(rotated, r, m) <= rounding<T>);
}

TEMPLATE_TEST_CASE("C: complex systems are solved by LU, Cholesky and least squares", "[c][solve]", COMPLEX_TYPES) {
  using T = TestType;
  for (const index_t n : {0, 1, 5, 64, 130}) {
    const auto x = random<T>(n, 3, 2);
    auto a = random<T>(n, n, 1);
    for (index_t i = 0; i < n; ++i) a(i, i) += T(0, 20);
    auto b = product('N', a, x), factors = a;
    CHECK_OK(either<T>(tesela_cgesv, tesela_zgesv)(n, 3, factors.data(), factors.ld, nullptr, b.data(), b.ld));
    CHECK((b.intact() && factors.intact()));
    CHECK(apart(b, x, n) <= 10 * rounding<T>);

    auto h = product('C', a, a);
    for (index_t i = 0; i < n; ++i) h(i, i) = h(i, i).real() + 1;
    b = product('N', h, x), factors = h;
    CHECK_OK(either<T>(tesela_cposv, tesela_zposv)('U', n, 3, factors.data(), factors.ld, b.data(), b.ld));
    CHECK(apart(b, x, n) <= 100 * rounding<T>);
    factors = h;
    CHECK_OK(either<T>(tesela_cpotrf, tesela_zpotrf)('U', n, factors.data(), factors.ld));
    for (index_t j = 0; j < n; ++j)
      for (index_t i = j + 1; i < n; ++i) factors(i, j) = 0;
    CHECK(apart(product('C', factors, factors), h, n) <= 1000 * rounding<T>);
  }
  for (const auto [m, n, rank] : {std::array<index_t, 3>{50, 20, 20}, {20, 50, 20}, {50, 20, 6}}) {
    const auto left = random<T>(m, rank, 1), right = random<T>(rank, n, 2);
    const auto a = product('N', left, right), x = random<T>(n, 2, 3);
    auto factors = a;
    Padded<T> b(std::max(m, n), 2, T(0));
    const auto given = product('N', a, x);
    for (index_t j = 0; j < 2; ++j)
      for (index_t i = 0; i < m; ++i) b(i, j) = given(i, j);
    double norms[2] = {-1, -1};
    tesela_gels_result result = {};
    result.size = sizeof result;
    result.residual_norms = norms;
    CHECK_OK(either<T>(tesela_cgels, tesela_zgels)(m, n, 2, factors.data(), factors.ld, b.data(), b.ld, &result));
    CHECK(result.status == (rank < std::min(m, n) ? TESELA_RANK_DEFICIENT : TESELA_OK));
    CHECK(result.rank == rank);
    CHECK(norms[1] <= 1000 * rounding<T>);
    b.m = n;
    CHECK(apart(product('N', a, b), given, m) <= 100 * rounding<T>);
    factors = a;
    b.m = std::max(m, n);
    CHECK_OK(
        either<T>(tesela_cgelsy, tesela_zgelsy)(m, n, 2, factors.data(), factors.ld, b.data(), b.ld, 0.5, &result));
    CHECK(result.rank < std::min(m, n));
  }
}

TEMPLATE_TEST_CASE("C: complex least squares by weights agrees with gels on scaled rows", "[c][solve]", COMPLEX_TYPES) {
  using T = TestType;
  const index_t m = 50, n = 20;
  std::vector<real_t<T>> w;
  for (index_t i = 0; i < m; ++i) w.push_back(static_cast<real_t<T>>(i % 5) / 2);
  const auto a = random<T>(m, n, 1), b = random<T>(m, 2, 2);
  auto factors = a, scaled = a, x = b, expected = b;
  tesela_gels_result result = {};
  result.size = sizeof result;
  CHECK_OK(either<T>(tesela_cwls, tesela_zwls)(m, n, 2, w.data(), factors.data(), factors.ld, x.data(), x.ld, &result));
  CHECK((result.rank == n && result.degrees_of_freedom == m - m / 5 - n));
  CHECK((factors.intact() && x.intact()));
  for (index_t i = 0; i < m; ++i) {
    const auto root = std::sqrt(w[static_cast<std::size_t>(i)]);
    for (index_t j = 0; j < n; ++j) scaled(i, j) *= root;
    for (index_t j = 0; j < 2; ++j) expected(i, j) *= root;
  }
  REQUIRE(lapack::gels(m, n, 2, scaled.data(), scaled.ld, expected.data(), expected.ld) == 0);
  x.m = expected.m = n;
  CHECK(apart(x, expected, n) <= 10 * rounding<T>);
}

TEMPLATE_TEST_CASE("C: complex least squares with constraints agrees with LAPACK's gglse", "[c][solve]",
                   COMPLEX_TYPES) {
  using T = TestType;
  const index_t m = 50, n = 20, p = 7;
  const auto a = random<T>(m, n, 1), b = random<T>(p, n, 2), c = random<T>(m, 1, 3), d = random<T>(p, 1, 4);
  auto factors = a, constraints = b, rhs = c, of_d = d;
  Padded<T> x(n, 1), expected(n, 1);
  tesela_gglse_result result = {};
  result.size = sizeof result;
  CHECK_OK(either<T>(tesela_cgglse, tesela_zgglse)(m, n, p, factors.data(), factors.ld, b.data(), b.ld, rhs.data(),
                                                   d.data(), x.data(), &result));
  CHECK((result.status == TESELA_OK && result.constraint_rank == p && result.rank == n - p));
  CHECK(result.constraint_error <= result.constraint_bound);
  CHECK((factors.intact() && b.intact() && x.intact()));
  factors = a, rhs = c;
  REQUIRE(lapack::gglse(m, n, p, factors.data(), factors.ld, constraints.data(), constraints.ld, rhs.data(),
                        of_d.data(), expected.data()) == 0);
  CHECK(apart(x, expected, n) <= 100 * rounding<T>);
}

TEMPLATE_TEST_CASE("C: complex general linear models agree with LAPACK's ggglm", "[c][solve]", COMPLEX_TYPES) {
  using T = TestType;
  const index_t n = 50, m = 20, p = 60;
  const auto a = random<T>(n, m, 1), b = random<T>(n, p, 2), d = random<T>(n, 1, 3);
  auto of_a = a, of_b = b, of_d = d;
  Padded<T> x(m, 1), y(p, 1), of_x(m, 1), of_y(p, 1);
  tesela_ggglm_result result = {};
  result.size = sizeof result;
  CHECK_OK(either<T>(tesela_cggglm, tesela_zggglm)(n, m, p, of_a.data(), of_a.ld, of_b.data(), of_b.ld, of_d.data(),
                                                   x.data(), y.data(), &result));
  CHECK((result.status == TESELA_OK && result.rank == m && result.rank_b == n - m));
  CHECK(result.backward_error <= result.backward_bound);
  CHECK((of_a.intact() && of_b.intact() && x.intact() && y.intact()));
  of_a = a, of_b = b, of_d = d;
  REQUIRE(lapack::ggglm(n, m, p, of_a.data(), of_a.ld, of_b.data(), of_b.ld, of_d.data(), of_x.data(), of_y.data()) ==
          0);
  CHECK(apart(x, of_x, m) <= 100 * rounding<T>);
  CHECK(apart(y, of_y, p) <= 100 * rounding<T>);
}

TEMPLATE_TEST_CASE("C: Hermitian eigenproblems and complex tridiagonal systems", "[c][eig]", COMPLEX_TYPES) {
  using T = TestType;
  using Real = real_t<T>;
  const index_t n = 90;
  const auto g = random<T>(n, n, 1);
  auto a = product('C', g, g);
  for (index_t i = 0; i < n; ++i) a(i, i) = a(i, i).real();
  auto vectors = a;
  std::vector<Real> w(static_cast<std::size_t>(n)), part(static_cast<std::size_t>(n));
  CHECK_OK(either<T>(tesela_cheev, tesela_zheev)('V', 'L', n, vectors.data(), vectors.ld, w.data()));
  CHECK(vectors.intact());
  auto scaled = vectors;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) scaled(i, j) *= w[static_cast<std::size_t>(j)];
  CHECK(apart(product('N', a, vectors), scaled, n) <= 10 * rounding<T> * w.back());
  Padded<T> identity(n, n, T(0));
  for (index_t i = 0; i < n; ++i) identity(i, i) = 1;
  CHECK(apart(product('C', vectors, vectors), identity, n) <= rounding<T>);
  std::int64_t below = -1;
  double uncertainty = -1;
  const double middle = static_cast<double>(w[59] + w[60]) / 2;
  CHECK_OK(either<T>(tesela_csymmetric_inertia, tesela_zsymmetric_inertia)('L', n, a.data(), a.ld, middle, &below,
                                                                           &uncertainty));
  CHECK((below == 60 && uncertainty > 0));
  std::int64_t found = 0;
  auto copy = a;
  CHECK_OK(either<T>(tesela_cheevr, tesela_zheevr)('N', 'I', 'L', n, copy.data(), copy.ld, Real(0), Real(0), 3, 5,
                                                   &found, part.data(), nullptr, 1));
  REQUIRE(found == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(std::abs(static_cast<double>(part[i] - w[i + 2])) <= rounding<T> * static_cast<double>(w.back()));

  const auto dl = random<T>(n - 1, 1, 2), du = random<T>(n - 1, 1, 3), x = random<T>(n, 2, 5);
  auto d = random<T>(n, 1, 4);
  Padded<T> b(n, 2);
  for (index_t i = 0; i < n; ++i) d(i, 0) += T(0, 4);
  for (index_t j = 0; j < 2; ++j)
    for (index_t i = 0; i < n; ++i)
      b(i, j) =
          (i > 0 ? dl(i - 1, 0) * x(i - 1, j) : T(0)) + d(i, 0) * x(i, j) + (i < n - 1 ? du(i, 0) * x(i + 1, j) : T(0));
  CHECK_OK(either<T>(tesela_cgtsv, tesela_zgtsv)(n, 2, dl.data(), d.data(), du.data(), b.data(), b.ld));
  CHECK(apart(b, x, n) <= rounding<T>);
}

TEMPLATE_TEST_CASE("C: Hermitian Toeplitz eigenproblems", "[c][eig]", COMPLEX_TYPES) {
  using T = TestType;
  using Real = real_t<T>;
  const auto eig = either<T>(tesela_ctoeplitz_eig, tesela_ztoeplitz_eig);
  for (const index_t n : {0, 1, 2, 31, 90}) {
    CAPTURE(n);
    auto t = random<T>(n, 1, 1);
    if (n > 0) t(0, 0) = t(0, 0).real();
    Padded<T> a(n, n), z(n, n);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i) a(i, j) = i >= j ? t(i - j, 0) : std::conj(t(j - i, 0));
    std::vector<Real> w(static_cast<std::size_t>(n)), alone(w);
    CHECK_OK(eig('V', n, t.data(), w.data(), z.data(), z.ld));
    CHECK(z.intact());
    auto scaled = z;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i) scaled(i, j) *= w[static_cast<std::size_t>(j)];
    CHECK(apart(product('N', a, z), scaled, n) <= 10 * rounding<T>);
    CHECK_OK(eig('N', n, t.data(), alone.data(), nullptr, 1));
    for (std::size_t i = 0; i < w.size(); ++i) CHECK(std::abs(w[i] - alone[i]) <= static_cast<Real>(rounding<T>));
    if (n == 0) continue;
    t(n - 1, 0) = T(1, std::numeric_limits<Real>::infinity());
    CHECK(eig('N', n, t.data(), w.data(), nullptr, 1) == -3);
    t(n - 1, 0) = T(1, 2);
    if (n == 1) CHECK(eig('N', n, t.data(), w.data(), nullptr, 1) == -3);
  }
}

TEMPLATE_TEST_CASE("C: complex singular values", "[c][svd]", COMPLEX_TYPES) {
  using T = TestType;
  using Real = real_t<T>;
  const index_t m = 30, n = 20;
  const auto a = random<T>(m, n, 1);
  auto copy = a;
  Padded<T> u(m, n), vh(n, n);
  std::vector<Real> s(static_cast<std::size_t>(n));
  CHECK_OK(either<T>(tesela_cgesdd, tesela_zgesdd)('S', m, n, copy.data(), copy.ld, s.data(), u.data(), u.ld, vh.data(),
                                                   vh.ld));
  CHECK((u.intact() && vh.intact()));
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) u(i, j) *= s[static_cast<std::size_t>(j)];
  CHECK(apart(product('N', u, vh), a, m) <= 10 * rounding<T> * s.front());
  CHECK_OK(either<T>(tesela_cgesdd_batch, tesela_zgesdd_batch)('S', 2, m, n / 2, copy.data(), copy.ld, s.data(),
                                                               u.data(), u.ld, vh.data(), vh.ld));
  Padded<T> left(m, n / 2), right(n / 2, n / 2), second(m, n / 2);
  for (index_t j = 0; j < n / 2; ++j) {
    for (index_t i = 0; i < m; ++i)
      left(i, j) = u(i, n / 2 + j) * s[static_cast<std::size_t>(n / 2 + j)], second(i, j) = a(i, n / 2 + j);
    for (index_t i = 0; i < n / 2; ++i) right(i, j) = vh(i, n / 2 + j);
  }
  CHECK(apart(product('N', left, right), second, m) <= 10 * rounding<T> * s.front());
  const index_t rank = 4;
  Padded<T> few(m, rank), rows(rank, n);
  double bound = -1;
  const auto low_rank = either<T>(tesela_clow_rank_svd, tesela_zlow_rank_svd);
  CHECK_OK(
      low_rank(m, n, copy.data(), copy.ld, rank, 3, 1, 7, s.data(), few.data(), few.ld, rows.data(), rows.ld, &bound));
  CHECK((few.intact() && rows.intact()));
  for (index_t j = 0; j < rank; ++j)
    for (index_t i = 0; i < m; ++i) few(i, j) *= s[static_cast<std::size_t>(j)];
  CHECK(apart(product('N', few, rows), a, m) <= bound);
  copy(1, 1) = T(0, std::numeric_limits<Real>::quiet_NaN());
  CHECK(low_rank(m, n, copy.data(), copy.ld, rank, 3, 1, 7, s.data(), few.data(), few.ld, rows.data(), rows.ld,
                 &bound) > 0);
}

TEMPLATE_TEST_CASE("C: Hermitian pairs", "[c][eig]", COMPLEX_TYPES) {
  using T = TestType;
  using Real = real_t<T>;
  const index_t n = 20;
  const auto g = random<T>(n, n, 2), f = random<T>(n, n, 3);
  auto b = product('C', g, g), h = f;
  for (index_t j = 0; j < n; ++j) {
    b(j, j) = b(j, j).real() + Real(n);
    for (index_t i = 0; i < n; ++i) h(i, j) = f(i, j) + std::conj(f(j, i));
  }
  auto x = h, lost = b;
  std::vector<Real> w(static_cast<std::size_t>(n));
  CHECK_OK(either<T>(tesela_chegv, tesela_zhegv)(1, 'V', 'L', n, x.data(), x.ld, lost.data(), lost.ld, w.data()));
  auto scaled = product('N', b, x);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) scaled(i, j) *= w[static_cast<std::size_t>(j)];
  CHECK(apart(product('N', h, x), scaled, n) <= 100 * rounding<T>);
}

TEST_CASE("C: a complex number that is not finite, and a handle of another type, are found", "[c]") {
  using Z = std::complex<double>;
  auto a = random<Z>(6, 6, 1), b = random<Z>(6, 1, 2);
  a(2, 3) = Z(0, std::numeric_limits<double>::quiet_NaN());
  auto copy = a;
  CHECK(tesela_zgels(6, 6, 1, copy.data(), copy.ld, b.data(), b.ld, nullptr) == TESELA_NOT_FINITE);
  tesela_qr* qr = nullptr;
  CHECK(tesela_zgeqrf(6, 6, a.data(), a.ld, &qr) == 4);
  CHECK(qr == nullptr);
  auto good = random<Z>(6, 6, 3);
  CHECK_OK(tesela_zgeqrf(6, 6, good.data(), good.ld, &qr));
  double c[6] = {};
  CHECK(tesela_dormqr('L', 'N', 6, 1, qr, c, 6) == -5);
  CHECK(std::string(tesela_error()).find("double precision, complex") != std::string::npos);
  CHECK_OK(tesela_qr_free(qr));
}
