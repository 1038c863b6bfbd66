#include "tests/support/test.hpp"
#include "tools/checks/eig_error.hpp"
#include "tools/checks/tridiagonal_error.hpp"

#include <catch2/catch_approx.hpp>

#include <numbers>

using namespace tesela;
using Catch::Approx;

namespace {

template <class T>
struct Vectors {
  std::vector<T> dl, d, du, b, x;
  TridiagonalError error(bool periodic = false) const {
    return tridiagonal_error(TridiagonalSystem<T>{
        static_cast<index_t>(x.size()), {dl.data()}, {d.data()}, {du.data()}, {b.data()}, {x.data()}, periodic});
  }
};

}  // namespace

TEMPLATE_TEST_CASE("residuals of a tridiagonal system equal those computed by hand", "", float, double) {
  using T = TestType;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  // Rows (2 1 .), (-1 4 3), (. 5 -2); the last one differs from b by 1.
  Vectors<T> v{{nan, -1, 5}, {2, 4, -2}, {1, 3, nan}, {4, 16, 3}, {1, 2, 3}};
  CHECK(v.error().residual == Approx(1.0 / (8 * 3 + 16)));
  CHECK(v.error().residual_componentwise == Approx(1.0 / (10 + 6 + 3)));
  v.b[2] = 4;
  CHECK(v.error().residual == 0);
  CHECK(v.error().residual_componentwise == 0);
  // Periodic: 7 x(2) in the first row, 11 x(0) in the last.
  v.dl[0] = 7;
  v.du[2] = 11;
  v.b[0] += 21;
  v.b[2] += 11;
  CHECK(v.error(true).residual == 0);
  CHECK(v.error(true).residual_componentwise == 0);
  v.b[0] += 2;
  CHECK(v.error(true).residual == Approx(2.0 / (18 * 3 + 27)));
  CHECK(v.error(true).residual_componentwise == Approx(2.0 / (21 + 2 + 2 + 27)));
}

TEMPLATE_TEST_CASE("residuals of tiny tridiagonal systems are correct", "", float, double) {
  using T = TestType;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  CHECK(Vectors<T>{}.error().residual == 0);
  CHECK(Vectors<T>{}.error(true).residual_componentwise == 0);
  CHECK((Vectors<T>{{nan}, {2}, {nan}, {6}, {3}}.error().residual == 0));
  CHECK((Vectors<T>{{nan}, {2}, {nan}, {5}, {3}}.error().residual == Approx(1.0 / 11)));
  CHECK((Vectors<T>{{1}, {2}, {3}, {18}, {3}}.error(true).residual == 0));  // all three elements multiply the same x
  CHECK((Vectors<T>{{nan}, {0}, {nan}, {0}, {0}}.error().residual_componentwise == 0));
  CHECK((Vectors<T>{{nan}, {0}, {nan}, {1}, {3}}.error().residual_componentwise == 1));
  CHECK((Vectors<T>{{1, 5}, {2, 6}, {3, 7}, {10, 24}, {1, 2}}.error(true).residual == 0));
}

TEST_CASE("the componentwise residual finds rows that the normwise one misses") {
  const Vectors<double> v{{0, 0}, {1, 1e-200}, {0, 0}, {1, 1e-200}, {1, 3}};
  CHECK(v.error().residual < 1e-199);
  CHECK(v.error().residual_componentwise == Approx(2.0 / 4));
}

TEST_CASE("huge and tiny numbers neither overflow nor underflow") {
  const double h = 1e300;
  CHECK((Vectors<double>{{0, h}, {h, h}, {h, 0}, {0, 0}, {h, -h}}.error().residual == 0));
  CHECK((Vectors<double>{{0, h}, {h, h}, {h, 0}, {0, 0}, {h, h}}.error().residual == Approx(1)));
  CHECK((Vectors<double>{{0, h}, {h, h}, {h, 0}, {h, h}, {h, h}}.error().residual_componentwise == Approx(1)));
  const double t = 1e-300;
  CHECK((Vectors<double>{{0}, {t}, {0}, {0}, {t}}.error().residual == Approx(1)));
  // A rounding error of x is found: the products are not rounded to double.
  CHECK((Vectors<double>{{0}, {3}, {0}, {1}, {1.0 / 3}}.error().residual == Approx(std::ldexp(1.0, -54) / 2)));
}

TEMPLATE_TEST_CASE("NaN and infinities never give a small residual at any place", "", float, double) {
  using T = TestType;
  for (const T poison : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()})
    for (std::size_t at = 0; at < 3; ++at)
      for (int which = 0; which < 5; ++which) {
        Vectors<T> v{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        std::vector<T>* const all[] = {&v.dl, &v.d, &v.du, &v.b, &v.x};
        (*all[which])[at] = poison;
        CAPTURE(which, at, poison);
        CHECK_FALSE(std::isfinite(v.error(true).residual));
        CHECK_FALSE(std::isfinite(v.error(true).residual_componentwise));
        const bool unread = (which == 0 && at == 0) || (which == 2 && at == 2);
        CHECK(std::isfinite(v.error().residual) == unread);
        v.x = {1, 1, 1};
        if (which == 4) v.x[at] = poison;
        CHECK_FALSE(std::isfinite(v.error(true).residual));
      }
}

TEST_CASE("strides select a system of an interleaved batch") {
  // Two systems side by side: 2 x = 6 twice, and 1 x = 5, 4 x = 8.
  const double zero[] = {0, 0, 0, 0}, d[] = {2, 1, 2, 4}, b[] = {6, 5, 6, 8}, x[] = {3, 5, 3, 1};
  const auto error = [&](index_t s) {
    return tridiagonal_error(TridiagonalSystem<double>{2, {zero, 2}, {d + s, 2}, {zero, 2}, {b + s, 2}, {x + s, 2}});
  };
  CHECK(error(0).residual == 0);
  CHECK(error(1).residual_componentwise == Approx(4.0 / 12));
}

TEST_CASE("the forward error is relative to the largest entry") {
  const auto error = [](std::vector<double> x, std::vector<double> known) {
    return forward_error<double>(static_cast<index_t>(x.size()), {x.data()},
                                 [&](index_t i) { return known[static_cast<std::size_t>(i)]; });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  CHECK(error({}, {}) == 0);
  CHECK(error({0, 0}, {0, 0}) == 0);
  CHECK(error({1, -8.5, 2}, {1, -8, 2}) == Approx(0.5 / 8));
  CHECK(error({1, -8, 2}, {1.25, -8, 2}) == Approx(0.25 / 8));
  CHECK(std::isnan(error({nan, -8}, {1, -8})));
  CHECK(std::isnan(error({1, nan, -8}, {1, 2, -8})));
  CHECK(std::isinf(error({1, inf}, {1, -8})));
  CHECK(std::isinf(error({1}, {0})));
  CHECK(worse(1, 2) == 2);
  CHECK(worse(2, 1) == 2);
  CHECK((std::isnan(worse(nan, 1)) && std::isnan(worse(1, nan))));
}

TEST_CASE("errors of tridiagonal eigenpairs are measured without n x n numbers") {
  constexpr index_t n = 400, first = 3, k = 5;
  constexpr double most = 1e-12;
  const std::vector<double> d(n, 2e-200), e(n - 1, -1e-200);
  const auto angle = [](index_t i) { return static_cast<double>(i + 1) * std::numbers::pi / (n + 1); };
  std::vector<double> values;
  HostMatrix<double> x(n, k);
  for (index_t j = 0; j < k; ++j) {
    values.push_back(1e-200 * 4 * std::pow(std::sin(angle(first + j) / 2), 2));
    for (index_t i = 0; i < n; ++i)
      x(i, j) = std::sqrt(2.0 / (n + 1)) * std::sin(static_cast<double>(i + 1) * angle(first + j));
  }
  const double norm = tridiagonal_norm(d, e, values.back());
  CHECK(norm == Approx(std::sqrt(6.0) * 1e-200));           // a column's
  CHECK(tridiagonal_norm(d, e, 1e-190) == Approx(4e-200));  // a row's
  CHECK(tridiagonal_norm(d, e, 3.9e-200) == 3.9e-200);
  CHECK(tridiagonal_norm(std::vector<double>(3), std::vector<double>(2), 0) == 1);
  const auto error = [&] { return tridiagonal_value_error(d, e, values, first, norm, most, k, 1); };
  CHECK(error() <= 1e-15);
  values[2] += 1e-13 * norm;
  CHECK(error() > 0.9e-13);
  CHECK(error() < 2.3e-13);
  CHECK(tridiagonal_value_error(d, e, values, first + 1, norm, most, k, 1) > most);  // other positions
  values[2] += 1e-11 * norm;
  CHECK(error() > most);
  const EigError wrong = tridiagonal_eig_error(d, e, values, x, norm, k, 1);
  CHECK(wrong.residual == Approx(1.01e-11).epsilon(0.01));
  CHECK(wrong.orthogonality <= 1e-13);
  x(7, 1) += 1e-6;
  const EigError moved = tridiagonal_eig_error(d, e, values, x, norm, k, 1);
  CHECK(moved.residual == Approx(1e-6 * std::sqrt(6.0) / std::sqrt(6.0)).epsilon(0.05));
  CHECK(moved.orthogonality > 1e-8);
  values[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(error()));
  CHECK(std::isnan(tridiagonal_eig_error(d, e, values, x, norm, k, 1).residual));
}
