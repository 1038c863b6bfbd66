#include "tests/support/four_types.hpp"
#include "tests/support/padded.hpp"
#include "tests/support/vector_targets.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal_factorization.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <random>

using namespace tesela;
using test::nan_of;

namespace {

enum class Kind { dominant, uniform, zero_diagonal, scaled_rows };

template <class T>
constexpr double eps = std::numeric_limits<real_t<T>>::epsilon();
template <class T>
constexpr double bound = 16 * eps<T>;

/// Returns a complex number of magnitude |x|, or a real x.
template <class T>
T turned(double x, std::size_t angle) {
  const double of = is_complex<T> ? static_cast<double>(angle) : 0;
  return test::number<T>(x * std::cos(of), x * std::sin(of));
}

/// One matrix and k right-hand sides in columns; the padding below must stay NaN.
template <class T>
struct Problem {
  index_t n, k;
  std::vector<T> dl, d, du, b;

  Problem(index_t n_, index_t k_, Kind kind) : n(n_), k(k_) {
    const auto size = static_cast<std::size_t>(n);
    for (auto* v : {&dl, &d, &du}) v->resize(size);
    b.resize(size * static_cast<std::size_t>(k));
    std::vector<double> scales(size, 1);
    std::mt19937_64 random(static_cast<std::uint64_t>(n + 1000 * k));
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::size_t i = 0; i < size; ++i) {
      const double l = uniform(random), u = uniform(random), c = uniform(random), e = uniform(random);
      if (kind == Kind::scaled_rows) scales[i] = std::pow(10, (sizeof(real_t<T>) == 8 ? 150 : 15) * e);
      const bool last_of_odd = n % 2 == 1 && i + 1 == size;
      const double away = kind == Kind::zero_diagonal ? 1 : 0;
      const double diagonal = kind == Kind::dominant        ? std::copysign(2.2, c)
                              : kind == Kind::zero_diagonal ? (last_of_odd ? 1 : 0)
                                                            : c;
      dl[i] = i > 0 ? turned<T>(scales[i] * (l + std::copysign(away, l)), i) : nan_of<T>;
      d[i] = turned<T>(scales[i] * diagonal, 2 * i + 1);
      du[i] = i + 1 < size ? turned<T>(scales[i] * (u + std::copysign(away, u)), 3 * i) : nan_of<T>;
    }
    for (std::size_t e = 0; e < b.size(); ++e) b[e] = turned<T>(scales[e % size] * uniform(random), e);
  }

  T right(index_t i, index_t s) const { return b[static_cast<std::size_t>(i + s * n)]; }

  /// Returns max |A x - b|_i / (||row i of A||_1 ||x||_inf + |b|_i) for x(i, s).
  template <class X>
  double error(const X& x) const {
    using Wide = with_parts<T, long double>;
    long double worst = 0;
    for (index_t s = 0; s < k; ++s) {
      long double largest = 0;
      for (index_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(Wide(x(i, s))));
      for (index_t i = 0; i < n; ++i) {
        const auto e = static_cast<std::size_t>(i);
        Wide sum = -Wide(right(i, s));
        long double size = std::abs(sum);
        const auto add = [&](T a, index_t j) {
          sum += Wide(a) * Wide(x(j, s));
          size += std::abs(Wide(a)) * largest;
        };
        add(d[e], i);
        if (i > 0) add(dl[e], i - 1);
        if (i + 1 < n) add(du[e], i + 1);
        const long double ratio = sum == Wide(0) ? 0 : std::abs(sum) / size;
        if (!(ratio <= worst)) worst = ratio;
      }
    }
    return static_cast<double>(worst);
  }

  std::vector<T> reference() const {
    std::vector<T> below = dl, diagonal = d, above = du, x = b;
    if (n > 0 && k > 0) REQUIRE(lapack::gtsv(n, k, below.data() + 1, diagonal.data(), above.data(), x.data(), n) == 0);
    return x;
  }

  Tridiagonal<T> map(Runtime& runtime, bool in_rows) const {
    const auto band = [&](const std::vector<T>& v) {
      const TileShape tile{in_rows ? 1 : std::max<index_t>(n, 1), in_rows ? std::max<index_t>(n, 1) : 1};
      return TileMatrix<T>::map(runtime, v.data(), in_rows ? 1 : n, in_rows ? n : 1,
                                in_rows ? 1 : std::max<index_t>(n, 1), tile);
    };
    return {band(dl), band(d), band(du)};
  }
};

/// Right-hand sides in either layout, in memory whose leading dimension exceeds the number of rows.
template <class T>
struct Sides {
  static constexpr index_t padding = 3;
  bool rows;
  Shape shape;
  index_t ld;
  std::vector<T> data;

  Sides(const Problem<T>& p, SystemsIn in)
      : rows(in == SystemsIn::rows),
        shape(rows ? Shape{p.k, p.n} : Shape{p.n, p.k}),
        ld(shape.rows + padding),
        data(static_cast<std::size_t>(ld * shape.cols), nan_of<T>) {
    for (index_t s = 0; s < p.k; ++s)
      for (index_t i = 0; i < p.n; ++i) (*this)(i, s) = p.right(i, s);
  }
  T& operator()(index_t i, index_t s) { return data[static_cast<std::size_t>(rows ? s + i * ld : i + s * ld)]; }
  T operator()(index_t i, index_t s) const { return data[static_cast<std::size_t>(rows ? s + i * ld : i + s * ld)]; }
  TileMatrix<T> map(Runtime& runtime, index_t n, index_t across) {
    n = std::max<index_t>(n, 1);
    return TileMatrix<T>::map(runtime, data.data(), shape.rows, shape.cols, ld,
                              rows ? TileShape{across, n} : TileShape{n, across});
  }
  bool padding_untouched() const {
    for (index_t j = 0; j < shape.cols; ++j)
      for (index_t i = shape.rows; i < ld; ++i)
        if (!std::isnan(real_part(data[static_cast<std::size_t>(i + j * ld)]))) return false;
    return true;
  }
};

template <class T>
void check_all(Runtime& runtime, std::initializer_list<index_t> sizes, std::initializer_list<index_t> batches) {
  for (const Kind kind : {Kind::dominant, Kind::uniform, Kind::zero_diagonal, Kind::scaled_rows})
    for (const index_t n : sizes)
      for (const index_t k : batches)
        for (const SystemsIn in : {SystemsIn::columns, SystemsIn::rows}) {
          const Problem<T> problem(n, k, kind);
          Sides<T> first(problem, in), second(problem, in);
          {
            Graph g(runtime);
            const TridiagonalFactorization<T> factored(g, problem.map(runtime, k % 2 == 0));
            const auto B = first.map(runtime, n, std::max<index_t>(k, 1));
            factored.solve(g, B, in);
            CHECK(g.wait().info == 0);
            Graph later(runtime);  // in a later graph than A, and in tiles
            const auto C = second.map(runtime, n, std::max<index_t>(ceil_div(k, 3), 1));
            factored.solve(later, C, in);
            CHECK(later.wait().info == 0);
          }
          INFO("kind " << static_cast<int>(kind) << " n " << n << " k " << k << " rows " << (in == SystemsIn::rows));
          CHECK(problem.error(first) <= bound<T>);
          CHECK(problem.error(second) <= bound<T>);
          CHECK(first.padding_untouched());
          CHECK(second.padding_untouched());
          if (kind != Kind::dominant) continue;
          const std::vector<T> x = problem.reference();
          double difference = 0;
          for (index_t s = 0; s < k; ++s)
            for (index_t i = 0; i < n; ++i)
              difference = std::max(
                  difference, static_cast<double>(std::abs(first(i, s) - x[static_cast<std::size_t>(i + s * n)])));
          CHECK(difference <= 20 * eps<T>);
        }
}

template <class T>
Status solve(Runtime& runtime, const Problem<T>& problem, Sides<T>& sides, index_t across, Status& factored) {
  Graph g(runtime);
  const TridiagonalFactorization<T> lu(g, problem.map(runtime, false));
  factored = g.wait();
  const auto B = sides.map(runtime, problem.n, across);
  lu.solve(g, B, sides.rows ? SystemsIn::rows : SystemsIn::columns);
  const Status status = g.wait();
  B.bring_home();
  return status;
}

template <class T>
void check_breakdown(Runtime& runtime, index_t n) {
  for (const SystemsIn in : {SystemsIn::columns, SystemsIn::rows}) {
    Problem<T> problem(n, 40, Kind::dominant);
    Status factored;
    {
      Sides<T> sides(problem, in);
      sides(n / 2, 21) = nan_of<T>;
      const Status status = solve(runtime, problem, sides, 16, factored);
      INFO("n " << n << " status " << status.info);
      CHECK(factored.ok());
      CHECK(status.info > 21 * n);
      CHECK(status.info <= 22 * n);
      problem.k = 21;
      CHECK(problem.error(sides) <= bound<T>);
      problem.k = 40;
    }
    const auto row = static_cast<std::size_t>(n / 2);
    const T d = problem.d[row], du = problem.du[row];
    problem.d[row] = nan_of<T>;
    Sides<T> strange(problem, in);
    const Status of_strange = solve(runtime, problem, strange, 16, factored);
    CHECK(of_strange.info == factored.info);
    CHECK(factored.info >= n / 2);
    CHECK(factored.info >= 1);
    CHECK(factored.info <= n / 2 + 2);
    problem.d[row] = 0, problem.dl[row] = 0, problem.du[row] = 0;
    Sides<T> singular(problem, in);
    const Status of_singular = solve(runtime, problem, singular, 16, factored);
    CHECK(of_singular.info == factored.info);
    CHECK(factored.info >= 1);
    CHECK(factored.info <= n);
    problem.d[row] = d, problem.du[row] = du;
  }
}

}  // namespace

CORES_TEMPLATE_TEST_CASE("a kept factorization solves the systems that LAPACK solves", "[tridiagonal]", FOUR_TYPES) {
  TESELA_ON_EACH_VECTOR_TARGET();
  check_all<TestType>(runtime, {0, 1, 2, 3, 5, 63, 64, 65, 129, 1000}, {0, 1, 2, 7, 8, 16, 17, 40});
}

CORES_TEMPLATE_TEST_CASE("a kept factorization reports failures", "[tridiagonal]", FOUR_TYPES) {
  TESELA_ON_EACH_VECTOR_TARGET();
  for (const index_t n : {1, 2, 9, 64, 200}) check_breakdown<TestType>(runtime, n);
}

TEST_CASE("a factorization scales its rows before it selects pivots", "[tridiagonal]") {
  TESELA_ON_EACH_VECTOR_TARGET();
  // Unscaled, 1e150 in the second row would be the first pivot, and the 1 in row 1 would be lost.
  Runtime runtime({.gpus = 0});
  Problem<double> problem(2, 1, Kind::dominant);
  problem.d = {1, 1e150}, problem.du = {1, nan_of<double>}, problem.dl = {nan_of<double>, 1e130};
  problem.b = {2, 1e150 + 1e130};
  Sides<double> x(problem, SystemsIn::columns);
  Status factored;
  CHECK(solve(runtime, problem, x, 1, factored).ok());
  CHECK(std::abs(x(0, 0) - 1) <= 4 * eps<double>);
  CHECK(std::abs(x(1, 0) - 1) <= 4 * eps<double>);
}

CORES_TEST_CASE("a factorization refuses invalid shapes", "[tridiagonal]") {
  const Problem<double> problem(6, 2, Kind::dominant);
  Sides<double> sides(problem, SystemsIn::columns);
  const Tridiagonal<double> A = problem.map(runtime, false);
  Graph g(runtime);
  const TileMatrix<double> cut = TileMatrix<double>::map(runtime, problem.d.data(), 6, 1, 6, {3, 1});
  const TileMatrix<double> brief = TileMatrix<double>::map(runtime, problem.d.data(), 5, 1, 6, {6, 1});
  CHECK_THROWS_AS(TridiagonalFactorization<double>(g, {A.dl, cut, A.du}), ArgumentError);
  CHECK_THROWS_AS(TridiagonalFactorization<double>(g, {A.dl, A.d, brief}), ArgumentError);
  const TridiagonalFactorization<double> factored(g, A);
  CHECK(factored.n() == 6);
  CHECK_THROWS_AS(factored.solve(g, sides.map(runtime, 3, 2)), ArgumentError);
  CHECK_THROWS_AS(factored.solve(g, sides.map(runtime, 6, 2), SystemsIn::rows), ArgumentError);
  CHECK(g.wait().ok());
}

TEMPLATE_TEST_CASE("a kept factorization works on a GPU", "[tridiagonal][gpu]", float, double) {
  test::require_gpu();
  for (const int cpus : {0, 2}) {
    Runtime runtime({.cpus = cpus, .gpus = 1});
    check_all<TestType>(runtime, {1, 2, 3, 15, 16, 17, 31, 32, 33, 65, 1000}, {1, 2, 17, 64, 130, 300});
    for (const index_t n : {1, 2, 9, 64, 200}) check_breakdown<TestType>(runtime, n);
  }
}

GPU_TEMPLATE_TEST_CASE("a kept factorization works under a sanitizer", "[tridiagonal][sanitize]", float, double) {
  check_all<TestType>(runtime, {1, 40}, {1, 70});
  check_breakdown<TestType>(runtime, 40);
}
