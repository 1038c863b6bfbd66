#include "tests/support/four_types.hpp"
#include "tests/support/one_tridiagonal.hpp"
#include "tests/support/padded.hpp"
#include "tools/checks/tridiagonal_error.hpp"
#include <tesela/algorithms/tridiagonal/parallel_reduction.hpp>

#include <array>
#include <random>

using namespace tesela;

namespace {

constexpr ParallelReduction variants[] = {ParallelReduction::pcr, ParallelReduction::rd, ParallelReduction::cr_pcr,
                                          ParallelReduction::cr_rd};

auto by(ParallelReductionOptions options) {
  return [options](Graph& g, const auto& A, const auto& B) { parallel_reduction(g, A, B, options); };
}

template <class T>
constexpr double epsilon = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());

template <class T>
void check_solutions(Runtime& runtime, std::initializer_list<index_t> sizes) {
  for (const index_t n : sizes) {
    const test::OneTridiagonal<T> problem(n, 3, 11);
    const auto expected = problem.reference();
    for (const index_t mb : {std::max<index_t>(n, 1), index_t{48}})
      for (const ParallelReduction variant : variants)
        for (const index_t cut : {1, 2, 7, 64, 256}) {
          CAPTURE(n, mb, static_cast<int>(variant), cut);
          CHECK(test::difference(problem, test::solution(runtime, problem, mb, 2, by({variant, cut})), expected) <=
                20 * epsilon<T>);
        }
  }
}

/// Systems side by side, each with its own matrix.
template <class T>
struct Batch {
  index_t n, k;
  std::vector<T> dl, d, du, b;
  Batch(index_t rows, index_t systems, double diagonal, unsigned seed = 5) : n(rows), k(systems) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto next = [&] {
      const double x = uniform(random);
      return test::number<T>(x, is_complex<T> ? uniform(random) : 0);
    };
    for (auto* v : {&dl, &d, &du, &b}) v->resize(static_cast<std::size_t>(n * k));
    for (std::size_t i = 0; i < b.size(); ++i) {
      dl[i] = next(), du[i] = next();
      const double x = std::copysign(diagonal, uniform(random)) + uniform(random) / 8;
      d[i] = test::number<T>(x, x);
      b[i] = next();
    }
  }
  /// Returns the residual of A x = b for system s.
  double residual(const std::vector<T>& x, index_t s) const {
    const auto at = [&](const std::vector<T>& v) { return SpacedNumbers<T>{v.data() + s * n}; };
    return tridiagonal_error(TridiagonalSystem<T>{n, at(dl), at(d), at(du), at(b), at(x)},
                             std::numeric_limits<double>::infinity())
        .residual;
  }
  Status solve(Runtime& runtime, std::vector<T>& x, index_t nb, const ParallelReductionOptions& options) const {
    x = b;
    Status status;
    const auto map = [&](const std::vector<T>& v) {
      return TileMatrix<T>::map(runtime, const_cast<T*>(v.data()), n, k, n, {n, nb});
    };
    const TileMatrix<T> X = TileMatrix<T>::map(runtime, x.data(), n, k, n, {n, nb});
    Graph g(runtime);
    parallel_reduction(g, {map(dl), map(d), map(du)}, X, options);
    status = g.wait();
    X.bring_home();
    return status;
  }
};

}  // namespace

NUMBERS_TEST_CASE("parallel reductions agree with LAPACK for any tiles", "") {
  check_solutions<TestType>(runtime, {0, 1, 2, 3, 4, 5, 8, 31, 255, 256, 257, 1000});
}

NUMBERS_TEST_CASE("parallel reductions solve systems side by side", "") {
  for (const index_t n : {1, 2, 3, 17, 512})
    for (const index_t k : {1, 5, 40})
      for (const index_t nb : {k, ceil_div(k, 3)})
        for (const ParallelReduction variant : variants) {
          const Batch<TestType> batch(n, k, 2.25);
          std::vector<TestType> x;
          CAPTURE(n, k, nb, static_cast<int>(variant));
          CHECK(batch.solve(runtime, x, nb, {variant, 16}).ok());
          for (index_t s = 0; s < k; ++s) CHECK(batch.residual(x, s) <= 8 * epsilon<TestType>);
        }
}

// Rows of 2^-900 to 2^900 (single: 2^-100 to 2^100).
NUMBERS_TEST_CASE("recursive doubling solves dominant systems with rows of any scale", "") {
  using T = TestType;
  constexpr index_t n = 512, systems = 100;
  for (const ParallelReduction variant : {ParallelReduction::rd, ParallelReduction::cr_rd})
    for (const int exponent : {0, sizeof(real_t<T>) == 8 ? 900 : 100}) {
      CAPTURE(static_cast<int>(variant), exponent);
      Batch<T> batch(n, systems, 2.25), scaled = batch;
      for (std::size_t i = 0; i < batch.b.size(); ++i) {
        const auto scale =
            std::ldexp(real_t<T>(1), static_cast<int>(i * 37 % static_cast<std::size_t>(2 * exponent + 1)) - exponent);
        for (std::vector<T>* v : {&scaled.dl, &scaled.d, &scaled.du, &scaled.b}) (*v)[i] *= scale;
      }
      std::vector<T> x, same;
      CHECK(batch.solve(runtime, x, systems, {variant, 128}).ok());
      for (index_t s = 0; s < systems; ++s) CHECK(batch.residual(x, s) <= 8 * epsilon<T>);
      CHECK(scaled.solve(runtime, same, systems, {variant, 128}).ok());
      CHECK(x == same);
    }
}

// Requires a correct solution or a failed status for any diagonal and n, and that both occur.
NUMBERS_TEST_CASE("recursive doubling is correct or reports that it is not", "") {
  int right = 0, refused = 0;
  for (const ParallelReduction variant : {ParallelReduction::rd, ParallelReduction::cr_rd})
    for (const double diagonal : {0.0, 0.5, 1.0, 2.25, 100.0, 1e-20})
      for (const index_t n : {1, 2, 3, 4, 8, 30, 100, 512, 2000})
        for (unsigned seed = 1; seed < 6; ++seed) {
          Batch<TestType> batch(n, 1, diagonal, seed);
          if (diagonal < 1e-19)
            for (TestType& d : batch.d) d = test::number<TestType>(diagonal, 0);
          std::vector<TestType> x;
          CAPTURE(static_cast<int>(variant), diagonal, n, seed);
          const bool ok = batch.solve(runtime, x, 1, {variant, 128}).ok();
          ok ? ++right : ++refused;
          if (ok) CHECK(batch.residual(x, 0) <= 70 * epsilon<TestType>);
          if (diagonal > 2) CHECK(ok);
        }
  CAPTURE(right, refused);
  CHECK(right > 380);
  CHECK(refused > 20);
}

NUMBERS_TEST_CASE("parallel reductions report the place of a breakdown", "") {
  using T = TestType;
  const T nan = test::nan_of<T>, infinity = test::number<T>(std::numeric_limits<double>::infinity(), 1);
  constexpr index_t n = 12;
  for (const ParallelReduction variant : variants)
    for (const index_t cut : {1, 4, 64}) {
      CAPTURE(static_cast<int>(variant), cut);
      const auto status = [&](const test::OneTridiagonal<T>& problem) {
        return test::status_of(runtime, problem, n, by({variant, cut}));
      };
      test::OneTridiagonal<T> problem(n, 2, 3);
      REQUIRE(status(problem) == 0);
      for (const T bad : {nan, infinity})
        for (const std::size_t row : {0, 1, 6, 7, 11})
          for (int array = 0; array < 4; ++array) CHECK(status(test::spoiled<T>({n, 2, 3}, array, row, bad)) > 0);
      // A row of zeros that no other row couples to.
      for (const std::size_t row : {0, 1, 4, 7, 11}) {
        CAPTURE(row);
        CHECK(status(test::uncoupled<T>({n, 2, 3}, row)) == static_cast<index_t>(row) + 1);
      }
      problem = {1, 1, 3};
      problem.d[0] = 0;
      CHECK(status(problem) == 1);
    }
  // The first failed system is named, and the others are solved.
  Batch<T> batch(20, 9, 2.25);
  batch.d[4 * 20 + 6] = batch.d[7 * 20] = 0;
  std::vector<T> x;
  for (const index_t nb : {9, 2}) {
    CHECK(batch.solve(runtime, x, nb, {ParallelReduction::pcr}).info == 4 * 20 + 7);
    for (index_t s = 0; s < 9; ++s)
      if (s != 4 && s != 7) CHECK(batch.residual(x, s) <= 8 * epsilon<T>);
  }
}

GPU_TEMPLATE_TEST_CASE("parallel reductions work under a sanitizer", "[sanitize]", float, double) {
  using T = TestType;
  for (const ParallelReduction variant : variants) {
    CAPTURE(static_cast<int>(variant));
    for (const auto& [n, k, nb] : {std::array<index_t, 3>{17, 5, 2}, {600, 3, 3}}) {  // below and above a thread block
      const Batch<T> batch(n, k, 2.25);
      std::vector<T> x;
      CHECK(batch.solve(runtime, x, nb, {variant, 7}).ok());
      for (index_t s = 0; s < k; ++s) CHECK(batch.residual(x, s) <= 8 * epsilon<T>);
    }
    const test::OneTridiagonal<T> problem(100, 3, 11);
    CHECK(test::difference(problem, test::solution(runtime, problem, 48, 2, by({variant, 7})), problem.reference()) <=
          20 * epsilon<T>);
    CHECK(test::status_of(runtime, test::uncoupled<T>(problem, 60), 48, by({variant, 7})) == 61);
  }
}

TEST_CASE("parallel_reduction refuses invalid shapes") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<double> a(runtime, 5, 1, {5, 1}), wide(runtime, 5, 3, {5, 3}), cut(runtime, 5, 3, {5, 1}),
      b(runtime, 5, 3, {5, 3}), other(runtime, 4, 1, {4, 1});
  Graph g(runtime);
  CHECK_THROWS_AS(parallel_reduction(g, {a, other, a}, b), ArgumentError);
  CHECK_THROWS_AS(parallel_reduction(g, {a, wide, a}, b), ArgumentError);
  CHECK_THROWS_AS(parallel_reduction(g, {cut, cut, cut}, b), ArgumentError);
  CHECK_THROWS_AS(parallel_reduction(g, {b, b, b}, b), ArgumentError);
  CHECK_THROWS_AS(parallel_reduction(g, {a, a, a}, b, {ParallelReduction::pcr, 0}), ArgumentError);
}
