#include "tests/support/least_squares.hpp"
#include <tesela/host/lapack/lapack.hpp>

#include <catch2/catch_approx.hpp>

using namespace tesela::kernels;
using namespace tesela::test;

TEST_CASE("deficient problems have gelsd's rank and its solution of least norm") {
  const auto [m, n, rank] = GENERATE(table<index_t, index_t, index_t>(
      {{60, 30, 12}, {60, 30, 29}, {30, 30, 1}, {30, 60, 12}, {30, 60, 29}, {200, 9, 4}}));
  const bool tall_skinny = GENERATE(false, true);
  CAPTURE(m, n, rank, tall_skinny);
  const Matrix a = of_rank(m, n, rank, 3), b = random(m, 2, 8);
  const OlsOptions options{.method = tall_skinny ? OlsMethod::tall_skinny : OlsMethod::tiles};
  const auto answer = solve(runtime(), a, b, {16, 8}, options);
  CHECK(answer.status == SolveStatus::rank_deficient);
  CHECK(answer.original_units);
  CHECK(answer.rank == rank);
  CHECK(answer.condition > 1e13);
  require_agreement(answer, reference_of(a, b, 1e-12), b, 1e-11);
}

TEST_CASE("duplicated columns share the solution, zero columns get none, and neither counts in the rank") {
  Matrix a = random(50, 8, 3);
  const Matrix b = random(50, 1, 4);
  for (index_t i = 0; i < 50; ++i) a(i, 5) = a(i, 2), a(i, 7) = 0;
  const auto answer = solve(runtime(), a, b, {16, 3});
  REQUIRE(answer.status == SolveStatus::rank_deficient);
  REQUIRE(answer.rank == 6);
  CHECK(std::abs(answer.X(5, 0) - answer.X(2, 0)) <= 1e-14);
  CHECK(answer.X(7, 0) == 0);
  require_agreement(answer, reference_of(a, b, 1e-12), b, 1e-12);
}

TEST_CASE("the rank is the number of singular values above rcond after columns are scaled to unit norm") {
  Matrix a = of_values(80, 40, spectrum(40, 1e12), 5);
  for (index_t j = 0; j < 40; ++j) {
    double length = 0;
    for (index_t i = 0; i < 80; ++i) length = std::hypot(length, a(i, j));
    for (index_t i = 0; i < 80; ++i) a(i, j) /= length;
  }
  const Matrix b = random(80, 1, 6);
  Matrix copy = a.clone();
  const std::vector<double> s = lapack::gesvd(80, 40, copy.data(), copy.ld());
  std::vector<index_t> ranks;
  for (const double rcond : {1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
    CAPTURE(rcond);
    const OlsOptions options{.rcond = rcond};
    const auto answer = solve(runtime(), a, b, {16, 16}, options);
    CHECK(answer.rank == std::count_if(s.begin(), s.end(), [&](double value) { return value > rcond * s[0]; }));
    CHECK(answer.condition == Catch::Approx(s.front() / s.back()).epsilon(1e-3));
    CHECK(answer.backward_error.good());
    ranks.push_back(answer.rank);
  }
  CHECK(std::is_sorted(ranks.begin(), ranks.end()));
  CHECK(ranks.front() < ranks.back());
  CHECK(solve(runtime(), a, b, {16, 16}).rank == 40);
}

TEST_CASE("units of any size change neither rank nor residual") {
  const auto [m, n, rank] =
      GENERATE(table<index_t, index_t, index_t>({{60, 12, 12}, {60, 12, 7}, {12, 12, 5}, {12, 30, 12}, {12, 30, 7}}));
  const double unit = GENERATE(1e-3, 1e-9, 1e150, 1e-150);
  const bool tall_skinny = GENERATE(false, true);
  CAPTURE(m, n, rank, unit, tall_skinny);
  const Matrix a = of_rank(m, n, rank, 3), b = random(m, 2, 8);
  const OlsOptions options{.method = tall_skinny ? OlsMethod::tall_skinny : OlsMethod::tiles};
  const auto before = solve(runtime(), a, b, {16, 8}, options);
  REQUIRE(before.rank == rank);
  const auto scale = [unit = unit](index_t j) { return j % 3 == 0 ? unit : j % 3 == 1 ? 1 : 1 / unit; };
  const Matrix scaled = made(m, n, [&](index_t i, index_t j) { return a(i, j) * scale(j); });
  const auto after = solve(runtime(), scaled, b, {16, 8}, options);
  CHECK(after.rank == rank);
  CHECK(after.status == before.status);
  if (rank == n) CHECK(std::abs(after.condition / before.condition - 1) <= 1e-9);
  for (std::size_t k = 0; k < 2; ++k)
    CHECK(std::abs(after.residual_norms[k] - before.residual_norms[k]) <= 1e-7 * norm(b));
  // The fitted values agree when computed from X.
  const Matrix back = made(n, 2, [&](index_t i, index_t k) { return after.X(i, k) * scale(i); });
  const auto fitted = [&](const Matrix& x) {
    return made(m, 2, [&](index_t i, index_t k) {
      double sum = 0;
      for (index_t j = 0; j < n; ++j) sum += a(i, j) * x(j, k);
      return sum;
    });
  };
  CHECK(distance(fitted(back), fitted(before.X)) <= 1e-6 * norm(b));
  if (rank == n) CHECK(distance(back, before.X) <= 1e-11 * norm(before.X));
}

TEST_CASE("Kahan's matrices have rank n - 1 and a condition above 1 / (m epsilon)") {
  const Matrix like = made(200, 150, [](index_t i, index_t j) {
    return (i == j ? 1.0 : i < j ? -0.3 : 0.0) * std::pow(0.95, static_cast<double>(i));
  });
  const Matrix kahan = made(60, 60, [](index_t i, index_t j) {
    return i > j ? 0.0 : std::pow(std::sqrt(0.75), static_cast<double>(i)) * (i == j ? 1.0 : -0.5);
  });
  for (const auto& [a, rank] : {std::pair{&like, 149}, {&kahan, 59}})
    for (const OlsMethod method : {OlsMethod::tiles, OlsMethod::tall_skinny}) {
      const OlsOptions options{.method = method};
      const auto answer = solve(runtime(), *a, random(a->rows(), 2, 4), {64, 32}, options);
      CAPTURE(rank, int(method));
      CHECK(answer.status == SolveStatus::rank_deficient);
      CHECK(answer.rank == rank);
      CHECK(answer.condition > 1 / (static_cast<double>(a->rows()) * epsilon));
      CHECK(answer.cut <= 1e-13);
      CHECK(answer.backward_error.good());
    }
}

TEST_CASE("the zero matrix has rank 0 and the solution 0") {
  const auto [m, n] = GENERATE(table<index_t, index_t>({{20, 5}, {5, 20}, {500, 3}, {1, 1}}));
  const Matrix b = random(m, 2, 2);
  const auto answer = solve(runtime(), Matrix::zeros(m, n), b, {8, 8});
  CHECK(answer.status == SolveStatus::rank_deficient);
  CHECK(answer.rank == 0);
  CHECK(answer.condition == infinity);
  CHECK(distance(answer.X, Matrix::zeros(n, 2)) == 0);
  for (index_t k = 0; k < 2; ++k) {
    double sum = 0;
    for (index_t i = 0; i < m; ++i) sum = std::hypot(sum, b(i, k));
    CHECK(std::abs(answer.residual_norms[static_cast<std::size_t>(k)] - sum) <= 1e-14 * sum);
  }
}
