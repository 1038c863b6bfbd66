#include "tests/support/four_types.hpp"
#include "tests/support/padded.hpp"
#include "tests/support/tridiagonal.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal_refinement.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <random>
#include <utility>

using namespace tesela;
using namespace tesela::kernels;
using test::nan_of;
using test::place;
using test::shape_of;
using test::tile_of;

namespace {

enum class Kind { dominant, zero_diagonal, scaled_rows, near_singular };

/// Draws numbers with parts in [-1, 1).
template <class T>
class Numbers {
 public:
  explicit Numbers(index_t seed) : random_(static_cast<std::uint64_t>(seed)) {}
  double part() { return uniform_(random_); }
  with_parts<T, double> number() {
    if constexpr (is_complex<T>) {
      const double re = part();
      return {re, part()};
    } else {
      return part();
    }
  }
  /// Returns a number of magnitude 1: a sign or a phase.
  with_parts<T, double> phase() {
    const auto x = number();
    return x / std::abs(x);
  }

 private:
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

/// k systems on the host, with one matrix for each or the first one for all; unused elements are NaN.
template <class T>
struct Systems {
  index_t n, k;
  TridiagonalOptions options;
  bool single;
  HostMatrix<T> dl, d, du, b, x;

  Systems(index_t n_, index_t k_, TridiagonalOptions options_, Kind kind, bool single_ = false)
      : n(n_), k(k_), options(options_), single(single_) {
    const Shape a = shape_of(options, n, single ? 1 : k), all = shape_of(options, n, k);
    for (auto* m : {&dl, &d, &du}) *m = HostMatrix<T>(a.rows, a.cols);
    b = HostMatrix<T>(all.rows, all.cols);
    Numbers<T> draw(n + 1000 * k);
    const TridiagonalGenerator<T> zero{TridiagonalKind::zero_diagonal, n, 3, options.periodic},
        singular{TridiagonalKind::near_singular, n, 3, options.periodic};
    std::vector<double> scales(static_cast<std::size_t>(n), 1);
    for (index_t s = 0; s < k; ++s)
      for (index_t i = 0; i < n; ++i) {
        double& scale = scales[static_cast<std::size_t>(i)];
        const auto at = place(options, i, s);
        if (s == 0 || !single) {
          const auto l = draw.number(), u = draw.number(), c = draw.phase();
          const double e = draw.part(), dominant = is_complex<T> ? 3 : 2.2;
          if (kind == Kind::scaled_rows) scale = std::pow(10, (sizeof(real_t<T>) == 8 ? 150 : 15) * e);
          TridiagonalRow<T> row{converted<T>(scale * l), converted<T>(scale * dominant * c), converted<T>(scale * u)};
          if (kind == Kind::zero_diagonal) row = zero(i, s);
          if (kind == Kind::near_singular) row = singular(i, s);
          if (i == 0 && !options.periodic) row.dl = nan_of<T>;
          if (i == n - 1 && !options.periodic) row.du = nan_of<T>;
          dl(at.first, at.second) = row.dl, d(at.first, at.second) = row.d, du(at.first, at.second) = row.du;
        }
        b(at.first, at.second) = converted<T>(scale * draw.number());
      }
    x = HostMatrix<T>(all.rows, all.cols);
  }

  T at(const HostMatrix<T>& a, index_t i, index_t s) const {
    const auto p = place(options, i, &a == &b || &a == &x || !single ? s : 0);
    return a(p.first, p.second);
  }

  RefinedSolve solve(Runtime& runtime, TileShape tile, RefinementOptions how) {
    how.systems = options.systems, how.periodic = options.periodic;
    for (index_t s = 0; s < k; ++s)
      for (index_t i = 0; i < n; ++i) {
        const auto p = place(options, i, s);
        x(p.first, p.second) = b(p.first, p.second);
      }
    const auto map = [&](const HostMatrix<T>& m) {
      return TileMatrix<T>::map(runtime, m.data(), m.rows(), m.cols(), m.ld(), tile);
    };
    const Tridiagonal<T> A{map(dl), map(d), map(du)};
    const TileMatrix<T> X = map(x);
    Graph g(runtime);
    const RefinedSolve result = tridiagonal_solve_refined(g, A, X, how);
    X.bring_home();
    return result;
  }

  /// Returns max_i |A x - b|_i / (||row i of A||_1 ||x||_inf + |b|_i) of system s.
  double error(index_t s) const {
    using Wide = with_parts<T, long double>;
    long double worst = 0, largest = 0;
    for (index_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(converted<Wide>(at(x, i, s))));
    for (index_t i = 0; i < n; ++i) {
      Wide sum = -converted<Wide>(at(b, i, s));
      long double size = std::abs(sum);
      const auto add = [&](T a, index_t j) {
        sum += converted<Wide>(a) * converted<Wide>(at(x, j, s));
        size += std::abs(converted<Wide>(a)) * largest;
      };
      add(at(d, i, s), i);
      if (i > 0 || options.periodic) add(at(dl, i, s), (i + n - 1) % n);
      if (i < n - 1 || options.periodic) add(at(du, i, s), (i + 1) % n);
      const long double ratio = sum == Wide(0) ? 0 : std::abs(sum) / size;
      if (!(ratio <= worst)) worst = ratio;
    }
    return static_cast<double>(worst);
  }
  double error() const {
    double worst = 0;
    for (index_t s = 0; s < k; ++s)
      if (!(error(s) <= worst)) worst = error(s);
    return worst;
  }

  /// Returns ||x - x of LAPACK||_inf / ||x of LAPACK||_inf of the non-periodic system s.
  double against_lapack(index_t s) const {
    std::vector<T> below, diagonal, above, right;
    for (index_t i = 0; i < n; ++i) {
      if (i > 0) below.push_back(at(dl, i, s));
      diagonal.push_back(at(d, i, s));
      if (i + 1 < n) above.push_back(at(du, i, s));
      right.push_back(at(b, i, s));
    }
    REQUIRE(lapack::gtsv(n, 1, below.data(), diagonal.data(), above.data(), right.data(), n) == 0);
    using Wide = with_parts<T, double>;
    double difference = 0, size = 0;
    for (index_t i = 0; i < n; ++i) {
      const auto truth = converted<Wide>(right[static_cast<std::size_t>(i)]);
      difference = std::max(difference, std::abs(converted<Wide>(at(x, i, s)) - truth));
      size = std::max(size, std::abs(truth));
    }
    return difference / size;
  }
};

template <class T>
constexpr double eps = std::numeric_limits<real_t<T>>::epsilon();

/// 4 eps for the whole scaled system; a single row may be off by several times as much.
template <class T>
constexpr double bound = 50 * eps<T>;

template <class T>
void check_all(Runtime& runtime, bool mixed, std::initializer_list<index_t> sizes,
               std::initializer_list<index_t> batches) {
  for (const Kind kind : {Kind::dominant, Kind::zero_diagonal, Kind::scaled_rows})
    for (const index_t n : sizes)
      for (const index_t k : batches)
        for (const SystemsIn in : {SystemsIn::columns, SystemsIn::rows})
          for (const bool periodic : {false, true})
            for (const bool single : {false, true})
              for (const index_t tiles : {1, 3}) {
                if (kind == Kind::zero_diagonal && periodic) continue;
                const TridiagonalOptions options{in, periodic};
                Systems<T> systems(n, k, options, kind, single);
                const TileShape tile = tile_of(options, std::max<index_t>(ceil_div(n, tiles), 1),
                                               std::max<index_t>(single ? k : ceil_div(k, tiles), 1));
                const RefinedSolve result = systems.solve(runtime, tile, {.mixed = mixed});
                INFO("kind " << static_cast<int>(kind) << " n " << n << " k " << k << " rows "
                             << (in == SystemsIn::rows) << " periodic " << periodic << " single " << single << " tiles "
                             << tiles << " iterations " << result.iterations << " backward error "
                             << result.backward_error);
                CHECK(result.converged);
                CHECK(result.status.ok());
                CHECK(result.iterations <= (mixed ? 8 : 3));
                if (mixed && n > 16 && k > 0) CHECK(result.iterations >= 1);
                CHECK(result.backward_error <= 4 * eps<T>);
                CHECK(systems.error() <= bound<T>);
                if (!periodic && kind == Kind::dominant && n > 0 && k > 0)
                  CHECK(systems.against_lapack(k - 1) <= 100 * eps<T>);
              }
}

/// Requires that mixed precision reports a failure and double precision solves the system.
template <class T>
void check_ill_conditioned(Runtime& runtime, index_t n, index_t mb) {
  Systems<T> systems(n, 2, {}, Kind::near_singular);
  const RefinedSolve single = systems.solve(runtime, {mb, 2}, {.mixed = true});
  INFO("n " << n << " iterations " << single.iterations << " backward error " << single.backward_error);
  CHECK_FALSE(single.converged);
  CHECK_FALSE(single.status.ok());
  CHECK(single.status.info >= 1);
  CHECK(single.status.info <= 2 * n);
  CHECK_FALSE(single.backward_error <= 4 * eps<double>);
  const RefinedSolve full = systems.solve(runtime, {mb, 2}, {});
  INFO("full: iterations " << full.iterations << " backward error " << full.backward_error);
  CHECK(full.converged);
  CHECK(systems.error() <= bound<T>);
}

template <class T>
void check_breakdown(Runtime& runtime, bool mixed, index_t n, index_t mb) {
  for (const SystemsIn in : {SystemsIn::columns, SystemsIn::rows}) {
    const TridiagonalOptions options{in, false};
    Systems<T> systems(n, 3, options, Kind::dominant);
    const auto [r, c] = place(options, n / 2, 1);
    const T d = std::exchange(systems.d(r, c), T(0)), dl = std::exchange(systems.dl(r, c), T(0)),
            du = std::exchange(systems.du(r, c), T(0));
    RefinedSolve result = systems.solve(runtime, tile_of(options, mb, 3), {.mixed = mixed});
    INFO("n " << n << " mb " << mb << " status " << result.status.info << " error " << result.backward_error);
    CHECK_FALSE(result.converged);
    CHECK(result.status.info > n);
    CHECK(result.status.info <= 2 * n);
    CHECK(systems.error(0) <= bound<T>);
    CHECK(systems.error(2) <= bound<T>);

    systems.d(r, c) = d, systems.dl(r, c) = dl, systems.du(r, c) = du;
    const real_t<T> infinity = std::numeric_limits<real_t<T>>::infinity();
    for (const T strange : {nan_of<T>, T(infinity), test::number<T>(is_complex<T> ? 0 : infinity, infinity)}) {
      systems.b(r, c) = strange;
      result = systems.solve(runtime, tile_of(options, mb, 3), {.mixed = mixed});
      CHECK_FALSE(result.converged);
      CHECK(result.status.info > n);
      CHECK(result.status.info <= 2 * n);
      CHECK(systems.error(0) <= bound<T>);
      CHECK(systems.error(2) <= bound<T>);
    }
  }
}

}  // namespace

CORES_TEST_CASE("mixed precision reaches the accuracy of double precision", "[tridiagonal]") {
  check_all<double>(runtime, true, {0, 1, 2, 3, 17, 256, 1001}, {1, 5});
  check_all<double>(runtime, true, {9001}, {1});
  check_all<double>(runtime, true, {4}, {0, 70});
}

CORES_TEST_CASE("mixed precision reaches the accuracy of double precision for complex numbers", "[tridiagonal]") {
  using T = std::complex<double>;
  check_all<T>(runtime, true, {0, 1, 2, 3, 17, 1001}, {1, 5});
  check_all<T>(runtime, true, {9001}, {1});
  for (const index_t mb : {300, 100}) {
    check_ill_conditioned<T>(runtime, 300, mb);
    for (const bool mixed : {false, true}) check_breakdown<T>(runtime, mixed, 300, mb);
  }
}

CORES_TEMPLATE_TEST_CASE("refinement in one precision converges", "[tridiagonal]", FOUR_TYPES) {
  check_all<TestType>(runtime, false, {0, 1, 2, 3, 17, 256, 1001}, {1, 5});
}

CORES_TEST_CASE("mixed precision solves systems beyond the range of single precision", "[tridiagonal]") {
  for (const double size : {1e-290, 1e-200, 1e-60, 1e60, 1e200, 1e290}) {
    Systems<double> systems(300, 2, {}, Kind::dominant);
    for (index_t s = 0; s < 2; ++s)
      for (index_t i = 0; i < 300; ++i) systems.b(i, s) *= size;
    const RefinedSolve result = systems.solve(runtime, {100, 2}, {.mixed = true});
    INFO("right-hand sides of " << size << ": " << result.iterations << " corrections");
    CHECK(result.converged);
    CHECK(systems.error() <= bound<double>);
    CHECK(systems.against_lapack(1) <= 100 * eps<double>);
  }
}

CORES_TEST_CASE("zero right-hand sides need no correction", "[tridiagonal]") {
  Systems<double> systems(100, 2, {}, Kind::dominant);
  for (index_t i = 0; i < 100; ++i) systems.b(i, 0) = systems.b(i, 1) = 0;
  const RefinedSolve result = systems.solve(runtime, {40, 1}, {.mixed = true});
  CHECK(result.converged);
  CHECK(result.iterations == 0);
  for (index_t i = 0; i < 100; ++i) CHECK(systems.x(i, 1) == 0);
}

CORES_TEST_CASE("a limit on corrections that is too low is reported as not converged", "[tridiagonal]") {
  Systems<double> systems(1000, 3, {}, Kind::dominant);
  const RefinedSolve result = systems.solve(runtime, {400, 2}, {.mixed = true, .iterations = 0});
  CHECK_FALSE(result.converged);
  CHECK_FALSE(result.status.ok());
  CHECK(result.iterations == 0);
  CHECK(result.backward_error > 1e-10);
  CHECK(result.backward_error < 1e-6);
  CHECK(systems.error() < 1e-5);
}

CORES_TEMPLATE_TEST_CASE("corrections at rounding level do no harm and end", "[tridiagonal]", float, double) {
  Systems<TestType> systems(1001, 3, {SystemsIn::rows, true}, Kind::dominant);
  const RefinedSolve result = systems.solve(runtime, {2, 400}, {.tolerance = eps<TestType> / 1000});
  CHECK_FALSE(result.converged);
  CHECK(result.iterations >= 2);
  CHECK(result.iterations < 30);
  CHECK(result.backward_error <= 4 * eps<TestType>);
  CHECK(systems.error() <= bound<TestType>);
}

CORES_TEST_CASE("ill-conditioned systems do not converge from single precision", "[tridiagonal]") {
  for (const index_t n : {300, 1000, 5000}) {
    check_ill_conditioned<double>(runtime, n, n);
    check_ill_conditioned<double>(runtime, n, ceil_div(n, 3));
  }
}

CORES_TEST_CASE("refinement names the system that is singular or not finite", "[tridiagonal]") {
  for (const index_t n : {1, 2, 9, 300}) {
    for (const bool mixed : {false, true}) {
      check_breakdown<double>(runtime, mixed, n, n);
      check_breakdown<double>(runtime, mixed, n, ceil_div(n, 3));
    }
    check_breakdown<float>(runtime, false, n, n);
  }
}

CORES_TEST_CASE("refinement refuses invalid shapes and leaves B unchanged", "[tridiagonal]") {
  Systems<double> systems(10, 2, {}, Kind::dominant);
  const auto map = [&](HostMatrix<double>& m, TileShape tile) {
    return TileMatrix<double>::map(runtime, m.data(), m.rows(), m.cols(), m.ld(), tile);
  };
  HostMatrix<double> b(10, 2), other(10, 3);
  for (index_t i = 0; i < 10; ++i) b(i, 1) = systems.b(i, 1);
  {
    const auto B = map(b, {5, 2}), dl = map(systems.dl, {5, 2}), d = map(systems.d, {5, 2}),
               du = map(systems.du, {4, 2}), wide = map(other, {5, 2});
    Graph g(runtime);
    CHECK_THROWS_AS(tridiagonal_solve_refined(g, {dl, d, du}, B), ArgumentError);
    CHECK_THROWS_AS(tridiagonal_solve_refined(g, {dl, d, wide}, B), ArgumentError);
    CHECK_THROWS_AS(tridiagonal_solve_refined(g, {dl, d, B}, B), ArgumentError);
    const TileMatrix<float> f(runtime, 4, 1, {4, 1});
    CHECK_THROWS_AS(tridiagonal_solve_refined(g, {f, f, f}, TileMatrix<float>(runtime, 4, 1, {4, 1}), {.mixed = true}),
                    ArgumentError);
  }
  for (index_t i = 0; i < 10; ++i) CHECK(b(i, 1) == systems.b(i, 1));
}

TEST_CASE("refinement works on a GPU", "[tridiagonal][gpu]") {
  test::require_gpu();
  for (const int cpus : {0, 2}) {
    Runtime runtime({.cpus = cpus, .gpus = 1});
    check_all<double>(runtime, true, {1, 2, 3, 17, 256, 1001, 9001}, {1, 5, 70});
    check_all<double>(runtime, false, {1, 2, 1001, 9001}, {1, 5, 70});
    check_all<float>(runtime, false, {1, 2, 1001}, {1, 5, 70});
    check_all<std::complex<double>>(runtime, true, {1, 2, 1001, 9001}, {1, 5, 70});
    check_all<std::complex<float>>(runtime, false, {1, 2, 1001}, {1, 5, 70});
    check_ill_conditioned<double>(runtime, 5000, 5000);
    check_ill_conditioned<std::complex<double>>(runtime, 5000, 5000);
    for (const index_t n : {1, 2, 9, 300, 5000}) {
      for (const bool mixed : {false, true}) check_breakdown<double>(runtime, mixed, n, ceil_div(n, 3));
      check_breakdown<float>(runtime, false, n, n);
    }
  }
}

GPU_TEST_CASE("refinement works under a sanitizer", "[tridiagonal][sanitize]") {
  check_all<double>(runtime, true, {3, 500}, {5});
  check_breakdown<double>(runtime, true, 50, 20);
}
