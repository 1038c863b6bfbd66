#include "tests/support/four_types.hpp"
#include "tools/checks/factor_error.hpp"
#include <tesela/algorithms/dense/factor_stages.hpp>
#include <tesela/algorithms/support/schedule.hpp>
#include <tesela/codelets/dense/factor_stages.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>

using namespace tesela;

namespace {

/// Returns a symmetric or Hermitian matrix with a large diagonal, times 2^power.
template <class T>
HostMatrix<T> matrix(index_t n, int power) {
  HostMatrix<T> a(n, n);
  const Generator<T> element{Pattern::uniform, T(0), n, 5};
  const auto shift = static_cast<real_t<T>>(2 * std::sqrt(static_cast<double>(n)) + 1);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i) {
      a(i, j) = times_power_of_two(i == j ? T(real_part(element(i, j)) + shift) : element(i, j), power);
      a(j, i) = conj(a(i, j));
    }
  return a;
}

template <class T>
void check(Runtime& runtime, index_t n, bool symmetric, index_t at_once, int power = 0, index_t zero = 0) {
  CAPTURE(n, symmetric, at_once, power, zero);
  HostMatrix<T> a = matrix<T>(n, power);
  const HostMatrix<T> b = generate<T>({n, 3}, Generator<T>{Pattern::uniform, T(0), 3, 9});
  if (zero > 0) {
    for (index_t i = 0; i < n; ++i) a(i, zero - 1) = a(zero - 1, i) = 0;
  }
  HostMatrix<T> factors = a.clone(), x = b.clone();
  if (symmetric)  // the lower triangle must not be read
    for (index_t j = 0; j < n; ++j)
      for (index_t i = j + 1; i < n; ++i) factors(i, j) = std::numeric_limits<real_t<T>>::quiet_NaN();
  {
    const index_t order = std::max<index_t>(n, 1);
    const auto A = TileMatrix<T>::map(runtime, factors.data(), n, n, factors.ld(), {order, order}, "A");
    const auto X = TileMatrix<T>::map(runtime, x.data(), n, 3, x.ld(), {order, 2}, "X");
    Graph g(runtime);
    const StageFactorization<T> stages(g, A, symmetric, at_once);
    REQUIRE(stages.stop() == zero);
    if (zero == 0) stages.solve(g, X);
    g.wait();
  }
  if (zero > 0) return;
  const double bound = factor_bound<T>(n, !symmetric);
  CHECK((symmetric ? cholesky_error(a, factors) : lu_error<T>(a, factors, {})).backward <= bound);
  CHECK(solution_error(a, b, x) <= bound);
}

template <class T>
void check_all(Runtime& runtime) {
  for (const bool symmetric : {false, true}) {
    for (const index_t n : {0, 1, 2, 3, 33, 100})
      for (const index_t at_once : {1, 7, 1000}) check<T>(runtime, n, symmetric, at_once);
    for (const index_t zero : {1, 2, 17, 40}) check<T>(runtime, 40, symmetric, 16, 0, zero);
    for (const int power : {-60, 60}) check<T>(runtime, 40, symmetric, 16, power);
  }
}

}  // namespace

TEST_CASE("the kernels eliminate the entries of the proved wavefronts, stage by stage") {
  for (const std::string& order : wavefront_orders())
    for (const index_t n : {1, 2, 7}) {
      const bool symmetric = order == "cholesky-wavefront";
      const Schedule schedule = make_wavefront(order, n);
      std::size_t entries = 0;
      for (index_t stage = 1; stage < 2 * n; ++stage) {
        const kernels::StageEntries all = kernels::stage_entries(symmetric, n, stage);
        for (index_t q = 0; q < all.count; ++q, ++entries) {
          const index_t i = all.row + q * all.row_step, j = all.column + q * all.column_step;
          const bool there =
              std::any_of(schedule.eliminations.begin(), schedule.eliminations.end(), [&](const Elimination& e) {
                return e.stage == stage && e.row == (symmetric ? j : i) && e.column == (symmetric ? i : j);
              });
          CAPTURE(order, n, stage, i, j);
          CHECK(there);
        }
      }
      CHECK(entries == schedule.eliminations.size());
    }
}

WORKERS_TEMPLATE_TEST_CASE("factorizations by stages are backward stable and stop at the zero pivot", "", float,
                           double) {
  check_all<TestType>(runtime);
}

CORES_TEMPLATE_TEST_CASE("complex factorizations by stages are backward stable and stop at the zero pivot", "",
                         COMPLEX_TYPES) {
  check_all<TestType>(runtime);
}

GPU_TEMPLATE_TEST_CASE("factorizations by stages are backward stable under a sanitizer", "[sanitize]", float, double) {
  for (const bool symmetric : {false, true}) check<TestType>(runtime, 33, symmetric, 16);
}
