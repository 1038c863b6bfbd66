#include "tests/support/least_squares.hpp"
#include "tests/support/test.hpp"
#include "tools/checks/svd_error.hpp"
#include <tesela/algorithms/svd/pca.hpp>
#include <tesela/tiles/filled.hpp>

using namespace tesela::test;

namespace {

template <class T>
HostMatrix<T> table(index_t m, index_t n, double shift = 0) {
  const Matrix a = random(m, n, 17);
  return filled<T>({m, n}, [&](index_t i, index_t j) {
    return static_cast<T>(shift + a(i, j) * static_cast<double>(j + 1) + (j > 0 ? a(i, 0) : 0));
  });
}

template <class T>
Pca<T> in_memory(HostMatrix<T>& a, const PcaOptions& options = {}) {
  return pca(runtime(), MatrixView(a), options);
}
template <class T>
Pca<T> by_rows(const HostMatrix<T>& a, const PcaOptions& options = {}) {
  Graph g(runtime());
  return pca(g, rows_of(a), options);
}

template <class T>
void check(const HostMatrix<T>& a, const Pca<T>& found) {
  REQUIRE(found.status.ok());
  const PcaError error = pca_error(rows_of(a), found);
  const PcaBounds bounds = pca_bounds<T>(a.rows(), a.cols());
  CHECK(error.means <= bounds.value);
  CHECK(error.residual <= bounds.value);
  CHECK(error.orthogonality <= bounds.orthogonality);
  CHECK(error.scores <= bounds.value);
  CHECK(error.shares <= bounds.value);
  for (index_t c = 0; c < found.loadings.cols(); ++c) {
    T largest = 0;
    for (index_t i = 0; i < a.cols(); ++i)
      if (std::abs(found.loadings(i, c)) > std::abs(largest)) largest = found.loadings(i, c);
    CHECK(largest > 0);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("components of every shape are within their bounds, in memory and by rows", "", float, double) {
  for (const Shape shape : {Shape{2, 1}, {2, 2}, {3, 7}, {40, 5}, {5, 40}, {3000, 6}, {300, 120}})
    for (const bool scale : {false, true}) {
      HostMatrix<TestType> a = table<TestType>(shape.rows, shape.cols);
      CAPTURE(to_string(shape), scale);
      const auto found = in_memory(a, {.scale = scale}), streamed = by_rows(a, {.scale = scale, .rows = 64});
      check(a, found);
      check(a, streamed);
      const double rounding = static_cast<double>(std::numeric_limits<TestType>::epsilon());
      double together = 0;
      for (std::size_t c = 0; c < found.shares.size(); ++c) {
        together += found.shares[c];
        CHECK(std::abs(found.deviations[c] - streamed.deviations[c]) <= 500 * rounding * found.deviations[0]);
      }
      CHECK(std::abs(together - 1) <= 500 * rounding);
    }
}

TEST_CASE("two columns have the closed form of their covariance, and names of signs are fixed") {
  HostMatrix<double> a(4, 2);
  const double numbers[] = {1, 2, 3, 6, 2, 1, 5, 8};
  std::copy_n(numbers, 8, a.data());
  double xx = 0, xy = 0, yy = 0;
  for (index_t i = 0; i < 4; ++i) {
    const double x = a(i, 0) - 3, y = a(i, 1) - 4;
    xx += x * x / 3, xy += x * y / 3, yy += y * y / 3;
  }
  const double root = std::hypot((xx - yy) / 2, xy);
  const auto found = in_memory(a);
  CHECK(std::abs(found.deviations[0] * found.deviations[0] - ((xx + yy) / 2 + root)) <= 1e-13);
  CHECK(std::abs(found.deviations[1] * found.deviations[1] - ((xx + yy) / 2 - root)) <= 1e-13);
  CHECK(found.means == std::vector<double>{3, 4});
  const auto scaled = in_memory(a, {.scale = true});
  CHECK(std::abs(scaled.scales[0] - std::sqrt(xx)) <= 1e-14);
  const double correlation = xy / std::sqrt(xx * yy);
  CHECK(std::abs(scaled.shares[0] - (1 + correlation) / 2) <= 1e-14);
}

TEST_CASE("a large mean costs no digits in memory, and by rows no more than the data have") {
  HostMatrix<double> a = table<double>(2000, 4), shifted = table<double>(2000, 4, 0x1p20);
  // The shift rounds the data, so compare with the rounded data about 0.
  for (index_t k = 0; k < a.size(); ++k) a.data()[k] = shifted.data()[k] - 0x1p20;
  const auto plain = in_memory(a), moved = in_memory(shifted), rows = by_rows(shifted);
  for (std::size_t c = 0; c < 4; ++c) {
    CHECK(std::abs(moved.deviations[c] / plain.deviations[c] - 1) <= 1e-13);
    CHECK(std::abs(rows.deviations[c] / plain.deviations[c] - 1) <= 1e-13);
  }
}

TEST_CASE("a part of the components has the shares of all") {
  HostMatrix<double> a = table<double>(50, 6);
  const auto all = in_memory(a), two = in_memory(a, {.components = 2}), rows = by_rows(a, {.components = 2});
  CHECK(two.loadings.shape() == Shape{6, 2});
  CHECK(two.scores.shape() == Shape{50, 2});
  for (std::size_t c = 0; c < 2; ++c) {
    CHECK(std::abs(two.shares[c] - all.shares[c]) <= 1e-14);
    CHECK(std::abs(rows.shares[c] - all.shares[c]) <= 1e-14);
  }
  CHECK(by_rows(a, {.scores = false}).scores.size() == 0);
}

TEST_CASE("constant, dependent, large and small columns") {
  HostMatrix<double> a = table<double>(30, 3);
  for (index_t i = 0; i < 30; ++i) a(i, 1) = 0.1, a(i, 2) = 2 * a(i, 0);
  for (const auto& found : {in_memory(a), by_rows(a)}) {
    CHECK(std::abs(found.shares[0] - 1) <= 1e-14);
    CHECK(std::abs(found.loadings(2, 0) - 2 / std::sqrt(5)) <= 1e-14);
  }
  CHECK_THROWS_WITH(in_memory(a, {.scale = true}), ContainsSubstring("column 2 is constant"));
  CHECK_THROWS_WITH(by_rows(a, {.scale = true}), ContainsSubstring("column 2 is constant"));
  for (const double factor : {1e150, 1e-150, 1e300, 1e-300}) {
    HostMatrix<double> scaled = table<double>(30, 3);
    for (index_t k = 0; k < scaled.size(); ++k) scaled.data()[k] *= factor;
    check(scaled, in_memory(scaled));
    check(scaled, by_rows(scaled));
  }
  HostMatrix<double> zero = HostMatrix<double>::zeros(4, 2);
  CHECK(in_memory(zero).shares == std::vector<double>{0, 0});
}

TEST_CASE("wrong tables of principal components") {
  HostMatrix<double> a = table<double>(10, 3);
  for (const double bad : {not_a_number, infinity}) {
    a(4, 1) = bad;
    const auto found = in_memory(a);
    CHECK(found.status.verdict == SvdStatus::Verdict::not_finite);
    CHECK((found.status.row == 4 && found.status.column == 1));
    CHECK(by_rows(a).status.verdict == SvdStatus::Verdict::not_finite);
  }
  HostMatrix<double> one = table<double>(1, 3), none(5, 0);
  CHECK_THROWS_AS(in_memory(one), ArgumentError);
  CHECK_THROWS_AS(in_memory(none), ArgumentError);
  HostMatrix<double> good = table<double>(10, 3);
  for (const index_t wrong : {0, 4, -1}) CHECK_THROWS_AS(in_memory(good, {.components = wrong}), ArgumentError);
}

TEST_CASE("a column whose norm overflows has no principal components") {
  HostMatrix<double> a(4, 2);
  for (index_t i = 0; i < 4; ++i) a(i, 0) = (i % 2 == 0 ? -1 : 1) * 9.6e307, a(i, 1) = static_cast<double>(i);
  for (const bool scale : {false, true})
    CHECK(in_memory(a, {.scale = scale}).status.verdict == SvdStatus::Verdict::overflow);
}
