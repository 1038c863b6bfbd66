#include "tests/support/test.hpp"
#include "tools/checks/toeplitz_spectrum_error.hpp"

using namespace tesela;

namespace {

// t = (2, 1): eigenvalues 1 with (1, -1) / sqrt(2), 3 with (1, 1) / sqrt(2).
const double half = std::sqrt(0.5);
const std::vector<double> t{2, 1}, right{1, 3}, vectors{half, -half, half, half};
const std::vector<signed char> symmetry{-1, 1};

ToeplitzSpectrumError measure(const std::vector<double>& values, const std::vector<signed char>& sides,
                              const std::vector<double>& x) {
  return toeplitz_spectrum_error<double>(2, t.data(), values, sides, x.data(), 3);
}

}  // namespace

TEST_CASE("errors of eigenpairs are measured") {
  const ToeplitzSpectrumError none = measure(right, symmetry, vectors);
  CHECK(none.residual < 1e-15);
  CHECK(none.orthogonality < 1e-15);
  CHECK(none.symmetry < 1e-15);
  CHECK(std::abs(measure({1, 3.3}, symmetry, vectors).residual - 0.1) < 1e-14);
  CHECK(std::abs(measure(right, symmetry, {half, -half, 2 * half, 2 * half}).orthogonality - 3) < 1e-14);
  CHECK(std::abs(measure(right, {1, 1}, vectors).symmetry - 2) < 1e-14);
}

TEST_CASE("NaN and infinities are not lost among errors at any place") {
  const double nan = std::nan("");
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<double> x = vectors;
    x[i] = nan;
    const ToeplitzSpectrumError error = measure(right, symmetry, x);
    CHECK(std::isnan(error.residual));
    CHECK(std::isnan(error.orthogonality));
    CHECK(std::isnan(error.symmetry));
  }
  CHECK(std::isnan(measure({nan, 3}, symmetry, vectors).residual));
}

TEST_CASE("dense eigenvalues and norms of Toeplitz matrices are correct") {
  const std::vector<double> values = toeplitz_dense_values<double>(2, t.data());
  REQUIRE(values.size() == 2);
  CHECK(std::abs(values[0] - 1) < 1e-15);
  CHECK(std::abs(values[1] - 3) < 1e-15);
  CHECK(std::abs(toeplitz_norm_estimate<double>(2, t.data(), values) - 3) < 1e-15);
  CHECK(std::abs(toeplitz_norm_estimate<double>(2, t.data(), {}) - std::sqrt(5)) < 1e-15);
  const std::vector<double> zero{0, 0};
  CHECK(toeplitz_norm_estimate<double>(2, zero.data(), {}) == 1);
}

TEST_CASE("values are compared one by one and counted in their range") {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto error = [&](const std::vector<double>& values, index_t first, double low, double high) {
    return toeplitz_values_error<double>(2, t.data(), values, first, false, low, high, 2e-15);
  };
  CHECK(error({1, 3}, 0, -infinity, infinity).error < 1e-15);
  CHECK(error({1, 3}, 0, -infinity, infinity).miscounted == 0);
  CHECK(error({1}, 0, -infinity, infinity).miscounted == 1);
  CHECK(error({3}, 1, 2, 4).miscounted == 0);
  CHECK(error({3}, 0, 2, 4).error > 0.6);  // 3 is not the first eigenvalue
  CHECK(error({3}, 1, 3, 4).miscounted == 0);
  CHECK(error({3}, 1, 3 + 1e-13, 4).miscounted == 1);
  CHECK(error({}, 0, 3, 4).miscounted == 1);  // the lower end is included
  CHECK(error({1}, 0, 1, 3).miscounted == 0);
  CHECK(error({1, 3}, 0, 1, 3).miscounted == 1);  // the upper end is not
  CHECK(std::isnan(error({1, std::nan("")}, 0, -infinity, infinity).error));
  CHECK(std::isinf(error({1, 3, 3}, 0, -infinity, infinity).error));
  // If some are missing, each value is compared with the nearest eigenvalue.
  CHECK(toeplitz_values_error<double>(2, t.data(), std::vector{3.0}, 0, true, -infinity, infinity, 1e-15).error <
        1e-15);
  // The errors do not depend on the scale.
  const std::vector<double> huge{5e307, 2.5e307}, tiny{2e-310, 1e-310};
  CHECK(
      toeplitz_values_error<double>(2, huge.data(), std::vector{2.5e307, 7.5e307}, 0, false, 0, infinity, 1e290).error <
      1e-15);
  CHECK(toeplitz_values_error<double>(2, tiny.data(), std::vector{1e-310, 3e-310}, 0, false, 0, infinity, 0).error <
        1e-12);
  CHECK(toeplitz_norm_estimate<double>(2, tiny.data(), {}) > 2e-310);
}
