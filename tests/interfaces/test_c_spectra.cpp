#include "tests/support/c_interface.hpp"

using namespace tesela::test;

namespace {

/// Returns 2 - 2 cos(k pi / (n + 1)), an eigenvalue of the matrix with 2 on the diagonal and -1 next to it.
double second_difference(index_t n, index_t k) {
  return 2 - 2 * std::cos(static_cast<double>(k + 1) * std::acos(-1.0) / static_cast<double>(n + 1));
}

template <class T>
Padded<T> dense_difference(index_t n) {
  Padded<T> a(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) a(i, j) = i == j ? T(2) : std::abs(i - j) == 1 ? T(-1) : T(0);
  return a;
}

/// Returns max |A x - lambda x| over the pairs.
template <class T>
double residual(const Padded<T>& a, const std::vector<T>& w, const Padded<T>& x, index_t count) {
  double most = 0;
  for (index_t k = 0; k < count; ++k)
    for (index_t i = 0; i < a.m; ++i) {
      double sum = -static_cast<double>(w[static_cast<std::size_t>(k)]) * static_cast<double>(x(i, k));
      for (index_t j = 0; j < a.n; ++j) sum += static_cast<double>(a(i, j)) * static_cast<double>(x(j, k));
      most = std::max(most, std::abs(sum));
    }
  return most;
}

}  // namespace

TEMPLATE_TEST_CASE("C: eigenvalues, vectors and parts of a spectrum are correct", "[c][eig]", float, double) {
  const double bound = 200 * eps<TestType>();
  for (const index_t n : {0, 1, 30, 101}) {
    const auto a = dense_difference<TestType>(n);
    auto vectors = a;
    std::vector<TestType> w(static_cast<std::size_t>(n));
    CHECK_OK(of<TestType>(tesela_ssyev, tesela_dsyev)('V', 'L', n, vectors.data(), vectors.ld, w.data()));
    CHECK(vectors.intact());
    for (index_t k = 0; k < n; ++k)
      CHECK(std::abs(static_cast<double>(w[static_cast<std::size_t>(k)]) - second_difference(n, k)) <= bound);
    CHECK(residual(a, w, vectors, n) <= bound);
    auto lost = a;
    std::vector<TestType> alone(w.size());
    CHECK_OK(of<TestType>(tesela_ssyev, tesela_dsyev)('n', 'l', n, lost.data(), lost.ld, alone.data()));
    for (std::size_t k = 0; k < w.size(); ++k) CHECK(std::abs(static_cast<double>(w[k] - alone[k])) <= bound);
  }
  const auto syevr = of<TestType>(tesela_ssyevr, tesela_dsyevr);
  const index_t n = 60;
  const auto a = dense_difference<TestType>(n);
  auto lost = a;
  Padded<TestType> z(n, 5);
  std::vector<TestType> w(static_cast<std::size_t>(n));
  std::int64_t m = -1;
  CHECK_OK(syevr('V', 'I', 'L', n, lost.data(), lost.ld, 0, 0, 3, 7, &m, w.data(), z.data(), z.ld));
  CHECK(m == 5);
  CHECK(z.intact());
  CHECK(std::abs(static_cast<double>(w[0]) - second_difference(n, 2)) <= bound);
  CHECK(residual(a, w, z, m) <= bound);
  lost = a;
  CHECK_OK(syevr('N', 'V', 'L', n, lost.data(), lost.ld, -1, TestType(second_difference(n, 9) + 1e-3), 0, 0, &m,
                 w.data(), nullptr, 0));
  CHECK(m == 10);
  CHECK(syevr('N', 'I', 'L', n, lost.data(), lost.ld, 0, 0, 0, 7, &m, w.data(), nullptr, 0) == -9);
  CHECK(syevr('N', 'I', 'L', n, lost.data(), lost.ld, 0, 0, 3, 61, &m, w.data(), nullptr, 0) == -10);
  CHECK(syevr('N', 'X', 'L', n, lost.data(), lost.ld, 0, 0, 3, 7, &m, w.data(), nullptr, 0) == -2);
  CHECK(syevr('N', 'A', 'U', n, lost.data(), lost.ld, 0, 0, 3, 7, &m, w.data(), nullptr, 0) == -3);
  lost = a;
  lost(5, 2) = std::numeric_limits<TestType>::infinity();
  CHECK(of<TestType>(tesela_ssyev, tesela_dsyev)('N', 'L', n, lost.data(), lost.ld, w.data()) == 1);
  CHECK(std::string(tesela_error()).find("syev: ") != std::string::npos);
}

TEST_CASE("C: eigenvalues of a pair are correct", "[c][eig]") {
  const index_t n = 20;  // B = 4 I divides the eigenvalues by 4
  auto a = dense_difference<double>(n), b = dense_difference<double>(n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) b(i, j) = i == j ? 4 : 0;
  std::vector<double> w(n);
  auto a1 = a, b1 = b;
  CHECK_OK(tesela_dsygv(1, 'V', 'L', n, a1.data(), a1.ld, b1.data(), b1.ld, w.data()));
  for (index_t k = 0; k < n; ++k) CHECK(std::abs(4 * w[static_cast<std::size_t>(k)] - second_difference(n, k)) < 1e-13);
  b(4, 4) = -1;
  CHECK(tesela_dsygv(1, 'V', 'L', n, a.data(), a.ld, b.data(), b.ld, w.data()) == 1);
  CHECK(std::string(tesela_error()).find("positive") != std::string::npos);
  CHECK(tesela_dsygv(4, 'V', 'L', n, a.data(), a.ld, b.data(), b.ld, w.data()) == -1);
}

TEMPLATE_TEST_CASE("C: tridiagonal eigenvalues and counts are correct", "[c][eig][count]", float, double) {
  for (const index_t n : {0, 1, 90}) {
    std::vector<TestType> d(static_cast<std::size_t>(n), 2),
        e(static_cast<std::size_t>(std::max<index_t>(n - 1, 0)), -1);
    std::int64_t below = -1;
    CHECK_OK(of<TestType>(tesela_stridiagonal_count_below, tesela_dtridiagonal_count_below)(
        n, d.data(), e.data(), TestType(second_difference(n, 4) + 1e-4), &below));
    CHECK(below == std::min<index_t>(n, 5));
    auto values = d;
    Padded<TestType> z(n, n);
    CHECK_OK(of<TestType>(tesela_sstev, tesela_dstev)('V', n, values.data(), e.data(), z.data(), z.ld));
    CHECK(z.intact());
    CHECK(residual(dense_difference<TestType>(n), values, z, n) <= 100 * eps<TestType>());
    CHECK_OK(of<TestType>(tesela_sstev, tesela_dstev)('N', n, d.data(), e.data(), nullptr, 0));
    for (index_t k = 0; k < n; ++k)
      CHECK(std::abs(static_cast<double>(d[static_cast<std::size_t>(k)]) - second_difference(n, k)) <=
            100 * eps<TestType>());
  }
  const index_t n = 50;
  const auto a = dense_difference<TestType>(n);
  const auto stevr = of<TestType>(tesela_sstevr, tesela_dstevr);
  const std::vector<TestType> d(n, 2), e(n - 1, -1);
  std::vector<TestType> w(n);
  Padded<TestType> z(n, 5);
  std::int64_t m = -1;
  CHECK_OK(stevr('V', 'I', n, d.data(), e.data(), 0, 0, 3, 7, &m, w.data(), z.data(), z.ld));
  CHECK(m == 5);
  CHECK(z.intact());
  CHECK(std::abs(static_cast<double>(w[0]) - second_difference(n, 2)) <= 100 * eps<TestType>());
  CHECK(residual(a, w, z, m) <= 100 * eps<TestType>());
  CHECK_OK(stevr('N', 'V', n, d.data(), e.data(), -1, TestType(second_difference(n, 9) + 1e-3), 0, 0, &m, w.data(),
                 nullptr, 0));
  CHECK(m == 10);
  CHECK(stevr('N', 'I', n, d.data(), e.data(), 0, 0, 3, 51, &m, w.data(), nullptr, 0) == -9);
  CHECK(stevr('N', 'V', n, d.data(), e.data(), 1, 0, 0, 0, &m, w.data(), nullptr, 0) == -7);
  const std::vector<TestType> bad(n, std::numeric_limits<TestType>::quiet_NaN());
  CHECK(stevr('N', 'V', n, bad.data(), e.data(), 0, 1, 0, 0, &m, w.data(), nullptr, 0) == 1);
  std::int64_t below = -1;
  double uncertainty = -1;
  CHECK_OK(of<TestType>(tesela_ssymmetric_inertia, tesela_dsymmetric_inertia)(
      'L', n, a.data(), a.ld, second_difference(n, 6) + 1e-3, &below, &uncertainty));
  CHECK(below == 7);
  CHECK((uncertainty > 0 && uncertainty < 1e-3));
}

TEMPLATE_TEST_CASE("C: tridiagonal systems are solved", "[c][gtsv]", float, double) {
  const auto gtsv = of<TestType>(tesela_sgtsv, tesela_dgtsv);
  const auto solve = of<TestType>(tesela_stridiagonal_solve, tesela_dtridiagonal_solve);
  for (const index_t n : {0, 1, 2, 100}) {
    const index_t r = 2, off = std::max<index_t>(n - 1, 0);
    const auto dl = Padded<TestType>::random(off, 1, 1, 0), d = Padded<TestType>::random(n, 1, 2, 0),
               du = Padded<TestType>::random(off, 1, 3, 0), b = Padded<TestType>::random(n, r, 4);
    auto diagonal = d;
    for (index_t i = 0; i < n; ++i) diagonal(i, 0) += 4;
    auto x = b;
    CHECK_OK(gtsv(n, r, dl.data(), diagonal.data(), du.data(), x.data(), x.ld));
    CHECK(x.intact());
    double most = 0;
    for (index_t j = 0; j < r; ++j)
      for (index_t i = 0; i < n; ++i) {
        double sum = static_cast<double>(diagonal(i, 0)) * static_cast<double>(x(i, j)) - static_cast<double>(b(i, j));
        if (i > 0) sum += static_cast<double>(dl(i - 1, 0)) * static_cast<double>(x(i - 1, j));
        if (i + 1 < n) sum += static_cast<double>(du(i, 0)) * static_cast<double>(x(i + 1, j));
        most = std::max(most, std::abs(sum));
      }
    CHECK(most <= 20 * eps<TestType>());
    // A matrix for each right-hand side, periodic: dl(0) and du(n - 1) couple the ends, which needs n > 2.
    if (n < 3) continue;
    Padded<TestType> low(n, r), mid(n, r), up(n, r);
    for (index_t j = 0; j < r; ++j)
      for (index_t i = 0; i < n; ++i) low(i, j) = TestType(1 + j), mid(i, j) = 8, up(i, j) = TestType(-1);
    x = b;
    CHECK_OK(solve(n, r, r, 1, low.data(), mid.data(), up.data(), low.ld, x.data(), x.ld));
    most = 0;
    for (index_t j = 0; j < r; ++j)
      for (index_t i = 0; i < n; ++i)
        most = std::max(most, std::abs(static_cast<double>(1 + j) * static_cast<double>(x((i + n - 1) % n, j)) +
                                       8.0 * static_cast<double>(x(i, j)) - static_cast<double>(x((i + 1) % n, j)) -
                                       static_cast<double>(b(i, j))));
    CHECK(most <= 20 * eps<TestType>());
  }
  std::vector<TestType> zero(4, 0), b(4, 1);
  CHECK(gtsv(4, 1, zero.data(), zero.data(), zero.data(), b.data(), 4) > 0);
  CHECK(std::string(tesela_error()).find("equation 1 of system 0, systems counted from 0, is singular") !=
        std::string::npos);
}

TEMPLATE_TEST_CASE("C: Toeplitz systems and spectra are correct", "[c][toeplitz]", float, double) {
  for (const index_t n : {0, 1, 64, 100}) {
    std::vector<TestType> t(static_cast<std::size_t>(n), 0);
    if (n > 0) t[0] = 2;
    if (n > 1) t[1] = -1;
    const auto b = Padded<TestType>::random(n, 2, 4), a = dense_difference<TestType>(n);
    auto x = b;
    tesela_toeplitz_result result = {};
    result.size = sizeof result;
    CHECK_OK(of<TestType>(tesela_stoeplitz_solve, tesela_dtoeplitz_solve)(n, 2, t.data(), x.data(), x.ld, &result));
    CHECK(x.intact());
    CHECK(product_error(a, false, x, b, n, n) <= 1e4 * eps<TestType>());
    CHECK(result.residual <= result.residual_bound);
    std::vector<TestType> w(static_cast<std::size_t>(n));
    Padded<TestType> z(n, n);
    CHECK_OK(of<TestType>(tesela_stoeplitz_eig, tesela_dtoeplitz_eig)('V', n, t.data(), w.data(), z.data(), z.ld));
    CHECK(residual(a, w, z, n) <= 2000 * eps<TestType>());
    for (index_t k = 0; k < n; ++k)
      CHECK(std::abs(static_cast<double>(w[static_cast<std::size_t>(k)]) - second_difference(n, k)) <=
            2000 * eps<TestType>());
  }
  // Columns of 1, 2, 3, ... and rows of 0, -1, -2, ... for a first leading minor of zero; r(0) is not used.
  for (const index_t n : {0, 1, 2, 30}) {
    std::vector<TestType> c(static_cast<std::size_t>(n)), r(c);
    for (index_t i = 0; i < n; ++i) {
      c[static_cast<std::size_t>(i)] = static_cast<TestType>(n == 1 ? 3 : i % 5);
      r[static_cast<std::size_t>(i)] = static_cast<TestType>(i == 0 ? 99 : -(i % 3));
    }
    Padded<TestType> a(n, n);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i)
        a(i, j) = i >= j ? c[static_cast<std::size_t>(i - j)] : r[static_cast<std::size_t>(j - i)];
    const auto right = Padded<TestType>::random(n, 2, 4);
    auto x = right;
    const auto solve = of<TestType>(tesela_sgeneral_toeplitz_solve, tesela_dgeneral_toeplitz_solve);
    CHECK_OK(solve(n, 2, c.data(), r.data(), x.data(), x.ld, nullptr));
    CHECK(x.intact());
    CHECK(product_error(a, false, x, right, n, n) <= 1e4 * eps<TestType>());
    CHECK(solve(n, -1, c.data(), r.data(), x.data(), x.ld, nullptr) == -2);
    if (n > 0) CHECK(solve(n, 2, c.data(), nullptr, x.data(), x.ld, nullptr) == -4);
    if (n > 0) CHECK(solve(n, 1, c.data(), r.data(), r.data(), n, nullptr) == -5);
  }
  std::vector<TestType> singular(8, 1), b(8, 0);
  b[0] = 1;
  CHECK(of<TestType>(tesela_stoeplitz_solve, tesela_dtoeplitz_solve)(8, 1, singular.data(), b.data(), 8, nullptr) > 0);
  CHECK(std::string(tesela_error()).find("toeplitz_solve: ") != std::string::npos);
}

TEMPLATE_TEST_CASE("C: a nearly singular tridiagonal system gives an info above n nrhs", "[c][gtsv]", float, double) {
  const index_t n = 60, r = 4;
  // System 2 is the second difference minus its 21st eigenvalue.
  const double eigenvalue = 2 - 2 * std::cos(std::acos(-1.0) * 21 / 61);
  Padded<TestType> side(n, r, TestType(0), 0), d(n, r, TestType(0), 0);
  for (index_t j = 0; j < r; ++j)
    for (index_t i = 0; i < n; ++i)
      side(i, j) = TestType(-1), d(i, j) = static_cast<TestType>(j == 2 ? 2 - eigenvalue : 4);
  auto b = Padded<TestType>::random(n, r, 4);
  const auto info = of<TestType>(tesela_stridiagonal_solve, tesela_dtridiagonal_solve)(
      n, r, r, 0, side.data(), d.data(), side.data(), side.ld, b.data(), b.ld);
  CHECK((info == n * r + 1 || info == n * r + 2));
  const std::string words = tesela_error();
  CHECK(words.find("reciprocal condition number") != std::string::npos);
  auto x = Padded<TestType>::random(n, 1, 4);
  const auto alone = of<TestType>(tesela_sgtsv, tesela_dgtsv)(n, 1, side.data(), &d(0, 2), side.data(), x.data(), x.ld);
  CHECK((alone == n + 1 || alone == n + 2));
  CHECK(x.intact());
}

TEMPLATE_TEST_CASE("C: singular values and vectors compose to A", "[c][svd]", float, double) {
  const auto gesdd = of<TestType>(tesela_sgesdd, tesela_dgesdd);
  const double bound = 200 * eps<TestType>();
  for (const auto& [m, n] : std::vector<std::pair<index_t, index_t>>{{0, 3}, {1, 1}, {20, 12}, {12, 20}})
    for (const char job : {'S', 'a', 'N'}) {
      CAPTURE(m, n, job);
      Padded<TestType> a(m, n);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < m; ++i) a(i, j) = static_cast<TestType>(std::sin(static_cast<double>(i * i + 3 * j)));
      const auto given = a;
      const index_t k = std::min(m, n);
      Padded<TestType> u(m, job == 'a' ? m : k), vt(job == 'a' ? n : k, n);
      std::vector<TestType> s(static_cast<std::size_t>(k));
      CHECK_OK(gesdd(job, m, n, a.data(), a.ld, s.data(), u.data(), u.ld, vt.data(), vt.ld));
      CHECK((a.intact() && u.intact() && vt.intact()));
      CHECK(std::is_sorted(s.rbegin(), s.rend()));
      double squares = 0, expected = 0;
      for (const TestType value : s) squares += static_cast<double>(value) * static_cast<double>(value);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < m; ++i) {
          CHECK(a(i, j) == given(i, j));
          expected += static_cast<double>(a(i, j)) * static_cast<double>(a(i, j));
          double sum = -static_cast<double>(a(i, j));
          for (index_t l = 0; l < k && job != 'N'; ++l)
            sum += static_cast<double>(u(i, l)) * static_cast<double>(s[static_cast<std::size_t>(l)]) *
                   static_cast<double>(vt(l, j));
          if (job != 'N') CHECK(std::abs(sum) <= bound);
        }
      CHECK(std::abs(squares - expected) <= bound * (1 + expected));
    }
  CHECK(gesdd('O', 1, 1, nullptr, 1, nullptr, nullptr, 1, nullptr, 1) == -1);
}

TEMPLATE_TEST_CASE("C: batches of singular values and low ranks compose to A", "[c][svd]", float, double) {
  const auto batch = of<TestType>(tesela_sgesdd_batch, tesela_dgesdd_batch);
  const auto low = of<TestType>(tesela_slow_rank_svd, tesela_dlow_rank_svd);
  const double bound = 200 * eps<TestType>();
  const auto element = [](index_t i, index_t j) {
    return static_cast<TestType>(std::sin(static_cast<double>(i * i + 3 * j)));
  };
  const auto composes = [&](const auto& a, const auto& u, const auto& s, const auto& vt, index_t n, index_t from,
                            index_t of_u, index_t k) {
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < a.m; ++i) {
        double sum = -static_cast<double>(a(i, from * n + j));
        for (index_t l = 0; l < k; ++l)
          sum += static_cast<double>(u(i, from * of_u + l)) *
                 static_cast<double>(s[static_cast<std::size_t>(from * k + l)]) *
                 static_cast<double>(vt(l, from * n + j));
        CHECK(std::abs(sum) <= bound);
      }
  };
  for (const auto& [m, n] : std::vector<std::pair<index_t, index_t>>{{0, 3}, {1, 1}, {20, 12}, {12, 20}})
    for (const char job : {'S', 'A', 'N'}) {
      constexpr index_t count = 5;
      CAPTURE(m, n, job);
      Padded<TestType> a(m, n * count);
      for (index_t j = 0; j < n * count; ++j)
        for (index_t i = 0; i < m; ++i) a(i, j) = element(i, j);
      const index_t k = std::min(m, n), of_u = job == 'A' ? m : k;
      Padded<TestType> u(m, of_u * count), vt(job == 'A' ? n : k, n * count);
      std::vector<TestType> s(static_cast<std::size_t>(k * count));
      CHECK_OK(batch(job, count, m, n, a.data(), a.ld, s.data(), u.data(), u.ld, vt.data(), vt.ld));
      CHECK((a.intact() && u.intact() && vt.intact()));
      for (index_t i = 0; i < count && job != 'N'; ++i) composes(a, u, s, vt, n, i, of_u, k);
      if (m != 20 || job != 'S') continue;
      a(3, 2 * n + 1) = std::numeric_limits<TestType>::quiet_NaN();
      CHECK(batch(job, count, m, n, a.data(), a.ld, s.data(), u.data(), u.ld, vt.data(), vt.ld) == 3);
      CHECK_THAT(tesela_error(), ContainsSubstring("not finite: A(4, 2) of matrix 3"));
      Padded<TestType> one(m, n), left(m, n), right(n, n);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < m; ++i) one(i, j) = element(i, j);
      double error = -1;
      CHECK_OK(
          low(m, n, one.data(), one.ld, n, 3, 2, 1, s.data(), left.data(), left.ld, right.data(), right.ld, &error));
      CHECK((left.intact() && right.intact()));
      // The bound holds for A of rank n, too: it contains the rounding errors of the vectors, relative to ||A||.
      CHECK(error > 0);
      CHECK(error < bound * static_cast<double>(s[0]));
      composes(one, left, s, right, n, 0, n, n);
    }
  CHECK(batch('O', 1, 1, 1, nullptr, 1, nullptr, nullptr, 1, nullptr, 1) == -1);
  CHECK(batch('N', 1, 65, 65, nullptr, 65, nullptr, nullptr, 1, nullptr, 1) < 0);
  CHECK(low(2, 2, nullptr, 2, 3, 1, 1, 1, nullptr, nullptr, 2, nullptr, 3, nullptr) < 0);
}
