#include "tests/support/commands/process.hpp"
#include "tests/support/least_squares.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/quadruple.hpp"
#include <tesela/algorithms/least_squares/covariance.hpp>
#include <tesela/algorithms/least_squares/weighted_least_squares.hpp>
#include <tesela/tiles/io/file_formats.hpp>

using namespace tesela::test;

namespace {

template <class T = double>
using Weights = std::vector<real_t<T>>;

/// Solves in tiles, or in memory if the tile is 0 x 0.
template <class T>
LeastSquares<T> weighted(const HostMatrix<T>& a, const HostMatrix<T>& b, const Weights<T>& w, TileShape tile,
                         const OlsOptions& options = {}) {
  return on_copies(runtime(), a, b, tile,
                   [&](auto& on, const auto& A, const auto& B) { return wls(on, A, B, w, options); });
}

/// Returns weights 10^e with e uniform in [-spread, spread].
template <class T = double>
Weights<T> spread_weights(index_t m, double spread, std::uint64_t seed) {
  Weights<T> w;
  const Matrix e = random(m, 1, seed);
  for (index_t i = 0; i < m; ++i) w.push_back(static_cast<real_t<T>>(std::pow(10.0, spread * e(i, 0))));
  return w;
}

/// Returns diag(sqrt(w)) A.
template <class T>
HostMatrix<T> scaled(const HostMatrix<T>& a, const Weights<T>& w) {
  return filled<T>(a.shape(), [&](index_t i, index_t j) {
    const real_t<T> d = w[static_cast<std::size_t>(i)];
    return d == 0 ? T(0) : std::sqrt(d) * a(i, j);
  });
}

template <class T>
HostMatrix<T> rows_from(const HostMatrix<T>& a, index_t first, index_t count) {
  return filled<T>({count, a.cols()}, [&](index_t i, index_t j) { return a(first + i, j); });
}

double worst_digit(const Matrix& x, const Matrix& reference) {
  double worst = 0;
  for (index_t k = 0; k < x.size(); ++k)
    worst = std::max(worst, std::abs(x.data()[k] - reference.data()[k]) / std::abs(reference.data()[k]));
  return worst;
}

/// Requires the solution of LAPACK for rows times the roots of their weights, by several methods.
template <class T>
void require_gelsd(index_t m, index_t n, index_t rank, double spread, TileShape tile, index_t r = 3) {
  const HostMatrix<T> a = of_values<T>(m, n, kernels::spectrum(rank, 4)), b = random<T>(m, r, 8);
  const Weights<T> w = spread_weights<T>(m, spread, 9);
  const double rcond = 1e-4;
  const HostMatrix<T> of_b = scaled(b, w);
  const Reference<T> reference = reference_of(scaled(a, w), of_b, rcond);
  for (const OlsMethod method :
       {OlsMethod::automatic, OlsMethod::tiles, tile.mb > 0 ? OlsMethod::tall_skinny : OlsMethod::givens}) {
    CAPTURE(m, n, rank, spread, tile.mb, static_cast<int>(method));
    const LeastSquares<T> answer = weighted(a, b, w, tile, {.method = method, .rcond = rcond});
    REQUIRE(answer.status == (rank < std::min(m, n) ? SolveStatus::rank_deficient : SolveStatus::ok));
    CHECK(answer.degrees_of_freedom == m - rank);
    require_agreement(answer, reference, of_b, 1e4 * eps<T>);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("moderate weights give least squares on scaled rows by every method", "", FOUR_TYPES) {
  const double spread = GENERATE(0.1, 1.0, 2.0);  // one class of weights, several classes
  for (const auto& [m, n, rank] : {std::array<index_t, 3>{1, 1, 1},
                                   {7, 1, 1},
                                   {7, 7, 7},
                                   {9, 4, 4},
                                   {4, 9, 4},
                                   {33, 20, 7},
                                   {64, 7, 7},
                                   {70, 20, 20},
                                   {90, 40, 13},
                                   {200, 31, 31},
                                   {517, 7, 7},
                                   {20, 64, 20}}) {
    require_gelsd<TestType>(m, n, rank, spread, {0, 0}, 1);
    for (const TileShape tile : {TileShape{16, 16}, {7, 30}, {1000, 1000}})
      require_gelsd<TestType>(m, n, rank, spread, tile);
  }
}

TEMPLATE_TEST_CASE("weighted problems agree with gelsd on a GPU", "[gpu][sanitize]", FOUR_TYPES) {
  require_gpu();
  const double spread = GENERATE(0.1, 1.0);
  for (const auto& [m, n, rank] : {std::array<index_t, 3>{900, 12, 12}, {300, 40, 40}, {90, 40, 13}})
    require_gelsd<TestType>(m, n, rank, spread, {450, n});
}

TEST_CASE("weights over 24 orders of magnitude keep ten digits of a quadruple-precision solution") {
  const index_t m = 400, n = 12;
  const Matrix a = random(m, n, 1), b = random(m, 2, 2);
  // No size of rows alone determines x.
  const int kind = GENERATE(0, 1, 2, 3);
  Weights<> w = spread_weights(m, 12, 3);
  for (index_t i = 0; i < m; ++i) {
    double& weight = w[static_cast<std::size_t>(i)];
    if (kind == 1) weight = i % 97 == 5 ? 1e12 : i % 90 == 3 ? 1 : 1e-12;
    if (kind == 2) weight = i < 4 ? 1e12 : i < 10 ? 1e-6 : 1e-12;
    if (kind == 3) weight = i >= m - 6 ? 1e12 : i == 7 ? 0 : 1e-12;
  }
  const Matrix reference = quadruple_wls(a, b, w);
  for (const OlsMethod method : {OlsMethod::tall_skinny, OlsMethod::tiles, OlsMethod::automatic})
    for (const TileShape tile : {TileShape{64, 12}, {400, 5}}) {
      const auto answer = weighted(a, b, w, tile, {.method = method});
      CAPTURE(kind, tile.mb, static_cast<int>(method), answer.condition, worst_digit(answer.X, reference));
      CHECK(answer.status == SolveStatus::ok);
      CHECK(answer.rank == n);
      CHECK(worst_digit(answer.X, reference) <= 1e-10);
      CHECK(answer.degrees_of_freedom == m - n - (kind == 3 ? 1 : 0));
      // The residual is that of the reference.
      for (index_t c = 0; c < 2; ++c) {
        long double sum = 0;
        for (index_t i = 0; i < m; ++i) {
          long double left = b(i, c);
          for (index_t j = 0; j < n; ++j) left -= static_cast<long double>(a(i, j)) * reference(j, c);
          sum += left * left * w[static_cast<std::size_t>(i)];
        }
        const double norm = static_cast<double>(std::sqrt(sum));
        CHECK(std::abs(answer.residual_norms[static_cast<std::size_t>(c)] - norm) <= 1e-5 * norm);
      }
    }
}

TEST_CASE("redundant heavy rows do not hide the light ones") {
  const index_t m = 120, n = 6;
  Matrix a = random(m, n, 1), b = random(m, 1, 2);
  Weights<> w(static_cast<std::size_t>(m), 1e-12);
  for (index_t i = 0; i < 40; ++i) {
    w[static_cast<std::size_t>(i)] = 1e12;
    for (index_t j = 0; j < n; ++j) a(i, j) = a(i % 2, j);  // rank 2
    b(i, 0) = b(i % 2, 0);
  }
  const Matrix reference = quadruple_wls(a, b, w);
  for (const OlsMethod method : {OlsMethod::tall_skinny, OlsMethod::tiles}) {
    const auto answer = weighted(a, b, w, {50, 6}, {.method = method});
    CAPTURE(static_cast<int>(method), worst_digit(answer.X, reference));
    CHECK(answer.rank == n);
    CHECK(worst_digit(answer.X, reference) <= 1e-10);
  }
}

TEST_CASE("a deficient rank is found for any weights, and the solution has least norm") {
  const index_t m = 90, n = 8;
  const double spread = GENERATE(1.0, 12.0);
  const Matrix a = of_rank(m, n, 5, 3), x = random(n, 1, 4);
  const Matrix b = made(m, 1, [&](index_t i, index_t) {
    double sum = 0;
    for (index_t j = 0; j < n; ++j) sum += a(i, j) * x(j, 0);
    return sum;
  });
  const auto reference = reference_of(a, b, 1e-12);  // the system is consistent, so weights do not change x
  for (const OlsMethod method : {OlsMethod::tall_skinny, OlsMethod::tiles}) {
    const auto answer = weighted(a, b, spread_weights(m, spread, 5), {30, 8}, {.method = method});
    CAPTURE(spread, static_cast<int>(method), norm(answer.X), norm(reference.X));
    CHECK(answer.status == SolveStatus::rank_deficient);
    CHECK(answer.rank == 5);
    CHECK(distance(answer.X, reference.X) <= 1e-9 * norm(reference.X));
  }
}

TEST_CASE("rounding errors of heavy rows in light rows do not count as rank, even with few rows") {
  for (const double spread : {1.0, 3.0, 5.0, 10.0})
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const Matrix left = random(12, 8, 3 * seed), right = random(8, 10, 3 * seed + 1), b = random(12, 1, seed);
      const Matrix a = made(12, 10, [&](index_t i, index_t j) {
        double sum = 0;
        for (index_t k = 0; k < 8; ++k) sum += left(i, k) * right(k, j);
        return sum;
      });
      const Weights<> w = spread_weights(12, spread, 3 * seed + 2);
      const LeastSquares<double> answer = weighted(a, b, w, {64, 64});
      CAPTURE(spread, seed);
      CHECK(answer.rank == 8);
      CHECK(answer.status == SolveStatus::rank_deficient);
      double squares = 0;
      for (index_t i = 0; i < 12; ++i) {
        double left_over = b(i, 0);
        for (index_t j = 0; j < 10; ++j) left_over -= a(i, j) * answer.X(j, 0);
        squares += w[static_cast<std::size_t>(i)] * left_over * left_over;
      }
      CHECK(std::abs(std::sqrt(squares) - answer.residual_norms[0]) <= 1e-9 * answer.residual_norms[0]);
    }
}

TEST_CASE("rows of zero weight are ignored, and negative or non-finite weights are refused") {
  const index_t m = 80, n = 5;
  Matrix a = random(m, n, 1), b = random(m, 1, 2);
  Weights<> w = spread_weights(m, GENERATE(1.0, 10.0), 3);
  Matrix fewer(m - 2, n), fewer_b(m - 2, 1);
  for (index_t i = 2; i < m; ++i) {
    for (index_t j = 0; j < n; ++j) fewer(i - 2, j) = a(i, j);
    fewer_b(i - 2, 0) = b(i, 0);
  }
  w[0] = w[1] = 0;
  a(0, 3) = not_a_number;
  b(1, 0) = infinity;
  const Matrix reference = quadruple_wls(fewer, fewer_b, Weights<>(w.begin() + 2, w.end()));
  for (const OlsMethod method : {OlsMethod::tall_skinny, OlsMethod::tiles}) {
    const auto answer = weighted(a, b, w, {30, 3}, {.method = method});
    CHECK(answer.status == SolveStatus::ok);
    CHECK(answer.degrees_of_freedom == m - 2 - n);
    CHECK(worst_digit(answer.X, reference) <= 1e-10);
  }
  CHECK(weighted(a, b, Weights<>(static_cast<std::size_t>(m), 1.0), {30, 3}).status == SolveStatus::not_finite);
  const auto none = weighted(a, b, Weights<>(static_cast<std::size_t>(m), 0.0), {30, 3});
  CHECK(none.status == SolveStatus::rank_deficient);
  CHECK(none.rank == 0);
  CHECK(none.degrees_of_freedom == 0);
  CHECK(norm(none.X) == 0);
  for (const double wrong : {-1.0, not_a_number, infinity}) {
    w[41] = wrong;
    CHECK_THROWS_WITH(weighted(a, b, w, {30, 3}), ContainsSubstring("row 42"));
  }
  CHECK_THROWS_WITH(weighted(a, b, Weights<>(5, 1.0), {30, 3}), ContainsSubstring("weights: 5"));
}

TEST_CASE("empty problems are solved, and a power of two in the weights does not change X") {
  CHECK(weighted(Matrix(0, 5), Matrix(0, 2), {}, {8, 8}).X.shape() == Shape{5, 2});
  const Matrix b = random(20, 1, 2);
  const Weights<> w = spread_weights(20, 12, 3);
  const auto no_unknowns = weighted(Matrix(20, 0), b, w, {8, 8});
  CHECK(no_unknowns.X.shape() == Shape{0, 1});
  CHECK(std::abs(no_unknowns.residual_norms[0] / norm(scaled(b, w)) - 1) <= 1e-14);

  const Matrix a = random(20, 4, 1);
  const auto plain = weighted(a, b, w, {8, 8});
  for (const int e : {-900, 900}) {
    const Matrix large = made(20, 4, [&](index_t i, index_t j) { return std::ldexp(a(i, j), e); });
    const auto answer = weighted(large, b, w, {8, 8});
    for (index_t j = 0; j < 4; ++j) CHECK(answer.X(j, 0) == std::ldexp(plain.X(j, 0), -e));
    Weights<> heavy = w;
    for (double& weight : heavy) weight = std::ldexp(weight, e);
    CHECK(distance(weighted(a, b, heavy, {8, 8}).X, plain.X) == 0);
  }
}

TEST_CASE("weights in a matrix give the solution of weights in a vector") {
  const index_t m = 300, n = 5;
  const Matrix a = random(m, n, 1), b = random(m, 1, 2);
  for (const double spread : {1.0, 12.0})
    for (const OlsMethod method : {OlsMethod::tall_skinny, OlsMethod::tiles}) {
      Weights<> w = spread_weights(m, spread, 3);
      w[9] = 0;
      const TileMatrix<double> W(runtime(), m, 1, {70, 1}, "w"), other(runtime(), m, 1, {80, 1}, "w");
      W.copy_from(w.data(), m);
      const auto answer = on_copies(runtime(), a, b, {70, n}, [&](Graph& g, const auto& A, const auto& B) {
        CHECK_THROWS_WITH(wls(g, A, B, other, {.method = method}), ContainsSubstring("tiles of 80"));
        return wls(g, A, B, W, {.method = method});
      });
      CHECK(answer.degrees_of_freedom == m - 1 - n);
      CHECK(distance(answer.X, weighted(a, b, w, {70, n}, {.method = method}).X) <= 1e-14 * norm(answer.X));
    }
}

TEST_CASE("a file is read once for any weights") {
  const index_t m = 1003, n = 6;
  const index_t rows = GENERATE(50, 5000, 0);
  const TemporaryFolder folder;
  const Matrix a = random(m, n, 1), b = random(m, 2, 2);
  write_matrix(folder / "a.npy", a);
  const OlsOptions options{.rows = rows};
  for (const double spread : {1.0, 12.0}) {
    Weights<> w = spread_weights(m, spread, 3);
    w[7] = 0;
    Graph g(runtime());
    const auto answer = wls(g, MatrixRows<double>(folder / "a.npy"), b, w, options);
    CHECK(answer.status == SolveStatus::ok);
    CHECK(worst_digit(answer.X, quadruple_wls(a, b, w)) <= 1e-10);
  }
}

TEST_CASE("single precision keeps its digits") {
  const index_t m = 200, n = 6;
  HostMatrix<float> a(m, n), b(m, 1);
  const Matrix random_a = random(m, n, 1), random_b = random(m, 1, 2);
  std::copy_n(random_a.data(), a.size(), a.data());
  std::copy_n(random_b.data(), m, b.data());
  std::vector<float> w;
  for (index_t i = 0; i < m; ++i) w.push_back(i % 50 == 1 ? 1e12F : i % 70 == 3 ? 1.F : 1e-12F);
  const Matrix reference = quadruple_wls(a, b, w);
  const auto answer =
      on_copies(runtime(), a, b, {50, 6}, [&](Graph& g, const auto& A, const auto& B) { return wls(g, A, B, w); });
  REQUIRE(answer.rank == n);
  for (index_t j = 0; j < n; ++j) CHECK(std::abs(static_cast<double>(answer.X(j, 0)) / reference(j, 0) - 1) <= 1e-4);
}

TEST_CASE("covariance and standard errors agree with the normal equations") {
  const index_t m = 60, n = 7;
  const Matrix a = random(m, n, 1), b = random(m, 1, 2);
  for (const double spread : {0.0, 1.0, 12.0}) {
    const Weights<> w = spread_weights(m, spread, 3);
    const OlsOptions options{.method = OlsMethod::tiles, .keep_triangle = true};
    const auto answer = spread == 0 ? solve(runtime(), a, b, {16, 4}, options) : weighted(a, b, w, {16, 4}, options);
    Graph g(runtime());
    const Matrix V = covariance(g, answer);
    const std::vector<double> errors = standard_errors(g, answer);
    REQUIRE(V.shape() == Shape{n, n});
    // V^-1 V = A^T W A V in quadruple precision.
    for (index_t i = 0; i < n; ++i) {
      CHECK(std::abs(errors[static_cast<std::size_t>(i)] / std::sqrt(V(i, i)) - 1) <= 1e-13);
      for (index_t j = 0; j < n; ++j) {
        Quad sum = 0, size = 0;
        for (index_t k = 0; k < n; ++k) {
          Quad gram = 0;
          for (index_t l = 0; l < m; ++l) gram += Quad(w[static_cast<std::size_t>(l)]) * Quad(a(l, i)) * Quad(a(l, k));
          sum += gram * Quad(V(k, j));
          size += (gram < 0 ? -gram : gram) * Quad(std::abs(V(k, j)));
        }
        CAPTURE(spread, i, j);
        CHECK(std::abs(static_cast<double>(sum) - (i == j)) <= 1e-9 * static_cast<double>(size));
      }
    }
  }
  const OlsOptions options{.keep_triangle = true};
  Graph g(runtime());
  CHECK(covariance(g, solve(runtime(), of_rank(60, 7, 4, 1), b, {16, 4}, options)).size() == 0);
  CHECK(covariance(g, solve(runtime(), a, b, {16, 4})).size() == 0);
}

TEST_CASE("weighted problems on GPUs agree with quadruple precision", "[gpu][sanitize]") {
  require_gpu();
  const double spread = GENERATE(1.0, 12.0);
  for (const auto& [m, n] : {std::pair<index_t, index_t>{900, 3}, {900, 12}, {900, 20}, {900, 30}, {300, 40}}) {
    const Matrix a = random(m, n, 1), b = random(m, 2, 2);
    Weights<> w = spread_weights(m, spread, 3);
    w[5] = 0;
    const Matrix reference = quadruple_wls(a, b, w);
    for (const OlsMethod method : {OlsMethod::tall_skinny, OlsMethod::tiles}) {
      CAPTURE(m, n, spread, static_cast<int>(method));
      CHECK(worst_digit(weighted(a, b, w, {450, n}, {.method = method}).X, reference) <= 1e-10);
    }
  }
}

TEMPLATE_TEST_CASE("rows of enormous weights become constraints in every type", "", FOUR_TYPES) {
  using T = TestType;
  const index_t m = 60, n = 11, heavy = 6;
  const bool deficient = GENERATE(false, true);
  HostMatrix<T> a = random<T>(m, n, 1), b = random<T>(m, 2, 2);
  if (deficient) {  // two of the heavy rows are multiples of others, and agree with them
    T factor = T(-2);
    if constexpr (is_complex<T>) factor = T(1, -2);
    for (HostMatrix<T>* const of : {&a, &b})
      for (index_t j = 0; j < of->cols(); ++j) (*of)(4, j) = factor * (*of)(0, j), (*of)(5, j) = factor * (*of)(1, j);
  }
  Weights<T> w = spread_weights<T>(m, 0.1, 3);
  for (std::size_t i = 0; i < heavy; ++i) w[i] *= static_cast<real_t<T>>(1 / eps<T> / eps<T>);
  const LeastSquares<T> answer = weighted(a, b, w, {16, 16});
  REQUIRE(answer.status == SolveStatus::ok);
  CHECK(answer.rank == n);
  // The solution with constraints differs by about the ratio of the weights.
  const index_t kept = deficient ? 4 : heavy;
  const Weights<T> light(w.begin() + heavy, w.end());
  HostMatrix<T> X(n, 2);
  for (index_t k = 0; k < 2; ++k) {
    HostMatrix<T> of_a = scaled(rows_from(a, heavy, m - heavy), light),
                  of_b = scaled(rows_from(b, heavy, m - heavy), light), c = rows_from(a, 0, kept),
                  d = rows_from(b, 0, kept);
    REQUIRE(lapack::gglse(m - heavy, n, kept, of_a.data(), of_a.ld(), c.data(), c.ld(), &of_b(0, k), &d(0, k),
                          &X(0, k)) == 0);
  }
  CHECK(distance(answer.X, X) <= 1e3 * eps<T> * norm(X));
  CHECK(distance(product(rows_from(a, 0, heavy), answer.X), rows_from(b, 0, heavy)) <=
        100 * eps<T> * (norm(a) * norm(X) + norm(b)));
}

TEMPLATE_TEST_CASE("rows of weight 0 do not count, also if a part of a number in them is NaN", "", COMPLEX_TYPES) {
  using T = TestType;
  const index_t m = 40, n = 5;
  const TileShape tile = GENERATE(TileShape{0, 0}, TileShape{8, 8});
  const auto nan = std::numeric_limits<real_t<T>>::quiet_NaN();
  HostMatrix<T> a = random<T>(m, n, 1), b = random<T>(m, 1, 2);
  Weights<T> w = spread_weights<T>(m, 1, 3);
  a(17, 2) = T(1, nan), b(20, 0) = T(nan, 1);
  for (const std::size_t row : {17, 20}) {
    const LeastSquares<T> answer = weighted(a, b, w, tile);
    CHECK(answer.status == SolveStatus::not_finite);
    CHECK(answer.X.size() == 0);
    w[row] = 0;
  }
  const LeastSquares<T> answer = weighted(a, b, w, tile);
  CHECK(answer.status == SolveStatus::ok);
  CHECK(answer.degrees_of_freedom == m - 2 - n);
  w[7] = -1;
  CHECK_THROWS_WITH(weighted(a, b, w, tile), ContainsSubstring("row 8 has weight -1"));
}

TEMPLATE_TEST_CASE("powers of two as units of weighted problems change X by powers of two", "", FOUR_TYPES) {
  using T = TestType;
  const HostMatrix<T> a = random<T>(30, 6, 1), b = random<T>(30, 1, 2);
  const double spread = GENERATE(0.1, 3.0);
  const Weights<T> w = spread_weights<T>(30, spread, 3);
  const auto solved = [](const HostMatrix<T>& of_a, const HostMatrix<T>& of_b, const Weights<T>& of_w) {
    return weighted(of_a, of_b, of_w, {16, 16}).X;
  };
  const HostMatrix<T> x = solved(a, b, w);
  const int most = std::numeric_limits<real_t<T>>::max_exponent / 2, e = GENERATE_COPY(-most, most);
  Weights<T> units = w;
  for (real_t<T>& weight : units) weight = std::ldexp(weight, e);
  CHECK(distance(solved(a, b, units), x) <= 100 * eps<T> * norm(x));
  CHECK(distance(solved(times_two_to(e, a), times_two_to(e, b), w), x) <= 100 * eps<T> * norm(x));
  CHECK(distance(times_two_to(e, solved(times_two_to(e, a), b, w)), x) <= 100 * eps<T> * norm(x));
}
