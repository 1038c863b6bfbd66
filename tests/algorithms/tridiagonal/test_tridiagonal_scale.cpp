#include "tests/support/shared_runtime.hpp"
#include "tests/support/tridiagonal.hpp"
#include "tools/checks/tridiagonal_error.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_scale.hpp>

#include <random>

using namespace tesela;
using tesela::test::transposed;
using namespace tesela::kernels;

namespace {

/// k systems of n equations in columns: element (i, s) at i + s n. Elements outside the matrices are NaN.
template <class T>
struct Problem {
  index_t n = 0, k = 1;
  bool periodic = false;
  std::vector<T> dl, d, du, b;

  T* system(std::vector<T>& v, index_t s) const { return v.data() + s * n; }
};

struct Scaled {
  bool rows = false, columns = false, dominant = false, zero_diagonal = false;
};

/// Largest exponent of ten of the scales.
template <class T>
constexpr double decades = sizeof(T) == 8 ? 150 : 15;

template <class T>
Problem<T> problem(index_t n, index_t k, const Scaled& how, bool periodic = false, unsigned seed = 1) {
  Problem<T> p{n, k, periodic, {}, {}, {}, {}};
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const auto scales = [&](bool far) {
    std::vector<double> v(static_cast<std::size_t>(n), 1.0);
    for (index_t i = 0; far && i < n; ++i) v[static_cast<std::size_t>(i)] = std::pow(10, decades<T> * uniform(random));
    return v;
  };
  const std::vector<double> rows = scales(how.rows);  // b has the same scales, so one matrix can serve all systems
  for (index_t s = 0; s < k; ++s) {
    const std::vector<double> columns = scales(how.columns);
    const auto column = [&](index_t j) { return columns[static_cast<std::size_t>((j + n) % n)]; };
    for (index_t i = 0; i < n; ++i) {
      const double row = rows[static_cast<std::size_t>(i)], c = uniform(random);
      const bool last_of_odd = n % 2 == 1 && i == n - 1;
      const double diagonal = how.dominant ? std::copysign(2.2, c) : how.zero_diagonal && !last_of_odd ? 0 : c;
      const auto entry = [&](double value, double scale) { return static_cast<T>(row * value * scale); };
      const T left = entry(uniform(random), column(i - 1)), right = entry(uniform(random), column(i + 1));
      p.dl.push_back(i > 0 || periodic ? left : nan);
      p.d.push_back(entry(diagonal, column(i)));
      p.du.push_back(i < n - 1 || periodic ? right : nan);
      p.b.push_back(entry(uniform(random), 1));
    }
  }
  return p;
}

struct Way {
  index_t mb = 1, nb = 1;
  bool in_rows = false, single = false, equilibrate = true;
};

/// Returns the largest componentwise backward error of all systems; 1 for NaN.
template <class T>
double error(Runtime& runtime, const Problem<T>& original, const Way& way) {
  Problem<T> p = original;
  const index_t n = p.n, k = p.k, matrices = way.single ? 1 : k;
  for (auto* v : {&p.dl, &p.d, &p.du}) v->resize(static_cast<std::size_t>(n * matrices));
  if (way.in_rows) {
    for (auto* v : {&p.dl, &p.d, &p.du}) *v = transposed(*v, n, matrices);
    p.b = transposed(p.b, n, k);
  }
  const Problem<T> before = p;
  {
    const auto map = [&](std::vector<T>& v, index_t across) {
      const index_t m = way.in_rows ? across : n, columns = way.in_rows ? n : across;
      const TileShape tile = way.in_rows ? TileShape{way.nb, way.mb} : TileShape{way.mb, way.nb};
      return TileMatrix<T>::map(runtime, v.data(), m, columns, std::max<index_t>(m, 1), tile);
    };
    const Tridiagonal<T> A{map(p.dl, matrices), map(p.d, matrices), map(p.du, matrices)};
    const TileMatrix<T> B = map(p.b, k);
    Graph g(runtime);
    tridiagonal_solve(g, A, B, {way.in_rows ? SystemsIn::rows : SystemsIn::columns, p.periodic, way.equilibrate});
    const Status status = g.wait();
    if (way.equilibrate) CHECK(status.info == 0);
  }
  const auto same = [](T x, T y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  CHECK(std::equal(p.dl.begin(), p.dl.end(), before.dl.begin(), same));
  CHECK(std::equal(p.d.begin(), p.d.end(), before.d.begin(), same));
  CHECK(std::equal(p.du.begin(), p.du.end(), before.du.begin(), same));
  const std::vector<T> x = way.in_rows ? transposed(p.b, k, n) : p.b;
  double largest = 0;
  for (index_t s = 0; s < k; ++s) {
    const index_t matrix = way.single ? 0 : s * n;
    const auto e = tridiagonal_error(TridiagonalSystem<T>{n,
                                                          {original.dl.data() + matrix},
                                                          {original.d.data() + matrix},
                                                          {original.du.data() + matrix},
                                                          {original.b.data() + s * n},
                                                          {x.data() + s * n},
                                                          p.periodic});
    largest = worse(largest, e.residual_componentwise);
  }
  return std::isnan(largest) ? 1 : largest;
}

template <class T>
constexpr double bound = sizeof(T) == 8 ? 1e-11 : 1e-3;

template <class T>
void check_scaled(Runtime& runtime, std::initializer_list<index_t> sizes) {
  for (const Scaled how : {Scaled{true, false}, Scaled{false, true}, Scaled{true, true}, Scaled{true, true, true},
                           Scaled{false, false}, Scaled{false, false, true}})
    for (const index_t n : sizes)
      for (const index_t mb : {n, index_t{1}, index_t{7}, index_t{300}}) {
        if (ceil_div(n, mb) > 300 || (mb > n && n != 1)) continue;
        const Problem<T> p = problem<T>(n, 1, how);
        INFO("n " << n << " mb " << mb << " rows " << how.rows << " columns " << how.columns << " dominant "
                  << how.dominant);
        CHECK(error(runtime, p, {.mb = mb}) <= bound<T>);
      }
}

}  // namespace

CORES_TEMPLATE_TEST_CASE("equilibrated systems with scaled rows and columns are accurate in every row", "", float,
                         double) {
  check_scaled<TestType>(runtime, {1, 2, 3, 16, 17, 100, 257, 1000, 4321});
}

CORES_TEMPLATE_TEST_CASE("without equilibration, scaled columns lead to bad pivots", "", float, double) {
  const Problem<TestType> p = problem<TestType>(1000, 1, {.columns = true});
  for (const index_t mb : {1000, 300}) {
    CHECK(error(runtime, p, {.mb = mb, .equilibrate = false}) > 10 * bound<TestType>);
    CHECK(error(runtime, p, {.mb = mb}) <= bound<TestType>);
  }
}

CORES_TEMPLATE_TEST_CASE("batches are equilibrated in both layouts and with one matrix for all", "", float, double) {
  for (const index_t n : {1, 2, 5, 130})
    for (const index_t k : {1, 3, 17, 40})
      for (const bool in_rows : {false, true})
        for (const bool single : {false, true})
          for (const bool whole : {false, true}) {
            Way way{n, k, in_rows, single, true};
            if (!whole) way.mb = ceil_div(n, 3), way.nb = ceil_div(k, 2);
            INFO("n " << n << " k " << k << " in rows " << in_rows << " single " << single << " whole " << whole);
            CHECK(error(runtime, problem<TestType>(n, k, {true, true}), way) <= bound<TestType>);
          }
}

CORES_TEMPLATE_TEST_CASE("periodic systems are equilibrated with their corners", "", float, double) {
  for (const index_t n : {1, 2, 3, 17, 100})
    for (const index_t mb : {n, ceil_div(n, 4)})
      for (const Scaled how : {Scaled{false, true, true}, Scaled{true, true, true}, Scaled{true, true}}) {
        if (n < 3 && !how.dominant) continue;
        INFO("n " << n << " mb " << mb << " rows " << how.rows << " dominant " << how.dominant);
        CHECK(error(runtime, problem<TestType>(n, 2, how, true), {mb, 2}) <= bound<TestType>);
      }
}

CORES_TEST_CASE("systems with a zero diagonal are equilibrated by their off-diagonals") {
  for (const index_t n : {2, 3, 30, 101})
    for (const index_t mb : {n, index_t{7}}) {
      INFO("n " << n << " mb " << mb);
      CHECK(error(runtime, problem<double>(n, 1, {true, true, false, true}), {.mb = std::min(mb, n)}) <= 1e-11);
    }
}

CORES_TEST_CASE("exponents that grow along long systems keep the accuracy") {
  CHECK(error(runtime, problem<double>(1000000, 1, {true, true}), {.mb = 70000}) <= 1e-11);
  for (const unsigned seed : {3, 5})
    CHECK(error(runtime, problem<float>(30000, 1, {}, false, seed), {.mb = 30000}) <= 1e-4);
  for (const double ratio : {1e-3, 1e3}) {
    Problem<double> p = problem<double>(5000, 1, {});
    for (std::size_t i = 0; i < p.d.size(); ++i) p.dl[i] = 1 / ratio, p.du[i] = ratio, p.d[i] = 2.5e3;
    CHECK(error(runtime, p, {.mb = 5000}) <= 1e-11);
    CHECK(error(runtime, p, {.mb = 700}) <= 1e-11);
  }
}

CORES_TEST_CASE("exponents undo the scaling of columns, and rows end in [1, 2)") {
  const index_t n = 60;
  const int powers[] = {0, 300, -300, 17, -451, 2};
  std::vector<double> dl, d, du;
  for (index_t i = 0; i < n; ++i) {
    const auto column = [&](index_t j) { return std::ldexp(1.0, powers[(j + 6) % 6]); };
    const double row = std::ldexp(1.0, static_cast<int>(i * 37 % 500));
    dl.push_back(i > 0 ? row * column(i - 1) : std::nan("")), d.push_back(-1.5 * row * column(i));
    du.push_back(i < n - 1 ? row * column(i + 1) : std::nan(""));
  }
  const auto map = [&](std::vector<double>& v, index_t mb) {
    return TileMatrix<double>::map(runtime, v.data(), n, 1, n, {mb, 1});
  };
  const auto A = map(dl, 25), D = map(d, 25), U = map(du, 25);
  const TileMatrix<index_t> g(runtime, n, 1, {n, 1}), rows(runtime, n, 1, {25, 1});
  const TileMatrix<double> sl(runtime, n, 1, {25, 1}), sd(runtime, n, 1, {25, 1}), su(runtime, n, 1, {25, 1});
  Graph graph(runtime);
  std::vector<Tile<double>> bands;
  for (index_t i = 0; i < 3; ++i)
    for (const auto* a : {&A, &D, &U}) bands.push_back((*a)(i, 0));
  graph.insert<TridiagonalExponents<double>>({}, g(0, 0), bands);
  for (index_t i = 0; i < 3; ++i)
    graph.insert<TridiagonalScale<double>>({SystemsIn::columns, false, 25 * i}, A(i, 0), D(i, 0), U(i, 0), g(0, 0),
                                           sl(i, 0), sd(i, 0), su(i, 0), rows(i, 0));
  REQUIRE(graph.wait().ok());
  std::vector<index_t> exponents(static_cast<std::size_t>(n));
  g.copy_to(exponents.data(), n);
  std::vector<double> l(exponents.size()), m(exponents.size()), u(exponents.size());
  sl.copy_to(l.data(), n), sd.copy_to(m.data(), n), su.copy_to(u.data(), n);
  for (std::size_t i = 0; i < exponents.size(); ++i) {
    CAPTURE(i);
    CHECK(exponents[i] + powers[i % 6] == exponents[0] + powers[0]);
    CHECK(l[i] == (i > 0 ? 1 : 0));
    CHECK(m[i] == -1.5);
    CHECK(u[i] == (i + 1 < exponents.size() ? 1 : 0));
  }
  CHECK(*std::max_element(exponents.begin(), exponents.end()) == 376);  // centred: 451 and -300 differ by 751
}

CORES_TEST_CASE("a singular or non-finite equilibrated system is reported, and the others are solved") {
  for (const bool nan : {false, true}) {
    Problem<double> p = problem<double>(50, 3, {true, true});
    for (auto* v : {&p.dl, &p.d, &p.du}) v->at(50 + 20) = nan ? std::nan("") : 0;
    const Problem<double> before = p;
    {
      const auto map = [&](std::vector<double>& v) {
        return TileMatrix<double>::map(runtime, v.data(), 50, 3, 50, {20, 3});
      };
      const Tridiagonal<double> A{map(p.dl), map(p.d), map(p.du)};
      const auto B = map(p.b);
      Graph g(runtime);
      tridiagonal_solve(g, A, B, {.equilibrate = true});
      const index_t info = g.wait().info;
      CHECK((info > 50 && info <= 100));
    }
    for (const index_t s : {0, 2}) {
      const auto at = [s](const std::vector<double>& v) { return SpacedNumbers<double>{v.data() + s * 50}; };
      const auto e = tridiagonal_error(
          TridiagonalSystem<double>{50, at(before.dl), at(before.d), at(before.du), at(before.b), at(p.b), false});
      CHECK(e.residual_componentwise <= 1e-11);
    }
  }
}

CORES_TEST_CASE("an unknown that overflows only after its column is rescaled is reported") {
  std::vector<double> dl(9, 0.0), d(9, 1.0), du(9, 0.0), b(9, 1.0);
  d[6] = 1e-200, b[6] = 1e200, dl[7] = d[6];
  for (const index_t mb : {9, 4}) {
    std::vector<double> x = b;
    const auto map = [&](std::vector<double>& v) {
      return TileMatrix<double>::map(runtime, v.data(), 9, 1, 9, {mb, 1});
    };
    const Tridiagonal<double> A{map(dl), map(d), map(du)};
    const auto B = map(x);
    Graph g(runtime);
    tridiagonal_solve(g, A, B, {.equilibrate = true});
    CHECK(g.wait().info == 7);
  }
}

TEMPLATE_TEST_CASE("equilibrated systems are solved with a GPU present", "[gpu]", float, double) {
  test::require_gpu();
  Runtime runtime({.cpus = 2, .gpus = 1});
  check_scaled<TestType>(runtime, {1, 3, 257, 4321});
  for (const bool in_rows : {false, true})
    CHECK(error(runtime, problem<TestType>(130, 40, {true, true}), {44, 20, in_rows, false, true}) <= bound<TestType>);
}
