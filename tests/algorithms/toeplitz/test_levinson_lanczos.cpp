#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz.hpp"
#include <tesela/codelets/toeplitz/cauchy_product.hpp>
#include <tesela/codelets/toeplitz/lanczos/lanczos.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

constexpr index_t steps = 3;

/// Returns a separate tile, filled with `from` unless that is empty.
template <class T>
TileMatrix<T> tile(Runtime& runtime, index_t rows, index_t cols, const HostMatrix<T>& from = {}) {
  TileMatrix<T> a(runtime, rows, cols, {rows, cols});
  if (from.size() > 0) a.copy_from(from.data(), from.ld());
  return a;
}

/// The basis vectors of both slots side by side, coefficients, and counts below the two shifts.
template <class T>
struct Outcome {
  HostMatrix<T> bases;
  HostMatrix<double> coefficients, counts;
};

/// Start vectors whose parts have unit norm.
template <class T>
HostMatrix<T> starts(index_t n) {
  HostMatrix<T> x = random_columns<T>(n, 1, 3);
  for (int part = 0; part < 2; ++part) {
    const index_t first = part * cauchy_rows(n, 0), rows = cauchy_rows(n, part);
    double squares = 0;
    for (index_t a = first; a < first + rows; ++a) squares += std::pow(static_cast<double>(x(a, 0)), 2);
    for (index_t a = first; a < first + rows; ++a) x(a, 0) = static_cast<T>(x(a, 0) / std::sqrt(squares));
  }
  return x;
}

/// Runs two slots at two shifts by Levinson's recursion or by inverses, in two tasks of `steps` steps each.
template <class T>
Outcome<T> run(Runtime& runtime, const HostMatrix<T>& t, const std::array<double, 2>& shifts, bool levinson) {
  const index_t n = t.rows(), capacity = 2 * steps, columns = lanczos_slot(n, capacity).cols;
  Outcome<T> outcome{HostMatrix<T>(n, 2 * columns), HostMatrix<double>(4, 4 * steps),
                     HostMatrix<double>(CauchyReport::rows, 4)};
  Graph g(runtime);
  HostMatrix<double> at(2, 1);
  at(0, 0) = shifts[0], at(1, 0) = shifts[1];
  const auto column = tile<T>(runtime, n, 1, t), start = tile<T>(runtime, n, 1, starts<T>(n));
  const auto sigma = tile<double>(runtime, 2, 1, at);
  const auto c = tile<T>(runtime, n, 3), inverse = tile<T>(runtime, n, 6);
  const auto tables = tile<T>(runtime, cauchy_tables(n).rows, 6);
  const auto report = tile<double>(runtime, CauchyReport::rows, 4),
             counts = tile<double>(runtime, CauchyReport::rows, 4);
  const TileMatrix<T> slots(runtime, n, 2 * columns, {n, columns});
  const TileMatrix<double> coefficients(runtime, 4, 4 * steps, {4, 2 * steps});
  if (runtime.cpus() > 0) {
    g.insert<ToeplitzToCauchy<T>>({}, column(0, 0), c(0, 0));
    g.insert<CauchyTables<T>>({n}, tables(0, 0));
    g.insert<CauchyInvert<T>>({}, c(0, 0), sigma(0, 0), inverse(0, 0), report(0, 0), g.scratch<T>(cauchy_table(n), 1));
  } else {  // the first columns of slots are unused
    inverse.copy_from(HostMatrix<T>::zeros(n, 6).data(), n);
  }
  g.insert<LevinsonCount<T>>({}, column(0, 0), sigma(0, 0), counts(0, 0), g.scratch<T>(levinson_count_rows(n), 2));
  std::vector<Tile<T>> tiles;
  for (index_t s = 0; s < 2; ++s) {
    g.insert<LanczosStart<T>>({s, 0}, inverse(0, 0), start(0, 0), slots(0, s));
    tiles.push_back(slots(0, s));
  }
  for (index_t round = 0; round < 2; ++round) {
    const int first = static_cast<int>(round * steps);
    if (levinson) {
      const Shape work = levinson_lanczos_work(n, capacity, 2);
      g.insert<LevinsonLanczosSteps<T>>({steps, 2, {first, first}, {shifts[0], shifts[1]}}, column(0, 0),
                                        coefficients(0, round), g.scratch<T>(work.rows, work.cols), tiles);
    } else {
      const Shape work = lanczos_work(n, capacity, 2);
      g.insert<LanczosSteps<T>>({steps, 2, false, {first, first}, {shifts[0], shifts[1]}}, c(0, 0), tables(0, 0),
                                coefficients(0, round), g.scratch<T>(work.rows, work.cols), tiles);
    }
  }
  REQUIRE(g.wait().ok());
  slots.copy_to(outcome.bases.data(), n);
  coefficients.copy_to(outcome.coefficients.data(), 4);
  counts.copy_to(outcome.counts.data(), CauchyReport::rows);
  return outcome;
}

/// Returns the largest difference of the first `count` basis vectors of each slot.
template <class T>
double distance(const Outcome<T>& a, const Outcome<T>& b, index_t count) {
  double most = 0;
  for (index_t s = 0; s < 2; ++s)
    for (index_t j = 0; j < count; ++j)
      for (index_t i = 0; i < a.bases.rows(); ++i) {
        const index_t column = s * (a.bases.cols() / 2) + 3 + j;
        const double here = std::abs(static_cast<double>(a.bases(i, column)) - static_cast<double>(b.bases(i, column)));
        if (!(here <= most)) most = here;
      }
  return most;
}

}  // namespace

CORES_TEMPLATE_TEST_CASE("Lanczos steps by Levinson's recursion equal those by an inverse", "[toeplitz]", float,
                         double) {
  using T = TestType;
  const double eps = std::numeric_limits<T>::epsilon();
  for (const index_t n : {20, 33, 64, 301}) {
    const HostMatrix<T> t = toeplitz_column<T>({ToeplitzKind::kms, 0.5}, n);  // eigenvalues 1/3 ... 3
    const auto one = run<T>(runtime, t, {-0.5, 4}, true), other = run<T>(runtime, t, {-0.5, 4}, false);
    CAPTURE(n);
    CHECK(difference(one.coefficients, other.coefficients) <= 500 * eps);
    CHECK(distance(one, other, 2 * steps + 1) <= 1e4 * eps);
    for (index_t part = 0; part < 2; ++part) {
      CHECK(one.counts(CauchyReport::negative, part) == 0);
      CHECK(one.counts(CauchyReport::negative, 2 + part) ==
            static_cast<double>(cauchy_rows(n, static_cast<int>(part))));
    }
  }
}

CORES_TEMPLATE_TEST_CASE("every coefficient of a recursion that breaks down reports it", "[toeplitz]", float, double) {
  using T = TestType;
  const HostMatrix<T> t = toeplitz_column<T>({ToeplitzKind::kms, 0.5}, 20);
  const auto s = run<T>(runtime, t, {1, 4}, true);  // 1 = t_0
  for (index_t k = 0; k < 4 * steps; ++k)
    for (index_t i = 0; i < 4; ++i) {
      const bool first = k / steps % 2 == 0;
      CHECK(std::isnan(s.coefficients(i, k)) == first);
    }
  CHECK(s.counts(CauchyReport::breakdown, 0) == 1);
  CHECK(s.counts(CauchyReport::breakdown, 2) == 0);
}

TEMPLATE_TEST_CASE("Lanczos steps by Levinson's recursion on a GPU equal those on a core", "[toeplitz][gpu][sanitize]",
                   float, double) {
  using T = TestType;
  require_gpu();
  const double eps = std::numeric_limits<T>::epsilon();
  for (const index_t n : {20, 33, 300})
    for (const std::array<double, 2>& shifts : {std::array<double, 2>{-0.5, 4}, std::array<double, 2>{1, 4}}) {
      const HostMatrix<T> t = toeplitz_column<T>({ToeplitzKind::kms, 0.5}, n);
      Outcome<T> core, gpu;
      {
        Runtime runtime({.cpus = 1, .gpus = 0});
        core = run<T>(runtime, t, shifts, true);
      }
      {
        Runtime runtime({.cpus = 0, .gpus = 1});
        gpu = run<T>(runtime, t, shifts, true);
      }
      CAPTURE(n, shifts[0]);
      const bool broken = shifts[0] == 1;
      for (index_t k = 0; k < 4 * steps; ++k)
        for (index_t i = 0; i < 4; ++i) {
          const double a = core.coefficients(i, k), b = gpu.coefficients(i, k);
          CHECK(std::isnan(a) == (broken && k / steps % 2 == 0));
          CHECK((std::isnan(a) ? std::isnan(b) : std::abs(a - b) <= 500 * eps));
        }
      CHECK(distance(core, gpu, broken ? 1 : 2 * steps + 1) <= 1e4 * eps);
      for (index_t column = broken ? 2 : 0; column < 4; ++column)
        for (const index_t row : {index_t{CauchyReport::negative}, index_t{CauchyReport::breakdown}})
          CHECK(core.counts(row, column) == gpu.counts(row, column));
    }
}
