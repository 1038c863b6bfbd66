#include "tests/support/shared_runtime.hpp"
#include "tools/checks/tridiagonal_error.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal_checked.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_refinement.hpp>

#include <random>

using namespace tesela;

namespace {

enum class Kind {
  uniform,
  dominant,
  zero_diagonal,
  zero_uniform,
  tiny_diagonal,
  rows,
  columns,
  both,
  powers,
  integers
};
constexpr Kind every_kind[] = {Kind::uniform,      Kind::dominant,      Kind::zero_diagonal,
                               Kind::zero_uniform, Kind::tiny_diagonal, Kind::rows,
                               Kind::columns,      Kind::both,          Kind::powers};

/// k systems of n equations, in columns.
template <class T>
struct Problem {
  index_t n = 0, k = 1;
  bool periodic = false;
  std::vector<T> dl, d, du, b, x;

  Problem(index_t n_, index_t k_, Kind kind, bool periodic_ = false, unsigned seed = 1)
      : n(n_), k(k_), periodic(periodic_) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const double decades = sizeof(T) == 8 ? 150 : 15;
    const auto far = [&](bool is) { return is ? std::pow(10, decades * uniform(random)) : 1.0; };
    for (index_t s = 0; s < k; ++s) {
      std::vector<double> column(static_cast<std::size_t>(n));
      for (double& c : column) c = far(kind == Kind::columns || kind == Kind::both);
      const auto of = [&](index_t j) { return column[static_cast<std::size_t>((j + n) % n)]; };
      for (index_t i = 0; i < n; ++i) {
        double l = uniform(random), c = uniform(random), u = uniform(random), r = uniform(random);
        const bool last_of_odd = n % 2 == 1 && i == n - 1;
        const double row = kind == Kind::both ? std::sqrt(far(true)) : far(kind == Kind::rows);
        if (kind == Kind::dominant) c = std::copysign(2.2, c);
        if (kind == Kind::zero_diagonal) l += std::copysign(1, l), u += std::copysign(1, u);
        if (kind == Kind::zero_diagonal || kind == Kind::zero_uniform) c = last_of_odd ? 1 : 0;
        if (kind == Kind::tiny_diagonal) c *= 1e-20;
        const auto power = [&](double v) {
          return std::ldexp(std::copysign(1, v) + v / 64, static_cast<int>(random() % 20));
        };
        if (kind == Kind::powers) l = power(l), c = power(c), u = power(u);
        for (double* v : {&l, &c, &u, &r})
          if (kind == Kind::integers) *v = std::floor(5 * std::fabs(*v)) - 2;
        dl.push_back(static_cast<T>(row * l * of(i - 1))), d.push_back(static_cast<T>(row * c * of(i)));
        du.push_back(static_cast<T>(row * u * of(i + 1))), b.push_back(static_cast<T>(row * r));
      }
    }
    x.resize(b.size());
  }

  TridiagonalError error(index_t s) const {
    const auto at = [&](const std::vector<T>& v) { return SpacedNumbers<T>{v.data() + s * n}; };
    return tridiagonal_error(TridiagonalSystem<T>{n, at(dl), at(d), at(du), at(b), at(x), periodic},
                             tridiagonal_equilibrated_bound<T>);
  }
};

template <class T>
struct Bands {
  Tridiagonal<T> A;
  TileMatrix<T> B, X;
  Bands(Runtime& runtime, Problem<T>& p, index_t mb, index_t nb)
      : A{map(runtime, p, p.dl, mb, nb), map(runtime, p, p.d, mb, nb), map(runtime, p, p.du, mb, nb)},
        B(map(runtime, p, p.b, mb, nb)),
        X(map(runtime, p, p.x, mb, nb)) {}
  static TileMatrix<T> map(Runtime& runtime, const Problem<T>& p, std::vector<T>& v, index_t mb, index_t nb) {
    return TileMatrix<T>::map(runtime, v.data(), p.n, p.k, p.n, {mb, nb});
  }
};

template <class T>
CheckedSolve checked(Runtime& runtime, Problem<T>& p, bool equilibrate = false, index_t mb = 0, index_t nb = 0) {
  const Bands<T> tiles(runtime, p, mb > 0 ? mb : p.n, nb > 0 ? nb : p.k);
  Graph g(runtime);
  const std::vector<T> b = p.b;
  const CheckedSolve result =
      tridiagonal_solve_checked(g, tiles.A, tiles.B, tiles.X, {SystemsIn::columns, p.periodic, equilibrate});
  tiles.X.bring_home();
  tiles.B.bring_home();
  const auto same = [](T a, T c) { return a == c || (a != a && c != c); };
  CHECK(std::equal(b.begin(), b.end(), p.b.begin(), same));
  return result;
}

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

template <class T>
void check_kinds(Runtime& runtime, std::initializer_list<index_t> sizes, unsigned seeds) {
  for (const bool equilibrate : {false, true})
    for (const bool periodic : {false, true})
      for (const Kind kind : every_kind)
        for (const index_t n : sizes)
          for (unsigned seed = 1; seed <= seeds; ++seed) {
            if (periodic && n < 3) continue;
            const index_t k = n < 100 ? 20 : 3;
            Problem<T> p(n, k, kind, periodic, seed);
            const CheckedSolve result = checked(runtime, p, equilibrate, seed % 2 == 0 ? ceil_div(n, 3) : n,
                                                seed % 2 == 0 ? ceil_div(k, 2) : k);
            INFO("kind " << static_cast<int>(kind) << " n " << n << " seed " << seed << " periodic " << periodic
                         << " equilibrate " << equilibrate << ": " << result.residual.error << " "
                         << result.residual_equilibrated.error << " attempts " << result.attempts << " status "
                         << result.status.info);
            CHECK(result.good());
            for (index_t s = 0; s < p.k; ++s) {
              const TridiagonalError e = p.error(s);
              CHECK(e.residual <= tridiagonal_residual_bound<T>);
              CHECK(e.residual_equilibrated <= tridiagonal_equilibrated_bound<T>);
            }
          }
}

}  // namespace

CORES_TEMPLATE_TEST_CASE("a checked solve is within its bounds for every kind of system", "[tridiagonal]", float,
                         double) {
  check_kinds<TestType>(runtime, {1, 2, 3, 17, 60}, 3);
  check_kinds<TestType>(runtime, {1000}, 1);
}

CORES_TEMPLATE_TEST_CASE("columns with very different units are equilibrated by default", "[tridiagonal]", float,
                         double) {
  Problem<TestType> p(500, 4, Kind::dominant);
  for (std::size_t i = 0; i < 500; ++i)  // in system 2
    for (auto* v : {&p.dl, &p.d, &p.du}) {
      const std::size_t column = v == &p.dl ? i - 1 : v == &p.d ? i : i + 1;
      (*v)[1000 + i] =
          std::ldexp((*v)[1000 + i], static_cast<int>(column * 7919 % 5 - 2) * (sizeof(TestType) == 8 ? 240 : 25));
    }
  {
    Problem<TestType> plain = p;
    plain.x = p.b;
    {
      const Bands<TestType> tiles(runtime, plain, 500, 4);
      Graph g(runtime);
      tridiagonal_solve(g, tiles.A, tiles.X);
      g.wait();
      tiles.X.bring_home();
    }
    CHECK_FALSE(plain.error(2).residual_equilibrated <= tridiagonal_equilibrated_bound<TestType>);
  }
  const CheckedSolve result = checked(runtime, p, false, 200, 3);
  CHECK(result.good());
  CHECK(result.other_scaling >= 1);
  CHECK(result.attempts >= 1);
  for (index_t s = 0; s < 4; ++s)
    CHECK(p.error(s).residual_componentwise <= 1000 * std::numeric_limits<TestType>::epsilon());
}

CORES_TEST_CASE("equilibrated periodic systems without a diagonal keep their accuracy", "[tridiagonal]") {
  for (const Kind kind : {Kind::zero_diagonal, Kind::zero_uniform})
    for (const index_t n : {30, 31, 1000})
      for (unsigned seed = 1; seed <= 10; ++seed) {
        Problem<double> p(n, 3, kind, true, seed);
        const CheckedSolve result = checked(runtime, p, true);
        CAPTURE(static_cast<int>(kind), n, seed, result.residual.error);
        CHECK(result.good());
        for (index_t s = 0; s < 3; ++s) CHECK(p.error(s).residual <= tridiagonal_residual_bound<double>);
      }
}

CORES_TEMPLATE_TEST_CASE("solutions with exact zeros or underflow are good", "[tridiagonal]", float, double) {
  using T = TestType;
  for (const index_t n : {30, 3000}) {
    Problem<T> p(n, 1, Kind::dominant);
    std::fill(p.b.begin(), p.b.end(), T(0));
    p.b[0] = 1;
    const CheckedSolve result = checked(runtime, p);
    CAPTURE(n, result.residual.error, result.residual_componentwise);
    CHECK(result.good());
  }
  int solved = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    Problem<T> p(seed % 29 + 2, 1, Kind::integers, seed % 2 == 0, seed);
    const CheckedSolve result = checked(runtime, p);
    CAPTURE(seed, result.residual.error, result.residual_componentwise, result.residual_equilibrated.error);
    if (result.status.ok()) CHECK(result.good());
    solved += result.status.ok() ? 1 : 0;
  }
  CHECK(solved > 50);
}

CORES_TEMPLATE_TEST_CASE("solutions that leave the range of the type are never good", "[tridiagonal]", float, double) {
  using T = TestType;
  const int far = sizeof(T) == 8 ? 900 : 100;
  for (const int sign : {-1, 1})
    for (const index_t n : {1, 2, 50}) {
      Problem<T> p(n, 3, Kind::dominant);
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {  // in system 0
        for (auto* v : {&p.dl, &p.d, &p.du}) (*v)[i] = std::ldexp((*v)[i], sign * far);
        p.b[i] = std::ldexp(p.b[i], -sign * far);
      }
      const CheckedSolve result = checked(runtime, p);
      CAPTURE(sign, n, result.status.info, result.residual.error);
      CHECK_FALSE(result.good());
      CHECK(result.input_finite);
      CHECK(result.system == 0);
      if (sign < 0) CHECK((result.status.info > 0 && result.status.info <= n));
    }
}

CORES_TEMPLATE_TEST_CASE("an input that is not finite is distinguished from a singular matrix, with its place",
                         "[tridiagonal]", float, double) {
  using T = TestType;
  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), infinity<T>, -infinity<T>})
    for (const bool equilibrate : {false, true})
      for (const index_t n : {1, 2, 40})
        for (int which = 0; which < 4; ++which) {
          Problem<T> p(n, 5, Kind::dominant);
          const index_t row = n / 2;
          if ((which == 0 && row == 0) || (which == 2 && row == n - 1)) continue;
          std::vector<T>* const all[] = {&p.dl, &p.d, &p.du, &p.b};
          (*all[which])[static_cast<std::size_t>(3 * n + row)] = bad;
          const CheckedSolve result = checked(runtime, p, equilibrate, ceil_div(n, 2), 2);
          CAPTURE(bad, equilibrate, n, which, result.status.info);
          CHECK_FALSE(result.good());
          CHECK_FALSE(result.input_finite);
          CHECK(result.status.info == 3 * n + row + 1);
        }
  Problem<T> p(40, 5, Kind::dominant);
  for (auto* v : {&p.dl, &p.d, &p.du}) (*v)[3 * 40 + 7] = 0;
  const CheckedSolve result = checked(runtime, p);
  CHECK(result.input_finite);
  CHECK((result.status.info > 120 && result.status.info <= 160));
}

CORES_TEMPLATE_TEST_CASE("a singular matrix is reported for any b, with and without refinement", "[tridiagonal]", float,
                         double) {
  using T = TestType;
  for (const index_t n : {1, 3})
    for (const T b : {T(0), T(1)}) {
      Problem<T> p(n, 1, Kind::dominant);
      for (auto* v : {&p.dl, &p.d, &p.du}) std::fill(v->begin(), v->end(), T(0));
      std::fill(p.b.begin(), p.b.end(), b);
      CHECK_FALSE(checked(runtime, p).status.ok());
      for (const bool mixed : {false, true}) {
        if (mixed && sizeof(T) == 4) continue;
        p.x = p.b;
        const Bands<T> tiles(runtime, p, n, 1);
        Graph g(runtime);
        const RefinedSolve refined = tridiagonal_solve_refined(g, tiles.A, tiles.X, {.mixed = mixed});
        CHECK_FALSE(refined.converged);
        CHECK(refined.broke_down);
        CHECK_FALSE(refined.status.ok());
      }
    }
}

CORES_TEST_CASE("an empty problem is checked without a task, and invalid shapes are refused", "[tridiagonal]") {
  const auto matrix = [&](index_t m, index_t n, index_t mb) {
    return TileMatrix<double>(runtime, m, n, {mb, std::max<index_t>(n, 1)});
  };
  Graph g(runtime);
  const auto empty = matrix(0, 1, 1), other = matrix(0, 1, 1);
  CHECK(tridiagonal_solve_checked(g, {empty, empty, empty}, empty, other).good());
  const auto a = matrix(10, 1, 5), b = matrix(10, 1, 5), x = matrix(10, 1, 4), y = matrix(9, 1, 5);
  for (const auto* wrong : {&x, &y, &b})
    CHECK_THROWS_AS(tridiagonal_solve_checked(g, {a, a, a}, b, *wrong), ArgumentError);
  CHECK_THROWS_AS(tridiagonal_solve_checked(g, {a, a, y}, b, a), ArgumentError);
  CHECK(g.tasks() == 0);
}

TEMPLATE_TEST_CASE("checked solves work on a GPU with and without cores", "[tridiagonal][gpu]", float, double) {
  test::require_gpu();
  {
    Runtime runtime({.cpus = 2, .gpus = 1});
    check_kinds<TestType>(runtime, {1, 2, 3, 17, 60, 1200}, 2);
  }
  Runtime runtime({.cpus = 0, .gpus = 1});
  Problem<TestType> p(3000, 3, Kind::dominant);
  CHECK(checked(runtime, p).good());
  Problem<TestType> columns(3000, 3, Kind::columns);
  const CheckedSolve result = checked(runtime, columns);
  CHECK(result.other_scaling == 0);  // equilibration needs a core
  CHECK(result.attempts > 0);
}

namespace {

/// Returns ||(|A^-1| (|A| |x| + |b|))|| / ||x|| of system s in maximum norms, by dense elimination in long double.
template <class T>
double exact_condition(const Problem<T>& p, index_t s) {
  using Wide = long double;
  const index_t n = p.n;
  const auto at = [&](const std::vector<T>& v, index_t i) { return Wide(v[static_cast<std::size_t>(i + s * n)]); };
  std::vector<std::vector<Wide>> a(static_cast<std::size_t>(n), std::vector<Wide>(static_cast<std::size_t>(2 * n)));
  std::vector<Wide> sizes(static_cast<std::size_t>(n));
  Wide largest = 0, norm = 0;
  const auto z = [](index_t i) { return static_cast<std::size_t>(i); };
  for (index_t i = 0; i < n; ++i) {
    const auto add = [&](index_t j, Wide value) {
      a[z(i)][z(j)] += value;
      sizes[z(i)] += std::fabs(value * at(p.x, j));
    };
    add(i, at(p.d, i));
    if (i > 0 || p.periodic) add((i + n - 1) % n, at(p.dl, i));
    if (i + 1 < n || p.periodic) add((i + 1) % n, at(p.du, i));
    a[z(i)][z(n + i)] = 1;
    sizes[z(i)] += std::fabs(at(p.b, i));
    norm = std::max(norm, std::fabs(at(p.x, i)));
  }
  for (index_t k = 0; k < n; ++k) {
    index_t best = k;
    for (index_t i = k; i < n; ++i)
      if (std::fabs(a[z(i)][z(k)]) > std::fabs(a[z(best)][z(k)])) best = i;
    std::swap(a[z(k)], a[z(best)]);
    for (index_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const Wide factor = a[z(i)][z(k)] / a[z(k)][z(k)];
      for (index_t j = k; j < 2 * n; ++j) a[z(i)][z(j)] -= factor * a[z(k)][z(j)];
    }
  }
  for (index_t i = 0; i < n; ++i) {
    Wide sum = 0;
    for (index_t j = 0; j < n; ++j) sum += std::fabs(a[z(i)][z(n + j)] / a[z(i)][z(i)]) * sizes[z(j)];
    largest = std::max(largest, sum);
  }
  return static_cast<double>(largest / norm);
}

}  // namespace

CORES_TEMPLATE_TEST_CASE("the condition of the worst system is estimated for rows and columns of any size",
                         "[tridiagonal]", float, double) {
  for (const bool periodic : {false, true})
    for (const Kind kind : {Kind::uniform, Kind::dominant, Kind::zero_diagonal, Kind::rows, Kind::columns})
      for (const index_t n : {1, 3, 20, 90})
        for (unsigned seed = 1; seed <= 6; ++seed) {
          if (periodic && n < 3) continue;
          Problem<TestType> p(n, 3, kind, periodic, seed);
          const CheckedSolve result = checked(runtime, p, false, seed % 2 == 0 ? ceil_div(n, 3) : n, 2);
          if (!result.good()) continue;
          double worst = 0;
          for (index_t s = 0; s < 3; ++s) worst = std::max(worst, exact_condition(p, s));
          const double exact = exact_condition(p, result.condition.system);
          CAPTURE(static_cast<int>(kind), n, seed, periodic, exact, worst, result.condition.value);
          // For dominant systems it is only a bound.
          if (kind != Kind::dominant) CHECK(result.condition.value <= 1.5 * exact + 1);
          CHECK(result.condition.value >= worst / (30 * std::sqrt(static_cast<double>(n))));
        }
}

CORES_TEMPLATE_TEST_CASE("a system that is singular up to rounding has no trustworthy solution", "[tridiagonal]", float,
                         double) {
  using T = TestType;
  for (const index_t n : {2, 5, 50, 3000}) {
    Problem<T> p(n, 4, Kind::dominant);
    for (index_t i = 0; i < n; ++i) {  // system 2: the second difference minus its middle eigenvalue
      const auto e = static_cast<std::size_t>(i + 2 * n);
      p.dl[e] = p.du[e] = -1;
      p.d[e] = static_cast<T>(2 * std::cos(std::acos(-1.0) * static_cast<double>(n / 2) / static_cast<double>(n + 1)));
    }
    const CheckedSolve result = checked(runtime, p, false, ceil_div(n, 2), 3);
    CAPTURE(n, result.condition.value, result.status.info);
    if (!result.status.ok()) continue;  // rounding made it singular
    CHECK(!tridiagonal_trustworthy<T>(result));
    CHECK(result.condition.system == 2);
    CHECK(description(result).find("reciprocal condition number") != std::string::npos);
  }
  Problem<T> good(3000, 4, Kind::dominant);
  CHECK(tridiagonal_trustworthy<T>(checked(runtime, good)));
  std::fill(good.b.begin(), good.b.end(), T(0));
  CHECK(checked(runtime, good).condition.value == 0);
}
