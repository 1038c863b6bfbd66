#include "tests/support/test.hpp"
#include <tesela/algorithms/toeplitz/internal/dense_halves.hpp>
#include <tesela/algorithms/toeplitz/internal/spectrum_options.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_accuracy.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_search.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_matrices.hpp>

#include <numbers>

// The parts of toeplitz_spectrum, tested on second differences: 2 - 2 cos(k pi / (n + 1)), k = 1 ... n.

using namespace tesela;

namespace {

constexpr index_t n = 90;

double eigenvalue(index_t k) { return 2 - 2 * std::cos(static_cast<double>(k) * std::numbers::pi / (n + 1)); }

struct Problem {
  Runtime runtime{{.gpus = 0}};
  Graph g{runtime};
  HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::second_difference, 0, 1}, n);
  SineToeplitz<double> A{g, std::span<const double>(t.data(), n)};
  SpectrumOptions options;

  Problem() {
    options.per_interval = 10;
    options.vectors = true;
    options = detail::resolved_options<double>(runtime, n, options);
  }
  double scaled(double value) const { return std::ldexp(value, -A.exponent()); }
};

std::vector<double> sorted_values(const std::vector<detail::ComputedEigenvalue>& found) {
  std::vector<double> values;
  for (const detail::ComputedEigenvalue& f : found) values.push_back(f.value);
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

TEST_CASE("slices contain the requested eigenvalues and few others") {
  Problem p;
  const detail::SpectrumSlices all = detail::slice_wanted(p.g, p.A, p.options);
  CHECK((all.first == 0 && all.expected == n && all.clusters.empty()));
  p.options.largest = 20;
  const detail::SpectrumSlices some = detail::slice_wanted(p.g, p.A, p.options);
  CHECK(some.expected >= 20);
  CHECK(some.expected <= 20 + 10 / 4);
  CHECK(some.first == n - some.expected);
  index_t total = 0;
  for (const SpectrumInterval& i : some.intervals) total += i.total();
  CHECK(total == some.expected);
  CHECK(some.counts > 0);
}

TEST_CASE("a search of some intervals finds exactly their eigenvalues") {
  Problem p;
  const detail::SpectrumSlices all = detail::slice_wanted(p.g, p.A, p.options);
  REQUIRE(all.intervals.size() > 3);
  const std::vector<SpectrumInterval> two(all.intervals.begin() + 1, all.intervals.begin() + 3);
  const auto found = detail::search_intervals(p.g, p.A, p.options, two);
  CHECK(found.inversions >= 2);
  CHECK(found.steps > 0);
  CHECK((found.clusters.empty() && found.shortages.empty()));
  REQUIRE(found.pieces.size() == 2);
  const index_t before = all.intervals.front().total();
  const std::vector<double> values = sorted_values(found.values);
  REQUIRE(static_cast<index_t>(values.size()) == two[0].total() + two[1].total());
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(std::abs(values[i] - p.scaled(eigenvalue(before + static_cast<index_t>(i) + 1))) < 1e-14);
  CHECK(detail::search_intervals(p.g, p.A, p.options, {}).values.empty());
}

TEST_CASE("the verdict counts missing and inaccurate values") {
  Problem p;
  const detail::SpectrumSlices all = detail::slice_wanted(p.g, p.A, p.options);
  const auto found = detail::search_intervals(p.g, p.A, p.options, all.intervals);
  const auto judged = [&](const std::vector<detail::ComputedEigenvalue>& values) {
    return detail::certify_search(p.g, p.A, p.options, all.range, values, {}).verdict;
  };
  CHECK(judged(found.values).good());
  auto missing = found.values;
  missing.pop_back();
  CHECK(judged(missing).uncertain == 1);
  auto vague = found.values;
  vague.front().residual = 1e-3;
  CHECK_FALSE(judged(vague).good());
}

TEST_CASE("dense pairs belong to their positions in the spectrum") {
  Problem p;
  const auto dense = detail::dense_pairs(p.g, p.A, 7, 5);
  REQUIRE(dense.values.size() == 5);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(std::abs(dense.values[i].value - p.scaled(eigenvalue(8 + static_cast<index_t>(i)))) < 1e-14);
  CHECK(detail::accuracy_of_orthogonal(p.A, p.options, dense.values).good());
  CHECK(detail::certify_dense(p.g, p.A, p.options, {}, dense.values).verdict.uncertain > 0);  // only 5 of 90
  const TileMatrix<double> v = detail::place_vectors(p.g, p.A, dense.values, dense.vectors);
  CHECK((v.m() == n && v.n() == 5));
  const auto first = v(0, 0).read();
  const double scale = std::sqrt(2.0 / (n + 1));
  for (index_t i = 0; i < n; ++i)  // equals sin(8 (i + 1) pi / (n + 1)) up to the sign
    CHECK(std::abs(std::abs(first(i, 0)) -
                   std::abs(scale * std::sin(static_cast<double>(8 * (i + 1)) * std::numbers::pi / (n + 1)))) < 1e-12);
}

TEST_CASE("dense values without vectors have small measured errors that bound the true ones") {
  Problem p;
  const auto values = detail::dense_values(p.g, p.A, 0, n);
  REQUIRE(values.size() == n);
  for (index_t i = 0; i < n; ++i) {
    const detail::ComputedEigenvalue& v = values[static_cast<std::size_t>(i)];
    CHECK(std::abs(v.value - p.scaled(eigenvalue(i + 1))) <= v.residual);
    CHECK(v.residual < 1e-13);
    CHECK(v.residual > 0);
  }
  CHECK(detail::certify_dense(p.g, p.A, p.options, {}, values).verdict.good());
  auto missing = values, twice = values;
  missing.pop_back();
  CHECK(detail::certify_dense(p.g, p.A, p.options, {}, missing).verdict.uncertain == 1);
  twice[4] = twice[6];
  REQUIRE(twice[4].part == values[4].part);
  CHECK(detail::certify_dense(p.g, p.A, p.options, {}, twice).verdict.uncertain == 2);
}
