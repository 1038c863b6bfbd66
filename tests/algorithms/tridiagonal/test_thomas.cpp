#include "tests/support/one_tridiagonal.hpp"
#include "tests/support/test.hpp"
#include "tools/checks/tridiagonal_error.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal_methods.hpp>

using namespace tesela;

namespace {

template <class T>
using Solver = void (*)(Graph&, const Tridiagonal<T>&, const TileMatrix<T>&);

/// Returns the largest residual of x.
template <class T>
double residual(const test::OneTridiagonal<T>& p, const std::vector<T>& x) {
  double worst = 0;
  for (index_t j = 0; j < p.r; ++j) {
    const auto column = [&](const std::vector<T>& v) { return SpacedNumbers<T>{v.data() + j * p.ldb}; };
    worst = worse(
        worst,
        tridiagonal_error(TridiagonalSystem<T>{p.n, {p.dl.data()}, {p.d.data()}, {p.du.data()}, column(p.b), column(x)},
                          std::numeric_limits<double>::infinity())
            .residual);
  }
  return worst;
}

}  // namespace

TEMPLATE_TEST_CASE("thomas and gtsv solve dominant systems for any tiles", "", float, double) {
  using T = TestType;
  const double eps = std::numeric_limits<T>::epsilon();
  Runtime runtime({.gpus = 0});
  for (const index_t n : test::classic_sizes)
    for (const index_t mb : {std::max<index_t>(n, 1), index_t{100}}) {
      CAPTURE(n, mb);
      const test::OneTridiagonal<T> problem(n, 3, 7);
      const auto expected = problem.reference();
      for (const Solver<T> solve : {&thomas<T>, &gtsv<T>}) {
        const auto x = test::solution(runtime, problem, mb, 2, solve);
        CHECK(test::difference(problem, x, expected) <= 20 * eps);
        CHECK(residual(problem, x) <= 4 * eps);
      }
    }
}

TEMPLATE_TEST_CASE("only gtsv solves systems with a zero pivot, and both report failures", "", float, double) {
  using T = TestType;
  const T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  Runtime runtime({.gpus = 0});
  const auto status = [&](const test::OneTridiagonal<T>& problem, Solver<T> solve) {
    const index_t in_one = test::status_of(runtime, problem, problem.n, solve);
    CHECK(test::status_of(runtime, problem, 7, solve) == in_one);
    return in_one;
  };
  test::OneTridiagonal<T> problem(40, 2, 3);
  problem.d[0] = 0;
  CHECK(status(problem, &thomas<T>) == 1);
  CHECK(status(problem, &gtsv<T>) == 0);
  CHECK(residual(problem, test::solution(runtime, problem, 7, 1, &gtsv<T>)) <=
        10 * static_cast<double>(std::numeric_limits<T>::epsilon()));

  // Row 20 (from 0) becomes a zero row below an upper triangle.
  problem = {40, 2, 3};
  problem.dl[20] = problem.d[20] = problem.du[20] = 0;
  CHECK(status(problem, &thomas<T>) == 21);
  CHECK(status(problem, &gtsv<T>) > 0);

  for (const T bad : {infinity, nan}) {
    problem = {40, 2, 3};
    problem.d[30] = bad;
    CHECK(status(problem, &thomas<T>) == 31);
    CHECK(status(problem, &gtsv<T>) > 0);
    problem = {40, 2, 3};
    problem.b[static_cast<std::size_t>(12 + problem.ldb)] = bad;
    CHECK(status(problem, &thomas<T>) > 0);
    CHECK(status(problem, &gtsv<T>) > 0);
  }

  // The quotient of two finite numbers overflows.
  problem = {1, 1, 3};
  problem.d[0] = std::numeric_limits<T>::min();
  problem.b[0] = std::numeric_limits<T>::max();
  CHECK(status(problem, &thomas<T>) == 1);
  CHECK(status(problem, &gtsv<T>) == 1);
}

TEST_CASE("thomas and gtsv refuse invalid shapes and insert no task") {
  Runtime runtime({.gpus = 0});
  const test::OneTridiagonal<double> problem(10, 1, 1), larger(11, 1, 1);
  const Tridiagonal<double> A = problem.map(runtime, 4), wrong = larger.map(runtime, 4);
  const TileMatrix<double> B(runtime, 10, 1, {4, 1});
  for (const Solver<double> solve : {&thomas<double>, &gtsv<double>}) {
    Graph g(runtime);
    CHECK_THROWS_AS(solve(g, {wrong.dl, A.d, A.du}, B), ArgumentError);
    CHECK_THROWS_AS(solve(g, {A.dl, wrong.d, A.du}, B), ArgumentError);
    CHECK_THROWS_AS(solve(g, {A.dl, A.d, wrong.du}, B), ArgumentError);
    CHECK_THROWS_AS(solve(g, A, A.d), ArgumentError);
    CHECK(g.tasks() == 0);
  }
}
