#include "tests/support/four_types.hpp"
#include "tests/support/padded.hpp"
#include "tests/support/variable.hpp"
#include "tools/checks/factor_error.hpp"
#include <tesela/algorithms/dense/lu.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>

using namespace tesela;

namespace {

/// Returns uniform numbers times 2^power; `shift` on the diagonal makes its elements good pivots.
template <class T>
HostMatrix<T> matrix(index_t n, double shift, int power = 0) {
  HostMatrix<T> a(n, n);
  const Generator<T> element{Pattern::uniform, 0, n, 5};
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i)
      a(i, j) = times_power_of_two(element(i, j) + static_cast<real_t<T>>(i == j ? shift : 0), power);
  return a;
}

template <class T>
struct Answer {
  HostMatrix<T> factors, x;
  std::vector<index_t> rows;
  index_t zero = 0;
};

/// Factors A in memory with a leading dimension of n + 3 and NaN in the padding.
template <class T>
Answer<T> solve(Runtime& runtime, const HostMatrix<T>& a, const HostMatrix<T>& b, index_t nb, Pivoting pivoting) {
  const index_t n = a.rows(), r = b.cols(), ld = n + 3;
  const T nan = test::nan_of<T>;
  std::vector<T> memory(static_cast<std::size_t>(ld * std::max<index_t>(n, 1)), nan),
      sides(static_cast<std::size_t>(ld * std::max<index_t>(r, 1)), nan);
  Answer<T> answer{HostMatrix<T>(n, n), HostMatrix<T>(n, r), {}, 0};
  {
    const auto A = TileMatrix<T>::map(runtime, memory.data(), n, n, ld, {std::max<index_t>(n, 1), nb}, "A");
    const auto X = TileMatrix<T>::map(runtime, sides.data(), n, r, ld, {std::max<index_t>(n, 1), 2}, "X");
    A.copy_from(a.data(), a.ld());
    X.copy_from(b.data(), b.ld());
    Graph g(runtime);
    const LuFactorization<T> factors = lu(g, A, pivoting);
    if (factors.zero_pivot() == 0) factors.solve(g, X);
    g.wait();
    answer.zero = factors.zero_pivot();
    answer.rows = factors.rows();
    A.copy_to(answer.factors.data(), answer.factors.ld());
    X.copy_to(answer.x.data(), answer.x.ld());
  }
  for (index_t j = 0; j < n; ++j)
    for (index_t i = n; i < ld; ++i) REQUIRE_FALSE(is_finite(memory[static_cast<std::size_t>(i + j * ld)]));
  return answer;
}

template <class T>
void check(Runtime& runtime, index_t n, index_t nb, Pivoting pivoting, int power = 0) {
  const double shift = pivoting == Pivoting::none ? (is_complex<T> ? 3 : 2) * std::sqrt(static_cast<double>(n)) : 0;
  CAPTURE(n, nb, static_cast<int>(pivoting), power);
  const HostMatrix<T> a = matrix<T>(n, shift, power), b = generate<T>({n, 3}, Generator<T>{Pattern::uniform, 0, 3, 9});
  const Answer<T> answer = solve(runtime, a, b, nb, pivoting);
  REQUIRE(answer.zero == 0);
  std::vector<index_t> sorted = answer.rows;
  std::sort(sorted.begin(), sorted.end());
  for (index_t i = 0; i < n; ++i) REQUIRE(sorted[static_cast<std::size_t>(i)] == i);
  const FactorError error = lu_error<T>(a, answer.factors, answer.rows);
  const double bound = factor_bound<T>(n, true);
  CAPTURE(error.growth, error.multipliers, error.backward, bound);
  CHECK(error.backward <= bound);
  CHECK(error.growth <= 2 + std::pow(static_cast<double>(n), 2.0 / 3));
  CHECK(error.multipliers <= 20);
  CHECK(solution_error(a, b, answer.x) <= bound);
  if (power == 0 && n > 0 && shift > 0) {  // well conditioned: compared with LAPACK
    HostMatrix<T> copy = a.clone(), known = b.clone();
    REQUIRE(lapack::gesv(n, index_t{3}, copy.data(), copy.ld(), known.data(), known.ld()) == 0);
    double apart = 0;
    for (index_t e = 0; e < known.size(); ++e)
      apart = std::max(apart, static_cast<double>(std::abs(known.data()[e] - answer.x.data()[e])));
    CHECK(apart <= 1e3 * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()));
  }
}

template <class T>
void check_all(Runtime& runtime, std::vector<index_t> orders) {
  for (const Pivoting pivoting : {Pivoting::none, Pivoting::tournament})
    for (const index_t n : orders)
      for (const index_t nb : {1, 17, 64, 200})
        if (n / nb < 40) check<T>(runtime, n, nb, pivoting);
  for (const int power : {-60, 60}) check<T>(runtime, 70, 32, Pivoting::tournament, power);
  if (sizeof(real_t<T>) == 8)
    for (const int power : {-996, 996}) check<T>(runtime, 70, 32, Pivoting::tournament, power);
}

/// Returns the reported position of the first zero pivot.
template <class T>
index_t zero_of(Runtime& runtime, const HostMatrix<T>& a, Pivoting pivoting) {
  return solve(runtime, a, HostMatrix<T>(a.rows(), 0), 33, pivoting).zero;
}

template <class T>
void check_zeros(Runtime& runtime) {
  constexpr index_t n = 100;
  HostMatrix<T> a = HostMatrix<T>::zeros(n, n);
  for (index_t i = 0; i < n; ++i) a((i + 1) % n, i) = 1;  // a permutation: no pivot on the diagonal
  CHECK(zero_of(runtime, a, Pivoting::none) == 1);
  CHECK(zero_of(runtime, a, Pivoting::tournament) == 0);
  for (const index_t place : {index_t{1}, index_t{32}, index_t{33}, index_t{34}, index_t{67}, n}) {
    HostMatrix<T> singular = HostMatrix<T>::zeros(n, n);
    for (index_t i = 0; i < n; ++i) singular(i, i) = i + 1 == place ? T(0) : T(2);
    for (index_t i = 1; i < n; ++i) singular(i - 1, i) = 1;
    if (place > 1) singular(place - 2, place - 1) = 0;  // column `place` is zero
    CAPTURE(place);
    CHECK(zero_of(runtime, singular, Pivoting::none) == place);
    CHECK(zero_of(runtime, singular, Pivoting::tournament) == place);
  }
  HostMatrix<T> a_nan = matrix<T>(n, 0);
  a_nan(50, 0) = test::nan_of<T>;
  CHECK(zero_of(runtime, a_nan, Pivoting::tournament) > 0);
}

/// Puts NaN and infinities into B, and into A on and off the diagonal.
template <class T>
void check_strange(Runtime& runtime) {
  constexpr index_t n = 100;
  for (const T bad : {test::nan_of<T>, T(-std::numeric_limits<real_t<T>>::infinity())})
    for (const index_t row : {index_t{0}, index_t{40}, n - 1}) {
      CAPTURE(bad, row);
      HostMatrix<T> a = matrix<T>(n, 0), x = HostMatrix<T>::zeros(n, 7);
      x(row, 4) = bad;
      {
        Graph g(runtime);
        const auto X = TileMatrix<T>::map(runtime, x.data(), n, 7, x.ld(), {n, 3});
        lu(g, TileMatrix<T>::map(runtime, a.data(), n, n, a.ld(), {n, 33})).solve(g, X);
        CHECK(g.wait().info == 5);
      }
      for (const index_t column : {index_t{0}, index_t{40}, n - 1}) {
        HostMatrix<T> one = HostMatrix<T>::zeros(n, n);
        for (index_t i = 0; i < n; ++i) one(i, i) = 1;
        one(row, column) = bad;
        CAPTURE(column);
        CHECK(zero_of(runtime, one, Pivoting::tournament) > 0);
        CHECK(zero_of(runtime, one, Pivoting::none) > 0);
      }
    }
}

/// Factors the identity with one subnormal pivot; X is all ones.
template <class T>
void check_subnormal(Runtime& runtime, bool solves) {
  for (const index_t n : {33, 70})
    for (const index_t at : {index_t{0}, index_t{20}, n - 1})
      for (const Pivoting pivoting : {Pivoting::none, Pivoting::tournament}) {
        CAPTURE(n, at, static_cast<int>(pivoting));
        HostMatrix<T> a = HostMatrix<T>::zeros(n, n), b(n, 2);
        for (index_t i = 0; i < n; ++i) a(i, i) = i == at ? std::numeric_limits<T>::denorm_min() * 32 : T(1);
        for (index_t i = 0; i < n; ++i) b(i, 0) = b(i, 1) = a(i, i);
        const Answer<T> answer = solve(runtime, a, b, 33, pivoting);
        CHECK(answer.zero == 0);
        REQUIRE(std::equal(a.data(), a.data() + a.size(), answer.factors.data()));
        for (index_t e = 0; solves && e < b.size(); ++e) REQUIRE(answer.x.data()[e] == 1);
      }
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("LU by tiles has small residuals and growth, and finds solutions", "", FOUR_TYPES) {
  check_all<TestType>(runtime, {0, 1, 2, 17, 33, 64, 130, 301});
  check_zeros<TestType>(runtime);
  check_strange<TestType>(runtime);
  if (runtime.gpus() == 0) return;
  check<TestType>(runtime, 1500, 512, Pivoting::tournament);
  check<TestType>(runtime, 2100, 1024, Pivoting::tournament);
  check<TestType>(runtime, 1500, 700, Pivoting::none);
}

WORKERS_TEMPLATE_TEST_CASE("LU of blocks one after the other has small residuals and finds solutions", "", float,
                           double, std::complex<double>) {
  for (const char* width : {"1", "2"}) {
    const test::Variable blocks("TESELA_BLOCK_COLUMNS", width);
    for (const Pivoting pivoting : {Pivoting::none, Pivoting::tournament})
      for (const index_t n : {0, 1, 16, 70, 150})
        for (const index_t nb : {16, 33}) check<TestType>(runtime, n, nb, pivoting);
  }
}

TEST_CASE("LU by tiles with a tournament of several rounds is nearly as accurate as partial pivoting") {
  Runtime runtime({.cpus = 2, .gpus = 0});
  check<double>(runtime, 1100, 96, Pivoting::tournament);
}

TEST_CASE("LU without pivoting reports the growth of the elements") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  HostMatrix<double> a = matrix<double>(60, 0);
  a(0, 0) = 1e-14;
  const Answer<double> answer = solve(runtime, a, HostMatrix<double>(60, 0), 16, Pivoting::none);
  REQUIRE(answer.zero == 0);
  const FactorError error = lu_error<double>(a, answer.factors, answer.rows);
  CHECK(error.growth > 1e12);
  CHECK(error.backward > factor_bound<double>(60, true));
}

WORKERS_TEMPLATE_TEST_CASE("LU divides by pivots with an overflowing reciprocal", "", float, double) {
  check_subnormal<TestType>(runtime, runtime.gpus() == 0);
}

TEST_CASE("LU refuses matrices that it cannot factor") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  Graph g(runtime);
  CHECK_THROWS_AS(lu(g, TileMatrix<double>(runtime, 4, 5, {5, 2})), ArgumentError);
  CHECK_THROWS_AS(lu(g, TileMatrix<double>(runtime, 8, 8, {4, 4})), ArgumentError);
}

GPU_TEMPLATE_TEST_CASE("LU by tiles finds solutions under a sanitizer", "[sanitize]", FOUR_TYPES) {
  for (const Pivoting pivoting : {Pivoting::none, Pivoting::tournament}) check<TestType>(runtime, 130, 70, pivoting);
  check<TestType>(runtime, 600, 64, Pivoting::tournament);
}

GPU_TEMPLATE_TEST_CASE("LU with updates by residues has small residuals and growth, and finds zeros", "", float,
                       double) {
  const test::Variable forced("TESELA_GEMM", "int8");
  for (const Pivoting pivoting : {Pivoting::none, Pivoting::tournament}) check<TestType>(runtime, 2350, 256, pivoting);
  check<TestType>(runtime, 4500, 512, Pivoting::tournament);  // two groups of steps
  for (const TestType bad : {std::numeric_limits<TestType>::quiet_NaN(), std::numeric_limits<TestType>::infinity()}) {
    HostMatrix<TestType> a = matrix<TestType>(2350, 100);
    a(10, 2200) = bad;
    CHECK(solve(runtime, a, HostMatrix<TestType>(2350, 0), 256, Pivoting::none).zero == 2201);
  }
}

TEST_CASE("LU by tiles finds solutions on cores with one GPU, and with two", "[gpu]") {
  test::require_gpu();
  const auto all = [](Runtime& runtime) {
    for (const Pivoting pivoting : {Pivoting::none, Pivoting::tournament}) {
      check<double>(runtime, 301, 32, pivoting);
      check<std::complex<double>>(runtime, 301, 32, pivoting);
    }
  };
  {
    Runtime mixed({.cpus = 2, .gpus = 1});
    all(mixed);
  }
  if (count_cuda_devices() < 2) SKIP("no second CUDA device here");
  Runtime two({.cpus = 0, .gpus = 2});
  all(two);
}
