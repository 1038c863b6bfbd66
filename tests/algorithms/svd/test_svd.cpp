#include "tests/support/matrices.hpp"
#include "tools/checks/svd_error.hpp"
#include <tesela/algorithms/svd/bidiagonal_svd.hpp>
#include <tesela/algorithms/svd/svd.hpp>
#include <tesela/algorithms/svd/svd_matrices.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/filled.hpp>

using namespace tesela::test;

namespace {

using Verdict = SvdStatus::Verdict;

template <class T>
HostMatrix<T> times(HostMatrix<T> a, double factor) {
  for (index_t k = 0; k < a.size(); ++k) a.data()[k] = converted<T>(factor * with_parts<T, double>(a.data()[k]));
  return a;
}

/// Checks shapes, order, values, residual and orthogonality.
template <class T>
void check(const HostMatrix<T>& a, const Svd<T>& found, const SvdOptions& o, const std::vector<double>& reference) {
  REQUIRE(found.status.ok());
  const index_t m = a.rows(), n = a.cols(), k = o.largest.value_or(std::min(m, n));
  const bool all = o.vectors == SvdVectors::all;
  REQUIRE(static_cast<index_t>(found.values.size()) == k);
  CHECK(std::is_sorted(found.values.rbegin(), found.values.rend()));
  CHECK(std::all_of(found.values.begin(), found.values.end(), [](double s) { return s >= 0; }));
  const SvdBounds bounds = svd_bounds<T>(m, n);
  const double off = singular_value_error(found.values, reference);
  CAPTURE(off, bounds.value);
  CHECK(off <= bounds.value);
  REQUIRE(found.u.has_value() == (o.vectors != SvdVectors::none));
  if (!found.u) return;
  REQUIRE(found.u->shape() == Shape{m, all ? m : k});
  REQUIRE(found.v->shape() == Shape{n, all ? n : k});
  const index_t sampled = std::min(m, n) > 1000 ? 64 : std::max(m, n);  // a check of all takes four products
  const SvdError error = svd_error(a, found.values, *found.u, *found.v, sampled);
  CAPTURE(error.residual, error.orthogonality_u, error.orthogonality_v, bounds.orthogonality);
  CHECK(error.residual <= bounds.value);
  CHECK(error.orthogonality_u <= bounds.orthogonality);
  CHECK(error.orthogonality_v <= bounds.orthogonality);
}

/// A matrix and its singular values, by LAPACK unless given.
template <class T>
struct Problem {
  HostMatrix<T> a;
  std::vector<double> values;
  Problem(HostMatrix<T> matrix) : a(std::move(matrix)), values(reference_singular_values(a)) {}
  Problem(HostMatrix<T> matrix, std::vector<double> known) : a(std::move(matrix)), values(std::move(known)) {}
};

template <class T>
Problem<T> of_kind(Shape shape, const char* kind, std::uint64_t seed) {
  return svd_matrix<T>(shape, kind, seed);
}

/// Returns a problem with values from 1 down to 1 / condition.
template <class T>
Problem<T> of_condition(Shape shape, double condition, std::uint64_t seed) {
  return {svd_matrix<T>(shape, "kappa:" + std::to_string(condition), seed),
          kernels::spectrum(std::min(shape.rows, shape.cols), condition)};
}

/// Decomposes a copy, requires that A is only read, and checks the result.
template <class T>
void solve_and_check(Runtime& runtime, const Problem<T>& p, const SvdOptions& o) {
  const HostMatrix<T>& a = p.a;
  CAPTURE(a.rows(), a.cols(), o.method, o.band, static_cast<int>(o.vectors), o.largest.value_or(-1));
  HostMatrix<T> given = a.clone();
  const Svd<T> found = svd(runtime, MatrixView(given), o);
  CHECK(std::equal(a.data(), a.data() + a.size(), given.data()));
  check(a, found, o, p.values);
}

constexpr std::array every_job{SvdVectors::none, SvdVectors::economic, SvdVectors::all};

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("svd decomposes matrices of all shapes", "", FOUR_TYPES) {
  const std::vector<Shape> shapes{{0, 0}, {0, 3},   {3, 0},     {1, 1},    {1, 4},    {4, 1},   {2, 2},    {3, 2},
                                  {2, 3}, {40, 40}, {129, 129}, {200, 37}, {37, 200}, {70, 67}, {150, 149}};
  for (const Shape shape : shapes) {
    const Problem<TestType> p = of_kind<TestType>(shape, "uniform", 3);
    for (const SvdMethod method : {SvdMethod::automatic, SvdMethod::two_stage, SvdMethod::lapack})
      for (const SvdVectors vectors : every_job) solve_and_check(runtime, p, {.method = method, .vectors = vectors});
  }
}

WORKERS_TEMPLATE_TEST_CASE("svd decomposes matrices of all kinds in two stages", "", FOUR_TYPES) {
  for (const char* kind : {"uniform", "normal", "graded", "kappa:1e3", "kappa:1e12", "rank:1", "rank:20", "rank:0",
                           "hilbert", "kahan", "zero", "band:1", "band:7", "index"})
    for (const Shape shape : {Shape{90, 90}, {120, 50}, {50, 120}}) {
      CAPTURE(kind);
      const Problem<TestType> p = of_kind<TestType>(shape, kind, 4);
      for (const SvdMethod method : {SvdMethod::two_stage, SvdMethod::lapack})
        solve_and_check(runtime, p, {.method = method});
    }
}

TEMPLATE_TEST_CASE("svd decomposes large matrices with GPUs and cores", "[gpu]", FOUR_TYPES) {
  require_gpu();
  Runtime& workers = test::runtime();
  for (const Problem<TestType>& p :
       {of_kind<TestType>({700, 600}, "uniform", 4), of_kind<TestType>({530, 1111}, "normal", 5)})
    for (const SvdVectors vectors : every_job) solve_and_check(workers, p, {.vectors = vectors});
  for (const char* kind : {"graded", "kappa:1e12", "rank:20", "zero", "kahan", "band:7"})
    solve_and_check(workers, of_kind<TestType>({600, 600}, kind, 4), {.method = SvdMethod::two_stage});
  const Problem<TestType> known = of_condition<TestType>({640, 640}, 100, 4);
  for (const index_t k : {0, 1, 65}) solve_and_check(workers, known, {.largest = k});
  Problem<TestType> uniform = of_kind<TestType>({600, 600}, "uniform", 4);
  solve_and_check(workers, uniform, {.method = SvdMethod::two_stage, .band = 100});
  solve_and_check(workers, of_condition<TestType>({2100, 2100}, 100, 6), {});
  HostMatrix<TestType>& a = uniform.a;
  const std::vector<double>& all = uniform.values;
  const Svd<TestType> part =
      svd(workers, MatrixView(a), {.method = SvdMethod::two_stage, .range = std::pair{all[400], all[100]}});
  REQUIRE(part.status.ok());
  CHECK(std::abs(std::ssize(part.values) - 300) <= 2);
  CHECK(part.u->shape() == Shape{600, std::ssize(part.values)});
  const SvdBounds bounds = svd_bounds<TestType>(600, 600);
  const SvdError error = svd_error(a, part.values, *part.u, *part.v);
  CHECK(error.orthogonality_u <= bounds.orthogonality);
  CHECK(error.orthogonality_v <= bounds.orthogonality);
  CHECK(error.residual * (part.values.front() / part.norm) <= bounds.value);
}

WORKERS_TEMPLATE_TEST_CASE("svd leaves vectors in tiles on request", "", FOUR_TYPES) {
  using T = TestType;
  for (const Shape shape : {Shape{0, 3}, {40, 40}, {130, 60}, {60, 130}, {600, 600}, {900, 520}, {520, 700}}) {
    const auto [a, values] = of_condition<T>(shape, 1e3, 3);
    for (const SvdVectors vectors : every_job) {
      if (vectors != SvdVectors::economic && std::min(shape.rows, shape.cols) > 500) continue;
      const SvdOptions options{.method = SvdMethod::two_stage, .vectors = vectors, .in_tiles = true};
      const TileMatrix<T> A(runtime, shape.rows, shape.cols, {97, 64});
      A.copy_from(a.data(), a.ld());
      Graph g(runtime);
      Svd<T> found = svd(g, A, options);
      CHECK((!found.u && !found.v));
      REQUIRE(found.u_tiles.has_value() == (vectors != SvdVectors::none));
      if (found.u_tiles) {
        found.u.emplace(found.u_tiles->m(), found.u_tiles->n());
        found.v.emplace(found.v_tiles->m(), found.v_tiles->n());
        found.u_tiles->copy_to(found.u->data(), found.u->ld());
        found.v_tiles->copy_to(found.v->data(), found.v->ld());
      }
      check(a, found, options, values);
    }
  }
}

TEMPLATE_TEST_CASE("svd reports a value beyond the largest number with valid vectors on a GPU", "[gpu]", FOUR_TYPES) {
  using T = TestType;
  require_gpu();
  HostMatrix<T> a = svd_matrix<T>({600, 600}, "uniform", 8);
  for (index_t k = 0; k < a.size(); ++k) a.data()[k] *= std::numeric_limits<real_t<T>>::max();
  const Svd<T> found = svd(test::runtime(), MatrixView(a), {.method = SvdMethod::two_stage});
  CHECK(found.status.verdict == Verdict::overflow);
  const SvdBounds bounds = svd_bounds<T>(600, 600);
  const SvdError error = svd_error(a, found.values, *found.u, *found.v);
  CHECK(error.orthogonality_u <= bounds.orthogonality);
  CHECK(error.orthogonality_v <= bounds.orthogonality);
}

CORES_TEMPLATE_TEST_CASE("svd resolves values that sgesdd and sbdsdc deflate", "", FOUR_TYPES) {
  const Problem<TestType> p = of_kind<TestType>({250, 250}, "kappa:1e5", 1);
  for (const SvdMethod method : {SvdMethod::two_stage, SvdMethod::lapack})
    solve_and_check(runtime, p, {.method = method});
}

WORKERS_TEMPLATE_TEST_CASE("svd accepts half-widths that do not divide the order", "", FOUR_TYPES) {
  for (const index_t n : {100, 201}) {
    const Problem<TestType> p = of_kind<TestType>({n, n}, "uniform", 4);
    for (const index_t band : {1, 2, 3, 8, 32, 64, 300})
      solve_and_check(runtime, p, {.method = SvdMethod::two_stage, .band = band});
  }
  solve_and_check(runtime, of_kind<TestType>({520, 520}, "normal", 4), {.method = SvdMethod::two_stage});
}

CORES_TEMPLATE_TEST_CASE("svd in two stages is within its bounds for usual bands, every shape and kind", "",
                         FOUR_TYPES) {
  for (const char* const kind :
       {"uniform", "normal", "index", "graded", "kappa:1e8", "rank:3", "zero", "hilbert", "kahan", "band:5"})
    for (const Shape shape : {Shape{0, 2}, {1, 1}, {1, 5}, {130, 130}, {200, 70}, {70, 200}, {131, 97}}) {
      CAPTURE(kind);
      const Problem<TestType> p = of_kind<TestType>(shape, kind, 6);
      for (const index_t band : {8, 32, 64})
        solve_and_check(runtime, p, {.method = SvdMethod::two_stage, .band = band});
    }
}

WORKERS_TEMPLATE_TEST_CASE("svd finds the largest values and their vectors", "", FOUR_TYPES) {
  for (const Shape shape : {Shape{80, 80}, {90, 60}, {60, 90}}) {
    const Problem<TestType> p = of_kind<TestType>(shape, "kappa:100", 4);
    for (const SvdMethod method : {SvdMethod::automatic, SvdMethod::two_stage, SvdMethod::lapack})
      for (const index_t k : {0, 1, 7, 60})
        for (const SvdVectors vectors : {SvdVectors::none, SvdVectors::economic})
          solve_and_check(runtime, p, {.method = method, .vectors = vectors, .largest = k});
  }
}

CORES_TEMPLATE_TEST_CASE("svd: values do not depend on the vectors", "", FOUR_TYPES) {
  HostMatrix<TestType> a = svd_matrix<TestType>({100, 80}, "uniform", 9);
  const auto values = [&](const SvdOptions& o) { return svd(runtime, MatrixView(a), o).values; };
  const std::vector<double> all = values({.method = SvdMethod::two_stage});
  CHECK(values({.method = SvdMethod::two_stage, .vectors = SvdVectors::none}) == all);
  const std::vector<double> part = values({.method = SvdMethod::two_stage, .largest = 5});
  CHECK(std::equal(part.begin(), part.end(), all.begin()));
}

CORES_TEMPLATE_TEST_CASE("svd: a power of two scales only the values", "", FOUR_TYPES) {
  using T = TestType;
  const int most = std::numeric_limits<real_t<T>>::max_exponent - 8;
  for (const SvdMethod method : {SvdMethod::automatic, SvdMethod::two_stage, SvdMethod::lapack}) {
    HostMatrix<T> a = svd_matrix<T>({70, 40}, "uniform", 2);
    const Svd<T> one = svd(runtime, MatrixView(a), {.method = method});
    for (const int power : {-most / 2, -3, 40, most}) {
      CAPTURE(power, method);
      HostMatrix<T> scaled = times(a.clone(), std::ldexp(1.0, power));
      const Svd<T> other = svd(runtime, MatrixView(scaled), {.method = method});
      REQUIRE(other.status.ok());
      for (std::size_t i = 0; i < 40; ++i) CHECK(other.values[i] == std::ldexp(one.values[i], power));
      CHECK(std::equal(one.u->data(), one.u->data() + one.u->size(), other.u->data()));
      CHECK(std::equal(one.v->data(), one.v->data() + one.v->size(), other.v->data()));
    }
  }
}

CORES_TEST_CASE("svd decomposes matrices near the ends of the range", "") {
  for (const double scale : {1e300, 1e-300, 1e-308})
    for (const SvdMethod method : {SvdMethod::automatic, SvdMethod::two_stage}) {
      CAPTURE(scale);
      solve_and_check<double>(runtime, times(svd_matrix<double>({60, 45}, "uniform", 2), scale), {.method = method});
    }
  // Subnormal elements: the values of small integers times the smallest number.
  const double least = std::numeric_limits<double>::denorm_min();
  HostMatrix<double> tiny(2, 2);
  tiny(0, 0) = 3 * least, tiny(1, 0) = 0, tiny(0, 1) = 0, tiny(1, 1) = -5 * least;
  for (const SvdMethod method : {SvdMethod::automatic, SvdMethod::two_stage})
    CHECK(svd(runtime, MatrixView(tiny), {.method = method}).values == std::vector{5 * least, 3 * least});
}

CORES_TEMPLATE_TEST_CASE("svd reports a value beyond the largest number as a verdict", "", FOUR_TYPES) {
  using T = TestType;
  for (const SvdMethod method : {SvdMethod::automatic, SvdMethod::two_stage, SvdMethod::lapack}) {
    HostMatrix<T> a = filled<T>({40, 40}, [](index_t, index_t) { return T(std::numeric_limits<real_t<T>>::max()); });
    const Svd<T> found = svd(runtime, MatrixView(a), {.method = method});
    CHECK(found.status.verdict == Verdict::overflow);
    CHECK(found.norm > static_cast<double>(std::numeric_limits<real_t<T>>::max()));
    CHECK_THAT(to_string(found.status), ContainsSubstring("overflow"));
  }
}

WORKERS_TEMPLATE_TEST_CASE("svd reports the place of NaN and infinity", "", FOUR_TYPES) {
  using T = TestType;
  using Limits = std::numeric_limits<real_t<T>>;
  for (const real_t<T> bad : {Limits::quiet_NaN(), Limits::infinity()})
    for (const Shape shape : {Shape{30, 20}, {20, 30}, {300, 300}})
      for (const SvdMethod method : {SvdMethod::automatic, SvdMethod::two_stage, SvdMethod::lapack}) {
        HostMatrix<T> a = svd_matrix<T>(shape, "uniform", 2);
        if constexpr (is_complex<T>)
          a(7, 3) = T(0, bad);
        else
          a(7, 3) = bad;
        const Svd<T> found = svd(runtime, MatrixView(a), {.method = method});
        CHECK(found.status.verdict == Verdict::not_finite);
        CHECK(found.status.row == 7);
        CHECK(found.status.column == 3);
        CHECK(to_string(found.status) == "not finite: A(8, 4)");
        CHECK(found.values.empty());
      }
}

CORES_TEMPLATE_TEST_CASE("svd of a complex matrix has the adjoint of V, not its transpose", "", COMPLEX_TYPES) {
  using T = TestType;
  // A = diag(1, i, -1, -i) F diag(4, 3, 2, 1) G^H with unitary F = (i^(j k)) / 2 and G = diag(i, -1, 1, -i) F.
  const std::array<T, 4> i_to{T(1), T(0, 1), T(-1), T(0, -1)}, of_g{T(0, 1), T(-1), T(1), T(0, -1)};
  const auto power = [&](index_t k) { return i_to[static_cast<std::size_t>(k % 4)]; };
  for (const index_t copies : {1, 30})  // blocks of order 4 on the diagonal
    for (const SvdMethod method : {SvdMethod::two_stage, SvdMethod::lapack}) {
      const index_t n = 4 * copies;
      HostMatrix<T> a = filled<T>({n, n}, [&](index_t i, index_t j) {
        T sum = 0;
        for (index_t k = 0; k < 4 && i / 4 == j / 4; ++k)
          sum += power(i) * power(i % 4 * k) * real_t<T>(4 - k) *
                 conj(of_g[static_cast<std::size_t>(j % 4)] * power(j % 4 * k)) / real_t<T>(4);
        return sum;
      });
      const Svd<T> found = svd(runtime, MatrixView(a), {.method = method, .band = 3});
      REQUIRE(found.status.ok());
      for (index_t k = 0; k < n; ++k)
        CHECK(std::abs(found.values[static_cast<std::size_t>(k)] - static_cast<double>(4 - k / copies)) < 1e-5);
      const SvdBounds bounds = svd_bounds<T>(n, n);
      CHECK(svd_error(a, found.values, *found.u, *found.v).residual <= bounds.value);
      HostMatrix<T> wrong = found.v->clone();
      for (index_t k = 0; k < wrong.size(); ++k) wrong.data()[k] = conj(wrong.data()[k]);
      CHECK(svd_error(a, found.values, *found.u, wrong).residual > 0.1);
      CHECK(svd_error(a, found.values, *found.u, wrong).orthogonality_v <= bounds.orthogonality);
    }
}

WORKERS_TEST_CASE("svd reads tiles of any shape and memory with a leading dimension", "") {
  const index_t m = 60, n = 45;
  const HostMatrix<double> a = svd_matrix<double>({m, n}, "uniform", 2);
  const SvdOptions options{.method = SvdMethod::two_stage};
  const std::vector<double> reference = reference_singular_values(a);
  Graph g(runtime);
  const TileMatrix<double> A(runtime, m, n, {17, 8});
  A.copy_from(a.data(), a.ld());
  check(a, svd(g, A, options), options, reference);
  HostMatrix<double> padded =
      filled<double>({m + 3, n}, [&](index_t i, index_t j) { return i < m ? a(i, j) : not_a_number; });
  check(a, svd(runtime, MatrixView<double>(padded.data(), {m, n}, m + 3), options), options, reference);
}

WORKERS_TEST_CASE("svd reads a matrix of one tile in place, more than once, and does not change it", "") {
  const index_t n = 80;
  HostMatrix<double> a = svd_matrix<double>({n, n}, "uniform", 2);
  for (index_t k = 0; k < a.size(); ++k) a.data()[k] *= 64;  // so that it is scaled
  const HostMatrix<double> before = a.clone();
  const std::vector<double> reference = reference_singular_values(before);
  const SvdOptions options{.method = SvdMethod::two_stage};
  Graph g(runtime);
  {
    const auto A = TileMatrix<double>::map(runtime, a.data(), n, n, n, {n, n});
    for (int time = 0; time < 2; ++time) check(before, svd(g, A, options), options, reference);
  }
  check(before, svd(g, MatrixView(a), options), options, reference);
  CHECK(std::equal(before.data(), before.data() + before.size(), a.data()));
}

CORES_TEST_CASE("svd refuses wrong options", "") {
  HostMatrix<double> a = svd_matrix<double>({5, 4}, "uniform", 2);
  const auto solve = [&](const SvdOptions& o) { return svd(runtime, MatrixView(a), o); };
  CHECK_THROWS_AS(solve({.largest = 5}), ArgumentError);
  CHECK_THROWS_AS(solve({.largest = -1}), ArgumentError);
  CHECK_THROWS_AS(solve({.vectors = SvdVectors::all, .largest = 2}), ArgumentError);
  CHECK_THROWS_AS(solve({.band = -1}), ArgumentError);
  CHECK_THROWS_AS(solve({.range = std::pair{2.0, 2.0}}), ArgumentError);
  CHECK_THROWS_AS(solve({.largest = 1, .range = std::pair{1.0, 2.0}}), ArgumentError);
  CHECK_THROWS_AS(solve({.vectors = SvdVectors::all, .range = std::pair{1.0, 2.0}}), ArgumentError);
}

WORKERS_TEMPLATE_TEST_CASE("svd finds the values in a range and their vectors", "", FOUR_TYPES) {
  using T = TestType;
  for (const SvdMethod method : {SvdMethod::two_stage, SvdMethod::lapack})
    for (const Shape shape : {Shape{60, 60}, {90, 40}, {40, 90}}) {
      HostMatrix<T> a = svd_matrix<T>(shape, "uniform", 5);
      const Svd<T> all = svd(runtime, MatrixView(a), {.method = method});
      const double high = all.values[3], low = std::midpoint(all.values[11], all.values[12]);
      const Svd<T> part = svd(runtime, MatrixView(a), {.method = method, .range = std::pair{low, high}});
      REQUIRE(part.status.ok());
      REQUIRE(part.values == std::vector(all.values.begin() + 4, all.values.begin() + 12));  // without `high`
      CHECK(part.norm == all.norm);
      const SvdError error = svd_error(a, part.values, *part.u, *part.v);
      const SvdBounds bounds = svd_bounds<T>(shape.rows, shape.cols);
      CHECK(error.residual * (part.values.front() / part.norm) <= bounds.value);  // relative to the whole norm
      CHECK(error.orthogonality_u <= bounds.orthogonality);
      CHECK(error.orthogonality_v <= bounds.orthogonality);
      CHECK(svd(runtime, MatrixView(a), {.method = method, .range = std::pair{0.0, infinity}}).values == all.values);
      const Svd<T> none = svd(runtime, MatrixView(a), {.method = method, .range = std::pair{2 * all.norm, infinity}});
      CHECK((none.values.empty() && none.u->shape() == Shape{shape.rows, 0}));
    }
}

TEST_CASE("bidiagonal_svd finds small values of graded matrices to relative accuracy") {
  // B = D1 K D2 with unit bidiagonal K: the product of the values is |det B|, and scaling B by rows of powers of two
  // changes no digit of the smallest ones. The reference is the same matrix in long double, by one-sided Jacobi.
  for (const double ratio : {0.5, 1e-3, 1e-9}) {
    const index_t n = 12;
    std::vector<double> d(n), e(n - 1);
    for (std::size_t i = 0; i < n; ++i)
      d[i] = std::pow(ratio, static_cast<double>(i)) * (1 + 0.1 * static_cast<double>(i));
    for (std::size_t i = 0; i + 1 < n; ++i) e[i] = 0.7 * d[i];
    std::vector<std::vector<long double>> x(n, std::vector<long double>(n, 0));  // rows of B
    for (std::size_t i = 0; i < n; ++i) {
      x[i][i] = d[i];
      if (i + 1 < n) x[i][i + 1] = e[i];
    }
    const auto dot = [&](std::size_t p, std::size_t q) {
      return std::inner_product(x[p].begin(), x[p].end(), x[q].begin(), 0.0L);
    };
    for (int sweep = 0; sweep < 40; ++sweep)  // rotations of rows
      for (std::size_t p = 0; p < n; ++p)
        for (std::size_t q = p + 1; q < n; ++q) {
          const long double a = dot(p, p), b = dot(q, q), c = dot(p, q);
          if (std::abs(c) <= 1e-19L * std::sqrt(a * b)) continue;
          const long double zeta = (b - a) / (2 * c),
                            t = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::hypot(1.0L, zeta)),
                            cosine = 1 / std::hypot(1.0L, t), sine = cosine * t;
          for (std::size_t j = 0; j < n; ++j) {
            const long double u = x[p][j], v = x[q][j];
            x[p][j] = cosine * u - sine * v;
            x[q][j] = sine * u + cosine * v;
          }
        }
    std::vector<long double> reference;
    for (std::size_t p = 0; p < n; ++p) reference.push_back(std::sqrt(dot(p, p)));
    std::sort(reference.rbegin(), reference.rend());
    for (const bool vectors : {false, true}) {
      const BidiagonalSvd<double> found = bidiagonal_svd<double>(d, e, vectors);
      REQUIRE(found.ok());
      for (std::size_t i = 0; i < n; ++i) {
        CAPTURE(ratio, i, found.values[i], static_cast<double>(reference[i]));
        CHECK(std::abs(found.values[i] - static_cast<double>(reference[i])) <=
              1e-14 * static_cast<double>(reference[i]));
      }
    }
  }
}

TEST_CASE("bidiagonal_svd refuses lengths that do not conform") {
  const std::vector<double> d(3), e(3);
  CHECK_THROWS_AS(bidiagonal_svd<double>(d, e, false), ArgumentError);
  CHECK(bidiagonal_svd<double>({}, {}, true).values.empty());
}
