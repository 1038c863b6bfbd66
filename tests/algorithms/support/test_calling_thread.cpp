#include "tests/support/matrices.hpp"
#include <tesela/algorithms/dense/direct_solve.hpp>
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/calling_thread.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_checked.hpp>

#include <functional>

// Small problems are solved on the calling thread, as accurately as by tasks, and all others by tasks.

using namespace tesela;
using test::identity, test::random;

namespace {

Runtime& runtime() {
  static Runtime one({.gpus = 0, .profile = true});
  return one;
}

/// Returns the number of tasks that `solve` ran.
index_t tasks_of(const std::function<void()>& solve) {
  runtime().reset_statistics();
  solve();
  index_t tasks = 0;
  for (const WorkerUse& worker : runtime().statistics().workers) tasks += worker.tasks;
  return tasks;
}

/// Returns max |a - op(b) c|.
template <class T>
double distance(const HostMatrix<T>& a, Op op, const HostMatrix<T>& b, const HostMatrix<T>& c) {
  HostMatrix<T> left = a.clone();
  blas::gemm<T>(op, Op::none, a.rows(), a.cols(), c.rows(), 1, b.data(), b.ld(), c.data(), c.ld(), -1, left.data(),
                left.ld());
  double most = 0;
  for (index_t i = 0; i < left.size(); ++i) most = std::max(most, std::abs(static_cast<double>(left.data()[i])));
  return most;
}

template <class T>
constexpr double small = 200 * static_cast<double>(std::numeric_limits<T>::epsilon());

}  // namespace

TEMPLATE_TEST_CASE("small qr and ols run no tasks and are accurate", "", float, double) {
  using T = TestType;
  for (const auto& [m, n] : {Shape{1, 1}, {5, 5}, {9, 4}, {4, 9}, {50, 50}})
    for (const index_t columns : {std::min(m, n), m}) {
      const auto a = random<T>(m, n, 1);
      HostMatrix<T> lost = a.clone(), q(m, columns), r(columns, n);
      CHECK(tasks_of([&] { CHECK(qr<T>(runtime(), lost, q, r).ok()); }) == 0);
      CHECK(distance(a, Op::none, q, r) <= small<T>);
      CHECK(distance(identity<T>(columns), Op::transpose, q, q) <= small<T>);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = j + 1; i < columns; ++i) REQUIRE(r(i, j) == 0);
      HostMatrix<T> alone = a.clone();
      CHECK(tasks_of([&] { CHECK(qr<T>(runtime(), alone, {}, {}).ok()); }) == 0);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < m; ++i) REQUIRE(alone(i, j) == (i < columns ? r(i, j) : T(0)));
      HostMatrix<T> x = random<T>(n, 2, 2), b(m, 2), of_a = a.clone();
      if (m < n) {  // the solution of least norm is in the rows' space
        const auto y = random<T>(m, 2, 2);
        blas::gemm<T>(Op::transpose, Op::none, n, 2, m, 1, a.data(), m, y.data(), m, 0, x.data(), n);
      }
      blas::gemm<T>(Op::none, Op::none, m, 2, n, 1, a.data(), m, x.data(), n, 0, b.data(), m);
      LeastSquares<T> found;
      CHECK(tasks_of([&] { found = ols(runtime(), MatrixView(of_a), MatrixView(b)); }) == 0);
      CHECK(found.status == SolveStatus::ok);
      CHECK(found.rank == std::min(m, n));
      CHECK(found.degrees_of_freedom == m - found.rank);
      CHECK(distance(x, Op::none, identity<T>(n), found.X) <= small<T> * found.condition);
      for (const T norm : found.residual_norms) CHECK(static_cast<double>(norm) <= small<T>);
    }
}

TEMPLATE_TEST_CASE("a small system of fewer rows and any rank has the solution of tasks", "", float, double) {
  using T = TestType;
  for (const index_t n : {10, 50}) {
    HostMatrix<T> a = random<T>(n / 2, n, 3), b = random<T>(n / 2, 2, 4);
    for (index_t j = 0; j < n; ++j) a(1, j) = 2 * a(0, j);  // rank n / 2 - 1
    b(1, 0) = 2 * b(0, 0);
    LeastSquares<T> here, by_tasks;
    {
      HostMatrix<T> of_a = a.clone(), of_b = b.clone();
      CHECK(tasks_of([&] { here = ols(runtime(), MatrixView(of_a), MatrixView(of_b)); }) == 0);
    }
    CHECK(tasks_of([&] { by_tasks = ols(runtime(), MatrixView(a), MatrixView(b), {.method = OlsMethod::tiles}); }) > 0);
    CHECK((here.status == SolveStatus::rank_deficient && here.rank == n / 2 - 1));
    CHECK((by_tasks.rank == here.rank && by_tasks.degrees_of_freedom == here.degrees_of_freedom));
    CHECK(distance(by_tasks.X, Op::none, identity<T>(n), here.X) <= small<T> * 10);
    for (std::size_t k = 0; k < 2; ++k)
      CHECK(std::abs(static_cast<double>(here.residual_norms[k] - by_tasks.residual_norms[k])) <= small<T>);
  }
}

TEMPLATE_TEST_CASE("small symmetric eigenproblems run no tasks and are accurate", "", float, double) {
  using T = TestType;
  for (const index_t n : {1, 2, 5, 50}) {
    auto a = random<T>(n, n, 3);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < j; ++i) a(i, j) = a(j, i);
    HostMatrix<T> lower = a.clone();
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < j; ++i) lower(i, j) = std::numeric_limits<T>::quiet_NaN();  // not read
    SymmetricEig<T> found, part;
    HostMatrix<T> again = lower.clone();
    CHECK(tasks_of([&] { found = symmetric_eig(runtime(), MatrixView(lower)); }) == 0);
    CHECK(tasks_of([&] {
            part = symmetric_eig(runtime(), MatrixView(again), {.positions = IndexRange{n / 2, n}});
          }) == 0);
    REQUIRE(found.status.ok());
    CHECK(std::equal(part.values.begin(), part.values.end(), found.values.begin() + n / 2, found.values.end()));
    const HostMatrix<T> x = found.vectors->to_host();
    const auto scaled = filled<T>({n, n}, [&](index_t i, index_t j) {
      return x(i, j) * static_cast<T>(found.values[static_cast<std::size_t>(j)]);
    });
    CHECK(distance(scaled, Op::none, a, x) <= small<T>);
    CHECK(distance(identity<T>(n), Op::transpose, x, x) <= small<T>);
  }
}

TEMPLATE_TEST_CASE("small tridiagonal systems run no tasks, and are solved and judged as by tasks", "", float, double) {
  using T = TestType;
  for (const index_t n : {1, 2, 5, 50})
    for (const index_t systems : {1, 3})
      for (const bool periodic : {false, true})
        for (const T diagonal : {T(4), T(0.1)}) {  // dominant, and not
          if (periodic && n < 3) continue;
          auto dl = random<T>(n, 1, 4), d = random<T>(n, 1, 5), du = random<T>(n, 1, 6), b = random<T>(n, systems, 7);
          for (index_t i = 0; i < n; ++i) d(i, 0) += diagonal;
          if (!periodic) dl(0, 0) = du(n - 1, 0) = std::numeric_limits<T>::quiet_NaN();  // not read
          HostMatrix<T> x = b.clone();
          const TridiagonalOptions options{.periodic = periodic};
          CheckedSolve here;
          CHECK(tasks_of([&] { here = tridiagonal_solve<T>(runtime(), dl, d, du, x, options); }) == 0);
          const TileShape whole{n, systems};
          const auto map = [&](HostMatrix<T>& m, TileShape tile) {
            return TileMatrix<T>::map(runtime(), m.data(), m.rows(), m.cols(), m.ld(), tile);
          };
          HostMatrix<T> y(n, systems);
          CheckedSolve there;
          {
            const Tridiagonal<T> A{map(dl, {n, 1}), map(d, {n, 1}), map(du, {n, 1})};
            const auto B = map(b, whole), Y = map(y, whole);
            Graph g(runtime());
            there = tridiagonal_solve_checked(g, A, B, Y, options);
            Y.bring_home();
          }
          INFO("n = " << n << ", " << systems << " systems, periodic " << periodic << ", diagonal " << diagonal);
          CHECK(here.good());
          CHECK(here.residual.error == there.residual.error);
          CHECK(here.residual_componentwise == there.residual_componentwise);
          CHECK(here.condition.value == there.condition.value);
          CHECK(here.condition.system == there.condition.system);
          for (index_t i = 0; i < x.size(); ++i) REQUIRE(x.data()[i] == y.data()[i]);
        }
}

TEMPLATE_TEST_CASE("tasks solve large problems, and those whose numbers are extreme or not finite", "", float, double) {
  using T = TestType;
  const auto factored = [](HostMatrix<T> a) {
    HostMatrix<T> q(a.rows(), a.cols()), r(a.cols(), a.cols());
    return tasks_of([&] { static_cast<void>(qr<T>(runtime(), a, q, r)); });
  };
  CHECK(factored(random<T>(300, 300, 1)) > 0);
  const auto with = [](T element) {
    auto a = random<T>(5, 5, 1);
    a(3, 2) = element;
    return a;
  };
  CHECK(factored(with(0)) == 0);
  const T bad[]{std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::max(),
                std::numeric_limits<T>::min()};
  for (const T element : bad) {
    CHECK(factored(with(element)) > 0);
    auto a = with(element), b = random<T>(5, 1, 2), c = with(element);
    CHECK(tasks_of([&] { static_cast<void>(ols(runtime(), MatrixView(a), MatrixView(b))); }) > 0);
    CHECK(tasks_of([&] { symmetric_eig(runtime(), MatrixView(c)); }) > 0);
  }
  HostMatrix<T> ones = HostMatrix<T>::zeros(5, 1), x = random<T>(5, 1, 3);
  const CheckedSolve singular = tridiagonal_solve<T>(runtime(), ones, ones, ones, x);
  CHECK_FALSE(singular.status.ok());
}
