#include "tests/support/c_interface.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/host/lapack/lapack.hpp>

using namespace tesela::test;

namespace {

template <class T>
double distance(const Padded<T>& a, const Padded<T>& b, index_t rows) {
  double sum = 0;
  for (index_t j = 0; j < a.n; ++j)
    for (index_t i = 0; i < rows; ++i) sum = std::hypot(sum, static_cast<double>(a(i, j) - b(i, j)));
  return sum;
}

/// The last column of A repeats the first.
template <class T>
Padded<T> deficient(index_t m, index_t n) {
  auto a = Padded<T>::random(m, n, 5);
  for (index_t i = 0; i < m; ++i) a(i, n - 1) = a(i, 0);
  return a;
}

}  // namespace

TEMPLATE_TEST_CASE("C: gels solves the problems that LAPACK solves", "[c][gels]", float, double) {
  const auto gels = of<TestType>(tesela_sgels, tesela_dgels);
  for (const auto [m, n, r] :
       {std::array<index_t, 3>{0, 0, 0}, {1, 1, 1}, {20, 5, 2}, {5, 20, 2}, {700, 30, 1}, {90, 90, 3}}) {
    auto a = Padded<TestType>::random(m, n, 1), b = Padded<TestType>::random(std::max(m, n), r, 2);
    for (index_t i = 0; i < std::min(m, n); ++i) a(i, i) += 8;
    auto expected_a = a, expected = b;
    REQUIRE(lapack::gels(m, n, r, expected_a.data(), expected_a.ld, expected.data(), expected.ld) == 0);
    std::vector<double> norms(static_cast<std::size_t>(r) + 1, -1);
    tesela_gels_result result = {};
    result.size = sizeof result;
    result.residual_norms = norms.data();
    CHECK_OK(gels(m, n, r, a.data(), a.ld, b.data(), b.ld, &result));
    CHECK((a.intact() && b.intact()));
    CHECK(distance(b, expected, n) <= 2000 * eps<TestType>());
    CHECK(result.status == TESELA_OK);
    CHECK(result.rank == std::min(m, n));
    CHECK(result.backward_error <= result.backward_bound);
    for (index_t j = 0; j < r; ++j) {
      double rest = 0;
      for (index_t i = n; i < m; ++i) rest = std::hypot(rest, static_cast<double>(expected(i, j)));
      CHECK(std::abs(norms[static_cast<std::size_t>(j)] - rest) <= 2000 * eps<TestType>() * (rest + 1));
    }
    CHECK(norms.back() == -1);
  }
}

TEST_CASE("C: a solution has the bits of C++", "[c][gels]") {
  const index_t m = 400, n = 90;
  auto a = Padded<double>::random(m, n, 1), b = Padded<double>::random(m, 2, 2), a2 = a, b2 = b;
  CHECK_OK(tesela_dgels(m, n, 2, a.data(), a.ld, b.data(), b.ld, nullptr));
  CHECK_OK(tesela_stop());
  Runtime runtime;
  const auto answer = ols(runtime, MatrixView(a2.data(), {m, n}, a2.ld), MatrixView(b2.data(), {m, 2}, b2.ld));
  CHECK(a == a2);
  for (index_t j = 0; j < 2; ++j)
    for (index_t i = 0; i < n; ++i) CHECK(answer.X(i, j) == b(i, j));
}

TEST_CASE("C: a deficient rank gives the least-norm solution without a failure", "[c][gels]") {
  std::vector<double> a(10, 1.0), b{0, 1, 2, 3, 4};
  tesela_gels_result result = {};
  result.size = sizeof result;
  CHECK_OK(tesela_dgels(5, 2, 1, a.data(), 5, b.data(), 5, &result));
  CHECK(result.status == TESELA_RANK_DEFICIENT);
  CHECK(result.rank == 1);
  CHECK(std::abs(b[0] - 1) < 1e-14);
  CHECK(std::abs(b[1] - 1) < 1e-14);

  auto nearly = deficient<double>(30, 4), right = Padded<double>::random(30, 1, 2);
  nearly(3, 3) += 1e-6;
  auto again = nearly, right_again = right;
  CHECK_OK(tesela_dgelsy(30, 4, 1, nearly.data(), nearly.ld, right.data(), right.ld, 1e-3, &result));
  CHECK(result.rank == 3);
  CHECK_OK(tesela_dgelsy(30, 4, 1, again.data(), again.ld, right_again.data(), right_again.ld, 0, &result));
  CHECK(result.rank == 4);
  CHECK_OK(tesela_dgels(0, 0, 0, nullptr, 1, nullptr, 1, nullptr));
}

TEST_CASE("C: nonnegative least squares stops at the bound", "[c][nnls]") {
  std::vector<double> a{1, 1, 0, 0, 0, 1}, b{2, 1, -1};
  tesela_gels_result result = {};
  result.size = sizeof result;
  CHECK_OK(tesela_dnnls(3, 2, 1, a.data(), 3, b.data(), 3, &result));
  CHECK(std::abs(b[0] - 1.5) <= 1e-15);
  CHECK(b[1] == 0);
  CHECK(result.rank == 2);
  CHECK(result.backward_error <= result.backward_bound);
}

TEST_CASE("C: NaN is a status with a message", "[c][gels]") {
  auto a = Padded<double>::random(20, 3, 1), b = Padded<double>::random(20, 1, 2);
  a(7, 1) = std::numeric_limits<double>::quiet_NaN();
  tesela_gels_result result = {};
  result.size = sizeof result;
  CHECK(tesela_dgels(20, 3, 1, a.data(), a.ld, b.data(), b.ld, &result) == TESELA_NOT_FINITE);
  CHECK(result.status == TESELA_NOT_FINITE);
  CHECK(std::string(tesela_error()) == "tesela_dgels: not finite");
}

TEMPLATE_TEST_CASE("C: a weight equals repeated rows", "[c][wls]", float, double) {
  const index_t m = 40, n = 3;
  auto a = Padded<TestType>::random(m, n, 1), b = Padded<TestType>::random(m, 1, 2);
  std::vector<TestType> weights(m, 1);
  weights[5] = 3;
  weights[6] = 0;
  b(6, 0) = std::numeric_limits<TestType>::quiet_NaN();
  Padded<TestType> long_a(m + 1, n), long_b(m + 1, 1);  // row 5 three times, row 6 not at all
  for (index_t i = 0; i < m + 1; ++i) {
    const index_t from = i == 6 || i == m ? 5 : i;
    for (index_t j = 0; j < n; ++j) long_a(i, j) = a(from, j);
    long_b(i, 0) = b(from, 0);
  }
  CHECK_OK(of<TestType>(tesela_swls, tesela_dwls)(m, n, 1, weights.data(), a.data(), a.ld, b.data(), b.ld, nullptr));
  CHECK_OK(of<TestType>(tesela_sgels, tesela_dgels)(m + 1, n, 1, long_a.data(), long_a.ld, long_b.data(), long_b.ld,
                                                    nullptr));
  CHECK(distance(b, long_b, n) <= 100 * eps<TestType>());
  weights[2] = -1;
  CHECK(of<TestType>(tesela_swls, tesela_dwls)(m, n, 1, weights.data(), a.data(), a.ld, b.data(), b.ld, nullptr) == -4);
  std::fill(weights.begin(), weights.end(), TestType(0));
  tesela_gels_result result = {};
  result.size = sizeof result;
  CHECK_OK(of<TestType>(tesela_swls, tesela_dwls)(m, n, 1, weights.data(), a.data(), a.ld, b.data(), b.ld, &result));
  CHECK(result.status == TESELA_RANK_DEFICIENT);
  CHECK(result.rank == 0);
}

TEMPLATE_TEST_CASE("C: ggglm and gglse satisfy their constraints", "[c][glm][lse]", float, double) {
  const index_t n = 30, m = 6, p = 28;
  const auto a = Padded<TestType>::random(n, m, 1), b = Padded<TestType>::random(n, p, 2),
             d = Padded<TestType>::random(n, 1, 3);
  auto a1 = a, b1 = b, d1 = d;
  Padded<TestType> x(m, 1), y(p, 1);
  tesela_ggglm_result model = {};
  model.size = sizeof model;
  CHECK_OK(of<TestType>(tesela_sggglm, tesela_dggglm)(n, m, p, a1.data(), a1.ld, b1.data(), b1.ld, d1.data(), x.data(),
                                                      y.data(), &model));
  double residual = 0;
  for (index_t i = 0; i < n; ++i) {
    auto sum = static_cast<double>(d(i, 0));
    for (index_t j = 0; j < m; ++j) sum -= static_cast<double>(a(i, j)) * static_cast<double>(x(j, 0));
    for (index_t j = 0; j < p; ++j) sum -= static_cast<double>(b(i, j)) * static_cast<double>(y(j, 0));
    residual = std::hypot(residual, sum);
  }
  CHECK(residual <= 1e4 * eps<TestType>());
  CHECK((model.rank == m && model.rank_b == n - m && model.backward_error <= model.backward_bound));

  const index_t q = 2;  // x_0 + x_1 = 1, x_2 = 2
  Padded<TestType> constraints(q, m), right(q, 1);
  for (index_t j = 0; j < m; ++j)
    constraints(0, j) = j < 2 ? TestType(1) : TestType(0), constraints(1, j) = j == 2 ? TestType(1) : TestType(0);
  right(0, 0) = 1, right(1, 0) = 2;
  auto a2 = a, c2 = d;
  tesela_gglse_result found = {};
  found.size = sizeof found;
  CHECK_OK(of<TestType>(tesela_sgglse, tesela_dgglse)(n, m, q, a2.data(), a2.ld, constraints.data(), constraints.ld,
                                                      c2.data(), right.data(), x.data(), &found));
  CHECK(found.constraint_rank == 2);
  CHECK(std::abs(static_cast<double>(x(0, 0) + x(1, 0)) - 1) <= 50 * eps<TestType>());
  CHECK(std::abs(static_cast<double>(x(2, 0)) - 2) <= 50 * eps<TestType>());
  double sum = 0;  // ||A x - c||
  for (index_t i = 0; i < n; ++i) {
    auto rest = static_cast<double>(d(i, 0));
    for (index_t j = 0; j < m; ++j) rest -= static_cast<double>(a(i, j)) * static_cast<double>(x(j, 0));
    sum = std::hypot(sum, rest);
  }
  CHECK(std::abs(sum - found.residual_norm) <= 1e3 * eps<TestType>());

  for (index_t j = 0; j < m; ++j) constraints(1, j) = constraints(0, j);  // now x_0 + x_1 = 2 as well, a contradiction
  a2 = a, c2 = d;
  CHECK(of<TestType>(tesela_sgglse, tesela_dgglse)(n, m, q, a2.data(), a2.ld, constraints.data(), constraints.ld,
                                                   c2.data(), right.data(), x.data(), nullptr) == TESELA_INCONSISTENT);
}
