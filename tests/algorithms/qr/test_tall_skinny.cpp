#include "tests/support/shared_runtime.hpp"
#include "tests/support/tall_skinny.hpp"
#include "tests/support/vector_targets.hpp"
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <cstdio>
#include <filesystem>
#include <unistd.h>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

/// Checks the singular values of R for U diag(s) V^T with values from 1 down to 1 / kappa: correct to rounding relative
/// to the largest. A method that uses A^T A misses all values below 1e-8.
void check_condition(Runtime& runtime, double kappa, index_t m, index_t n) {
  const auto u = orthonormal(m, n, 5), v = orthonormal(n, n, 6);
  std::vector<double> s;
  for (index_t k = 0; k < n; ++k) s.push_back(std::pow(kappa, -static_cast<double>(k) / static_cast<double>(n - 1)));
  HostMatrix<double> us(m, n), rest(m, n);  // U diag(s) in twice the digits
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) {
      const long double exact = static_cast<long double>(u(i, j)) * s[static_cast<std::size_t>(j)];
      us(i, j) = static_cast<double>(exact);
      rest(i, j) = static_cast<double>(exact - us(i, j));
    }
  const auto vt = filled<double>({n, n}, [&](index_t i, index_t j) { return v(j, i); });
  PreciseProducts<double> product({m, n}, 1);
  product.add(1, Op::none, us, vt);
  product.add(1, Op::none, rest, vt);
  Padded<double> a(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) a(i, j) = product(i, j);
  const auto r = r_of(runtime, a, {311, n});
  const auto found = singular_values(r);
  for (std::size_t k = 0; k < s.size(); ++k) {
    CAPTURE(kappa, m, n, k, s[k], found[k]);
    CHECK(std::abs(found[k] - s[k]) <= 20 * epsilon);
  }
  CHECK(gram_error(a, r) <= 40);
}

/// Kinds of columns on both sides of the limit where GPUs use A^T A: below it, it is as accurate; above it, it would
/// lose everything below the square root of rounding.
enum class Columns { apart, close, closer, alike, alike_later, huge, zero };

template <class T>
Padded<T> columns(Columns kind, index_t m, index_t n) {
  auto a = Padded<T>::random(m, n, 7);
  for (index_t j = 1; j < n; ++j)
    for (index_t i = 0; i < m; ++i) {
      const T first = a(i, 0), own = a(i, j);
      switch (kind) {
        case Columns::apart: break;
        case Columns::close: a(i, j) = first + own * T(0.6); break;
        case Columns::closer: a(i, j) = first + own * T(0.2); break;
        case Columns::alike: a(i, j) = first + own * T(1e-5); break;
        case Columns::alike_later: a(i, j) = i < m / 2 ? own * T(1e-20) : first + own * T(1e-5); break;
        case Columns::huge: a(i, j) = own * (j % 2 == 1 ? std::numeric_limits<T>::max() / 16384 : T(1)); break;
        case Columns::zero: a(i, j) = j == n / 2 ? T(0) : own; break;
      }
    }
  return a;
}

/// Returns the columns divided by their norms in `norms`.
template <class T>
Padded<double> unit_columns(const Padded<T>& r, const Padded<T>& norms) {
  Padded<double> unit(r.m, r.n);
  for (index_t j = 0; j < r.n; ++j) {
    double norm = 0;
    for (index_t i = 0; i < r.m; ++i) norm = std::hypot(norm, static_cast<double>(norms(i, j)));
    for (index_t i = 0; i < r.m; ++i) unit(i, j) = norm > 0 ? static_cast<double>(r(i, j)) / norm : 0.0;
  }
  return unit;
}

/// Returns matrices of enough rows that a GPU tries A^T A first.
template <class T>
std::vector<Padded<T>> many_rows() {
  std::vector<Padded<T>> all;
  for (const auto& [kind, n] : {std::pair{Columns::apart, index_t{12}},
                                {Columns::close, 12},
                                {Columns::closer, 12},
                                {Columns::alike, 12},
                                {Columns::alike_later, 12},
                                {Columns::huge, 12},
                                {Columns::zero, 12},
                                {Columns::alike, 20},
                                {Columns::apart, 1}})
    all.push_back(columns<T>(kind, (index_t{1} << 20) + 2 * n + (kind == Columns::close ? 1 : 0), n));
  return all;
}

template <class T>
std::vector<Padded<T>> r_of_all(Runtime& runtime, const std::vector<Padded<T>>& all, bool one_tile) {
  std::vector<Padded<T>> r;
  for (const Padded<T>& a : all) r.push_back(r_of(runtime, a, {one_tile ? a.m : 65536, a.n}));
  return r;
}

struct TemporaryFile {
  std::string path;
  explicit TemporaryFile(const std::string& name)
      : path((std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name)).string()) {}
  ~TemporaryFile() { std::filesystem::remove(path); }
};

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("R of any shape agrees with LAPACK's geqrf", "", FOUR_TYPES) {
  for (const index_t n : {1, 5, 16, 17, 31, 32, 33, 100, 193})
    for (const index_t m : std::vector<index_t>{0, 1, n - 1, n, n + 1, 300, 1601}) {
      const auto a = Padded<TestType>::random(m, n);
      const LapackR<TestType> known(a);
      for (const TileShape tile : {TileShape{97, n}, {4096, n}, {500, 7}}) {
        const auto r = r_of(runtime, a, tile);
        CAPTURE(m, n, tile.mb, tile.nb);
        CHECK(gram_error(a, r) <= 40);
        if (m > 2 * n) CHECK(lapack_error(known, r) <= 200);
        if (m == 0)
          for (index_t j = 0; j < n; ++j)
            for (index_t i = 0; i < n; ++i) REQUIRE(r(i, j) == TestType(0));
      }
    }
}

WORKERS_TEST_CASE("R keeps singular values down to rounding") {
  for (const double kappa : {1e3, 1e8, 1e12, 1e15})
    for (const index_t n : {8, 16, 30, 90, 200}) check_condition(runtime, kappa, 1500, n);
}

WORKERS_TEMPLATE_TEST_CASE("numbers near both ends of the range neither overflow nor underflow", "", FOUR_TYPES) {
  TESELA_ON_EACH_VECTOR_TARGET(runtime);
  using T = TestType;
  using Real = real_t<T>;
  const Real large = sizeof(Real) == 8 ? Real(1e300) : Real(1e37), small = 1 / large;
  for (const index_t n : {3, 16, 20, 40, 200}) {
    auto a = Padded<T>::random(900, n);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < a.m; ++i) a(i, j) *= j % 3 == 0 ? large : j % 3 == 1 ? small : Real(1);
    auto r = r_of(runtime, a, {200, n});
    CAPTURE(n);
    CHECK(gram_error(a, r) <= 40);
    CHECK(lapack_error(a, r) <= 200);
    // Small rows, large rows and small rows again, so that the scale changes on the way.
    a = Padded<T>::random(900, n, 3);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < a.m; ++i) a(i, j) *= i < 300 ? small : i < 600 ? large : Real(1);
    r = r_of(runtime, a, {450, n});
    CHECK(gram_error(a, r) <= 40);
    CHECK(lapack_error(a, r) <= 200);
  }
}

// For equal columns the first reflector leaves rounding errors, and the next reflector acts on them.
WORKERS_TEMPLATE_TEST_CASE("R of equal columns is backward stable", "", FOUR_TYPES) {
  TESELA_ON_EACH_VECTOR_TARGET(runtime);
  for (const index_t n : {8, 16, 24, 32, 40, 90})
    for (const index_t others : {0, 1, 3}) {
      auto a = Padded<TestType>::random(900, n);
      for (index_t j = 1; j < n - others; ++j)
        for (index_t i = 0; i < a.m; ++i) a(i, j) = a(i, 0);
      const auto r = r_of(runtime, a, {300, n});
      CAPTURE(n, others);
      CHECK(gram_error(a, r) <= 40);
    }
}

WORKERS_TEMPLATE_TEST_CASE("zeros stay zeros, NaN and infinities appear in R", "", FOUR_TYPES) {
  TESELA_ON_EACH_VECTOR_TARGET(runtime);
  using T = TestType;
  using Real = real_t<T>;
  std::vector<T> wrong{nan_of<T>, std::numeric_limits<Real>::infinity()};
  if constexpr (is_complex<T>)
    for (const Real part : {nan_of<Real>, std::numeric_limits<Real>::infinity()}) wrong.push_back(T(1, part));
  for (const index_t n : {2, 16, 33, 200}) {
    CAPTURE(n);
    Padded<T> zero(700, n);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < zero.m; ++i) zero(i, j) = 0;
    auto r = r_of(runtime, zero, {300, n});
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i) REQUIRE(r(i, j) == T(0));

    auto a = Padded<T>::random(700, n);
    for (index_t i = 0; i < a.m; ++i) a(i, n / 2) = 0;  // a zero column among others
    r = r_of(runtime, a, {300, n});
    CHECK(gram_error(a, r) <= 40);
    CHECK(r(n / 2, n / 2) == T(0));

    for (const T bad : wrong)
      for (const index_t row : {0, 299, 300, 699}) {
        a = Padded<T>::random(700, n);
        a(row, n / 2) = bad;
        r = r_of(runtime, a, {300, n});
        CAPTURE(bad, row);
        CHECK_FALSE(is_finite(r(n / 2, n / 2)));
        CHECK_FALSE(is_finite(r(0, n / 2)));
        for (index_t j = 0; j < n / 2; ++j)
          for (index_t i = 0; i <= j; ++i) CHECK(is_finite(r(i, j)));
      }
  }
}

// Checks that NaN in R's strict lower triangle has no effect.
WORKERS_TEMPLATE_TEST_CASE("elements below the diagonal of R are not read", "[sanitize]", FOUR_TYPES) {
  using T = TestType;
  for (const index_t n : {3, 16, 33, 200}) {
    auto all = Padded<T>::random(n + 50, n, 4);  // the rows of R and 50 more
    for (index_t j = 0; j < n; ++j) {
      all(j, j) = real_part(all(j, j));
      for (index_t i = j + 1; i < n; ++i) all(i, j) = 0;
    }
    Padded<T> r(n, n);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i <= j; ++i) r(i, j) = all(i, j);
    {
      const auto R = r.map(runtime, {n, n}, "R");
      const auto A = TileMatrix<T>::map(runtime, all.a.data() + n, 50, n, all.ld, {50, n}, "A");
      Graph g(runtime);
      const Shape work = append_rows_work<T>(n);
      g.insert<AppendRows<T>>({}, R(0, 0), g.scratch<double>(work.rows, work.cols), std::vector{A(0, 0)});
      g.wait();
    }
    CAPTURE(n);
    CHECK(gram_error(all, r) <= 40);
  }
}

GPU_TEST_CASE("many rows with long columns at unaligned addresses give R on a GPU") {
  for (const index_t n : {7, 16, 24, 32}) {
    const auto a = Padded<double>::random(400'001, n);
    const LapackR<double> known(a);
    CAPTURE(n);
    for (const index_t mb : {400'001, 131'071}) {
      const auto r = r_of(runtime, a, {mb, n});
      CHECK(gram_error(a, r) <= 40);
      CHECK(lapack_error(known, r) <= 400);
    }
  }
}

TEMPLATE_TEST_CASE("A^T A is used on a GPU only if it is as accurate", "[gpu]", float, double) {
  test::require_gpu();
  const std::vector<Padded<TestType>> all = many_rows<TestType>();
  std::vector<Padded<TestType>> expected, found;
  {
    Runtime cores({.gpus = 0});
    expected = r_of_all(cores, all, false);
  }
  {
    Runtime gpu({.cpus = 0});
    found = r_of_all(gpu, all, true);
  }
  // Reflectors give the singular values of scaled columns to rounding at any condition; A^T A would lose half of the
  // digits. So many rows cost cores about 70 eps.
  for (std::size_t c = 0; c < expected.size(); ++c) {
    const auto &E = expected[c], &F = found[c];
    CAPTURE(E.n, c);
    for (index_t j = 0; j < E.n; ++j)
      for (index_t i = j + 1; i < E.n; ++i) REQUIRE(F(i, j) == TestType(0));
    const auto s = singular_values(unit_columns(E, E)), t = singular_values(unit_columns(F, E));
    for (std::size_t k = 0; k < s.size(); ++k) {
      CAPTURE(k, s[k], t[k]);
      CHECK(std::abs(s[k] - t[k]) <= 400 * static_cast<double>(std::numeric_limits<TestType>::epsilon()) * s[0]);
    }
  }
}

TEST_CASE("a NaN in the last of many rows appears in R on a GPU", "[gpu]") {
  test::require_gpu();
  auto a = columns<double>(Columns::apart, (index_t{1} << 20) + 5, 12);
  a(a.m - 1, 5) = nan_of<double>;
  Runtime runtime({.cpus = 0});
  const auto r = r_of(runtime, a, {a.m, a.n});
  CHECK(std::isnan(r(0, 5)));
  CHECK(std::isnan(r(5, 5)));
  for (index_t j = 0; j < 5; ++j)
    for (index_t i = 0; i <= j; ++i) CHECK(std::isfinite(r(i, j)));
}

GPU_TEMPLATE_TEST_CASE("many rows are appended on a GPU", "[sanitize]", float, double) {
  const index_t m = (index_t{1} << 20) + 2, n = 10;
  for (const Columns kind : {Columns::apart, Columns::alike}) {
    const auto a = columns<TestType>(kind, 2 * m, n);
    const auto r = r_of(runtime, a, {m, n}, {.chains = 1});
    CHECK(gram_error(a, r) <= 400);
  }
}

CORES_TEST_CASE("any number of chains gives R") {
  const auto a = Padded<double>::random(1000, 9);
  for (const index_t chains : {1, 2, 3, 5, 8, 100}) {
    CAPTURE(chains);
    const auto r = r_of(runtime, a, {90, 9}, {.chains = chains});
    CHECK(gram_error(a, r) <= 40);
    CHECK(lapack_error(a, r) <= 200);
  }
}

CORES_TEST_CASE("wrong arguments of tall-and-skinny QR are refused") {
  Graph g(runtime);
  const TileMatrix<double> A(runtime, 10, 4, {5, 4}), narrow(runtime, 10, 3, {5, 3}), R(runtime, 4, 4, {2, 4}),
      B(runtime, 10, 1, {4, 1}), square(runtime, 4, 4, {4, 4});
  CHECK_THROWS_WITH(tall_skinny_r(g, A, R), ContainsSubstring("one tile, 4 x 4"));
  CHECK_THROWS_AS(tall_skinny_r(g, narrow, R), ArgumentError);
  CHECK_THROWS_AS(tall_skinny_r(g, square, square), ArgumentError);
  CHECK_THROWS_AS((QrUpdater<double>(runtime, 0, 1)), ArgumentError);
  CHECK_THROWS_AS((QrUpdater<double>(runtime, 3, -1)), ArgumentError);
  QrUpdater<double> updater(runtime, 4, 1);
  CHECK_THROWS_AS(updater.append(g, A), ArgumentError);
  CHECK_THROWS_AS(updater.append(g, narrow, B), ArgumentError);
  CHECK_THROWS_WITH(updater.append(g, A, B), ContainsSubstring("in tiles of 4"));
  CHECK(updater.rows() == 0);
  CHECK(g.tasks() == 0);
}

CORES_TEMPLATE_TEST_CASE("a file is factored by rows", "", float, double) {
  const TemporaryFile file("tall.npy");
  const auto a = Padded<TestType>::random(1003, 6);
  write_matrix(file.path, a.a.data(), {a.m, a.n}, a.ld);
  const MatrixRows<TestType> rows(file.path);
  for (const index_t count : {0, 1, 10, 100, 1003, 5000}) {
    CAPTURE(count);
    Padded<TestType> r(6, 6);
    {
      const auto R = r.map(runtime, {6, 6}, "R");
      Graph g(runtime);
      tall_skinny_r(g, rows, R, count);
      REQUIRE(g.wait().ok());
    }
    CHECK(gram_error(a, r) <= 60);
    CHECK(lapack_error(a, r) <= 200);
  }
}

TEST_CASE("a file with NaN is refused during its factorization") {
  const MatrixRows<double> bad(test::data_directory() + "/numpy/bad_nan.npy");
  Runtime runtime({.gpus = 0});
  const TileMatrix<double> R(runtime, bad.n(), bad.n(), {bad.n(), bad.n()});
  Graph g(runtime);
  CHECK_THROWS_WITH(tall_skinny_r(g, bad, R, 1), ContainsSubstring("is NaN"));
  g.wait();
}
