#include <tesela/algorithms/least_squares/internal/equation_units.hpp>
#include <tesela/algorithms/least_squares/internal/glm_parts.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/codelets/least_squares/row_scaling.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tesela::detail {

using namespace kernels;
namespace {

constexpr int none = std::numeric_limits<int>::min();  // exponent of a zero row

/// Inserts tasks that compute the row sizes; each worker has a column of results, for the tiles that it processes.
template <class T>
TileMatrix<double> insert_row_sizes(Graph& g, const TileMatrix<T>& A) {
  const int workers = g.runtime().gpus() > 0 ? g.runtime().gpus() : g.runtime().cpus();
  const index_t groups = std::min<index_t>(A.nt(), workers);
  TileMatrix<double> sizes(g.runtime(), A.m(), groups, {A.tile_shape().mb, 1}, "row sizes");
  for (index_t i = 0; i < A.mt(); ++i)
    for (index_t k = 0; k < groups; ++k) {
      std::vector<Tile<T>> tiles;
      for (index_t j = k; j < A.nt(); j += groups) tiles.push_back(A(i, j));
      g.insert<RowSizes<T>>(on_column(k), {}, sizes(i, k), tiles);
    }
  return sizes;
}

/// Computes the exponent of each row's largest element. Returns false if an element is not finite.
bool exponents_of(const TileMatrix<double>& sizes, std::vector<int>& exponents) {
  bool finite = true;
  exponents.assign(static_cast<std::size_t>(sizes.m()), none);
  sizes.read_each_tile([&](const auto& column, index_t first, index_t) {
    for (index_t i = 0; i < column.rows; ++i) {
      const double size = column(i, 0);
      finite = finite && std::isfinite(size);
      int& e = exponents[static_cast<std::size_t>(first + i)];
      if (size > 0 && finite) e = std::max(e, std::ilogb(size));
    }
  });
  return finite;
}

/// Returns the largest and the smallest exponent that is not `none`, or `none` twice.
std::pair<int, int> range_of(const std::vector<int>& exponents) {
  int most = none, least = none;
  for (const int e : exponents)
    if (e != none) most = std::max(most, e), least = least == none ? e : std::min(least, e);
  return {most, least};
}

/// Returns the units of equations whose largest elements in A, B and b have these exponents; `sizes` are
/// row_exponents_of A.
template <class T>
std::vector<int> units_of(const std::vector<int>& sizes, const std::vector<int>& a, const std::vector<int>& f,
                          const std::vector<int>& b) {
  constexpr int most = std::numeric_limits<real_t<T>>::max_exponent - 2;
  const auto [largest_f, smallest_f] = range_of(f);
  const int unit = largest_f == none ? 0 : std::min(largest_f, smallest_f + most / 2);
  std::vector<int> units(a.size(), none), scaled(a.size(), none);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (f[i] != none) {
      units[i] = f[i] - unit;
      for (const int e : {a[i], b[i]})  // as near to one size as A and b allow
        if (e != none) units[i] = std::max(units[i], e - most);
      if (a[i] != none) scaled[i] = sizes[i] - units[i];
    }
  int largest = range_of(scaled).first;
  if (largest == none) largest = range_of(sizes).first;
  int side = none;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (f[i] == none && a[i] != none) {
      units[i] = std::max(sizes[i] - largest, b[i] == none ? none : b[i] - most);
      side = std::max(side, b[i] == none ? none : b[i] - units[i]);
    } else if (f[i] != none && b[i] != none) {
      side = std::max(side, b[i] - units[i]);
    }
  for (std::size_t i = 0; i < a.size(); ++i)  // 0 = b is a contradiction, however small b is
    if (units[i] == none) units[i] = b[i] == none || side == none ? 0 : std::min(0, b[i] - side);
  return units;
}

}  // namespace

template <class T>
bool graded(const std::vector<int>& exponents) {
  constexpr int little = std::numeric_limits<real_t<T>>::digits / 4;
  const auto [largest, smallest] = range_of(exponents);
  return largest != none && largest - smallest > little;
}

template <class T>
std::vector<int> row_exponents_of(Graph& g, const TileMatrix<T>& A) {
  std::vector<int> exponents;
  if (A.m() == 0 || !exponents_of(insert_row_sizes(g, A), exponents)) return {};
  std::vector<int> of_columns;
  for (const real_t<T> norm : norms_of_columns(g, A)) of_columns.push_back(norm > 0 ? std::ilogb(norm) : none);
  if (!graded<T>(of_columns)) return exponents;
  std::fill(exponents.begin(), exponents.end(), none);
  A.read_each_tile([&](const auto& block, index_t row, index_t column) {
    for (index_t j = 0; j < block.cols; ++j)
      for (index_t i = 0; i < block.rows; ++i)
        if (block(i, j) != T(0)) {
          int& e = exponents[static_cast<std::size_t>(row + i)];
          e = std::max(e, std::ilogb(largest_part(block(i, j))) - of_columns[static_cast<std::size_t>(column + j)]);
        }
  });
  return exponents;
}

template <class T>
EquationUnits equilibrate_equations(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& b) {
  if (A.m() == 0) return {};
  const auto of_a = insert_row_sizes(g, A), of_f = insert_row_sizes(g, B), of_b = insert_row_sizes(g, b);
  EquationUnits result;
  std::vector<int> a, f, sides;
  if (!exponents_of(of_a, a) || !exponents_of(of_f, f) || !exponents_of(of_b, sides)) return {};
  std::vector<int> sizes = row_exponents_of(g, A);
  const std::vector<int> units = units_of<T>(sizes, a, f, sides);
  if (graded<T>(units)) {
    result.exponents = units;
    for (std::size_t i = 0; i < units.size(); ++i)
      if (sizes[i] != none) sizes[i] -= units[i];
    std::vector<real_t<T>> factors(units.size());
    const TileMatrix<real_t<T>> D(g.runtime(), A.m(), 1, {A.tile_shape().mb, 1}, "units");
    for (const bool half : {true, false}) {  // the complete factor may overflow
      for (std::size_t i = 0; i < units.size(); ++i)
        factors[i] = std::ldexp(real_t<T>(1), half ? -(units[i] / 2) : units[i] / 2 - units[i]);
      D.copy_from(factors.data(), A.m());
      for (const TileMatrix<T>* const matrix : {&A, &B, &b})
        matrix->for_each_tile([&](const Tile<T>& tile, index_t row, index_t) {
          g.insert<ScaleRows<T>>({}, D(row / A.tile_shape().mb, 0), tile);
        });
    }
  }
  result.graded = graded<T>(sizes);
  result.sizes = std::move(sizes);
  return result;
}

template <class T>
void unscale_multipliers(const std::vector<int>& e, HostMatrix<T>& L, std::vector<int>& exponents) {
  if (e.empty()) return;
  for (index_t j = 0; j < L.cols(); ++j) {
    int most = none;
    for (index_t i = 0; i < L.rows(); ++i)
      if (L(i, j) != T(0)) most = std::max(most, std::ilogb(largest_part(L(i, j))) - e[static_cast<std::size_t>(i)]);
    if (most == none) continue;
    for (index_t i = 0; i < L.rows(); ++i)
      L(i, j) = times_power_of_two(L(i, j), -e[static_cast<std::size_t>(i)] - most);
    exponents[static_cast<std::size_t>(j)] += most;
  }
}

TESELA_FUNCTIONS_FOR_NUMBERS(row_exponents_of, graded, equilibrate_equations, unscale_multipliers)

}  // namespace tesela::detail
