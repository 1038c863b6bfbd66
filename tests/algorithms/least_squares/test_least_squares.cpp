#include "tests/support/machine.hpp"
#include "tests/support/process.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/codelets/dense/product_form.hpp>
#include <tesela/codelets/libraries/lapack.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

extern "C" {
void dgels_(const char*, const int*, const int*, const int*, double*, const int*, double*, const int*, double*,
            const int*, int*, std::size_t);
void dgelsy_(const int*, const int*, const int*, double*, const int*, double*, const int*, int*, const double*, int*,
             double*, const int*, int*);
}

using namespace tesela;
using namespace tesela::kernels;
using Catch::Matchers::ContainsSubstring;
using Matrix = HostMatrix<double>;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
const double epsilon = std::numeric_limits<double>::epsilon();

template <class F>
Matrix made(index_t m, index_t n, const F& element) {
  Matrix a(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) a(i, j) = element(i, j);
  return a;
}

Matrix random(index_t m, index_t n, std::uint64_t seed) {
  return made(m, n, Generator<double>{Pattern::uniform, 0, n, seed});
}

Matrix of_rank(index_t m, index_t n, index_t rank, std::uint64_t seed) {
  return made(m, n, ProductForm<double>(m, n, spectrum(rank, 1), seed));
}

double norm(const Matrix& a) {
  double sum = 0;
  for (index_t k = 0; k < a.size(); ++k) sum = std::hypot(sum, a.data()[k]);
  return sum;
}

double distance(const Matrix& a, const Matrix& b) {
  REQUIRE(a.shape() == b.shape());
  double sum = 0;
  for (index_t k = 0; k < a.size(); ++k) sum = std::hypot(sum, a.data()[k] - b.data()[k]);
  return sum;
}

struct Reference {
  Matrix X;
  std::vector<double> residual_norms;
  int rank = 0;
};

/// What LAPACK answers: gels, or gelsy where rcond is given.
Reference reference_of(const Matrix& a, const Matrix& b, double rcond = -1) {
  const int m = static_cast<int>(a.rows()), n = static_cast<int>(a.cols()), r = static_cast<int>(b.cols()),
            ld = std::max(m, 1), ldb = std::max({m, n, 1}), lwork = 200 * (m + n + r + 10);
  Matrix factors = a.clone(), x = Matrix::zeros(ldb, r);
  for (index_t j = 0; j < r; ++j)
    for (index_t i = 0; i < m; ++i) x(i, j) = b(i, j);
  std::vector<double> work(static_cast<std::size_t>(lwork));
  std::vector<int> pivots(static_cast<std::size_t>(n));
  Reference result{Matrix(n, r), std::vector<double>(static_cast<std::size_t>(r)), std::min(m, n)};
  int info = 0;
  if (rcond < 0)
    dgels_("N", &m, &n, &r, factors.data(), &ld, x.data(), &ldb, work.data(), &lwork, &info, 1);
  else
    dgelsy_(&m, &n, &r, factors.data(), &ld, x.data(), &ldb, pivots.data(), &rcond, &result.rank, work.data(), &lwork,
            &info);
  REQUIRE(info == 0);
  for (index_t k = 0; k < r; ++k) {
    for (index_t i = 0; i < n; ++i) result.X(i, k) = x(i, k);
    double& sum = result.residual_norms[static_cast<std::size_t>(k)];
    for (index_t i = 0; i < m; ++i) {
      double residual = b(i, k);
      for (index_t j = 0; j < n; ++j) residual -= a(i, j) * x(j, k);
      sum = std::hypot(sum, residual);
    }
  }
  return result;
}

/// Ours, on copies with NaN between the columns, which must be there afterwards.
LeastSquares<double> solve(Runtime& runtime, const Matrix& a, const Matrix& b, TileShape tile,
                           const OlsOptions& options = {}, index_t rhs_tile = 5) {
  const auto padded = [](const Matrix& from) {
    Matrix to = made(from.rows() + 3, from.cols(), [](index_t, index_t) { return not_a_number; });
    for (index_t j = 0; j < from.cols(); ++j)
      for (index_t i = 0; i < from.rows(); ++i) to(i, j) = from(i, j);
    return to;
  };
  Matrix work = padded(a), rhs = padded(b);
  LeastSquares<double> answer;
  {
    const auto A = TileMatrix<double>::map(runtime, work.data(), a.rows(), a.cols(), work.ld(), tile, "A");
    const auto B = TileMatrix<double>::map(runtime, rhs.data(), b.rows(), b.cols(), rhs.ld(), {tile.mb, rhs_tile}, "B");
    Graph g(runtime);
    answer = ols(g, A, B, options);
  }
  for (const Matrix* matrix : {&work, &rhs})
    for (index_t j = 0; j < matrix->cols(); ++j)
      for (index_t i = matrix->rows() - 3; i < matrix->rows(); ++i) REQUIRE(std::isnan((*matrix)(i, j)));
  return answer;
}

void require_agreement(const LeastSquares<double>& ours, const Reference& theirs, const Matrix& b, double tolerance) {
  REQUIRE(ours.rank == theirs.rank);
  const double difference = distance(ours.X, theirs.X);
  CAPTURE(difference, norm(theirs.X), tolerance);
  REQUIRE(difference <= tolerance * norm(theirs.X));
  REQUIRE(ours.residual_norms.size() == theirs.residual_norms.size());
  for (std::size_t k = 0; k < ours.residual_norms.size(); ++k)
    REQUIRE(std::abs(ours.residual_norms[k] - theirs.residual_norms[k]) <= tolerance * norm(b));
}

std::optional<Runtime> shared_runtime;

/// One for all tests, because StarPU takes its time to start.
Runtime& runtime() {
  if (!shared_runtime) shared_runtime.emplace();
  return *shared_runtime;
}

/// StarPU must stop while CUDA and our codelets still stand, not among the static objects' destructors.
class StopsRuntime : public Catch::EventListenerBase {
 public:
  using Catch::EventListenerBase::EventListenerBase;
  void testRunEnded(const Catch::TestRunStats&) override { shared_runtime.reset(); }
};

}  // namespace

CATCH_REGISTER_LISTENER(StopsRuntime)

TEST_CASE("well conditioned problems of every shape agree with dgels") {
  const auto [m, n] = GENERATE(table<index_t, index_t>(
      {{1, 1}, {5, 1}, {1, 5}, {16, 16}, {31, 30}, {100, 37}, {37, 100}, {150, 64}, {700, 11}, {15, 14}}));
  const index_t r = GENERATE(1, 3, 17);
  const TileShape tile = GENERATE(TileShape{16, 16}, TileShape{32, 7}, TileShape{5, 24}, TileShape{1000, 1000});
  CAPTURE(m, n, r, tile.mb, tile.nb);
  // Square random matrices are not always well conditioned; these are.
  const Matrix a = made(m, n, ProductForm<double>(m, n, spectrum(std::min(m, n), 30), 7)), b = random(m, r, 8);
  const auto answer = solve(runtime(), a, b, tile);
  REQUIRE(answer.status == OlsStatus::ok);
  REQUIRE(answer.original_units);
  REQUIRE(answer.condition >= 1);
  REQUIRE(answer.condition <= 30.0 * static_cast<double>(n) * 10);
  require_agreement(answer, reference_of(a, b), b, 1e-12);
}

TEST_CASE("every method agrees with dgels") {
  const auto [m, n] = GENERATE(table<index_t, index_t>({{90, 20}, {40, 40}, {20, 90}}));
  CAPTURE(m, n);
  const Matrix a = made(m, n, ProductForm<double>(m, n, spectrum(std::min(m, n), 30), 7)), b = random(m, 4, 8);
  const Reference reference = reference_of(a, b);
  for (const GivensMethod rotations : {GivensMethod::sequential, GivensMethod::stages, GivensMethod::chain}) {
    OlsOptions options;
    options.method = OlsMethod::givens;
    options.givens.method = rotations;
    require_agreement(solve(runtime(), a, b, suitable_ols_tile(runtime(), OlsMethod::givens, m, n), options), reference,
                      b, 1e-12);
  }
  for (const char* tree : {"diagonal", "greedy", "binary"}) {
    OlsOptions options;
    options.method = OlsMethod::tiles;
    options.qr.tree = tree;
    require_agreement(solve(runtime(), a, b, {8, 8}, options), reference, b, 1e-12);
  }
  OlsOptions options;
  options.method = OlsMethod::tall_skinny;
  require_agreement(solve(runtime(), a, b, {13, n}, options), reference, b, 1e-12);
  require_agreement(solve(runtime(), a, b, {13, 7}, options), reference, b, 1e-12);
}

TEST_CASE("deficient problems have dgelsy's rank and its solution of least norm") {
  const auto [m, n, rank] = GENERATE(table<index_t, index_t, index_t>(
      {{60, 30, 12}, {60, 30, 29}, {30, 30, 1}, {30, 60, 12}, {30, 60, 29}, {200, 9, 4}}));
  const bool tall_skinny = GENERATE(false, true);
  CAPTURE(m, n, rank, tall_skinny);
  const Matrix a = of_rank(m, n, rank, 3), b = random(m, 2, 8);
  OlsOptions options;
  options.method = tall_skinny ? OlsMethod::tall_skinny : OlsMethod::tiles;
  const auto answer = solve(runtime(), a, b, {16, 8}, options);
  CHECK(answer.status == OlsStatus::rank_deficient);
  CHECK(answer.original_units);
  CHECK(answer.rank == rank);
  CHECK(answer.condition > 1e13);
  require_agreement(answer, reference_of(a, b, 1e-12), b, 1e-11);
}

TEST_CASE("duplicated and zero columns are counted out, and share or leave out the solution") {
  Matrix a = random(50, 8, 3);
  const Matrix b = random(50, 1, 4);
  for (index_t i = 0; i < 50; ++i) a(i, 5) = a(i, 2), a(i, 7) = 0;
  const auto answer = solve(runtime(), a, b, {16, 3});
  REQUIRE(answer.status == OlsStatus::rank_deficient);
  REQUIRE(answer.rank == 6);
  CHECK(std::abs(answer.X(5, 0) - answer.X(2, 0)) <= 1e-14);
  CHECK(answer.X(7, 0) == 0);
  require_agreement(answer, reference_of(a, b, 1e-12), b, 1e-12);
}

TEST_CASE("the rank is the number of singular values of unit columns above rcond") {
  Matrix a = made(80, 40, ProductForm<double>(80, 40, spectrum(40, 1e12), 5));
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
    OlsOptions options;
    options.rcond = rcond;
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

TEST_CASE("a change of units changes neither rank nor residual, however large") {
  const auto [m, n, rank] =
      GENERATE(table<index_t, index_t, index_t>({{60, 12, 12}, {60, 12, 7}, {12, 12, 5}, {12, 30, 12}, {12, 30, 7}}));
  const double unit = GENERATE(1e-3, 1e-9, 1e150, 1e-150);
  const bool tall_skinny = GENERATE(false, true);
  CAPTURE(m, n, rank, unit, tall_skinny);
  const Matrix a = of_rank(m, n, rank, 3), b = random(m, 2, 8);
  OlsOptions options;
  options.method = tall_skinny ? OlsMethod::tall_skinny : OlsMethod::tiles;
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
  // What is fitted is the same, measured and not only claimed.
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

TEST_CASE("the rank of Kahan's matrices, and the condition beside it") {
  const Matrix like = made(200, 150, [](index_t i, index_t j) {
    return (i == j ? 1.0 : i < j ? -0.3 : 0.0) * std::pow(0.95, static_cast<double>(i));
  });
  const Matrix kahan = made(60, 60, [](index_t i, index_t j) {
    return i > j ? 0.0 : std::pow(std::sqrt(0.75), static_cast<double>(i)) * (i == j ? 1.0 : -0.5);
  });
  for (const auto& [a, rank] : {std::pair{&like, 149}, {&kahan, 59}})
    for (const OlsMethod method : {OlsMethod::tiles, OlsMethod::tall_skinny}) {
      OlsOptions options;
      options.method = method;
      const auto answer = solve(runtime(), *a, random(a->rows(), 2, 4), {64, 32}, options);
      CAPTURE(rank, int(method));
      CHECK(answer.status == OlsStatus::rank_deficient);
      CHECK(answer.rank == rank);
      CHECK(answer.condition > 1 / (static_cast<double>(a->rows()) * epsilon));
      CHECK(answer.cut <= 1e-13);
      CHECK(answer.backward_error.good());
    }
}

TEST_CASE("NaN and infinities are said, wherever they stand") {
  const auto [m, n] = GENERATE(table<index_t, index_t>({{24, 10}, {10, 24}, {10, 10}}));
  const OlsMethod method = GENERATE(OlsMethod::tiles, OlsMethod::tall_skinny, OlsMethod::givens);
  const double bad = GENERATE(not_a_number, infinity, -infinity);
  CAPTURE(m, n, int(method), bad);
  OlsOptions options;
  options.method = method;
  const TileShape tile = method == OlsMethod::givens ? suitable_ols_tile(runtime(), method, m, n) : TileShape{8, 8};
  const auto require_refused = [&](const Matrix& a, const Matrix& b) {
    const auto answer = solve(runtime(), a, b, tile, options);
    REQUIRE(answer.status == OlsStatus::not_finite);
    REQUIRE(answer.X.size() == 0);
    REQUIRE(std::isnan(answer.residual_norms[0]));
    REQUIRE(std::isnan(answer.condition));
  };
  for (const auto& [i, j] :
       {std::pair<index_t, index_t>{0, 0}, {m - 1, 0}, {0, n - 1}, {m - 1, n - 1}, {m / 2, n / 2}}) {
    Matrix a = random(m, n, 1);
    a(i, j) = bad;
    require_refused(a, random(m, 2, 2));
  }
  for (const index_t i : {index_t{0}, m / 2, m - 1}) {
    Matrix b = random(m, 2, 2);
    b(i, 1) = bad;
    require_refused(random(m, n, 1), b);
    require_refused(Matrix::zeros(m, n), b);
  }
}

TEST_CASE("a solution beyond the range is no answer") {
  Matrix a = random(20, 3, 1), b = random(20, 1, 2);
  for (index_t k = 0; k < a.size(); ++k) a.data()[k] *= 1e-200;
  for (index_t k = 0; k < b.size(); ++k) b.data()[k] *= 1e200;
  CHECK(solve(runtime(), a, b, {8, 8}).status == OlsStatus::not_finite);
}

TEST_CASE("the zero matrix has rank 0 and the solution 0") {
  const auto [m, n] = GENERATE(table<index_t, index_t>({{20, 5}, {5, 20}, {500, 3}, {1, 1}}));
  const Matrix b = random(m, 2, 2);
  const auto answer = solve(runtime(), Matrix::zeros(m, n), b, {8, 8});
  CHECK(answer.status == OlsStatus::rank_deficient);
  CHECK(answer.rank == 0);
  CHECK(answer.condition == infinity);
  CHECK(distance(answer.X, Matrix::zeros(n, 2)) == 0);
  for (index_t k = 0; k < 2; ++k) {
    double sum = 0;
    for (index_t i = 0; i < m; ++i) sum = std::hypot(sum, b(i, k));
    CHECK(std::abs(answer.residual_norms[static_cast<std::size_t>(k)] - sum) <= 1e-14 * sum);
  }
}

TEST_CASE("sizes of zero") {
  const auto nothing = solve(runtime(), Matrix(0, 5), Matrix(0, 2), {8, 8});
  CHECK(nothing.status == OlsStatus::ok);
  CHECK(nothing.rank == 0);
  CHECK(distance(nothing.X, Matrix::zeros(5, 2)) == 0);
  CHECK(nothing.residual_norms == std::vector<double>{0, 0});

  Matrix b = random(20, 1, 2);
  const auto no_unknowns = solve(runtime(), Matrix(20, 0), b, {8, 8});
  CHECK(no_unknowns.status == OlsStatus::ok);
  CHECK(no_unknowns.X.shape() == Shape{0, 1});
  CHECK(std::abs(no_unknowns.residual_norms[0] - norm(b)) <= 1e-14 * norm(b));
  b(13, 0) = not_a_number;
  CHECK(solve(runtime(), Matrix(20, 0), b, {8, 8}).status == OlsStatus::not_finite);

  for (const auto& [m, n] : {std::pair<index_t, index_t>{20, 5}, {5, 20}, {200, 2}}) {
    const auto no_rhs = solve(runtime(), random(m, n, 1), Matrix(m, 0), {8, 8});
    CHECK(no_rhs.status == OlsStatus::ok);
    CHECK(no_rhs.rank == std::min(m, n));
    CHECK(no_rhs.X.shape() == Shape{n, 0});
  }
}

TEMPLATE_TEST_CASE("both precisions recover a known solution", "", float, double) {
  const double bound = 2000 * static_cast<double>(std::numeric_limits<TestType>::epsilon());
  const index_t m = 120, n = 30;
  const auto element = ProductForm<double>(m, n, spectrum(n, 10), 3);
  HostMatrix<TestType> a(m, n), b(m, 1);
  for (index_t i = 0; i < m; ++i) {
    b(i, 0) = 0;
    for (index_t j = 0; j < n; ++j) a(i, j) = static_cast<TestType>(element(i, j)), b(i, 0) += a(i, j);
  }
  const auto A = TileMatrix<TestType>::map(runtime(), a.data(), m, n, m, {32, 8});
  const auto B = TileMatrix<TestType>::map(runtime(), b.data(), m, 1, m, {32, 1});
  Graph g(runtime());
  const auto answer = ols(g, A, B);
  REQUIRE(answer.status == OlsStatus::ok);
  for (index_t j = 0; j < n; ++j) CHECK(std::abs(static_cast<double>(answer.X(j, 0)) - 1) <= bound);
}

namespace {

/// The digits of x that are right: -log10 of the relative error.
double digits(double x, double certified) {
  return -std::log10(std::max(std::abs(x - certified) / std::abs(certified), epsilon));
}

}  // namespace

TEST_CASE("NIST's Longley: at least 9 digits of the certified coefficients") {
  // Employment; price deflator, gross national product, unemployed, armed forces, population, year (1947 to 1962).
  const double data[16][7] = {
      {60323, 83.0, 234289, 2356, 1590, 107608, 1947},  {61122, 88.5, 259426, 2325, 1456, 108632, 1948},
      {60171, 88.2, 258054, 3682, 1616, 109773, 1949},  {61187, 89.5, 284599, 3351, 1650, 110929, 1950},
      {63221, 96.2, 328975, 2099, 3099, 112075, 1951},  {63639, 98.1, 346999, 1932, 3594, 113270, 1952},
      {64989, 99.0, 365385, 1870, 3547, 115094, 1953},  {63761, 100.0, 363112, 3578, 3350, 116219, 1954},
      {66019, 101.2, 397469, 2904, 3048, 117388, 1955}, {67857, 104.6, 419180, 2822, 2857, 118734, 1956},
      {68169, 108.4, 442769, 2936, 2798, 120445, 1957}, {66513, 110.8, 444546, 4681, 2637, 121950, 1958},
      {68655, 112.6, 482704, 3813, 2552, 123366, 1959}, {69564, 114.2, 502601, 3931, 2514, 125368, 1960},
      {69331, 115.7, 518173, 4806, 2572, 127852, 1961}, {70551, 116.9, 554894, 4007, 2827, 130081, 1962}};
  const double certified[7] = {-3482258.63459582, 15.0618722713733,    -0.0358191792925910, -2.02022980381683,
                               -1.03322686717359, -0.0511041056535807, 1829.15146461355};
  const double certified_sum_of_squares = 836424.055505915;
  const Matrix a = made(16, 7, [&](index_t i, index_t j) { return j == 0 ? 1 : data[i][j]; });
  const Matrix b = made(16, 1, [&](index_t i, index_t) { return data[i][0]; });
  for (const OlsMethod method : {OlsMethod::tiles, OlsMethod::tall_skinny, OlsMethod::givens}) {
    OlsOptions options;
    options.method = method;
    const auto answer =
        solve(runtime(), a, b, method == OlsMethod::givens ? TileShape{16, 4} : TileShape{5, 4}, options);
    REQUIRE(answer.status == OlsStatus::ok);
    for (index_t j = 0; j < 7; ++j) {
      CAPTURE(int(method), j, answer.X(j, 0), certified[j]);
      CHECK(digits(answer.X(j, 0), certified[j]) >= 9);
    }
    CHECK(digits(answer.residual_norms[0] * answer.residual_norms[0], certified_sum_of_squares) >= 9);
  }
}

TEST_CASE("NIST's Wampler1 and NoInt1") {
  // y = 1 + x + … + x^5 for x = 0, 1, …, 20, exactly.
  const Matrix a =
      made(21, 6, [](index_t i, index_t j) { return std::pow(static_cast<double>(i), static_cast<double>(j)); });
  const Matrix b = made(21, 1, [&](index_t i, index_t) {
    double sum = 0;
    for (index_t j = 0; j < 6; ++j) sum += a(i, j);
    return sum;
  });
  const auto wampler = solve(runtime(), a, b, {8, 4});
  REQUIRE(wampler.status == OlsStatus::ok);
  // A roundoff times A's condition, 6e6, is 1e-9; LAPACK's gels and gelsd reach 9.4 and 9.3 digits, other tiles 9.2
  // to 10.3.
  for (index_t j = 0; j < 6; ++j) CHECK(digits(wampler.X(j, 0), 1) >= 8.5);

  const auto line = solve(runtime(), made(11, 1, [](index_t i, index_t) { return 60.0 + static_cast<double>(i); }),
                          made(11, 1, [](index_t i, index_t) { return 130.0 + static_cast<double>(i); }), {4, 1});
  CHECK(digits(line.X(0, 0), 2.07438016528926) >= 14);
  CHECK(digits(line.residual_norms[0] * line.residual_norms[0], 127.272727272727) >= 13);
}

TEST_CASE("a file is read once, some rows at a time, and solved as from memory") {
  const index_t m = 1003, n = 6;
  const index_t rows = GENERATE(1, 10, 100, 5000, 0);
  const test::TemporaryFolder folder;
  const Matrix a = random(m, n, 1), b = random(m, 2, 2);
  write_matrix(folder / "a.npy", a);
  Graph g(runtime());
  OlsOptions options;
  options.rows = rows;
  require_agreement(ols(g, MatrixRows<double>(folder / "a.npy"), b, options), reference_of(a, b), b, 1e-12);
  CHECK_THROWS_WITH(ols(g, MatrixRows<double>(folder / "a.npy"), Matrix::zeros(5, 1)), ContainsSubstring("rows"));
}

TEST_CASE("what does not fit is refused, and nothing is touched") {
  Matrix a = random(20, 5, 1), b = random(20, 2, 2);
  const auto A = TileMatrix<double>::map(runtime(), a.data(), 20, 5, 20, {8, 8});
  Graph g(runtime());
  const auto ols_with = [&](const TileMatrix<double>& B, double rcond = 0) {
    OlsOptions options;
    options.rcond = rcond;
    static_cast<void>(ols(g, A, B, options));
  };
  CHECK_THROWS_AS(ols_with(TileMatrix<double>::map(runtime(), b.data(), 19, 2, 20, {8, 8})), ArgumentError);
  CHECK_THROWS_AS(ols_with(TileMatrix<double>::map(runtime(), b.data(), 20, 2, 20, {7, 8})), ArgumentError);
  CHECK_THROWS_AS(ols_with(A), ArgumentError);
  const auto B = TileMatrix<double>::map(runtime(), b.data(), 20, 2, 20, {8, 8});
  for (const double rcond : {-1.0, 1.0, not_a_number}) CHECK_THROWS_AS(ols_with(B, rcond), ArgumentError);
  CHECK(g.tasks() == 0);
  CHECK(distance(a, random(20, 5, 1)) == 0);
}

TEST_CASE("GPUs agree with dgels, full rank or not", "[gpu]") {
  test::require_gpu();
  const auto [m, n] = GENERATE(table<index_t, index_t>({{3000, 300}, {300, 700}, {5000, 12}, {64, 64}}));
  const index_t rank = GENERATE(index_t{1000}, index_t{11});
  CAPTURE(m, n, rank);
  const index_t full = std::min(m, n);
  const Matrix a = rank >= full ? made(m, n, ProductForm<double>(m, n, spectrum(full, 30), 7)) : of_rank(m, n, rank, 3);
  const Matrix b = random(m, 3, 8);
  const auto answer = solve(runtime(), a, b, suitable_ols_tile(runtime(), OlsMethod::tiles, m, n));
  CHECK(answer.status == (rank >= full ? OlsStatus::ok : OlsStatus::rank_deficient));
  require_agreement(answer, reference_of(a, b, 1e-12), b, 1e-10);
}

TEST_CASE("least squares on a GPU, small enough for a sanitizer", "[gpu][sanitize]") {
  test::require_gpu();
  for (const auto& [m, n] : {std::pair<index_t, index_t>{90, 33}, {33, 50}, {2000, 12}}) {
    CAPTURE(m, n);
    const Matrix a = made(m, n, ProductForm<double>(m, n, spectrum(std::min(m, n), 30), 7)), b = random(m, 3, 8);
    const auto answer = solve(runtime(), a, b, suitable_ols_tile(runtime(), OlsMethod::tiles, m, n));
    CHECK(answer.status == OlsStatus::ok);
    require_agreement(answer, reference_of(a, b, 1e-12), b, 1e-10);
  }
}
