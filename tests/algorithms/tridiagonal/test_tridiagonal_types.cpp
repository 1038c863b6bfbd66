#include "tests/support/matrices.hpp"
#include "tests/support/padded.hpp"
#include "tools/checks/tridiagonal_error.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal_checked.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_matrices.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_methods.hpp>

// Tridiagonal systems of real and complex numbers: one body for four types.

using namespace tesela::test;
using kernels::TridiagonalGenerator;

namespace {

/// Systems side by side in columns, with one matrix for each or one for all.
template <class T>
struct Systems {
  HostMatrix<T> dl, d, du, b;
};

template <class T>
Systems<T> systems(TridiagonalKind kind, index_t n, index_t k, index_t matrices, bool periodic = false) {
  const TridiagonalGenerator<T> element{kind, n, 3, periodic};
  const auto band = [&](const auto& part) {
    return filled<T>({n, matrices}, [&](index_t i, index_t j) { return part(element(i, j)); });
  };
  return {band([](const auto& row) { return row.dl; }), band([](const auto& row) { return row.d; }),
          band([](const auto& row) { return row.du; }), generate<T>({n, k}, {.pattern = Pattern::uniform, .seed = 9})};
}

template <class T>
HostMatrix<T> transposed(const HostMatrix<T>& a) {
  return filled<T>({a.cols(), a.rows()}, [&](index_t i, index_t j) { return a(j, i); });
}

/// Returns the largest error of all systems of X in columns.
template <class T>
TridiagonalError error_of(const Systems<T>& s, const HostMatrix<T>& x, bool periodic = false) {
  TridiagonalError worst_of_all;
  for (index_t j = 0; j < x.cols(); ++j) {
    const index_t of = s.d.cols() == 1 ? 0 : j;
    const auto column = [](const HostMatrix<T>& a, index_t k) { return SpacedNumbers<T>{a.data() + k * a.ld()}; };
    const auto error = tridiagonal_error(TridiagonalSystem<T>{
        x.rows(), column(s.dl, of), column(s.d, of), column(s.du, of), column(s.b, j), column(x, j), periodic});
    worst_of_all.residual = worse(worst_of_all.residual, error.residual);
    worst_of_all.residual_equilibrated = worse(worst_of_all.residual_equilibrated, error.residual_equilibrated);
  }
  return worst_of_all;
}

/// Solves into x by the facade for arrays.
template <class T>
CheckedSolve solve(Runtime& runtime, const Systems<T>& s, HostMatrix<T>& x, bool periodic = false) {
  const auto view = [](const HostMatrix<T>& a) { return MatrixView<const T>(a.data(), a.shape(), a.ld()); };
  x = s.b.clone();
  return tridiagonal_solve<T>(runtime, view(s.dl), view(s.d), view(s.du), MatrixView(x), {.periodic = periodic});
}

constexpr TridiagonalKind kinds[] = {TridiagonalKind::uniform, TridiagonalKind::dominant, TridiagonalKind::toeplitz,
                                     TridiagonalKind::zero_diagonal};

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("systems of every kind, layout and tiling have small residuals", "", FOUR_TYPES) {
  using T = TestType;
  for (const TridiagonalKind kind : kinds)
    for (const auto& [n, k, matrices] : {std::array<index_t, 3>{1, 1, 1},
                                         {2, 3, 3},
                                         {3, 2, 1},
                                         {127, 1, 1},
                                         {128, 5, 5},
                                         {129, 5, 1},
                                         {1000, 9, 9},
                                         {1001, 4, 1},
                                         {40000, 3, 3}})
      for (const index_t along : {index_t{1 << 20}, index_t{100}, index_t{7}})
        for (const bool in_rows : {false, true}) {
          if ((along == 7 && n > 200) || (along == 100 && n > 2000)) continue;
          CAPTURE(static_cast<int>(kind), n, k, matrices, along, in_rows);
          const Systems<T> s = systems<T>(kind, n, k, matrices);
          const auto stored = [&](const HostMatrix<T>& a) {
            const index_t across = std::min<index_t>(a.cols(), 3);
            return in_rows ? tiles(runtime, transposed(a), {across, along}) : tiles(runtime, a, {along, across});
          };
          const Tridiagonal<T> A{stored(s.dl), stored(s.d), stored(s.du)};
          const TileMatrix<T> X = stored(s.b);
          Graph g(runtime);
          tridiagonal_solve(g, A, X, {.systems = in_rows ? SystemsIn::rows : SystemsIn::columns});
          REQUIRE(g.wait().ok());
          CHECK(error_of(s, in_rows ? transposed(X.to_host()) : X.to_host()).residual <= tridiagonal_residual_bound<T>);
        }
}

// Not on cores, where the checks would take longer than the solves.
GPU_TEMPLATE_TEST_CASE("long systems of any numbers are solved", "", FOUR_TYPES) {
  using T = TestType;
  for (const TridiagonalKind kind : kinds)
    for (const bool periodic : {false, true})
      for (const auto& [n, k] : {std::array<index_t, 2>{3000001, 1}, {9000, 40}, {512, 3000}}) {
        CAPTURE(static_cast<int>(kind), periodic, n, k);
        const Systems<T> s = systems<T>(kind, n, k, 1, periodic);
        HostMatrix<T> x;
        const CheckedSolve solved = solve(runtime, s, x, periodic);
        CAPTURE(solved.residual.error, solved.residual_equilibrated.error, solved.condition.value);
        REQUIRE(solved.status.ok());
        REQUIRE(solved.good());
        CHECK(error_of(s, x, periodic).residual <= tridiagonal_residual_bound<T>);
      }
}

// A worker keeps segments that another kind of worker cannot use: a GPU marks them by a number that is not 0.
WORKERS_TEMPLATE_TEST_CASE("rows that another kind of worker has reduced are reduced again", "[sanitize]", FOUR_TYPES) {
  using T = TestType;
  using namespace kernels;
  using tridiagonal::Segment;
  const index_t half = 3000, n = 2 * half, k = 2, work = tridiagonal::work_segments(half);
  const Systems<T> s = systems<T>(TridiagonalKind::uniform, n, k, k);
  const TileShape tile{half, k};
  const TileMatrix<T> dl = tiles(runtime, s.dl, tile), d = tiles(runtime, s.d, tile), du = tiles(runtime, s.du, tile),
                      X = tiles(runtime, s.b, tile), values(runtime, 6, k, {6, k});
  const TileMatrix<Segment<T>> kept(runtime, 2 * work, k, {work, k}), ends(runtime, 2, k, {1, k});
  Graph g(runtime);
  tridiagonal::SystemsTile place{SystemsIn::columns, false, false, n};
  for (index_t i = 0; i < 2; ++i) {
    place.before = i == 1, place.behind = i == 0;
    g.insert<TridiagonalReduce<T>>(place, dl(i, 0), d(i, 0), du(i, 0), X(i, 0), kept(i, 0), ends(i, 0));
  }
  g.insert<TridiagonalJoin<T>>({place, false}, values(0, 0), g.scratch<tridiagonal::Joint<T>>(2, k), g.status(0),
                               std::vector{ends(0, 0), ends(1, 0)});
  REQUIRE(g.wait().ok());
  const T nan = std::numeric_limits<real_t<T>>::quiet_NaN(), mark = runtime.gpus() > 0 ? T(0) : T(1);
  for (index_t i = 0; i < 2; ++i) {
    const auto own = kept(i, 0).write();
    for (index_t c = 0; c < k; ++c)
      for (index_t r = 0; r < work; ++r) own(r, c) = {{nan, nan, nan, nan, nan}, {nan, nan, nan, nan, nan}};
    own(0, 0).upper.e = mark;
  }
  for (index_t i = 0; i < 2; ++i) {
    place.before = i == 1, place.behind = i == 0;
    g.insert<TridiagonalSubstitute<T>>({place, i}, dl(i, 0), d(i, 0), du(i, 0), X(i, 0), kept(i, 0), values(0, 0),
                                       g.status(i * half));
  }
  REQUIRE(g.wait().ok());
  CHECK(error_of(s, X.to_host()).residual <= tridiagonal_residual_bound<T>);
}

WORKERS_TEMPLATE_TEST_CASE("a singular system and a NaN part have their place", "", FOUR_TYPES) {
  using T = TestType;
  using Real = real_t<T>;
  const index_t n = 5000, k = 3;
  for (const bool singular : {true, false})
    for (const index_t along : {n, index_t{1700}}) {
      Systems<T> s = systems<T>(TridiagonalKind::dominant, n, k, k);
      if (singular)
        s.dl(4000, 1) = s.d(4000, 1) = s.du(4000, 1) = T(0);
      else
        s.d(4000, 1) = number<T>(is_complex<T> ? 1 : std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::quiet_NaN());
      const TileShape tile{along, k};
      const TileMatrix<T> X = tiles(runtime, s.b, tile);
      Graph g(runtime);
      tridiagonal_solve(g, {tiles(runtime, s.dl, tile), tiles(runtime, s.d, tile), tiles(runtime, s.du, tile)}, X);
      const index_t info = g.wait().info;
      CAPTURE(singular, along, info);
      CHECK(info > n);
      CHECK(info <= 2 * n);
      const HostMatrix<T> x = X.to_host();
      for (const index_t c : {0, 2})  // the other systems are valid
        for (index_t i = 0; i < n; ++i) REQUIRE(std::abs(x(i, c)) <= Real(10));
    }
}

TEMPLATE_TEST_CASE("systems in memory are solved and checked, also periodic ones", "", FOUR_TYPES) {
  using T = TestType;
  for (const TridiagonalKind kind : kinds)
    for (const bool periodic : {false, true})
      for (const auto& [n, k, matrices] :
           {std::array<index_t, 3>{3, 1, 1}, {60, 4, 4}, {5000, 1, 1}, {700, 30, 30}, {200000, 1, 1}}) {
        CAPTURE(static_cast<int>(kind), periodic, n, k);
        const Systems<T> s = systems<T>(kind, n, k, matrices, periodic);
        HostMatrix<T> x;
        const CheckedSolve solved = solve(runtime(), s, x, periodic);
        CAPTURE(solved.residual.error, solved.residual_equilibrated.error, solved.condition.value);
        REQUIRE(solved.good());
        const TridiagonalError error = error_of(s, x, periodic);
        CHECK(error.residual <= tridiagonal_residual_bound<T>);
        CHECK(error.residual_equilibrated <= tridiagonal_equilibrated_bound<T>);
        if (kind == TridiagonalKind::dominant) CHECK(solved.condition.value < 100);
      }
}

TEMPLATE_TEST_CASE("the condition of a nearly singular system is large, and a singular system has a place", "",
                   FOUR_TYPES) {
  using T = TestType;
  const index_t n = 500;
  HostMatrix<T> x;
  Systems<T> s = systems<T>(TridiagonalKind::near_singular, n, 1, 1);
  const CheckedSolve near = solve(runtime(), s, x);
  CHECK(near.good());
  CHECK(near.condition.value * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()) > 1e-4);
  s = systems<T>(TridiagonalKind::dominant, n, 3, 3);
  s.dl(40, 1) = s.d(40, 1) = s.du(40, 1) = T(0);
  CHECK(!solve(runtime(), s, x).status.ok());
  s = systems<T>(TridiagonalKind::dominant, n, 3, 3);
  s.du(77, 2) = T(std::numeric_limits<real_t<T>>::quiet_NaN());
  if constexpr (is_complex<T>) s.du(77, 2) = T(1, std::numeric_limits<real_t<T>>::infinity());
  const CheckedSolve strange = solve(runtime(), s, x);
  CHECK(strange.status.info == 78 + 2 * n);
  CHECK(!strange.input_finite);
}

TEMPLATE_TEST_CASE("units that differ by far are equilibrated", "", FOUR_TYPES) {
  using T = TestType;
  const index_t n = 300;
  const int range = sizeof(real_t<T>) == 8 ? 400 : 40;
  Systems<T> s = systems<T>(TridiagonalKind::dominant, n, 1, 1);
  for (index_t i = 0; i < n; ++i) {
    const auto unit = [&](index_t j) { return static_cast<int>(37 * j % (2 * range)) - range; };
    s.dl(i, 0) = times_power_of_two(s.dl(i, 0), i > 0 ? unit(i - 1) : 0);
    s.d(i, 0) = times_power_of_two(s.d(i, 0), unit(i));
    s.du(i, 0) = times_power_of_two(s.du(i, 0), i < n - 1 ? unit(i + 1) : 0);
  }
  HostMatrix<T> x;
  const CheckedSolve solved = solve(runtime(), s, x);
  CHECK(solved.good());
  CHECK(error_of(s, x).residual_equilibrated <= tridiagonal_equilibrated_bound<T>);
}

TEMPLATE_TEST_CASE("every method solves one system in any tiles", "", FOUR_TYPES) {
  using T = TestType;
  const Systems<T> s = systems<T>(TridiagonalKind::dominant, 500, 3, 1);
  const auto cut = [](const HostMatrix<T>& a) { return tiles(runtime(), a, TileShape{70, 2}); };
  const Tridiagonal<T> A{cut(s.dl), cut(s.d), cut(s.du)};
  using enum TridiagonalMethod;
  for (const TridiagonalMethod method :
       {lapack, thomas, cyclic_reduction, cr_hybrid, cr_shared, cr_coalesced, pcr, rd, cr_pcr, cr_rd}) {
    CAPTURE(name_of(tridiagonal_methods(), method));
    const TileMatrix<T> X = cut(s.b);
    Graph g(runtime());
    tridiagonal_solve_by(g, A, X, {.method = method, .cut = 20});
    REQUIRE(g.wait().ok());
    CHECK(error_of(s, X.to_host()).residual <= tridiagonal_residual_bound<T>);
  }
  Systems<T> singular = systems<T>(TridiagonalKind::dominant, 500, 3, 1);
  singular.d(160, 0) = T(0);
  for (const TridiagonalMethod method : {cyclic_reduction, cr_hybrid, cr_coalesced}) {
    Graph g(runtime());
    tridiagonal_solve_by(g, {cut(s.dl), cut(singular.d), cut(s.du)}, cut(s.b), {.method = method});
    CHECK(g.wait().info == 161);
  }
}
