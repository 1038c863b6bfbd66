#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>

#include <numbers>

using namespace tesela::test;

namespace {

std::span<const double> column(const HostMatrix<double>& t) { return {t.data(), static_cast<std::size_t>(t.rows())}; }

}  // namespace

CORES_TEST_CASE("both counters agree for the symmetric and the skew part") {
  for (const index_t n : {1, 2, 3, 4, 5, 64, 101}) {
    const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 9}, n);
    Graph g(runtime);
    const SineToeplitz<double> A(g, column(t));
    std::vector<double> shifts;
    const Generator<double> random{Pattern::uniform, 0, 0, 5};
    for (index_t i = 0; i < 100; ++i) shifts.push_back(A.norm() * random.uniform(i, 0));
    const auto one = toeplitz_count<double>(g, A, shifts),
               other = toeplitz_count<double>(g, A, shifts, {.solver = ToeplitzSolver::levinson});
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      CAPTURE(n, shifts[i]);
      REQUIRE(one[i].below == other[i].below);
    }
  }
}

CORES_TEST_CASE("counts agree with a dense eigensolver") {
  for (const index_t n : {64, 501}) {
    const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 9}, n);
    const std::vector<double> right = dense_eigenvalues(t);
    const double norm = std::max(-right.front(), right.back());
    std::vector<double> shifts;
    const Generator<double> random{Pattern::uniform, 0, 0, 77};
    for (index_t i = 0; i < (n == 64 ? 1000 : 200); ++i) shifts.push_back(1.1 * norm * random.uniform(i, 0));
    Graph g(runtime);
    const SineToeplitz<double> A(g, column(t));
    const std::vector<Inertia> counts = toeplitz_count<double>(g, A, shifts);
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      const auto below = std::lower_bound(right.begin(), right.end(), counts[i].shift) - right.begin();
      REQUIRE(counts[i].total() == below);
      REQUIRE_FALSE(counts[i].doubtful);
    }
  }
}

CORES_TEST_CASE("an eigenvalue equal to a shift is not counted below it, also at t_0") {
  Graph g(runtime);
  const index_t n = 101;
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::second_difference, 0, 1}, n);
  const SineToeplitz<double> A(g, column(t));
  // The middle eigenvalue of the 101 is 2 = t_0.
  const double tenth = 2 - 2 * std::cos(10 * std::numbers::pi / 102),
               infinity = std::numeric_limits<double>::infinity();
  const double shifts[] = {2, tenth, 1.234, 2 + 1e-12, -infinity, infinity, 1e300};
  const index_t below[] = {50, 9, 38, 51, 0, 101, 101};
  const std::vector<Inertia> counts = toeplitz_count<double>(g, A, shifts);
  for (std::size_t i = 0; i < 7; ++i) {
    INFO("shift " << shifts[i]);
    CHECK(counts[i].total() == below[i]);
    CHECK(counts[i].shift == shifts[i]);
    CHECK_FALSE(counts[i].nudged);
    CHECK_FALSE(counts[i].doubtful);
  }
  const double nan[] = {std::nan("")};
  CHECK_THROWS_AS(toeplitz_count<double>(g, A, nan), ArgumentError);
}

CORES_TEST_CASE("slices respect the limit and contain every eigenvalue") {
  Graph g(runtime);
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 4}, 333);
  const std::vector<double> right = dense_eigenvalues(t);
  const SineToeplitz<double> A(g, column(t));
  double radius = 0;  // of Gershgorin's largest disc
  for (index_t i = 0; i < 333; ++i) {
    double sum = 0;
    for (index_t j = 0; j < 333; ++j) sum += i == j ? 0 : std::abs(t(std::abs(i - j), 0));
    radius = std::max(radius, sum);
  }
  for (const index_t most : {1, 2, 10, 100, 1000}) {
    index_t total = 0, counts = 0, counts_of_disc = 0;
    double end = -1e300;
    const double infinity = std::numeric_limits<double>::infinity();
    const auto of_disc = toeplitz_slice<double>(g, A, most, -infinity, infinity, &counts_of_disc, {.gershgorin = true});
    if (most >= 333) {  // one interval, from end to end
      CHECK(std::abs(of_disc.front().low - (t(0, 0) - radius)) <= 1e-5 * radius);
      CHECK(std::abs(of_disc.back().high - (t(0, 0) + radius)) <= 1e-5 * radius);
    }
    for (const SpectrumInterval& i : of_disc) {
      REQUIRE(i.total() <= most);
      total += i.total();
    }
    CHECK(total == 333);
    total = 0;
    for (const SpectrumInterval& i : toeplitz_slice<double>(g, A, most, -infinity, infinity, &counts)) {
      REQUIRE(i.total() <= most);
      REQUIRE(i.low >= end);
      end = i.high;
      const auto inside = std::count_if(right.begin(), right.end(), [&](double v) { return v >= i.low && v < i.high; });
      REQUIRE(i.total() == inside);
      total += i.total();
    }
    CHECK(total == 333);
    if (most <= 10) CHECK(counts < counts_of_disc);
  }
}
