#include "tests/support/shared_runtime.hpp"
#include "tests/support/test.hpp"
#include "tests/support/tridiagonal.hpp"
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_methods.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/generator.hpp>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

template <class T>
Diagonals<T> filled(Runtime& runtime, const TridiagonalOptions& options, index_t n, index_t k, TileShape tile,
                    TridiagonalKind kind, std::uint64_t seed = 9) {
  const auto A = diagonals<T>(runtime, options, n, k, tile);
  Graph g(runtime);
  fill(g, A, kind, seed, options);
  REQUIRE(g.wait().ok());
  return {A.dl.to_host(), A.d.to_host(), A.du.to_host()};
}

template <class T>
bool same(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  return a.shape() == b.shape() && std::equal(a.data(), a.data() + a.size(), b.data());
}

template <class T>
bool same(const Diagonals<T>& a, const Diagonals<T>& b) {
  return same(a.dl, b.dl) && same(a.d, b.d) && same(a.du, b.du);
}

/// Returns ||A^-1||_2 and ||A||_2 of one generated matrix.
std::pair<double, double> norms(Runtime& runtime, const TridiagonalOptions& options, index_t n, TridiagonalKind kind,
                                std::uint64_t seed) {
  const auto a = filled<double>(runtime, options, n, 1, {n, 1}, kind, seed);
  auto dense = HostMatrix<double>::zeros(n, n);
  for (index_t i = 0; i < n; ++i)
    for (const auto& [j, value] : row_of(a, options, n, i, 0)) dense(i, j) += value;
  const auto s = lapack::gesvd(n, n, dense.data(), dense.ld());
  return {1 / s.back(), s.front()};
}

}  // namespace

CORES_TEMPLATE_TEST_CASE("a generated tridiagonal matrix is the same for every tiling and layout", "", float, double) {
  const TridiagonalOptions columns, rows{.systems = SystemsIn::rows};
  for (const TridiagonalKind kind : every_kind) {
    CAPTURE(static_cast<int>(kind));
    const auto whole = filled<TestType>(runtime, columns, 23, 5, {23, 5}, kind);
    CHECK(same(filled<TestType>(runtime, columns, 23, 5, {4, 2}, kind), whole));
    CHECK(same(filled<TestType>(runtime, columns, 23, 5, {64, 1}, kind), whole));
    const auto across = filled<TestType>(runtime, rows, 23, 5, {2, 4}, kind);
    for (index_t s = 0; s < 5; ++s)
      for (index_t i = 0; i < 23; ++i)
        REQUIRE((across.dl(s, i) == whole.dl(i, s) && across.d(s, i) == whole.d(i, s) &&
                 across.du(s, i) == whole.du(i, s)));
    if (kind != TridiagonalKind::toeplitz) {
      CHECK_FALSE(same(filled<TestType>(runtime, columns, 23, 5, {4, 2}, kind, 10), whole));
      CHECK(whole.dl(2, 0) != whole.dl(2, 1));  // the matrices of a batch differ, and so do rows and diagonals
      CHECK(whole.dl(2, 0) != whole.dl(3, 0));
      CHECK(whole.dl(2, 0) != whole.du(2, 0));
    }
  }
  CHECK(filled<TestType>(runtime, columns, 0, 3, {4, 4}, TridiagonalKind::uniform).d.size() == 0);
  CHECK(filled<TestType>(runtime, columns, 3, 0, {4, 4}, TridiagonalKind::uniform).d.size() == 0);
}

CORES_TEMPLATE_TEST_CASE("each kind of tridiagonal matrix has the documented entries", "", float, double) {
  using T = TestType;
  const T delta = TridiagonalGenerator<T>::delta;
  for (const index_t n : {1, 2, 3, 100, 101})
    for (const bool periodic : {false, true}) {
      CAPTURE(n, periodic);
      const TridiagonalOptions options{.periodic = periodic};
      const auto uniform = filled<T>(runtime, options, n, 2, {16, 1}, TridiagonalKind::uniform);
      const auto dominant = filled<T>(runtime, options, n, 2, {16, 1}, TridiagonalKind::dominant);
      const auto zero = filled<T>(runtime, options, n, 2, {16, 1}, TridiagonalKind::zero_diagonal);
      const auto near = filled<T>(runtime, options, n, 2, {16, 1}, TridiagonalKind::near_singular);
      for (index_t s = 0; s < 2; ++s)
        for (index_t i = 0; i < n; ++i) {
          for (const auto* band : {&uniform.dl, &uniform.d, &uniform.du, &dominant.dl, &dominant.du})
            REQUIRE(((*band)(i, s) >= -1 && (*band)(i, s) < 1));
          REQUIRE(std::abs(dominant.d(i, s)) == std::abs(dominant.dl(i, s)) + std::abs(dominant.du(i, s)) + 1);
          REQUIRE((zero.d(i, s) != 0) == (n % 2 == 1 && i == 0));
          for (const auto* band : {&zero.dl, &zero.du}) REQUIRE(std::abs((*band)(i, s)) >= T(0.5));
          T sum = 0;  // exact
          for (const auto& [j, value] : row_of(near, options, n, i, s)) sum += value;
          REQUIRE(sum == delta);
        }
      if (n == 100) {
        const auto positive = [](const HostMatrix<T>& a) {
          return std::count_if(a.data(), a.data() + a.size(), [](T x) { return x > 0; });
        };
        for (const auto* band : {&uniform.dl, &uniform.d, &uniform.du, &dominant.d, &zero.dl, &zero.du})
          CHECK((positive(*band) > 60 && positive(*band) < 140));  // 200 signs; the limits are five standard deviations
      }
    }
}

CORES_TEST_CASE("generated tridiagonal matrices have the documented condition numbers") {
  for (const bool periodic : {false, true})
    for (const index_t n : {1, 2, 3, 4, 99, 100})
      for (const std::uint64_t seed : {1, 2, 3, 4}) {
        CAPTURE(n, periodic, seed);
        const TridiagonalOptions options{.periodic = periodic};
        const auto of = [&](TridiagonalKind kind) { return norms(runtime, options, n, kind, seed); };
        const auto dominant = of(TridiagonalKind::dominant), toeplitz = of(TridiagonalKind::toeplitz);
        CHECK(dominant.first <= std::sqrt(static_cast<double>(n)));
        CHECK(toeplitz.first * toeplitz.second < 9.0001);
        const auto zero = of(TridiagonalKind::zero_diagonal);
        CHECK(zero.first <= 4 * static_cast<double>(n));
        CHECK(zero.second <= 7);
        CHECK(of(TridiagonalKind::near_singular).first >= 0.9 / TridiagonalGenerator<double>::delta);
      }
}

// Compares B = A X with sums in long double for every tiling, with one matrix for each system and one for all. Unused
// elements are NaN.
WORKERS_TEMPLATE_TEST_CASE("a tridiagonal product equals the sum of its terms", "[sanitize]", float, double) {
  using T = TestType;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const SystemsIn systems : {SystemsIn::columns, SystemsIn::rows})
    for (const bool periodic : {false, true})
      for (const bool single : {false, true})
        for (const auto& [n, k] : {std::pair<index_t, index_t>{0, 3}, {3, 0}, {1, 1}, {1, 4}, {2, 3}, {3, 1}, {23, 5}})
          for (const auto& [mb, nb] : {std::pair<index_t, index_t>{64, 64}, {1, 1}, {7, 2}, {22, 3}, {23, 5}}) {
            CAPTURE(systems == SystemsIn::rows, periodic, single, n, k, mb, nb);
            const TridiagonalOptions options{systems, periodic};
            const index_t matrices = single ? 1 : k;
            auto a = filled<T>(runtime, options, n, matrices, tile_of(options, mb, nb), TridiagonalKind::uniform);
            for (index_t s = 0; !periodic && n > 0 && s < matrices; ++s) {
              const auto [r0, c0] = place(options, 0, s);
              const auto [r1, c1] = place(options, n - 1, s);
              a.dl(r0, c0) = a.du(r1, c1) = nan;
            }
            const auto A = diagonals<T>(runtime, options, n, matrices, tile_of(options, mb, nb));
            A.dl.copy_from(a.dl.data(), a.dl.ld());
            A.d.copy_from(a.d.data(), a.d.ld());
            A.du.copy_from(a.du.data(), a.du.ld());
            const auto [rows, columns] = shape_of(options, n, k);
            const TileMatrix<T> X(runtime, rows, columns, tile_of(options, mb, nb)),
                B(runtime, rows, columns, tile_of(options, mb, nb));
            Graph g(runtime);
            fill(g, X, Generator<T>{Pattern::uniform, T(0), 0, 3});
            tridiagonal_multiply(g, A, X, B, options);
            REQUIRE(g.wait().ok());
            const HostMatrix<T> x = X.to_host(), b = B.to_host();
            for (index_t s = 0; s < k; ++s)
              for (index_t i = 0; i < n; ++i) {
                long double sum = 0;
                for (const auto& [j, value] : row_of(a, options, n, i, single ? 0 : s)) {
                  const auto [r, c] = place(options, j, s);
                  sum += static_cast<long double>(value) * static_cast<long double>(x(r, c));
                }
                const auto [r, c] = place(options, i, s);
                const auto error = static_cast<double>(std::fabs(sum - static_cast<long double>(b(r, c))));
                REQUIRE(error <= 4 * static_cast<double>(std::numeric_limits<T>::epsilon()));
              }
          }
}

TEMPLATE_TEST_CASE("a generated tridiagonal matrix is the same on a GPU", "[gpu][sanitize]", float, double) {
  require_gpu();
  const auto all_on = [](RuntimeOptions where) {
    Runtime runtime(where);
    std::vector<decltype(filled<TestType>(runtime, {}, 1, 1, {}, every_kind[0]))> all;
    for (const SystemsIn systems : {SystemsIn::columns, SystemsIn::rows})
      for (const TridiagonalKind kind : every_kind)
        all.push_back(filled<TestType>(runtime, {systems, true}, 123, 57, {32, 40}, kind));
    return all;
  };
  const auto cores = all_on({.gpus = 0}), gpu = all_on({.cpus = 0});
  for (std::size_t i = 0; i < cores.size(); ++i) CHECK(same(cores[i], gpu[i]));
}

CORES_TEST_CASE("invalid shapes of tridiagonal matrices are refused and no task is inserted") {
  Graph g(runtime);
  const auto matrix = [&](index_t m, index_t n, TileShape tile) { return TileMatrix<double>(runtime, m, n, tile); };
  const TridiagonalOptions columns, rows{.systems = SystemsIn::rows};
  const auto A = diagonals<double>(runtime, columns, 20, 4, {8, 2});
  const auto X = matrix(20, 4, {8, 2}), B = matrix(20, 4, {8, 2});
  for (const auto& wrong :
       {matrix(19, 4, {8, 2}), matrix(20, 3, {8, 2}), matrix(20, 4, {7, 2}), matrix(20, 4, {8, 4})}) {
    CHECK_THROWS_AS(fill(g, Tridiagonal<double>{wrong, A.d, A.du}, TridiagonalKind::uniform, 1), ArgumentError);
    CHECK_THROWS_AS(fill(g, Tridiagonal<double>{A.dl, A.d, wrong}, TridiagonalKind::uniform, 1), ArgumentError);
    CHECK_THROWS_AS(tridiagonal_multiply(g, {A.dl, A.d, wrong}, X, B), ArgumentError);
    CHECK_THROWS_AS(tridiagonal_multiply(g, A, wrong, B), ArgumentError);
    CHECK_THROWS_AS(tridiagonal_multiply(g, A, X, wrong), ArgumentError);
  }
  CHECK_THROWS_AS(tridiagonal_multiply(g, A, X, X), ArgumentError);
  const auto single = diagonals<double>(runtime, columns, 20, 1, {8, 1});
  CHECK_THROWS_AS(tridiagonal_multiply(g, single, X, B, rows), ArgumentError);
  CHECK(g.tasks() == 0);
}

namespace {

constexpr index_t n = 200;

/// The matrix (-1, 2.5, -1) and B for a known X.
struct Problem {
  std::vector<double> dl = std::vector<double>(n, -1), d = std::vector<double>(n, 2.5), du = dl, b, x;
  Problem() {
    for (index_t i = 0; i < n; ++i) x.push_back(1 + 0.01 * static_cast<double>(i % 7));
    for (std::size_t i = 0; i < n; ++i) b.push_back(2.5 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0));
  }
};

}  // namespace

TEST_CASE("every tridiagonal method has a name and solves") {
  Runtime runtime({.cpus = 2, .gpus = 0});
  CHECK(tridiagonal_methods().front().name == std::string("auto"));
  for (const auto& entry : tridiagonal_methods()) {
    CAPTURE(entry.name);
    CHECK(find_named(tridiagonal_methods(), entry.name) == entry.value);
    CHECK(name_of(tridiagonal_methods(), entry.value) == std::string(entry.name));
    Problem p;
    const auto map = [&](std::vector<double>& v) {
      return TileMatrix<double>::map(runtime, v.data(), n, 1, n, {64, 1});
    };
    const TileMatrix<double> B = map(p.b);
    {
      Graph g(runtime);
      tridiagonal_solve_by(g, {map(p.dl), map(p.d), map(p.du)}, B, {entry.value, {}, 16});
      CHECK(g.wait().ok());
    }
    B.bring_home();
    double error = 0;
    for (std::size_t i = 0; i < n; ++i) error = std::max(error, std::abs(p.b[i] - p.x[i]));
    CHECK(error < 1e-14);
  }
  CHECK(!find_named(tridiagonal_methods(), "automatic"));
}

TEST_CASE("systems that only the automatic method solves are refused by the other methods") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<double> a(runtime, 1, n, {1, n}), b(runtime, 1, n, {1, n});
  for (const auto& entry : tridiagonal_methods().subspan(1))
    for (const TridiagonalOptions& systems :
         {TridiagonalOptions{SystemsIn::rows}, {SystemsIn::columns, true}, {SystemsIn::columns, false, true}}) {
      CAPTURE(entry.name);
      Graph g(runtime);
      CHECK_THROWS_AS(tridiagonal_solve_by(g, {a, a, a}, b, {entry.value, systems}), ArgumentError);
    }
}

TEST_CASE("tridiagonal tiles suit the number of cores") {
  Runtime runtime({.cpus = 2, .gpus = 0});
  using Method = TridiagonalMethod;
  struct Case {
    Method method;
    index_t n, systems, along, across;
  };
  for (const Case& c : {Case{Method::automatic, 1 << 20, 1, 1 << 18, 1},
                        {Method::automatic, (1 << 20) - 1, 1, 1 << 16, 1},
                        {Method::cyclic_reduction, 1 << 20, 1, 1 << 16, 1},
                        {Method::thomas, 1 << 20, 1, 1 << 20, 1},
                        {Method::pcr, 1 << 20, 1, 1 << 20, 1},
                        {Method::automatic, 512, 1000, 512, 128},
                        {Method::automatic, 512, 16, 512, 4},
                        {Method::automatic, 0, 0, 1, 1}}) {
    const TridiagonalPlan plan = plan_tridiagonal(runtime, {c.method}, c.n, c.systems);
    CAPTURE(name_of(tridiagonal_methods(), c.method), c.n, c.systems);
    CHECK(std::pair{plan.along, plan.across} == std::pair{c.along, c.across});
  }
  const auto levels = [&](Method method, index_t rows, index_t along) {
    const TridiagonalPlan plan = plan_tridiagonal(runtime, {method, {}, 256}, rows, 1, {along, 3});
    CHECK((plan.along == along && plan.across == 3));
    return plan.levels;
  };
  CHECK(levels(Method::automatic, 1000, 100) == 2);
  CHECK(levels(Method::lapack, 1000, 100) == 0);
  CHECK(levels(Method::cyclic_reduction, 1024, 1024) == 11);
  CHECK(levels(Method::cr_hybrid, 1024, 1024) == 2);
  CHECK(levels(Method::pcr, 1000, 1000) == 10);
  CHECK(levels(Method::rd, 1, 1) == 0);
  CHECK(levels(Method::cr_pcr, 1024, 1024) == 10);
}
