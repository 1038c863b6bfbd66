#include "tests/support/test.hpp"
#include "tools/checks/factor_error.hpp"
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>

#include <catch2/catch_approx.hpp>

#include <utility>

using namespace tesela;

namespace {

/// Returns R, or U above L: random, with a dominant diagonal, times `unit` on and above it.
template <class T>
HostMatrix<T> factors(index_t n, real_t<T> unit) {
  const Generator<T> random{Pattern::uniform, 0, n, 3};
  return filled<T>({n, n}, [&](index_t i, index_t j) {
    const T element = i == j ? T(2) : random(i, j) / static_cast<real_t<T>>(n);
    return i <= j ? element * unit : element;
  });
}

/// Returns P^T L U, or R^H R; row i of L U is row rows[i] of the result.
template <class T>
HostMatrix<T> product(const HostMatrix<T>& f, bool symmetric, const std::vector<index_t>& rows) {
  using Widest = with_parts<T, long double>;
  const index_t n = f.rows();
  HostMatrix<T> a(n, n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) {
      Widest sum = 0;
      for (index_t k = 0; k <= std::min(i, j); ++k)
        sum += times(symmetric ? conj(Widest(f(k, i))) : k == i ? Widest(1) : Widest(f(i, k)), Widest(f(k, j)));
      a(symmetric ? i : rows[static_cast<std::size_t>(i)], j) = T(sum);
    }
  return a;
}

template <class T>
double norm(const HostMatrix<T>& a) {
  double size = 0;
  for (index_t e = 0; e < a.size(); ++e) size = std::hypot(size, static_cast<double>(std::abs(a.data()[e])));
  return size;
}

}  // namespace

TEMPLATE_TEST_CASE("errors of factors are found, and their size is right", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using Real = real_t<TestType>;
  const auto eps = static_cast<double>(std::numeric_limits<Real>::epsilon());
  for (const bool symmetric : {false, true})
    for (const index_t n : {1, 5, 64, 65, 600})  // 600: parts on several threads
      for (const Real unit : {Real(1), std::ldexp(Real(1), 40), std::ldexp(Real(1), -40)}) {
        if (is_complex<TestType> && n == 600) continue;  // takes long, and threads treat all types alike
        CAPTURE(symmetric, n, unit);
        std::vector<index_t> rows;
        for (index_t i = 0; i < n; ++i) rows.push_back((i + n / 3) % n);
        const HostMatrix<TestType> f = factors<TestType>(n, unit), right = product(f, symmetric, rows);
        const auto error = [&](const HostMatrix<TestType>& a) {
          return (symmetric ? cholesky_error(a, f) : lu_error<TestType>(a, f, rows)).backward;
        };
        CHECK(error(right) <= 4 * eps);
        // One wrong element in the first, a middle and the last column. The estimate has signs as random vectors, which
        // give the norm of one element exactly.
        const double planted = 0.01;
        for (const index_t column : {index_t{0}, n / 2, n - 1}) {
          HostMatrix<TestType> wrong = right.clone();
          wrong(n / 2, column) += static_cast<Real>(planted * norm(right));
          CHECK(error(wrong) == Catch::Approx(planted).epsilon(0.02));
        }
        HostMatrix<TestType> bad = right.clone();
        bad(n - 1, n - 1) = std::numeric_limits<Real>::quiet_NaN();
        CHECK_FALSE(error(bad) <= 1);
        if (is_complex<TestType> && symmetric && n > 1) {  // the factors of the transpose
          HostMatrix<TestType> other = right.clone();
          for (index_t e = 0; e < other.size(); ++e) other.data()[e] = conj(other.data()[e]);
          CHECK(error(other) > 1e-4);
        }
        if (n < 2 || symmetric) continue;
        std::swap(rows.front(), rows.back());
        CHECK(error(right) > 1e-4);  // another permutation
      }
}

TEST_CASE("growth and multipliers of LU are those of the factors") {
  HostMatrix<double> f = factors<double>(600, 1.0);
  f(599, 2) = -3;
  f(1, 598) = 50;
  std::vector<index_t> rows;
  for (index_t i = 0; i < 600; ++i) rows.push_back(i);
  HostMatrix<double> a(600, 600);
  for (index_t e = 0; e < a.size(); ++e) a.data()[e] = 0.5;
  const FactorError error = lu_error<double>(a, f, rows);
  CHECK(error.growth == 100);
  CHECK(error.multipliers == 3);
}
