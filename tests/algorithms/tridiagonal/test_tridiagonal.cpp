#include "tests/support/shared_runtime.hpp"
#include "tests/support/tridiagonal.hpp"
#include "tests/support/vector_targets.hpp"
#include "tools/checks/tridiagonal_error.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <random>

using namespace tesela;
using tesela::test::transposed;

namespace {

enum class Kind {
  dominant,
  uniform,
  zero_diagonal,
  tiny_diagonal,
  scaled_rows,
  extreme_rows,  // the product of two elements overflows
  pairs,         // pairs of coupled unknowns; the first of each has no pivot in its own row
};

/// Systems in columns, in double precision, and the checks of the tests.
template <class T>
struct Systems {
  index_t n, k;
  std::vector<T> dl, d, du, b;

  Systems(index_t n_, index_t k_, Kind kind, unsigned seed = 1) : n(n_), k(k_) {
    const auto count = static_cast<std::size_t>(n * k);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (auto* v : {&dl, &d, &du, &b}) v->resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      double scale = 1;
      const double l = uniform(random), u = uniform(random), r = uniform(random), c = uniform(random);
      if (kind == Kind::scaled_rows) scale = std::pow(10, (sizeof(T) == 8 ? 150 : 15) * uniform(random));
      if (kind == Kind::extreme_rows) scale = std::pow(10, (sizeof(T) == 8 ? 290 : 29) * uniform(random));
      const bool last_of_odd = n % 2 == 1 && static_cast<index_t>(i) % n == n - 1;
      const double diagonal = kind == Kind::dominant                        ? std::copysign(2.2, c)
                              : kind == Kind::zero_diagonal                 ? (last_of_odd ? 1.0 : 0.0)
                              : kind == Kind::tiny_diagonal && !last_of_odd ? 1e-20 * c
                                                                            : c;
      const double away = kind == Kind::zero_diagonal || kind == Kind::tiny_diagonal ? 1 : 0;
      dl[i] = static_cast<T>(scale * (l + std::copysign(away, l)));
      d[i] = static_cast<T>(scale * diagonal);
      du[i] = static_cast<T>(scale * (u + std::copysign(away, u)));
      b[i] = static_cast<T>(scale * r);
      if (kind != Kind::pairs) continue;
      const bool first = static_cast<index_t>(i) % n % 2 == 0;
      (first ? dl[i] : du[i]) = 0;
      if (first) d[i] = static_cast<T>(last_of_odd ? 1 : 1e-20), du[i] = static_cast<T>(std::copysign(1, u));
    }
  }

  /// Returns the largest componentwise backward error of x over all rows: |A x - b| / (|A| |x| + |b|).
  double componentwise_error(const std::vector<T>& x, bool periodic) const {
    double worst = 0;
    for (index_t s = 0; s < k; ++s) {
      const auto at = [&](const std::vector<T>& v) { return SpacedNumbers<T>{v.data() + s * n}; };
      worst = worse(worst, tridiagonal_error(TridiagonalSystem<T>{n, at(dl), at(d), at(du), at(b), at(x), periodic},
                                             std::numeric_limits<double>::infinity())
                               .residual_componentwise);
    }
    return worst;
  }
};

/// How a test passes systems to tridiagonal_solve.
struct Way {
  TileShape tile{1, 1};  // along and across the systems
  SystemsIn in = SystemsIn::columns;
  bool periodic = false;
  bool single = false;  // the first system's matrix is used for all
};

/// Returns x by tridiagonal_solve on the workers of `runtime`; unused corners are NaN.
template <class T>
std::vector<T> solve(Runtime& runtime, Systems<T> s, const Way& way, Status* status = nullptr) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const index_t n = s.n, k = s.k;
  if (!way.periodic)
    for (index_t j = 0; j < k && n > 0; ++j)
      s.dl[static_cast<std::size_t>(j * n)] = s.du[static_cast<std::size_t>((j + 1) * n - 1)] = nan;
  const bool columns = way.in == SystemsIn::columns;
  if (!columns)
    for (auto* v : {&s.dl, &s.d, &s.du, &s.b}) *v = transposed(*v, n, k);
  if (way.single)
    for (auto* v : {&s.dl, &s.d, &s.du}) {
      std::vector<T> first(static_cast<std::size_t>(n));
      for (index_t i = 0; i < n; ++i)
        first[static_cast<std::size_t>(i)] = (*v)[static_cast<std::size_t>(columns ? i : i * k)];
      *v = first;
    }
  {
    const auto map = [&](std::vector<T>& v, index_t across) {
      const index_t m = columns ? n : across, cols = columns ? across : n;
      const TileShape tile = columns ? way.tile : TileShape{way.tile.nb, way.tile.mb};
      return TileMatrix<T>::map(runtime, v.data(), m, cols, std::max<index_t>(m, 1), tile);
    };
    const index_t matrices = way.single ? 1 : k;
    const Tridiagonal<T> A{map(s.dl, matrices), map(s.d, matrices), map(s.du, matrices)};
    const TileMatrix<T> B = map(s.b, k);
    Graph g(runtime);
    tridiagonal_solve(g, A, B, {way.in, way.periodic});
    const Status result = g.wait();
    if (status != nullptr)
      *status = result;
    else
      CHECK(result.info == 0);
    B.bring_home();
  }
  return columns ? s.b : transposed(s.b, k, n);
}

template <class T>
constexpr double bound = 1e5 * std::numeric_limits<T>::epsilon();

template <class T>
void check_one_system(Runtime& runtime, std::initializer_list<index_t> sizes, index_t most_tiles,
                      std::initializer_list<Kind> kinds = {Kind::dominant, Kind::uniform, Kind::zero_diagonal,
                                                           Kind::tiny_diagonal, Kind::scaled_rows}) {
  for (const Kind kind : kinds)
    for (const bool periodic : {false, true})
      for (const index_t n : sizes)
        for (const index_t mb : {n, index_t{1}, index_t{7}, index_t{300}, index_t{30000}}) {
          if (ceil_div(n, mb) > most_tiles || (mb > n && n != 1)) continue;
          if (periodic && n < 3 && kind != Kind::dominant) continue;
          // Without a diagonal x grows and shrinks by exp(sqrt(n)), and no solver is accurate in each row of long
          // systems.
          if (n > 5000 && (kind == Kind::zero_diagonal || kind == Kind::tiny_diagonal)) continue;
          const Systems<T> systems(n, 1, kind);
          const auto x = solve(runtime, systems, {{mb, 1}, SystemsIn::columns, periodic, false});
          INFO("kind " << static_cast<int>(kind) << " n " << n << " mb " << mb << " periodic " << periodic);
          CHECK(systems.componentwise_error(x, periodic) <= bound<T>);
        }
}

template <class T>
void check_batches(Runtime& runtime, std::initializer_list<index_t> sizes, std::initializer_list<index_t> batches,
                   Kind kind = Kind::dominant) {
  for (const index_t n : sizes)
    for (const index_t k : batches)
      for (const SystemsIn in : {SystemsIn::columns, SystemsIn::rows})
        for (const bool periodic : {false, true})
          for (const bool single : {false, true}) {
            if (periodic && n < 3 && kind != Kind::dominant) continue;
            Systems<T> systems(n, k, kind);
            const TileShape tile = (n + k) % 2 == 0 ? TileShape{n, k} : TileShape{ceil_div(n, 3), ceil_div(k, 2)};
            const auto x = solve(runtime, systems, {tile, in, periodic, single});
            if (single)
              for (index_t j = n; j < n * k; ++j)
                for (auto* v : {&systems.dl, &systems.d, &systems.du})
                  (*v)[static_cast<std::size_t>(j)] = (*v)[static_cast<std::size_t>(j % n)];
            INFO("n " << n << " k " << k << " rows " << (in == SystemsIn::rows) << " periodic " << periodic
                      << " single " << single);
            CHECK(systems.componentwise_error(x, periodic) <= bound<T>);
          }
}

/// A singular system among others must be reported.
template <class T>
void check_breakdown(Runtime& runtime, index_t n, index_t mb) {
  Systems<T> systems(n, 3, Kind::dominant);
  const index_t row = n / 2;
  for (auto* v : {&systems.dl, &systems.d, &systems.du}) (*v)[static_cast<std::size_t>(n + row)] = 0;  // in system 1
  for (const SystemsIn in : {SystemsIn::columns, SystemsIn::rows}) {
    Status status;
    const auto x = solve(runtime, systems, {{mb, 3}, in, false, false}, &status);
    INFO("n " << n << " mb " << mb << " info " << status.info);
    CHECK(status.info > n);
    CHECK(status.info <= 2 * n);
    for (const T value : x) CHECK(std::isfinite(value));
    CHECK(std::abs(status.info - (n + row + 1)) <= 1 + n / 4);
    Systems<T> others = systems;
    others.k = 1;
    CHECK(others.componentwise_error(x, false) <= bound<T>);
    others.b[0] = std::numeric_limits<T>::quiet_NaN();
    solve(runtime, others, {{mb, 1}, in, false, false}, &status);
    CHECK(status.info > 0);
  }
}

}  // namespace

CORES_TEMPLATE_TEST_CASE("tridiagonal_solve solves the systems that LAPACK solves", "[tridiagonal]", float, double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  check_one_system<TestType>(runtime, {1, 2, 3, 15, 16, 17, 100, 255, 256, 257, 1000, 2404, 4321, 9516}, 300);
  check_one_system<TestType>(runtime, {1, 2, 3, 17, 100, 257, 1000}, 20, {Kind::extreme_rows, Kind::pairs});
}

CORES_TEMPLATE_TEST_CASE("tridiagonal_solve solves many systems at once", "[tridiagonal]", float, double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  check_batches<TestType>(runtime, {1, 2, 5, 64, 130}, {1, 3, 16, 17, 40});
  check_batches<TestType>(runtime, {3, 64, 130, 300}, {3, 40}, Kind::uniform);
}

CORES_TEMPLATE_TEST_CASE("tridiagonal_solve reports the place of a singular system", "[tridiagonal]", float, double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  for (const index_t n : {1, 2, 9, 100, 1000}) {
    check_breakdown<TestType>(runtime, n, n);
    check_breakdown<TestType>(runtime, n, ceil_div(n, 3));
  }
}

CORES_TEMPLATE_TEST_CASE("a zero row or column is named at any place", "[tridiagonal]", float, double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  for (const index_t k : {1, 40}) {
    const index_t n = k == 1 ? 2404 : 300;
    const Systems<TestType> regular(n, k, Kind::dominant);
    // Every row near the ends, and between them each seventh: each place in a run of 64 rows, in some run.
    for (index_t i = 0; i < n; i += i >= 130 && i < n - 137 ? 7 : 1)
      for (const bool column : {false, true}) {
        Systems<TestType> systems = regular;
        const index_t system = k == 1 ? 0 : i % k;
        const auto at = [&](index_t row) { return static_cast<std::size_t>(system * n + row); };
        systems.d[at(i)] = 0;
        (column ? systems.du[at(std::max<index_t>(i - 1, 0))] : systems.dl[at(i)]) = 0;
        (column ? systems.dl[at(std::min(i + 1, n - 1))] : systems.du[at(i)]) = 0;
        Status status;
        solve(runtime, systems, {{n, k}, SystemsIn::columns, false, false}, &status);
        INFO("n " << n << " k " << k << " column " << column);
        const index_t found = status.info - system * n;
        // At the ends of runs of rows (64 rows in single precision) rounding may leave the detection to the whole
        // system.
        const bool seam = k == 1 && (i % 64 == 0 || i % 64 == 63);
        CHECK((found == i + 1 || (seam && found == 1)));
      }
  }
}

CORES_TEMPLATE_TEST_CASE("rows that are dominant only up to rounding are solved with pivoting", "[tridiagonal]", float,
                         double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  // The second of four rows has the pivot 1 - 1 = 0 and an element du that 1 + du does not show.
  const TestType tiny = std::numeric_limits<TestType>::epsilon() / 16;
  const TestType rows[4][3] = {{0, 1, 1}, {1, 1, tiny}, {TestType(0.5), 2, 1}, {TestType(0.5), 2, TestType(0.5)}};
  for (const index_t k : {1, 40}) {
    Systems<TestType> systems(k == 1 ? 2404 : 300, k, Kind::dominant);
    for (std::size_t i = 0; i < systems.d.size(); ++i)
      systems.dl[i] = rows[i % 4][0], systems.d[i] = rows[i % 4][1], systems.du[i] = rows[i % 4][2];
    CAPTURE(k);
    const auto x = solve(runtime, systems, {{systems.n, k}, SystemsIn::columns, false, false});
    CHECK(systems.componentwise_error(x, false) <= bound<TestType>);
  }
}

TEMPLATE_TEST_CASE("tridiagonal_solve works on a GPU", "[tridiagonal][gpu]", float, double) {
  test::require_gpu();
  for (const int cpus : {0, 2}) {
    Runtime runtime({.cpus = cpus, .gpus = 1});
    check_one_system<TestType>(runtime,
                               {1, 2, 3, 14, 15, 16, 17, 31, 255, 256, 257, 1000, 1919, 1920, 1921, 4321, 65537}, 40);
    check_batches<TestType>(runtime, {1, 2, 5, 64, 130, 512, 1000, 5000}, {1, 3, 12, 17, 18, 40});
    for (const index_t n : {1, 2, 9, 100, 1000, 10000}) {
      check_breakdown<TestType>(runtime, n, n);
      check_breakdown<TestType>(runtime, n, ceil_div(n, 3));
    }
  }
}

GPU_TEMPLATE_TEST_CASE("tridiagonal_solve solves long systems on a GPU", "[tridiagonal]", float, double) {
  check_one_system<TestType>(runtime, {1000000, 5000001}, 1);
}

GPU_TEMPLATE_TEST_CASE("tridiagonal_solve works under a sanitizer", "[tridiagonal][sanitize]", float, double) {
  for (const Kind kind : {Kind::dominant, Kind::uniform})
    for (const index_t n : {5, 500, 6000})
      for (const index_t k : {5, 12}) {  // rows of 12 numbers are aligned
        const Systems<TestType> systems(n, k, kind);
        for (const SystemsIn in : {SystemsIn::columns, SystemsIn::rows})
          for (const index_t mb : {n, ceil_div(n, 2)}) {
            const auto x = solve(runtime, systems, {{mb, k}, in, false, false});
            CHECK(systems.componentwise_error(x, false) <= bound<TestType>);
          }
      }
}
