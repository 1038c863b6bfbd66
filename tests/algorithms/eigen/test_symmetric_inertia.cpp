#include "tests/support/four_types.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/symmetric_eig.hpp"
#include <tesela/algorithms/eigen/symmetric_inertia.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/host_matrix.hpp>

using namespace tesela::test;

namespace {

template <class T>
struct Problem {
  HostMatrix<T> a;
  std::vector<double> values;
};

template <class T>
Problem<T> problem(const char* kind, index_t n) {
  HostMatrix<T> a = lower<T>(kind, n);
  std::vector<double> values = reference_eigenvalues(a);
  REQUIRE(std::ssize(values) == n);
  return {std::move(a), std::move(values)};
}

template <class T>
TileMatrix<T> tiles(HostMatrix<T>& a, index_t nb) {
  return TileMatrix<T>::map(runtime(), a.data(), a.rows(), a.cols(), a.ld(), {nb, nb});
}

}  // namespace

TEMPLATE_TEST_CASE("symmetric_inertia counts the eigenvalues below a shift", "[gpu]", FOUR_TYPES) {
  using T = TestType;
  for (const char* kind : {"uniform", "normal", "arithmetic", "wilkinson", "laplacian", "exchange"})
    for (const index_t n : {1, 2, 25, 64, 131}) {
      Problem<T> p = problem<T>(kind, n);
      for (const index_t nb : {16, 50, 200}) {
        const TileMatrix<T> A = tiles(p.a, nb);
        const double norm = std::max(std::abs(p.values.front()), std::abs(p.values.back()));
        for (const double at : {-1.5, -0.313, 0.0171, 0.5003, 1.5}) {
          CAPTURE(kind, n, nb, at);
          const auto sigma = static_cast<double>(static_cast<real_t<T>>(at * norm));
          Graph g(runtime());
          const SymmetricInertia inertia = symmetric_inertia(g, A, sigma);
          const auto below = [&](double limit) {
            return std::lower_bound(p.values.begin(), p.values.end(), limit) - p.values.begin();
          };
          CHECK(inertia.below >= below(sigma - inertia.uncertainty));
          CHECK(inertia.below <= below(sigma + inertia.uncertainty));
          // The bound must be small enough to reject wrong counts.
          if (std::abs(at) == 1.5)
            CHECK(inertia.uncertainty <=
                  1e3 * static_cast<double>(n) * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()) * norm);
        }
        if (nb >= n) break;  // one tile
      }
    }
}

TEMPLATE_TEST_CASE("symmetric_inertia counts correctly under a sanitizer", "[gpu][sanitize]", FOUR_TYPES) {
  Problem<TestType> p = problem<TestType>("second-difference", 100);
  Graph g(runtime());
  const auto below = std::lower_bound(p.values.begin(), p.values.end(), 0.9) - p.values.begin();
  CHECK(symmetric_inertia(g, tiles(p.a, 70), 0.9).below == below);
}

TEMPLATE_TEST_CASE("symmetric_inertia on GPUs alone counts as on cores", "[gpu]", float, double) {
  using T = TestType;
  test::require_gpu();
  Problem<T> p = problem<T>("uniform", 700);
  const double norm = std::max(std::abs(p.values.front()), std::abs(p.values.back()));
  const auto counts = [&](RuntimeOptions where) {
    test::shared_runtime.reset();
    runtime(std::move(where));
    std::vector<SymmetricInertia> found;
    for (const index_t nb : {300, 700}) {
      const TileMatrix<T> A = tiles(p.a, nb);
      Graph g(runtime());
      for (const double at : {-0.9, -0.4, 0.0, 0.2, 0.7})
        found.push_back(symmetric_inertia(g, A, static_cast<double>(static_cast<real_t<T>>(at * norm))));
    }
    return found;
  };
  const std::vector<SymmetricInertia> cores = counts({.gpus = 0}), gpu = counts({.cpus = 0, .gpus = 1});
  for (std::size_t i = 0; i < cores.size(); ++i) {
    CAPTURE(i, cores[i].uncertainty, gpu[i].uncertainty);
    if (std::is_same_v<T, double>) CHECK(cores[i].below == gpu[i].below);
    // The growth agrees with that on cores unless a pivot is near a rounding error.
    if (std::min(cores[i].uncertainty, gpu[i].uncertainty) > 1e-3 * norm) continue;
    CHECK(gpu[i].uncertainty <= 10 * cores[i].uncertainty);
    CHECK(cores[i].uncertainty <= 10 * gpu[i].uncertainty);
  }
  test::shared_runtime.reset();
}

TEST_CASE("symmetric_inertia: a zero pivot gives no certainty, and infinities do not spread", "[gpu]") {
  HostMatrix<double> a(2, 2);
  a(0, 0) = a(1, 1) = 0, a(1, 0) = 1;
  Graph g(runtime());
  CHECK(std::isinf(symmetric_inertia(g, tiles(a, 1), 0).uncertainty));
  CHECK(symmetric_inertia(g, tiles(a, 2), 0.5).below == 1);
  CHECK_THROWS_AS(symmetric_inertia(g, tiles(a, 2), std::nan("")), ArgumentError);
  HostMatrix<double> none(0, 0);
  CHECK(symmetric_inertia(g, tiles(none, 2), 1).below == 0);
}

TEST_CASE("symmetric_inertia: counts of subnormal numbers have an uncertainty") {
  const double least = std::numeric_limits<double>::denorm_min();
  for (int corner = 1; corner <= 5; ++corner)
    for (int beside = 1; beside <= 5; ++beside)
      for (int last = 1; last <= 5; ++last) {
        HostMatrix<double> a(2, 2);
        a(0, 0) = corner * least, a(1, 0) = a(0, 1) = beside * least, a(1, 1) = last * least;
        const SymmetricInertia counted = symmetric_inertia<double>(runtime(), MatrixView<const double>(a), 0);
        const double middle = 0.5 * (corner + last), radius = std::hypot(0.5 * (corner - last), beside);
        const auto below = [&](double x) { return (middle - radius < x ? 1 : 0) + (middle + radius < x ? 1 : 0); };
        const double units = counted.uncertainty / least;
        CAPTURE(corner, beside, last, units);
        CHECK((below(-units) <= counted.below && counted.below <= below(units)));
      }
}

TEMPLATE_TEST_CASE("symmetric_inertia uses a Hermitian matrix in memory, with a real diagonal and without NaN", "",
                   COMPLEX_TYPES) {
  using T = TestType;
  using Real = real_t<T>;
  Problem<T> p = problem<T>("uniform", 90);
  const double middle = (p.values[44] + p.values[45]) / 2;
  CHECK(symmetric_inertia<T>(runtime(), MatrixView<const T>(p.a), middle).below == 45);
  p.a(70, 7) = T(1, std::numeric_limits<Real>::quiet_NaN());
  CHECK(symmetric_inertia<T>(runtime(), MatrixView<const T>(p.a), middle).status.info == 8);
  Graph g(runtime());
  CHECK(std::isinf(symmetric_inertia(g, tiles(p.a, 50), middle).uncertainty));
  p.a(70, 7) = 0;
  p.a(3, 3) = T(1, std::numeric_limits<Real>::quiet_NaN());
  CHECK(std::isinf(symmetric_inertia(g, tiles(p.a, 50), middle).uncertainty));
  p.a(3, 3) = T(1, 2);
  CHECK_THROWS_AS(symmetric_inertia<T>(runtime(), MatrixView<const T>(p.a), middle), ArgumentError);
}

TEMPLATE_TEST_CASE("certify_spectrum accepts the spectrum and rejects another one", "[gpu]", FOUR_TYPES) {
  using T = TestType;
  Problem<T> p = problem<T>("uniform", 300);
  const TileMatrix<T> A = tiles(p.a, 64);
  Graph g(runtime());
  const double accuracy = 1e-12;
  const Certificate good = certify_spectrum<T>(g, A, p.values, accuracy, 10, 1);
  CHECK(good.certified + good.doubtful == 10);
  CHECK(good.certified >= (std::is_same_v<real_t<T>, double> ? 8 : 3));
  CHECK(good.misses == 0);
  // If the values' own errors reach the gaps, nothing is certified.
  CHECK(certify_spectrum<T>(g, A, p.values, 10, 10, 1).certified < 5);
  // The spectrum of another matrix: every value moved to one side by more than a gap.
  std::vector<double> other = p.values;
  for (double& value : other) value += 0.5;
  CHECK(certify_spectrum<T>(g, A, other, accuracy, 10, 1).misses > 0);
  // One value missing, another one duplicated.
  std::vector<double> doubled = p.values;
  std::copy(p.values.begin(), p.values.end() - 150, doubled.begin() + 1);
  doubled[0] = p.values[0];
  CHECK(certify_spectrum<T>(g, A, doubled, accuracy, 20, 2).misses > 0);
}

TEST_CASE("certify_spectrum accepts equal values and zero matrices") {
  for (const double value : {0.0, 1.0, -3.0}) {
    HostMatrix<double> a = HostMatrix<double>::zeros(40, 40);
    for (index_t i = 0; i < 40; ++i) a(i, i) = value;
    Graph g(runtime());
    const std::vector<double> values(40, value);
    CHECK(certify_spectrum<double>(g, tiles(a, 16), values, 0, 6, 1).certified >= 5);
  }
}

TEST_CASE("count_below moves its shift at a breakdown and reports unknown if it is never certain") {
  const std::vector<double> values{1, 2, 2, 3};
  const auto sure = [&](double sigma) -> SymmetricInertia {
    if (sigma == 2 || sigma == 2.5) return {77, std::numeric_limits<double>::infinity()};
    return {std::lower_bound(values.begin(), values.end(), sigma) - values.begin(), 1e-15};
  };
  const auto counted = [&](double end) {
    const InertiaCount count = count_below(values, end, 1e-14, sure);
    CHECK(count.known);
    return std::pair{count.least, count.most};
  };
  CHECK(counted(1.5) == std::pair<index_t, index_t>{1, 1});
  CHECK(counted(2) == std::pair<index_t, index_t>{1, 3});
  CHECK(counted(2.5) == std::pair<index_t, index_t>{3, 3});
  CHECK_FALSE(count_below(values, 2, 1e-14, [](double) -> SymmetricInertia {
                return {0, std::numeric_limits<double>::infinity()};
              }).known);
  CHECK_FALSE(count_below(values, 2, std::numeric_limits<double>::infinity(), sure).known);
}
