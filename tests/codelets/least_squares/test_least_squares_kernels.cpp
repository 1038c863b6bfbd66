#include "tests/support/four_types.hpp"
#include "tests/support/padded.hpp"
#include <tesela/codelets/least_squares/r_factor.hpp>
#include <tesela/codelets/least_squares/row_scaling.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

using namespace tesela;
using namespace tesela::kernels;
using test::number;

namespace {

/// Returns a number of magnitude 1; 1 if T is real. Rows and columns times such numbers have the same norms, but a sum
/// without conjugates is another.
template <class T>
T phase(index_t i) {
  if constexpr (is_complex<T>)
    return i % 3 == 0 ? T(1) : i % 3 == 1 ? number<T>(0, 1) : number<T>(-0.6, 0.8);
  else
    return T(1);
}

template <class T>
double condition_of(Runtime& runtime, index_t n, std::vector<T> r) {
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) r[static_cast<std::size_t>(i + j * n)] *= phase<T>(i + 1) * phase<T>(2 * j + 1);
  const TileMatrix<T> R(runtime, n, n, {n, n});
  R.copy_from(r.data(), n);
  const TileMatrix<double> condition(runtime, 1, 1, {1, 1});
  Graph g(runtime);
  g.insert<UnitCondition<T>>({}, R(0, 0), condition(0, 0), g.scratch<T>(n, 2 * n + 2));
  REQUIRE(g.wait().ok());
  return condition(0, 0).read()(0, 0);
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("condition, gathered R and norms agree with closed forms", "[sanitize]", FOUR_TYPES) {
  using T = TestType;
  using Real = real_t<T>;
  const double eps = std::numeric_limits<Real>::epsilon();
  const Real h = std::numeric_limits<Real>::max() / 4;
  const T nan = std::numeric_limits<Real>::quiet_NaN();

  // Columns (1, 0) and (1, 1) / sqrt(2): the inverse has the columns (1, 0) and (-1, sqrt(2)). Units do not matter. A
  // GPU uses the inverse; a core estimates from below.
  const double expected = 2 + std::sqrt(2.0);
  for (const Real unit : {Real(1), h, 1 / h}) {
    const double condition = condition_of<T>(runtime, 2, {1, nan, unit, unit});
    CHECK(condition <= expected * (1 + 20 * eps));
    CHECK(condition >= expected * (runtime.cpus() == 0 ? 1 - 20 * eps : 0.5));
  }
  CHECK(std::abs(condition_of<T>(runtime, 3, {5, nan, nan, 0, -7, nan, 0, 0, 1 / h}) - 1) <= 20 * eps);
  CHECK_FALSE(condition_of<T>(runtime, 2, {1, 0, 1, 0}) < 1e300);
  CHECK_FALSE(condition_of<T>(runtime, 2, {1, 0, nan, 1}) < 1e300);
  CHECK_FALSE(condition_of<T>(runtime, 2, {1, 0, std::numeric_limits<Real>::infinity(), 1}) < 1e300);

  const TileMatrix<T> A(runtime, 7, 5, {7, 2}), R(runtime, 5, 5, {5, 5}), B(runtime, 7, 3, {7, 3});
  const TileMatrix<Real> norms(runtime, 3, 1, {3, 1});
  HostMatrix<T> a(7, 5), b(7, 3), r(5, 5);
  HostMatrix<Real> found(3, 1);
  for (index_t j = 0; j < 5; ++j)
    for (index_t i = 0; i < 7; ++i)
      a(i, j) = i > j ? nan : number<T>(static_cast<double>(10 * i + j + 1), -static_cast<double>(j));
  for (index_t i = 0; i < 7; ++i)
    b(i, 0) = i < 5 ? nan : h * phase<T>(i), b(i, 1) = i < 5 ? nan : T(0),
         b(i, 2) = static_cast<Real>(i - 2) * phase<T>(i);
  A.copy_from(a.data(), 7);
  B.copy_from(b.data(), 7);
  Graph g(runtime);
  g.insert<GatherUpper<T>>({}, R(0, 0), std::vector{A(0, 0), A(0, 1), A(0, 2)});
  g.insert<ColumnNorms<T>>({5}, B(0, 0), norms(0, 0));
  REQUIRE(g.wait().ok());
  R.copy_to(r.data(), 5);
  for (index_t j = 0; j < 5; ++j)
    for (index_t i = 0; i < 5; ++i) CHECK(r(i, j) == (i > j ? T(0) : a(i, j)));
  norms.copy_to(found.data(), 3);
  CHECK(std::abs(found(0, 0) / h - std::sqrt(Real(2))) <= 10 * eps);
  CHECK(found(1, 0) == 0);
  CHECK(std::abs(found(2, 0) - Real(5)) <= 50 * eps);
  g.insert<ColumnNorms<T>>({6}, B(0, 0), norms(0, 0));  // one row
  REQUIRE(g.wait().ok());
  norms.copy_to(found.data(), 3);
  CHECK(found(0, 0) == h);
  CHECK(found(2, 0) == Real(4));
  g.insert<ColumnNorms<T>>({9}, B(0, 0), norms(0, 0));  // no rows
  REQUIRE(g.wait().ok());
  norms.copy_to(found.data(), 3);
  for (index_t j = 0; j < 3; ++j) CHECK(found(j, 0) == 0);
}

namespace {

struct Seen {
  double largest = 0, smallest = std::numeric_limits<double>::infinity(), counted = 0;
  bool good = true;
};

template <class T>
Seen look(Runtime& runtime, const std::vector<T>& w, index_t parts) {
  const auto m = static_cast<index_t>(w.size());
  const TileMatrix<T> W(runtime, m, 1, {m, 1}), D(runtime, m, 1, {m, 1});
  const TileMatrix<double> ranges(runtime, 3, parts, {3, parts});
  W.copy_from(w.data(), m);
  Graph g(runtime);
  g.insert<WeightRoots<T>>({}, W(0, 0), D(0, 0), ranges(0, 0));
  REQUIRE(g.wait().ok());
  HostMatrix<T> d(m, 1);
  D.copy_to(d.data(), m);
  bool same = true;
  for (index_t i = 0; i < m; ++i) {
    const T root = std::sqrt(w[static_cast<std::size_t>(i)]);
    same = same && (d(i, 0) == root || (std::isnan(d(i, 0)) && std::isnan(root)));
  }
  CHECK(same);
  Seen seen;
  const auto columns = ranges(0, 0).read();
  for (index_t k = 0; k < parts; ++k) {
    seen.good = seen.good && !std::isnan(columns(0, k));
    seen.largest = std::max(seen.largest, columns(0, k));
    seen.smallest = std::min(seen.smallest, columns(1, k));
    seen.counted += columns(2, k);
  }
  return seen;
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("roots of weights and their ratio are correct", "[sanitize]", float, double) {
  using T = TestType;
  for (const std::size_t m : {1, 7, 256, 257, 70001})
    for (const index_t parts : {1, 3, 128}) {
      CAPTURE(m, parts);
      std::vector<T> w(m);
      for (std::size_t i = 0; i < m; ++i) w[i] = i % 5 == 3 ? T(0) : static_cast<T>(1 + i % 97);
      w[m / 2] = std::numeric_limits<T>::max();
      const Seen seen = look(runtime, w, parts);
      double smallest = std::numeric_limits<double>::infinity(), counted = 0;
      for (const T weight : w)
        if (weight > T(0)) smallest = std::min(smallest, static_cast<double>(weight)), ++counted;
      CHECK(seen.good);
      CHECK(seen.largest == static_cast<double>(std::numeric_limits<T>::max()));
      CHECK(seen.smallest == smallest);
      CHECK(seen.counted == counted);
      for (const T wrong : {T(-1), std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
        w[m - 1] = wrong;
        CHECK_FALSE(look(runtime, w, parts).good);
      }
      const Seen none = look(runtime, std::vector<T>(m, T(0)), parts);
      CHECK((none.good && none.counted == 0 && std::isinf(none.smallest)));
    }
}

WORKERS_TEMPLATE_TEST_CASE("rows are measured and scaled", "[sanitize]", FOUR_TYPES) {
  using T = TestType;
  using Real = real_t<T>;
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const index_t m = 700, n = 130;
  HostMatrix<T> a(m, n), found(m, n);
  HostMatrix<Real> d(m, 1);
  std::vector<double> largest(static_cast<std::size_t>(m), 0);
  for (index_t i = 0; i < m; ++i) {
    d(i, 0) = static_cast<Real>(i % 7) / 4;
    for (index_t j = 0; j < n; ++j) {
      a(i, j) = number<T>(static_cast<double>((i * j) % 13), -static_cast<double>((i + 3 * j) % 17));
      largest[static_cast<std::size_t>(i)] =
          std::max(largest[static_cast<std::size_t>(i)], static_cast<double>(largest_part(a(i, j))));
    }
  }
  a(0, 99) = number<T>(1, std::numeric_limits<double>::quiet_NaN());
  if constexpr (!is_complex<T>) a(0, 99) = nan;
  a(7, 3) = nan;  // d is 0 there
  const TileMatrix<T> A(runtime, m, n, {m, 70});
  const TileMatrix<Real> D(runtime, m, 1, {m, 1});
  const TileMatrix<double> sizes(runtime, m, 1, {m, 1});
  A.copy_from(a.data(), m);
  D.copy_from(d.data(), m);
  Graph g(runtime);
  g.insert<RowSizes<T>>({}, sizes(0, 0), std::vector{A(0, 0), A(0, 1)});
  for (index_t j = 0; j < 2; ++j) g.insert<ScaleRows<T>>({}, D(0, 0), A(0, j));
  REQUIRE(g.wait().ok());
  const auto size = sizes(0, 0).read();
  for (index_t i = 0; i < m; ++i) {
    CAPTURE(i);
    if (i == 0 || i == 7)
      CHECK(std::isnan(size(i, 0)));
    else
      CHECK(size(i, 0) == largest[static_cast<std::size_t>(i)]);
  }
  A.copy_to(found.data(), m);
  bool same = true;
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) same = same && found(i, j) == (d(i, 0) == 0 ? T(0) : d(i, 0) * a(i, j));
  CHECK(same);
}
