#include "tests/support/commands/process.hpp"
#include "tests/support/least_squares.hpp"
#include <tesela/algorithms/least_squares/nonnegative_least_squares.hpp>
#include <tesela/tiles/io/file_formats.hpp>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

template <class T>
LeastSquares<T> nonnegative(Runtime& runtime, const HostMatrix<T>& a, const HostMatrix<T>& b, TileShape tile,
                            const OlsOptions& options = {}) {
  return on_copies(
      runtime, a, b, tile, [&](Graph& g, const auto& A, const auto& B) { return nnls(g, A, B, options); }, 2);
}

/// Requires the Karush-Kuhn-Tucker conditions, which only a minimum satisfies, in long double and on the given A.
template <class T>
void require_minimum(const HostMatrix<T>& a, const HostMatrix<T>& b, const LeastSquares<T>& answer, double cut = 0) {
  const index_t m = a.rows(), n = a.cols();
  REQUIRE(answer.X.shape() == Shape{n, b.cols()});
  REQUIRE(answer.backward_error.good());
  const double bound = rounding_bound<T>(std::max(m, n)) + cut;
  for (index_t k = 0; k < b.cols(); ++k) {
    std::vector<long double> r(static_cast<std::size_t>(m)), norms(static_cast<std::size_t>(n));
    long double size = 0, rest = 0;
    for (index_t i = 0; i < m; ++i)
      r[static_cast<std::size_t>(i)] = b(i, k), size = std::hypot(size, (long double)b(i, k));
    for (index_t j = 0; j < n; ++j) {
      REQUIRE(answer.X(j, k) >= 0);
      long double& norm = norms[static_cast<std::size_t>(j)];
      for (index_t i = 0; i < m; ++i) {
        norm = std::hypot(norm, (long double)a(i, j));
        r[static_cast<std::size_t>(i)] -= (long double)a(i, j) * answer.X(j, k);
      }
      size += norm * answer.X(j, k);
    }
    for (const long double x : r) rest = std::hypot(rest, x);
    REQUIRE(std::abs(answer.residual_norms[static_cast<std::size_t>(k)] - static_cast<double>(rest)) <=
            (bound + cut) * static_cast<double>(size));
    for (index_t j = 0; j < n; ++j) {
      long double gradient = 0;
      for (index_t i = 0; i < m; ++i) gradient += (long double)a(i, j) * r[static_cast<std::size_t>(i)];
      const auto violation = static_cast<double>(answer.X(j, k) > 0 ? std::abs(gradient) : std::max(gradient, 0.0L));
      CAPTURE(j, k, violation, bound);
      REQUIRE(violation <= bound * static_cast<double>(norms[static_cast<std::size_t>(j)] * size));
    }
  }
}

template <class T>
HostMatrix<T> uniform(index_t m, index_t n, std::uint64_t seed, double shift = 0) {
  HostMatrix<T> a(m, n);
  const Matrix numbers = random(m, n, seed);
  for (index_t k = 0; k < a.size(); ++k) a.data()[k] = static_cast<T>(numbers.data()[k] + shift);
  return a;
}

index_t positive(const Matrix& x, index_t k) {
  return std::count_if(x.data() + k * x.rows(), x.data() + (k + 1) * x.rows(), [](double e) { return e > 0; });
}

}  // namespace

TEMPLATE_TEST_CASE("nonnegative solutions of every shape satisfy the optimality conditions", "", float, double) {
  const auto [m, n] = GENERATE(table<index_t, index_t>(
      {{1, 1}, {5, 1}, {1, 5}, {16, 16}, {31, 30}, {100, 37}, {37, 100}, {150, 64}, {700, 11}, {200, 200}}));
  const index_t r = GENERATE(1, 3);
  const TileShape tile = GENERATE(TileShape{16, 16}, TileShape{5, 24}, TileShape{1000, 1000});
  const double shift = GENERATE(0.0, 0.5, -3.0);  // positive columns are correlated: many enter and leave
  CAPTURE(m, n, r, tile.mb, tile.nb, shift);
  const auto a = uniform<TestType>(m, n, 7, shift), b = uniform<TestType>(m, r, 8, 0.1);
  const auto answer = nonnegative(runtime(), a, b, tile);
  REQUIRE(answer.status == SolveStatus::ok);
  REQUIRE(answer.rank == std::min(m, n));
  REQUIRE(answer.degrees_of_freedom == m - answer.rank);
  require_minimum(a, b, answer);
}

WORKERS_TEST_CASE("every method and every source of A gives one solution") {
  const index_t m = 300, n = 12;
  const Matrix a = random(m, n, 1), b = random(m, 3, 2);
  const auto reference = nonnegative(runtime, a, b, {32, 8});
  const auto agree = [&](const LeastSquares<double>& answer) {
    CHECK(answer.status == SolveStatus::ok);
    CHECK(distance(answer.X, reference.X) <= 1e-13 * norm(reference.X));
  };
  require_minimum(a, b, reference);
  for (const auto& [method, tile] : {std::pair{OlsMethod::tiles, TileShape{64, 64}},
                                     {OlsMethod::tall_skinny, TileShape{64, 5}},
                                     {OlsMethod::givens, TileShape{m, 4}}}) {
    const OlsOptions options{.method = method};
    agree(nonnegative(runtime, a, b, tile, options));
  }
  Matrix work = a.clone(), rhs = b.clone();
  agree(nnls(runtime, MatrixView(work), MatrixView(rhs)));
  const test::TemporaryFolder folder;
  write_matrix(folder / "a.npy", a);
  Graph g(runtime);
  agree(nnls(g, MatrixRows<double>(folder / "a.npy"), b));
}

TEST_CASE("a consistent nonnegative problem returns its sparse solution") {
  const index_t m = 90, n = 40;
  const Matrix a = made(m, n, ProductForm<double>(m, n, spectrum(n, 100), 3));
  const Matrix x = made(n, 2, [](index_t i, index_t j) { return (i + j) % 3 == 0 ? 1.0 + static_cast<double>(i) : 0; });
  const Matrix b = product(a, x);
  const auto answer = nonnegative(runtime(), a, b, {16, 16});
  CHECK(answer.status == SolveStatus::ok);
  CHECK(distance(answer.X, x) <= 1e-11 * norm(x));
  for (const double rest : answer.residual_norms) CHECK(rest <= 1e-13 * norm(b));
}

TEST_CASE("a b that no column reduces gives zeros") {
  const Matrix a = uniform<double>(20, 6, 1, 1), b = made(20, 1, [](index_t, index_t) { return -1.0; });
  const auto answer = nonnegative(runtime(), a, b, {8, 8});
  CHECK(answer.status == SolveStatus::ok);
  CHECK(norm(answer.X) == 0);
  CHECK(std::abs(answer.residual_norms[0] - std::sqrt(20)) <= 1e-14);
}

TEST_CASE("dependent columns give a minimum and the rank") {
  const auto [m, n, rank] = GENERATE(table<index_t, index_t, index_t>({{30, 10, 3}, {10, 30, 3}, {40, 40, 39}}));
  CAPTURE(m, n, rank);
  Matrix a = of_rank(m, n, rank, 3);
  const Matrix b = random(m, 4, 5);
  const auto answer = nonnegative(runtime(), a, b, {16, 12});
  CHECK(answer.status == SolveStatus::rank_deficient);
  CHECK(answer.rank == rank);
  require_minimum(a, b, answer, answer.cut);
  for (index_t k = 0; k < 4; ++k) CHECK(positive(answer.X, k) <= rank);

  for (index_t i = 0; i < m; ++i) a(i, 1) = a(i, 0), a(i, 2) = 0, a(i, 4) = -a(i, 3);
  const auto equal = nonnegative(runtime(), a, b, {16, 12});
  CHECK(is_solved(equal.status));
  require_minimum(a, b, equal, equal.cut);
  for (index_t k = 0; k < 4; ++k) CHECK((equal.X(2, k) == 0 && equal.X(0, k) * equal.X(1, k) == 0));
}

TEST_CASE("a given rcond skips columns near the span of others") {
  Matrix a = random(30, 4, 1);
  for (index_t i = 0; i < 30; ++i) a(i, 3) = a(i, 0) + 1e-6 * a(i, 3);
  Matrix b = made(30, 1, [&](index_t i, index_t) { return a(i, 0) + 2 * a(i, 1) + 3 * a(i, 2) + a(i, 3); });
  CHECK(positive(nonnegative(runtime(), a, b, {8, 8}).X, 0) == 4);
  const auto answer = nonnegative(runtime(), a, b, {8, 8}, {.rcond = 1e-3});
  CHECK(answer.status == SolveStatus::rank_deficient);
  CHECK(answer.rank == 3);
  CHECK(positive(answer.X, 0) == 3);
  CHECK((answer.cut > 1e-8 && answer.cut < 1e-5));
  require_minimum(a, b, answer, answer.cut);
}

TEST_CASE("units of powers of two change nonnegative solutions by powers of two") {
  const index_t m = 50, n = 20;
  const Matrix a = uniform<double>(m, n, 1, 0.3), b = random(m, 2, 2);
  const auto plain = nonnegative(runtime(), a, b, {16, 8});
  const auto of = [](index_t j) { return static_cast<int>(37 * (j % 7)) - 90; };
  const auto scaled =
      nonnegative(runtime(), made(m, n, [&](index_t i, index_t j) { return std::ldexp(a(i, j), of(j)); }),
                  made(m, 2, [&](index_t i, index_t j) { return std::ldexp(b(i, j), j == 0 ? 300 : -300); }), {16, 8});
  REQUIRE(scaled.status == SolveStatus::ok);
  for (index_t k = 0; k < 2; ++k) {
    CHECK(scaled.residual_norms[static_cast<std::size_t>(k)] ==
          std::ldexp(plain.residual_norms[static_cast<std::size_t>(k)], k == 0 ? 300 : -300));
    for (index_t j = 0; j < n; ++j) CHECK(scaled.X(j, k) == std::ldexp(plain.X(j, k), (k == 0 ? 300 : -300) - of(j)));
  }
}

TEST_CASE("empty, infinite and nonconforming nonnegative problems") {
  for (const auto& [m, n, r] : {std::tuple<index_t, index_t, index_t>{0, 5, 2}, {20, 0, 1}, {20, 5, 0}, {5, 20, 0}}) {
    CAPTURE(m, n, r);
    const auto answer = nonnegative(runtime(), random(m, n, 1), random(m, r, 2), {8, 8});
    CHECK(answer.status == SolveStatus::ok);
    CHECK(answer.rank == std::min(m, n));
    CHECK(distance(answer.X, Matrix::zeros(n, r)) == 0);
  }
  for (const double bad : {not_a_number, infinity, -infinity})
    for (const bool in_a : {false, true}) {
      Matrix a = random(24, 10, 1), b = random(24, 2, 2);
      (in_a ? a(23, 9) : b(12, 1)) = bad;
      const auto answer = nonnegative(runtime(), a, b, {8, 8});
      CHECK(answer.status == SolveStatus::not_finite);
      CHECK(answer.X.size() == 0);
      CHECK(std::isnan(answer.residual_norms[0]));
    }
  CHECK(nonnegative(runtime(), made(9, 1, [](index_t, index_t) { return 1e-300; }),
                    made(9, 1, [](index_t, index_t) { return 1e300; }), {8, 8})
            .status == SolveStatus::not_finite);
  Matrix a = random(20, 5, 1), b = random(19, 2, 2);
  CHECK_THROWS_AS(nnls(runtime(), MatrixView(a), MatrixView(b)), ArgumentError);
  for (const double rcond : {-1.0, 1.0, not_a_number})
    CHECK_THROWS_AS(nonnegative(runtime(), a, random(20, 1, 1), {8, 8}, {.rcond = rcond}), ArgumentError);
}

TEST_CASE("the measured violation finds wrong nonnegative solutions") {
  const Matrix a = identity(3), b = made(3, 1, [](index_t i, index_t) { return i == 2 ? -1.0 : 1.0; });
  const auto violation = [&](double x, double y, double z) {
    NormalResidual<double> sums(made(3, 1, [&](index_t i, index_t) { return i == 0 ? x : i == 1 ? y : z; }));
    sums.add(3, a.data(), 3, b.data(), 3);
    return sums.result().nonnegative_error;
  };
  CHECK(violation(1, 1, 0) == 0);
  CHECK(violation(1, 0, 0) > 0.3);    // an unknown at the bound would reduce the residual
  CHECK(violation(1, 1.5, 0) > 0.1);  // a positive unknown is not at its minimum
  CHECK(violation(1, 1, -1) == infinity);
}
