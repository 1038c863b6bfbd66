#include "tests/support/four_types.hpp"
#include "tests/support/padded.hpp"
#include "tests/support/variable.hpp"
#include "tools/checks/factor_error.hpp"
#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/dense/direct_solve.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>

#include <utility>

using namespace tesela;

namespace {

/// Returns a symmetric or Hermitian positive definite matrix with a condition below 10, times 2^power.
template <class T>
HostMatrix<T> matrix(index_t n, int power = 0) {
  HostMatrix<T> a(n, n);
  const Generator<T> element{Pattern::uniform, 0, n, 5};
  const auto shift = static_cast<real_t<T>>((is_complex<T> ? 3 : 2) * std::sqrt(static_cast<double>(n)) + 1);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i) {
      const T x = i == j ? T(real_part(element(i, j)) + shift) : element(i, j);
      a(i, j) = times_power_of_two(x, power);
      a(j, i) = conj(a(i, j));
    }
  return a;
}

template <class T>
struct Answer {
  HostMatrix<T> r, x;
  index_t minor = 0;
};

/// Solves A X = B with NaN below A's diagonal.
template <class T>
Answer<T> solve(Runtime& runtime, const HostMatrix<T>& a, const HostMatrix<T>& b, TileShape tile) {
  const index_t n = a.rows(), r = b.cols(), ld = n + 3;
  const T nan = test::nan_of<T>;
  std::vector<T> memory(static_cast<std::size_t>(ld * std::max<index_t>(n, 1)), nan);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i) memory[static_cast<std::size_t>(i + j * ld)] = a(i, j);
  Answer<T> answer{HostMatrix<T>::zeros(n, n), b.clone(), 0};
  {
    const auto A = TileMatrix<T>::map(runtime, memory.data(), n, n, ld, tile, "A");
    const auto X = TileMatrix<T>::map(runtime, answer.x.data(), n, r, answer.x.ld(), {tile.mb, 2}, "X");
    Graph g(runtime);
    const CholeskyFactorization<T> factors = cholesky(g, A);
    if (factors.minor() == 0) factors.solve(g, X);
    g.wait();
    answer.minor = factors.minor();
  }
  bool only_r = true;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < ld; ++i) {
      const T element = memory[static_cast<std::size_t>(i + j * ld)];
      if (i <= j)
        answer.r(i, j) = element;
      else if (i >= n || i / tile.mb != j / tile.mb)
        only_r = only_r && !is_finite(element);
    }
  REQUIRE(only_r);
  return answer;
}

template <class T>
void check(Runtime& runtime, index_t n, TileShape tile, int power = 0) {
  CAPTURE(n, tile.mb, tile.nb, power);
  const HostMatrix<T> a = matrix<T>(n, power), b = generate<T>({n, 3}, Generator<T>{Pattern::uniform, 0, 3, 9});
  const Answer<T> answer = solve(runtime, a, b, tile);
  REQUIRE(answer.minor == 0);
  const double bound = factor_bound<T>(n, false), error = cholesky_error(a, answer.r).backward;
  CAPTURE(error, bound);
  CHECK(error <= bound);
  CHECK(solution_error(a, b, answer.x) <= bound);
  for (index_t j = 0; j < n; ++j) REQUIRE((real_part(answer.r(j, j)) > 0 && answer.r(j, j) == conj(answer.r(j, j))));
  if (n == 0) return;
  HostMatrix<T> known = a.clone();
  REQUIRE(lapack::potrf(n, known.data(), known.ld()) == 0);
  double apart = 0, largest = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i) {
      apart = std::max(apart, static_cast<double>(std::abs(known(i, j) - answer.r(i, j))));
      largest = std::max(largest, static_cast<double>(std::abs(known(i, j))));
    }
  CHECK(apart <= 1e2 * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()) * largest);
}

template <class T>
void check_all(Runtime& runtime, std::vector<index_t> orders) {
  for (const index_t n : orders)
    for (const TileShape tile : {TileShape{16, 16}, {64, 64}, {200, 200}, {16, 48}, {64, 128}, {32, 1000}, {100, 100}})
      check<T>(runtime, n, tile);
  for (const int power : {-60, 60}) check<T>(runtime, 70, {32, 70}, power);
  if (sizeof(real_t<T>) == 8)
    for (const int power : {-996, 996}) check<T>(runtime, 70, {32, 32}, power);
}

template <class T>
void check_minors(Runtime& runtime) {
  constexpr index_t n = 100;
  for (const TileShape tile : {TileShape{33, 33}, TileShape{33, n}})
    for (const index_t order : {index_t{1}, index_t{33}, index_t{34}, index_t{70}, n})
      for (const T bad : {T(-1), T(0), test::nan_of<T>, T(std::numeric_limits<real_t<T>>::infinity())}) {
        HostMatrix<T> a = matrix<T>(n);
        a(order - 1, order - 1) = bad;
        CAPTURE(tile.nb, order, bad);
        CHECK(solve(runtime, a, HostMatrix<T>(n, 0), tile).minor == order);
      }
}

template <class T>
void check_not_finite_b(Runtime& runtime) {
  constexpr index_t n = 100;
  const HostMatrix<T> a = matrix<T>(n);
  for (const TileShape tile : {TileShape{33, 33}, TileShape{33, n}})
    for (const index_t row : {index_t{0}, index_t{40}, n - 1})
      for (const T bad : {test::nan_of<T>, T(-std::numeric_limits<real_t<T>>::infinity())}) {
        HostMatrix<T> r = a.clone(), x = HostMatrix<T>::zeros(n, 7);
        x(row, 4) = bad;
        Graph g(runtime);
        const auto X = TileMatrix<T>::map(runtime, x.data(), n, 7, x.ld(), {tile.mb, 3});
        cholesky(g, TileMatrix<T>::map(runtime, r.data(), n, n, r.ld(), tile)).solve(g, X);
        CHECK(g.wait().info == 5);
      }
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("Cholesky by tiles finds R and solutions within the error bounds", "", FOUR_TYPES) {
  check_all<TestType>(runtime, {0, 1, 2, 33, 64, 130, 301});
  check_minors<TestType>(runtime);
  check_not_finite_b<TestType>(runtime);
  if (runtime.gpus() == 0) return;
  check<TestType>(runtime, 1500, {512, 1500});
  check<TestType>(runtime, 2100, {700, 2100});
  // With a last block much wider than high, wrong bounds would read far beyond the matrix.
  check<TestType>(runtime, 1250, {480, 1250});
}

WORKERS_TEMPLATE_TEST_CASE("Cholesky of blocks one after the other finds R and solutions", "", FOUR_TYPES) {
  for (const char* width : {"1", "2"}) {
    const test::Variable blocks("TESELA_BLOCK_COLUMNS", width);
    for (const index_t n : {0, 1, 16, 70, 150})
      for (const TileShape tile : {TileShape{16, 16}, {33, 33}, {16, 48}, {32, 1000}})
        check<TestType>(runtime, n, tile);
  }
}

CORES_TEMPLATE_TEST_CASE("a diagonal that is not real is refused with its place", "", COMPLEX_TYPES) {
  for (const index_t n : {5, 300}) {  // on the calling thread, and by tasks
    HostMatrix<TestType> a = matrix<TestType>(n), b = HostMatrix<TestType>::zeros(n, 1);
    REQUIRE(cholesky(runtime, MatrixView(a)).place == 0);
    a = matrix<TestType>(n);
    a(3, 3) += TestType(0, 1);
    CHECK_THROWS_WITH(cholesky(runtime, MatrixView(a)), Catch::Matchers::ContainsSubstring("[3, 3]"));
    CHECK_THROWS_WITH(cholesky_solve(runtime, MatrixView(a), MatrixView(b)),
                      Catch::Matchers::ContainsSubstring("[3, 3]"));
  }
}

TEST_CASE("Cholesky refuses matrices that it cannot factor") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  Graph g(runtime);
  CHECK_THROWS_AS(cholesky(g, TileMatrix<double>(runtime, 4, 5, {2, 2})), ArgumentError);
  CHECK_THROWS_AS(cholesky(g, TileMatrix<double>(runtime, 9, 9, {4, 6})), ArgumentError);
  CHECK_THROWS_AS(cholesky(g, TileMatrix<double>(runtime, 9, 9, {4, 2})), ArgumentError);
}

GPU_TEMPLATE_TEST_CASE("Cholesky by tiles finds R and solutions under a sanitizer", "[sanitize]", FOUR_TYPES) {
  check<TestType>(runtime, 130, {70, 130});
  check<TestType>(runtime, 130, {70, 70});
}

GPU_TEMPLATE_TEST_CASE("Cholesky with updates by residues finds R, solutions and minors", "", float, double) {
  const test::Variable forced("TESELA_GEMM", "int8");
  check<TestType>(runtime, 2350, {256, 2350});
  check<TestType>(runtime, 4500, {512, 4500});  // two groups of steps
  for (const index_t nb : {33, 128, 500}) check<TestType>(runtime, 1250, {nb, nb});
  HostMatrix<TestType> a = matrix<TestType>(2350);
  for (const TestType bad : {std::numeric_limits<TestType>::quiet_NaN(), std::numeric_limits<TestType>::infinity()})
    for (const index_t column : {index_t{2050}, index_t{2349}}) {
      const TestType before = std::exchange(a(10, column), bad);
      CHECK(solve(runtime, a, HostMatrix<TestType>(2350, 0), {256, 2350}).minor == column + 1);
      a(10, column) = before;
    }
}

TEST_CASE("Cholesky by tiles finds R and solutions on cores with one GPU, and with two", "[gpu]") {
  test::require_gpu();
  const auto all = [](Runtime& runtime) {
    for (const TileShape tile : {TileShape{32, 301}, TileShape{48, 48}}) {
      check<double>(runtime, 301, tile);
      check<std::complex<double>>(runtime, 301, tile);
    }
  };
  {
    Runtime mixed({.cpus = 2, .gpus = 1});
    all(mixed);
  }
  if (count_cuda_devices() < 2) SKIP("no second CUDA device here");
  Runtime two({.cpus = 0, .gpus = 2});
  all(two);
  const test::Variable forced("TESELA_GEMM", "int8");
  check<double>(two, 1500, {256, 256});
}

TEST_CASE("cholesky_tile selects squares from the host and whole tile rows in the memory of one GPU") {
  const WorkerCounts cores(2, 0), one(14, 1), four(28, 4);
  const auto selects = [](const WorkerCounts& workers, index_t n, bool from_host, Shape expected) {
    CAPTURE(workers.gpus, n, from_host);
    const TileShape tile = cholesky_tile(workers, n, from_host);
    CHECK(Shape{tile.mb, tile.nb} == expected);
  };
  for (const bool from_host : {false, true}) {
    selects(cores, 0, from_host, {32, 32});
    selects(cores, 1000, from_host, {96, 96});
    selects(cores, 8192, from_host, {256, 256});
    selects(one, 0, from_host, {512, 512});
    selects(one, 4095, from_host, {512, 4095});
    selects(four, 0, from_host, {128, 128});
    selects(four, 2047, from_host, {128, 2047});
    selects(four, 2048, from_host, {256, 256});
    selects(four, 8192, from_host, {1024, 1024});
    selects(four, 32768, from_host, {2048, 2048});
  }
  for (const WorkerCounts& gpus : {one, four}) selects(gpus, 12288, true, {1024, 1024});
  selects(one, 4096, true, {512, 512});
  selects(one, 4096, false, {512, 4096});
  selects(one, 65536, true, {2048, 2048});
  selects(one, 65536, false, {512, 65536});
  selects(four, 12287, false, {1024, 1024});
  selects(four, 12288, false, {512, 12288});
}
