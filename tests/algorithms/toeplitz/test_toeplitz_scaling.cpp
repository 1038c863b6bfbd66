#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz_inverse.hpp"
#include <tesela/algorithms/toeplitz/cauchy_factorization.hpp>
#include <tesela/algorithms/toeplitz/cauchy_inverse.hpp>
#include <tesela/algorithms/toeplitz/levinson.hpp>
#include <tesela/codelets/toeplitz/toeplitz_error.hpp>
#include <tesela/tiles/power_of_two.hpp>

// Powers of two in t, sigma and b scale X by a power of two and change no digit.

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

template <class T>
HostMatrix<T> times(const HostMatrix<T>& a, int e) {
  HostMatrix<T> b = a.clone();
  scale_by_power_of_two(std::span<T>(b.data(), static_cast<std::size_t>(b.size())), e);
  return b;
}

/// Exponents of t and sigma, and of b.
struct Powers {
  int t, b;
};
template <class T>
std::vector<Powers> powers() {
  const int most = sizeof(T) == 8 ? 900 : 100;
  std::vector<Powers> all;
  for (const int t : {-most, -most / 3, -1, 0, 33, most / 3, most})
    for (const int b : {-most, -most / 3, 0, 1, most / 3, most})
      if (std::abs(b - t) <= most) all.push_back({t, b});
  return all;
}

template <class T>
index_t different(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  index_t count = 0;
  for (index_t e = 0; e < a.size(); ++e) count += a.data()[e] == b.data()[e] ? 0 : 1;
  return count;
}

const std::vector<ToeplitzGenerator> kinds{
    {ToeplitzKind::random, 0, 5}, {ToeplitzKind::spd, 0, 5}, {ToeplitzKind::kms, 0.9}};

/// solve(t, sigma, b) returns X.
template <class T, class Solve>
void check_powers(index_t n, const Solve& solve) {
  for (const ToeplitzGenerator& kind : kinds) {
    const auto t = toeplitz_column<T>(kind, n);
    const auto b = random_columns<T>(n, 3, 5);
    const T sigma = T(-0.375);
    const HostMatrix<T> x = solve(t, sigma, b);
    REQUIRE(residual(t, double(sigma), x, b, 0, 3) <= (kind.kind == ToeplitzKind::random ? 1e4 : 32) * eps<T>);
    for (const auto& [et, eb] : powers<T>()) {
      INFO("n " << n << " kind " << static_cast<int>(kind.kind) << " t 2^" << et << " b 2^" << eb);
      const HostMatrix<T> scaled = solve(times(t, et), std::ldexp(sigma, et), times(b, eb));
      CHECK(different(scaled, times(x, eb - et)) == 0);
      CHECK(toeplitz_residual(n, t.data(), double(sigma), 3, x.data(), b.data()) ==
            toeplitz_residual(n, times(t, et).data(), std::ldexp(double(sigma), et), 3, times(x, eb - et).data(),
                              times(b, eb).data()));
    }
  }
}

/// Solves by Levinson's recursion; the first column of the inverse and the least pivot follow X.
template <class T>
void check_recursions(Runtime& runtime, index_t n) {
  check_powers<T>(n, [&](const HostMatrix<T>& t, T sigma, const HostMatrix<T>& b) {
    auto x = b.clone();
    const auto X = TileMatrix<T>::map(runtime, x.data(), n, 3, n, {n, 3});
    const TileMatrix<T> shift(runtime, 1, 1, {1, 1});
    const TileMatrix<double> report(runtime, levinson_report_rows, 1, {levinson_report_rows, 1});
    shift(0, 0).write()(0, 0) = sigma;
    Graph g(runtime);
    const Toeplitz<T> A(g, t);
    levinson(g, A, shift, X, report);
    CHECK(g.wait().ok());
    X.bring_home();
    return x;
  });
  const auto t = toeplitz_column<T>({ToeplitzKind::random, 0, 5}, n);
  HostMatrix<T> first;
  double least = 0;
  for (const int e : {0, 1, -1, 40, -40, sizeof(T) == 8 ? 900 : 100, sizeof(T) == 8 ? -900 : -100}) {
    HostMatrix<T> inverse(n, 1);
    const auto F = TileMatrix<T>::map(runtime, inverse.data(), n, 1, n, {n, 1});
    const TileMatrix<T> shift(runtime, 1, 1, {1, 1});
    const TileMatrix<double> report(runtime, levinson_report_rows, 1, {levinson_report_rows, 1});
    shift(0, 0).write()(0, 0) = std::ldexp(T(-0.375), e);
    Graph g(runtime);
    const Toeplitz<T> A(g, times(t, e));
    CHECK(A.norm(std::ldexp(-0.375, e)) == std::ldexp(Toeplitz<T>(g, t).norm(-0.375), e));
    durbin(g, A, shift, F, report);
    CHECK(g.wait().ok());
    F.bring_home();
    const double here = report(0, 0).read()(levinson_least, 0);
    INFO("n " << n << " t 2^" << e);
    if (e == 0) first = inverse.clone(), least = here;
    CHECK(different(inverse, times(first, -e)) == 0);
    CHECK(here == std::ldexp(least, e));
  }
}

template <class T, template <class> class Inverse>
HostMatrix<T> solve_by(Runtime& runtime, const HostMatrix<T>& t, T sigma, const HostMatrix<T>& b, bool good = true) {
  auto x = b.clone();
  const index_t n = b.rows(), k = b.cols();
  const auto B = TileMatrix<T>::map(runtime, x.data(), n, k, n, {n, 2});
  const TileMatrix<double> outcome(runtime, k, 4, {2, 4});
  Graph g(runtime);
  const Toeplitz<T> A(g, t);
  const Inverse<T> inverse(g, A, sigma);
  inverse.solve(g, B, outcome);
  CHECK(g.wait().ok() == good);
  B.bring_home();
  return x;
}

template <class T, template <class> class Inverse>
void check_inverse(Runtime& runtime, index_t n) {
  check_powers<T>(n, [&](const HostMatrix<T>& t, T sigma, const HostMatrix<T>& b) {
    return solve_by<T, Inverse>(runtime, t, sigma, b);
  });
}

/// Returns Y = T X + Y / 2 in one tile.
template <class T>
HostMatrix<T> product(Runtime& runtime, const HostMatrix<T>& t, T sigma, T alpha, const HostMatrix<T>& x,
                      const HostMatrix<T>& y) {
  auto from = x.clone(), to = y.clone();
  const index_t n = x.rows(), k = x.cols();
  const auto X = TileMatrix<T>::map(runtime, from.data(), n, k, n, {n, k});
  const auto Y = TileMatrix<T>::map(runtime, to.data(), n, k, n, {n, k});
  Graph g(runtime);
  Toeplitz<T>(g, t).multiply(g, alpha, sigma, X, T(0.5), Y);
  CHECK(g.wait().ok());
  Y.bring_home();
  return to;
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("powers of two scale every Toeplitz solver exactly", "", float, double) {
  using T = TestType;
  for (const index_t n : {1, 2, 7, 150}) {
    check_recursions<T>(runtime, n);
    check_inverse<T, GohbergSemencul>(runtime, n);
    check_inverse<T, CauchyInverse>(runtime, n);
    check_inverse<T, CauchyFactorization>(runtime, n);
  }
}

CORES_TEMPLATE_TEST_CASE("powers of two scale Toeplitz products exactly", "[toeplitz]", float, double) {
  using T = TestType;
  const index_t n = 150;
  const auto t = toeplitz_column<T>({ToeplitzKind::random, 0, 5}, n);
  const auto x = random_columns<T>(n, 2, 5), y = random_columns<T>(n, 2, 6);
  const auto right = product(runtime, t, T(-0.375), T(3), x, y);
  for (const auto& [et, ex] : powers<T>()) {
    INFO("t 2^" << et << " x 2^" << -ex);
    CHECK(different(product(runtime, times(t, et), std::ldexp(T(-0.375), et), T(3), times(x, -ex), times(y, et - ex)),
                    times(right, et - ex)) == 0);
  }
  // A shift of very different size.
  const int most = sizeof(T) == 8 ? 900 : 100;
  const auto shifted = product(runtime, times(t, -most), std::ldexp(T(1), most), T(-1), x, times(y, most));
  for (index_t e = 0; e < x.size(); ++e)
    CHECK(std::abs(std::ldexp(shifted.data()[e], -most) - (x.data()[e] + y.data()[e] / 2)) <= T(8 * eps<T>));
}

CORES_TEMPLATE_TEST_CASE("eliminations accept shifts of any size relative to T", "[toeplitz]", float, double) {
  using T = TestType;
  const index_t n = 40;
  const int most = sizeof(T) == 8 ? 900 : 100;
  const auto t = toeplitz_column<T>({ToeplitzKind::random, 0, 5}, n);
  const auto b = random_columns<T>(n, 2, 5);
  // Only sigma I matters; then t(0) cancels, and a small matrix remains.
  const auto x = solve_by<T, CauchyInverse>(runtime, times(t, -most), std::ldexp(T(1), most), b);
  for (index_t e = 0; e < b.size(); ++e) CHECK(std::abs(std::ldexp(x.data()[e], most) + b.data()[e]) <= T(8 * eps<T>));
  auto left = times(t, -most);
  left(0, 0) = 0;
  auto whole = left.clone();
  whole(0, 0) = 1;
  const auto other = solve_by<T, CauchyInverse>(runtime, left, T(0), b);
  CHECK(different(solve_by<T, CauchyInverse>(runtime, whole, T(1), b), other) == 0);
}

TEMPLATE_TEST_CASE("subnormal and huge Toeplitz systems are solved, or their X is reported as not representable",
                   "[toeplitz]", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  Runtime runtime({.gpus = 0});
  const index_t n = 5;
  auto t = HostMatrix<T>::zeros(n, 1), b = HostMatrix<T>::zeros(n, 1);
  const T least = Limits::denorm_min(), huge = std::ldexp(T(1), Limits::max_exponent - 1);
  t(0, 0) = 4 * least, t(1, 0) = -least;
  b(2, 0) = 8 * least;
  const auto x = solve_by<T, GohbergSemencul>(runtime, t, T(0), b);
  CHECK(difference(x, dense_solve(times(t, 60), 0, times(b, 60))) <= 8 * eps<T>);
  t(0, 0) = huge, t(1, 0) = -huge / 4;
  b(2, 0) = huge;
  CHECK(difference(solve_by<T, CauchyInverse>(runtime, t, T(0), b), dense_solve(times(t, -60), 0, times(b, -60))) <=
        8 * eps<T>);
  b(2, 0) = least;  // X would be 2^-2000
  const auto zero = solve_by<T, CauchyInverse>(runtime, t, T(0), b, false);
  CHECK(toeplitz_residual(n, t.data(), 0, 1, zero.data(), b.data()) == 1);
  t = times(t, 3 - 2 * Limits::max_exponent);
  b(2, 0) = huge;  // and 2^2000
  const auto above = solve_by<T, CauchyInverse>(runtime, t, T(0), b, false);
  CHECK(std::isnan(toeplitz_residual(n, t.data(), 0, 1, above.data(), b.data())));
}
