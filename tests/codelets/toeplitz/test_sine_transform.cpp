#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz.hpp"
#include <tesela/codelets/toeplitz/sine_transform.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <numbers>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Returns element (i, row) of S, with its columns in the order of the sine basis.
double sine(index_t n, index_t i, index_t row) {
  const index_t first = cauchy_rows(n, 0), j = row < first ? 2 * row + 1 : 2 * (row - first) + 2;
  return std::sqrt(2 / static_cast<double>(n + 1)) *
         std::sin(static_cast<double>((i + 1) * j % (2 * (n + 1))) * std::numbers::pi / static_cast<double>(n + 1));
}

index_t first_row(index_t n, int part) { return part == 0 ? 0 : cauchy_rows(n, 0); }

template <class T>
TileMatrix<T> tiles(Runtime& runtime, const HostMatrix<T>& a, index_t nb) {
  TileMatrix<T> tiled(runtime, a.rows(), a.cols(), {a.rows(), nb});
  tiled.copy_from(a.data(), a.ld());
  return tiled;
}

/// Expands the vectors of five columns into a matrix in tiles of four that starts with column 8 of a larger one. Two
/// halves have no column, and one column of the matrix has no vector.
template <class T>
void check_expansion(Runtime& runtime, index_t n, index_t room) {
  constexpr index_t k = 5, first = 8, columns = 9;
  const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  HostMatrix<T> x = random_columns<T>(n, k, 3), v(n, columns);
  HostMatrix<index_t> places(k, 2);
  const std::array<index_t, 10> to{16, 8, -1, 11, 12, 10, 9, 15, -1, 13};  // no vector goes to column 14
  std::copy(to.begin(), to.end(), places.data());
  std::fill_n(v.data(), v.size(), static_cast<T>(nothing));
  for (index_t a = 0; a < cauchy_rows(n, 0); ++a) x(a, 2) = static_cast<T>(nothing);
  for (index_t a = cauchy_rows(n, 0); a < n; ++a) x(a, 3) = static_cast<T>(nothing);
  Graph g(runtime);
  const auto X = tiles(runtime, x, k), V = tiles(runtime, v, 4);
  const auto P = tiles(runtime, places, 2);
  g.insert<FromSineBasis<T>>({first}, X(0, 0), P(0, 0), g.scratch<T>(sine_rows(n), room),
                             std::vector<Tile<T>>{V(0, 0), V(0, 1), V(0, 2)});
  g.wait();
  v = V.to_host();
  for (index_t j = 0; j < k; ++j)
    for (int part = 0; part < 2; ++part)
      for (index_t i = 0; i < n && places(j, part) >= 0; ++i) {
        double right = 0;
        for (index_t row = first_row(n, part); row < first_row(n, part) + cauchy_rows(n, part); ++row)
          right += sine(n, i, row) * static_cast<double>(x(row, j));
        CAPTURE(n, i, j, part);
        REQUIRE(std::abs(static_cast<double>(v(i, places(j, part) - first)) - right) <= 40 * epsilon);
      }
  for (index_t i = 0; i < n; ++i) REQUIRE(std::isnan(v(i, 14 - first)));
}

/// The last vectors of y are orthonormal. The first of x become orthogonal to them and unit vectors; the others are
/// unchanged.
template <class T>
void check_orthogonality(Runtime& runtime, index_t n) {
  constexpr index_t ky = 7, kx = 5;
  const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  const typename OrthogonalizeAgainst<T>::Args args{{3, 2}, {4, 2}, {6, 7}};
  HostMatrix<T> y(n, ky), x = random_columns<T>(n, kx, 4);
  std::fill_n(y.data(), y.size(), static_cast<T>(nothing));
  for (std::size_t p = 0; p < 2; ++p) {  // sine vectors of half the order are orthogonal
    const index_t rows = cauchy_rows(n, static_cast<int>(p));
    for (index_t j = args.ends[p] - args.others[p]; j < args.ends[p]; ++j)
      for (index_t a = 0; a < rows; ++a) y(first_row(n, static_cast<int>(p)) + a, j) = static_cast<T>(sine(rows, a, j));
  }
  const HostMatrix<T> before = x.clone();
  Graph g(runtime);
  const auto X = tiles(runtime, x, kx), Y = tiles(runtime, y, ky);
  g.insert<OrthogonalizeAgainst<T>>(args, Y(0, 0), X(0, 0), g.scratch<T>(ky, kx));
  g.wait();
  x = X.to_host();
  for (std::size_t p = 0; p < 2; ++p) {
    const index_t first = first_row(n, static_cast<int>(p)), rows = cauchy_rows(n, static_cast<int>(p));
    const auto dot = [&](const HostMatrix<T>& a, index_t i, const HostMatrix<T>& b, index_t j) {
      double sum = 0;
      for (index_t r = first; r < first + rows; ++r) sum += static_cast<double>(a(r, i)) * static_cast<double>(b(r, j));
      return sum;
    };
    for (index_t j = 0; j < kx; ++j) {
      CAPTURE(n, p, j);
      if (j >= args.columns[p]) {
        for (index_t r = first; r < first + rows; ++r) REQUIRE(x(r, j) == before(r, j));
        continue;
      }
      REQUIRE(std::abs(dot(x, j, x, j) - 1) <= 50 * epsilon);
      double kept = dot(before, j, before, j);
      for (index_t i = args.ends[p] - args.others[p]; i < args.ends[p]; ++i) {
        REQUIRE(std::abs(dot(y, i, x, j)) <= 50 * epsilon);
        kept -= dot(y, i, before, j) * dot(y, i, before, j);
      }
      REQUIRE(std::abs(dot(x, j, before, j) - std::sqrt(kept)) <= 50 * epsilon * static_cast<double>(rows));
    }
  }
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("eigenvectors are computed from the sine basis, orthogonal to their neighbours",
                           "[sanitize]", float, double) {
  for (const index_t n : {1, 2, 3, 64, 65, 301}) check_expansion<TestType>(runtime, n, runtime.gpus() > 0 ? 4 : 1);
  for (const index_t n : {20, 301}) check_orthogonality<TestType>(runtime, n);
}
