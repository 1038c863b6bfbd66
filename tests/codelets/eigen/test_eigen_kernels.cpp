#include "tests/support/lapack_tridiagonal_eig.hpp"
#include "tests/support/test.hpp"
#include "tests/support/vector_targets.hpp"
#include <tesela/codelets/eigen/tridiagonal/merge.hpp>
#include <tesela/codelets/eigen/tridiagonal/ql.hpp>
#include <tesela/codelets/eigen/tridiagonal/steqr.hpp>
#include <tesela/codelets/eigen/tridiagonal/sturm.hpp>
#include <tesela/codelets/eigen/tridiagonal/tridiagonal_inverse.hpp>
#include <tesela/tiles/generator.hpp>

#include <numeric>

using namespace tesela;
using namespace tesela::kernels;

namespace {

template <template <class> class Access, class T>
Access<T> tile(std::vector<T>& x, index_t rows) {
  return {{x.data(), rows, static_cast<index_t>(x.size()) / rows, rows}};
}

}  // namespace

TEMPLATE_TEST_CASE("Steqr, and QlSweeps with QlRotate, find pairs of small matrices that agree with LAPACK", "", float,
                   double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  using T = TestType;
  for (const char* kind : {"uniform", "wilkinson", "second-difference", "exchange", "legendre", "zero", "one-zero"})
    for (const index_t n : {1, 2, 3, 25, 64, 100}) {
      auto t = test::tridiagonal_of<T>(kind, n);
      const int exponent = test::size_exponent(t);
      for (auto* band : {&t.d, &t.e})
        for (T& x : *band) x = std::ldexp(x, -exponent);
      std::vector<T> bands = t.d, values(static_cast<std::size_t>(n)), x(static_cast<std::size_t>(n * n), T(NAN));
      bands.insert(bands.end(), t.e.begin(), t.e.end());
      bands.push_back(std::numeric_limits<T>::quiet_NaN());  // not read
      std::vector<index_t> sweeps(1);
      std::vector<int> info(1, 0);
      INFO(kind << " n = " << n);
      const double bound = (sizeof(T) == 8 ? 5e-15 : 2e-6) * std::sqrt(static_cast<double>(n)) * 2;
      const auto check_pairs = [&] {
        CHECK(info[0] == 0);
        const auto at = [&](index_t i, index_t j) {
          return static_cast<double>(x[static_cast<std::size_t>(i + j * n)]);
        };
        double residual = 0, orthogonality = 0, value = 0;
        for (index_t j = 0; j < n; ++j)
          for (index_t i = 0; i < n; ++i) {
            const auto row = static_cast<std::size_t>(i);
            double left = (static_cast<double>(t.d[row]) - static_cast<double>(values[static_cast<std::size_t>(j)])) *
                          at(i, j),
                   dot = 0;
            if (i > 0) left += static_cast<double>(t.e[row - 1]) * at(i - 1, j);
            if (i + 1 < n) left += static_cast<double>(t.e[row]) * at(i + 1, j);
            for (index_t l = 0; l < n; ++l) dot += at(l, i) * at(l, j);
            residual = std::fmax(residual, std::isnan(left) ? INFINITY : std::abs(left));
            orthogonality = std::fmax(orthogonality, std::abs(dot - (i == j ? 1 : 0)));
          }
        CHECK(residual <= bound);
        CHECK(orthogonality <= bound);
        std::vector<T> sorted = values;
        std::sort(sorted.begin(), sorted.end());
        const auto right = test::reference_values(t);
        const double unit = std::ldexp(1, test::size_exponent(t));
        for (std::size_t j = 0; j < sorted.size(); ++j)
          value = std::fmax(value, std::abs(static_cast<double>(sorted[j]) - right[j] * unit));
        CHECK(value <= bound);
      };
      Steqr<T>::cpu({}, tile<In>(bands, n), tile<Out>(values, n), tile<Out>(x, n), tile<Out>(sweeps, 1),
                    tile<InOut>(info, 1));
      CHECK(sweeps[0] <= 3 * n);
      check_pairs();

      std::vector<T> rotations(static_cast<std::size_t>(2 * 4 * n));
      std::vector<index_t> progress(3), recorded(2 * 20);
      std::fill(x.begin(), x.end(), T(0));
      for (index_t j = 0; j < n; ++j) x[static_cast<std::size_t>(j * (n + 1))] = 1;
      for (recorded[1] = 0; recorded[1] == 0;) {
        QlSweeps<T>::cpu({}, tile<InOut>(bands, n), tile<InOut>(progress, 3), tile<Out>(rotations, 4 * n),
                         tile<Out>(recorded, 2), tile<InOut>(info, 1));
        QlRotate<T>::cpu({}, tile<In>(rotations, 4 * n), tile<In>(recorded, 2), tile<InOut>(x, n));
      }
      std::copy_n(bands.begin(), n, values.begin());
      check_pairs();
    }
}

TEMPLATE_TEST_CASE("SturmCount and SturmBisect work for any number of points", "", float, double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  using T = TestType;
  const index_t n = 77;
  const auto t = test::tridiagonal_of<T>("second-difference", n);
  std::vector<T> bands(2 * static_cast<std::size_t>(n));
  sturm::prepare(n, t.d.data(), t.e.data(), bands.data(), bands.data() + n);
  for (const index_t points : {1, 2, 15, 16, 17, 33, 77}) {
    std::vector<T> x, intervals(2 * static_cast<std::size_t>(points), T(0));
    std::vector<index_t> counts(static_cast<std::size_t>(points), -1), wanted;
    for (index_t k = 0; k < points; ++k) {
      const double between =
          (t.closed[static_cast<std::size_t>(k)] + (k > 0 ? t.closed[static_cast<std::size_t>(k - 1)] : 0)) / 2;
      x.push_back(static_cast<T>(between));  // below value k
      wanted.push_back(k);
      intervals[static_cast<std::size_t>(points + k)] = 4;
    }
    SturmCount<T>::cpu({}, tile<In>(bands, n), tile<In>(x, points), tile<Out>(counts, points));
    CHECK(counts == wanted);
    SturmBisect<T>::cpu({std::numeric_limits<T>::digits}, tile<In>(bands, n), tile<In>(wanted, points),
                        tile<InOut>(intervals, points));
    for (index_t k = 0; k < points; ++k)
      CHECK(std::abs(static_cast<double>(intervals[static_cast<std::size_t>(k)]) -
                     t.closed[static_cast<std::size_t>(k)]) <=
            40 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
}

TEST_CASE("MergeColumns, CopyRow and PlaceColumns move columns to their places and write nothing else") {
  std::vector<double> a(6), b(3), c(4), d(2);  // rows 0 … 2 in two tiles of 2 and 1 columns, rows 3 and 4 in two more
  for (std::size_t i = 0; i < 6; ++i) a[i] = 10 * static_cast<double>(i / 3) + static_cast<double>(i % 3);
  for (std::size_t i = 0; i < 3; ++i) b[i] = 20 + static_cast<double>(i);
  for (std::size_t i = 0; i < 4; ++i) c[i] = 10 * static_cast<double>(i / 2) + 3 + static_cast<double>(i % 2);
  for (std::size_t i = 0; i < 2; ++i) d[i] = 23 + static_cast<double>(i);
  const std::vector<In<double>> sources{tile<In>(a, 3), tile<In>(b, 3), tile<In>(c, 2), tile<In>(d, 2)};

  std::vector<double> kept(10, -1), deflated(5, -1), rotations{0.6, 0.8};
  std::vector<index_t> plan{2, -1, 0, 0, 1};  // kept: column 2, none; deflated: column 0; rotated: columns 0 and 1
  MergeColumns<double>::cpu({2, 2, 1, 1}, tile<In>(plan, 5), tile<In>(rotations, 1), tile<Out>(kept, 5),
                            tile<Out>(deflated, 5), sources);
  for (std::size_t i = 0; i < 5; ++i) {
    const auto row = static_cast<double>(i);
    CHECK(std::abs(kept[i] - 0.6 * (20 + row)) < 1e-14);
    CHECK(std::abs(kept[5 + i] + 0.8 * (20 + row)) < 1e-14);
    CHECK(deflated[i] == row);
  }

  std::vector<double> row(3);
  CopyRow<double>::cpu({1}, tile<Out>(row, 3), std::span(sources).first(2));
  CHECK(row == std::vector<double>{1, 11, 21});

  std::vector<double> x(8, -1);
  std::vector<index_t> map{-1, 2};
  PlaceColumns<double>::cpu({1, 2, 2}, tile<In>(map, 2), tile<InOut>(x, 4), std::span(sources).first(2));
  CHECK(x == std::vector<double>{-1, -1, -1, -1, -1, -1, 21, 22});
  PlaceColumns<double, Out>::cpu({1, 1, 2}, tile<In>(map, 2), tile<Out>(x, 4), std::span(sources).first(2));
  CHECK(x == std::vector<double>{0, 0, 0, 0, 0, 21, 22, 0});
}

// Sizes and offsets for orders whose square exceeds 32 bits; the square of 46341 is the first that exceeds 31 bits.

#include "tests/support/test.hpp"
#include <tesela/codelets/eigen/bulge_blocks.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/errors.hpp>

using namespace tesela;
using namespace tesela::kernels;

namespace {

constexpr index_t beyond = index_t{1} << 31;

BulgePlan whole_band(index_t n, index_t b, index_t group) {
  BulgePlan plan{.n = n, .b = b, .window = 0, .group = group};
  plan.window = (ceiling(n, b) + group + 1) * b;
  return plan;
}

/// Returns the hops of all sweeps, counted one by one.
index_t hops_of(const BulgePlan& plan, index_t group) {
  index_t count = 0;
  for (index_t t = 0; t < plan.size(group); ++t) count += plan.last_hop(plan.first_sweep(group) + t) + 1;
  return count;
}

}  // namespace

TEST_CASE("reflectors of a bulge chase have separate slots if n^2 exceeds 32 bits") {
  const index_t n = GENERATE(46341, 65536, 98304), b = GENERATE(32, 64);
  const BulgePlan plan = whole_band(n, b, ceiling(n, 4));
  REQUIRE(plan.whole());
  index_t numbers = 0;
  for (index_t g = 0; g < plan.groups(); ++g) {
    CAPTURE(n, b, g);
    CHECK(plan.slots(g) >= hops_of(plan, g));
    numbers += plan.slots(g) * plan.slot_rows();
    // The last hop of the last sweep lies within the tile and after the previous sweep.
    const index_t w = plan.first_window(g), t = plan.size(g) - 1, sweep = plan.first_sweep(g) + t,
                  last = plan.slot(g, w, t, t + plan.last_hop(sweep));
    CHECK(last < plan.slots(g));
    CHECK(last > plan.slot(g, w, t - 1, t - 1 + plan.last_hop(sweep - 1)));
    CHECK(plan.row(sweep, plan.last_hop(sweep)) < n);
  }
  CHECK(numbers > n * n / 2);
  if (n >= 65536) CHECK(plan.slots(0) * plan.slot_rows() > beyond / 4);
  CHECK(numbers < n * n);
}

TEST_CASE("windows of a bulge chase cover every hop if n^2 exceeds 32 bits") {
  const index_t n = 46341, b = 32;
  const BulgePlan plan{.n = n, .b = b, .window = 17 * b, .group = 16};
  for (index_t g = 0; g < plan.groups(); g += 97) {
    index_t step = 0;
    for (index_t w = plan.first_window(g); w <= plan.last_window(g); ++w) {
      REQUIRE(plan.first_step(g, w) == step);
      step = plan.end_step(g, w);
      REQUIRE(plan.slot(g, w, plan.size(g) - 1, step - 1) < plan.slots(g));
    }
    CHECK(step == plan.steps(g));
  }
}

TEST_CASE("block reflectors of a bundle have separate columns at large orders") {
  const index_t n = GENERATE(46341, 98304);
  const BulgeBlocks blocks{.chase = whole_band(n, 64, ceiling(n, 4)), .width = 32, .blocks = 4};
  CHECK(blocks.column(blocks.blocks - 1, blocks.hops(0) - 1) == blocks.columns() - 1);
  CHECK(blocks.end_sweep(blocks.bundles() - 1) == blocks.chase.sweeps());
  index_t sweeps = 0;
  for (index_t i = 0; i < blocks.bundles(); ++i) sweeps += blocks.end_sweep(i) - blocks.first_sweep(i);
  CHECK(sweeps == blocks.chase.sweeps());
}

TEMPLATE_TEST_CASE("LAPACK's eigensolvers refuse orders whose workspace size overflows 32 bits", "", float, double) {
  // 2 n^2 + 6 n + 1 is negative from 32767 on and a small positive number at 46341; no memory may be written.
  for (const index_t n : {index_t{32767}, index_t{46341}, index_t{65536}}) {
    CHECK_THROWS_AS(lapack::syevd<TestType>(n, nullptr, n, nullptr, true), ArgumentError);
    for (const int kind : {1, 2, 3})
      CHECK_THROWS_AS(lapack::sygvd<TestType>(kind, n, nullptr, n, nullptr, n, nullptr, true), ArgumentError);
  }
}

TEMPLATE_TEST_CASE(
    "InverseStep solves shifted systems with exchanges of rows, and reports a shift far from eigenvalues", "", float,
    double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  using T = TestType;
  const double eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const char* kind : {"uniform", "clement", "second-difference"})
    for (const index_t n : {1, 2, 3, 40})
      for (const index_t k : {1, 5, 33}) {
        auto t = test::tridiagonal_of<T>(kind, n);
        const int exponent = test::size_exponent(t) + 1;
        for (auto* band : {&t.d, &t.e})
          for (T& x : *band) x = std::ldexp(x, -exponent);
        std::vector<T> bands = t.d, shifts, x, work(static_cast<std::size_t>(n * inverse_step_columns<T>));
        bands.insert(bands.end(), t.e.begin(), t.e.end());
        bands.push_back(std::numeric_limits<T>::quiet_NaN());  // not read
        const Generator<T> random{.pattern = Pattern::uniform, .seed = 7};
        for (index_t j = 0; j < k; ++j) {
          shifts.push_back(T(0.3) * random(j, 5000));  // near 0, so that pivots are exchanged
          for (index_t i = 0; i < n; ++i) x.push_back(random(i, j));
        }
        const std::vector<T> b = x;
        std::vector<int> info(1, 0);
        const auto step = [&](bool last) {
          InverseStep<T>::cpu({last}, tile<In>(bands, n), tile<In>(shifts, k), tile<InOut>(x, n),
                              tile<Scratch>(work, n), tile<InOut>(info, 1));
        };
        step(false);
        INFO(kind << " n = " << n << ", " << k << " columns");
        CHECK(info[0] == 0);
        const auto at = [&](const std::vector<T>& y, index_t i, index_t j) {
          return i < 0 || i >= n ? 0.0 : static_cast<double>(y[static_cast<std::size_t>(i + j * n)]);
        };
        for (index_t j = 0; j < k; ++j) {
          // (T - shift I) x is b times a number: its angle to b is small relative to the growth ||b|| / ||(T - s I)
          // x||.
          double xx = 0, bb = 0, yy = 0, yb = 0;
          std::vector<double> y;
          for (index_t i = 0; i < n; ++i) {
            const auto p = static_cast<std::size_t>(i);
            y.push_back((static_cast<double>(t.d[p]) - static_cast<double>(shifts[static_cast<std::size_t>(j)])) *
                            at(x, i, j) +
                        (i > 0 ? static_cast<double>(t.e[p - 1]) * at(x, i - 1, j) : 0) +
                        (i + 1 < n ? static_cast<double>(t.e[p]) * at(x, i + 1, j) : 0));
            xx += at(x, i, j) * at(x, i, j), bb += at(b, i, j) * at(b, i, j);
            yy += y.back() * y.back(), yb += y.back() * at(b, i, j);
          }
          double rest = 0;
          for (index_t i = 0; i < n; ++i) rest += std::pow(y[static_cast<std::size_t>(i)] - yb / bb * at(b, i, j), 2);
          CHECK(std::abs(xx - 1) <= 10 * eps * static_cast<double>(n));
          CHECK(std::sqrt(rest) <= 10 * eps);
        }
        for (T& shift : shifts) shift = 3;  // no eigenvalue is near
        step(true);
        CHECK(info[0] == 1);
      }
}

TEMPLATE_TEST_CASE("OrthonormalizeClusters makes each cluster orthonormal and keeps its span", "", float, double) {
  using T = TestType;
  constexpr index_t n = 30, k = 6;
  std::vector<index_t> first{2, 2, 2, 5, 6, 6};
  const Generator<T> random{.pattern = Pattern::uniform, .seed = 9};
  std::vector<T> x;
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < n; ++i) x.push_back(random(i, j));
  const std::vector<T> old = x;
  OrthonormalizeClusters<T>::cpu({}, tile<In>(first, k), tile<InOut>(x, n));
  const auto product = [&](const std::vector<T>& a, index_t i, const std::vector<T>& b, index_t j) {
    return static_cast<double>(std::inner_product(a.begin() + i * n, a.begin() + (i + 1) * n, b.begin() + j * n, T(0)));
  };
  const double bound = 100 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (index_t j = 0; j < k; ++j) {
    double in_span = 0;
    for (index_t i = 0; i < k; ++i) {
      const bool same = first[static_cast<std::size_t>(i)] == first[static_cast<std::size_t>(j)];
      if (same) CHECK(std::abs(product(x, i, x, j) - (i == j ? 1 : 0)) <= bound);
      if (!same) CHECK(std::abs(product(x, i, x, j)) > bound);
      if (same && i <= j) in_span += std::pow(product(x, i, old, j), 2);
    }
    CHECK(std::abs(in_span - product(old, j, old, j)) <= bound * 30);
  }
}
