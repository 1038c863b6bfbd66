#include "tests/support/one_tridiagonal.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/tridiagonal/cyclic_reduction.hpp>

using namespace tesela;

namespace {

constexpr CyclicReduction variants[] = {CyclicReduction::plain, CyclicReduction::shared, CyclicReduction::coalesced,
                                        CyclicReduction::hybrid};

auto by(CyclicReductionOptions options) {
  return [options](Graph& g, const auto& A, const auto& B) { cyclic_reduction(g, A, B, options); };
}

bool can_run(const Runtime& runtime, CyclicReduction variant) {
  return variant != CyclicReduction::hybrid || runtime.cpus() > 0;
}

template <class T>
void check_solutions(Runtime& runtime, std::initializer_list<index_t> sizes, index_t most_tiles = 340) {
  const double bound = 20 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const index_t n : sizes) {
    const test::OneTridiagonal<T> problem(n, 3, 11);
    const auto expected = problem.reference();
    for (const index_t mb :
         {std::max<index_t>(n, 1), index_t{1}, index_t{3}, index_t{48}, index_t{64}, index_t{8192}}) {
      if (ceil_div(n, mb) > most_tiles) continue;
      for (const CyclicReduction variant : variants) {
        if (!can_run(runtime, variant)) continue;
        CAPTURE(n, mb, static_cast<int>(variant));
        CHECK(test::difference(problem, test::solution(runtime, problem, mb, 2, by({variant, 256})), expected) <=
              bound);
        if (runtime.cpus() > 0)
          CHECK(test::difference(problem, test::solution(runtime, problem, mb, 2, by({variant, 256, false, true})),
                                 expected) <= bound);
        if (variant == CyclicReduction::hybrid && n <= 1000)
          for (const index_t cut : {1, 2, 7})
            CHECK(test::difference(problem, test::solution(runtime, problem, mb, 3, by({variant, cut})), expected) <=
                  bound);
      }
    }
  }
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("cyclic reduction agrees with LAPACK for any tiles", "", float, double) {
  check_solutions<TestType>(runtime, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 255, 256, 257, 511, 512, 513, 1000, 65537});
}

WORKERS_TEMPLATE_TEST_CASE("cyclic reduction names the row whose diagonal is zero", "", float, double) {
  using T = TestType;
  const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  constexpr index_t n = 300;
  for (const CyclicReduction variant : variants) {
    if (!can_run(runtime, variant)) continue;
    for (const index_t mb : {n, index_t{64}, index_t{12}, index_t{7}}) {
      CAPTURE(mb, static_cast<int>(variant));
      const auto status = [&](const test::OneTridiagonal<T>& problem) {
        return test::status_of(runtime, problem, mb, by({variant, 5}));
      };
      test::OneTridiagonal<T> problem(n, 2, 3);
      REQUIRE(status(problem) == 0);
      // Row 160 (from 0) is eliminated first; a bad row further down at the same level is reported later.
      for (const T bad : {T(0), nan, infinity}) {
        problem = {n, 2, 3};
        problem.d[160] = problem.d[290] = bad;
        CHECK(status(problem) == 161);
      }
      // An uncoupled row keeps its diagonal until it is eliminated, at any level.
      for (const std::size_t row : {0, 1, 127, 159, 255, 298, 299}) {
        CAPTURE(row);
        CHECK(status(test::uncoupled<T>({n, 2, 3}, row)) == static_cast<index_t>(row) + 1);
      }
      for (const T bad : {nan, infinity})
        for (const int array : {0, 2, 3}) CHECK(status(test::spoiled<T>({n, 2, 3}, array, 130, bad)) > 0);
      problem = {n, 2, 3};  // only x_200 overflows
      problem.dl[200] = problem.du[200] = problem.dl[201] = problem.du[199] = 0;
      problem.d[200] = std::numeric_limits<T>::min();
      problem.b[200] = std::numeric_limits<T>::max();
      CHECK(status(problem) == 201);
    }
  }
}

TEMPLATE_TEST_CASE("cyclic reduction works on a GPU and a core", "[gpu]", float, double) {
  test::require_gpu();
  Runtime runtime({.cpus = 1, .gpus = 1, .profile = true});
  check_solutions<TestType>(runtime, {1, 257, 1000, 65537});

  // Cores run no reduction: a hybrid graph uses two kinds of workers.
  const test::OneTridiagonal<TestType> problem(1000, 1, 2);
  runtime.reset_statistics();
  const auto x = test::solution(runtime, problem, 1000, 1, by({CyclicReduction::hybrid, 8, true}));
  CHECK(test::difference(problem, x, problem.reference()) <= 20 * std::numeric_limits<TestType>::epsilon());
  for (const WorkerUse& use : runtime.statistics().workers)
    for (const KernelUse& kernel : use.kernels) {
      if (kernel.kernel == "cr_reduce" || kernel.kernel == "cr_substitute") CHECK(use.worker.is_gpu);
      if (kernel.kernel == "thomas") CHECK(!use.worker.is_gpu);
    }
}

GPU_TEMPLATE_TEST_CASE("every kernel of cyclic reduction runs under a sanitizer", "[sanitize]", float, double) {
  check_solutions<TestType>(runtime, {1, 2, 600, 1030}, 10);
}

TEST_CASE("cyclic reduction refuses invalid shapes and inserts no task") {
  Runtime runtime({.gpus = 0});
  const test::OneTridiagonal<double> problem(10, 1, 1), larger(11, 1, 1);
  const Tridiagonal<double> A = problem.map(runtime, 4), wrong = larger.map(runtime, 4);
  const TileMatrix<double> B(runtime, 10, 1, {4, 1}), other_tiles(runtime, 10, 1, {5, 1});
  Graph g(runtime);
  CHECK_THROWS_AS(cyclic_reduction(g, {wrong.dl, A.d, A.du}, B), ArgumentError);
  CHECK_THROWS_AS(cyclic_reduction(g, A, other_tiles), ArgumentError);
  CHECK_THROWS_AS(cyclic_reduction(g, A, B, {CyclicReduction::hybrid, 0}), ArgumentError);
  CHECK(g.tasks() == 0);
}

GPU_TEST_CASE("hybrid cyclic reduction needs a core") {
  const test::OneTridiagonal<double> problem(10, 1, 1);
  const Tridiagonal<double> A = problem.map(runtime, 4);
  const TileMatrix<double> B(runtime, 10, 1, {4, 1});
  Graph g(runtime);
  CHECK_THROWS_AS(cyclic_reduction(g, A, B, {CyclicReduction::hybrid, 1}), NoWorkerError);
  CHECK(g.tasks() == 0);
}
