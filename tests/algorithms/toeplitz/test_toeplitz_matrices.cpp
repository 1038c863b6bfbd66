#include "tests/support/toeplitz.hpp"
#include <tesela/codelets/toeplitz/toeplitz.hpp>
#include <tesela/runtime/errors.hpp>

#include <numbers>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

constexpr double pi = std::numbers::pi;

double largest_difference(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

}  // namespace

TEST_CASE("generated Toeplitz matrices have the eigenvalues of their closed forms", "[toeplitz]") {
  for (const index_t n : {1, 2, 3, 4, 7, 64, 101}) {
    std::vector<double> difference_values, path, cycle;
    for (index_t k = 1; k <= n; ++k) {
      const double angle = static_cast<double>(k) * pi / static_cast<double>(n + 1);
      difference_values.push_back(2 - 2 * std::cos(angle));
      path.push_back(2 * std::cos(angle));
      cycle.push_back(2 * std::cos(2 * pi * static_cast<double>(k) / static_cast<double>(n)));
    }
    CAPTURE(n);
    CHECK(largest_difference(dense_eigenvalues(toeplitz_column<double>({ToeplitzKind::second_difference}, n)),
                             difference_values) <= 1e-13);
    const auto singular = dense_eigenvalues(toeplitz_column<double>({ToeplitzKind::singular_minors}, n));
    CHECK(largest_difference(singular, n == 1 ? std::vector<double>{1} : n % 2 == 0 ? path : cycle) <= 1e-13);
    for (const double value : singular) CHECK(std::abs(value) > 0.01);

    const auto kms = toeplitz_column<double>({ToeplitzKind::kms, -0.7}, n);
    const auto identity = dense_solve(kms, 0, kms);  // the first column
    CHECK(std::abs(identity(0, 0) - 1) <= 1e-14);
    for (const double value : dense_eigenvalues(kms)) CHECK(value > 0.17);  // (1 - r) / (1 + r)

    const auto prolate = dense_eigenvalues(toeplitz_column<double>({ToeplitzKind::prolate, 0.3}, n));
    double trace = 0;
    for (const double value : prolate) {
      trace += value;
      CHECK(value > -1e-14);
      CHECK(value < 1 + 1e-14);
    }
    CHECK(std::abs(trace - 0.6 * static_cast<double>(n)) <= 1e-12 * static_cast<double>(n));
  }
}

TEMPLATE_TEST_CASE(
    "random matrices depend on the seed only, and spd ones are positive definite without diagonal dominance",
    "[toeplitz]", float, double) {
  for (const index_t n : {0, 1, 2, 3, 64, 501}) {
    const auto a = toeplitz_column<TestType>({ToeplitzKind::random, 0, 7}, n);
    const auto longer = toeplitz_column<TestType>({ToeplitzKind::random, 0, 7}, n + 5);
    const auto other = toeplitz_column<TestType>({ToeplitzKind::random, 0, 8}, n);
    const auto spd = toeplitz_column<TestType>({ToeplitzKind::spd, 0, 7}, n);
    double sum = 0;
    for (index_t i = 0; i < n; ++i) {
      CHECK(a(i, 0) == longer(i, 0));
      CHECK(a(i, 0) != other(i, 0));
      CHECK(std::abs(a(i, 0)) <= 1);
      if (i > 0) CHECK(spd(i, 0) == a(i, 0));
      if (i > 0) sum += 2 * std::abs(static_cast<double>(a(i, 0)));
    }
    const auto values = dense_eigenvalues(spd);
    for (const double value : values) CHECK(value > 0);
    if (n >= 64) CHECK(static_cast<double>(spd(0, 0)) < sum / 2);
    if (n >= 64) CHECK(values.front() < 0.75 * static_cast<double>(spd(0, 0)));
  }
}

TEST_CASE("norm bounds lie above the norm and near it", "[toeplitz]") {
  CHECK(toeplitz_norm_bound<double>(0, nullptr, 3) == 0);
  for (const ToeplitzGenerator& kind : {ToeplitzGenerator{ToeplitzKind::random},
                                        {ToeplitzKind::spd},
                                        {ToeplitzKind::prolate, 0.1},
                                        {ToeplitzKind::kms, 0.9},
                                        {ToeplitzKind::second_difference},
                                        {ToeplitzKind::singular_minors}})
    for (const index_t n : {1, 2, 3, 64, 200})
      for (const double sigma : {0.0, 0.5, -30.0}) {
        const auto t = toeplitz_column<double>(kind, n);
        double norm = 0;
        for (const double value : dense_eigenvalues(t)) norm = std::max(norm, std::abs(value - sigma));
        const double bound = toeplitz_norm_bound(n, t.data(), sigma);
        CAPTURE(static_cast<int>(kind.kind), n, sigma, norm, bound);
        CHECK(bound >= norm * (1 - 1e-14));
        CHECK(bound <= 2 * norm);
      }
  const std::vector<double> strange{1, std::numeric_limits<double>::quiet_NaN()};
  CHECK(std::isnan(toeplitz_norm_bound(2, strange.data(), 0)));
}

TEST_CASE("kinds of Toeplitz matrices refuse parameters out of range", "[toeplitz]") {
  CHECK_THROWS_AS(toeplitz_column<double>({ToeplitzKind::prolate, 0.5}, 4), ArgumentError);
  CHECK_THROWS_AS(toeplitz_column<double>({ToeplitzKind::prolate, 0}, 4), ArgumentError);
  CHECK_THROWS_AS(toeplitz_column<double>({ToeplitzKind::kms, 1}, 4), ArgumentError);
  CHECK_THROWS_AS(toeplitz_column<double>({ToeplitzKind::random}, -1), ArgumentError);
}
