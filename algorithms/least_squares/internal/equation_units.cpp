#include <tesela/algorithms/least_squares/internal/equation_units.hpp>
#include <tesela/algorithms/support/internal/on_column.hpp>
#include <tesela/codelets/least_squares/row_sizes.hpp>
#include <tesela/codelets/least_squares/scale_rows.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::detail {

using namespace kernels;
namespace {

constexpr int none = std::numeric_limits<int>::min();  // the exponent of a row of zeros

/// A column for each worker, of the tiles that it takes: results come home one by one.
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

/// 2^e of each row is its largest element's. False where one is not finite.
bool exponents_of(const TileMatrix<double>& sizes, std::vector<int>& exponents) {
  bool finite = true;
  exponents.assign(static_cast<std::size_t>(sizes.m()), none);
  sizes.for_each_tile([&](const Tile<double>& tile, index_t first, index_t) {
    const auto column = tile.read();
    for (index_t i = 0; i < column.rows; ++i) {
      const double size = column(i, 0);
      finite = finite && std::isfinite(size);
      int& e = exponents[static_cast<std::size_t>(first + i)];
      if (size > 0 && finite) e = std::max(e, std::ilogb(size));
    }
  });
  return finite;
}

}  // namespace

template <class T>
std::vector<int> bring_equations_to_one_size(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                             const TileMatrix<T>& b) {
  constexpr int little = std::numeric_limits<T>::digits / 4, most = std::numeric_limits<T>::max_exponent - 2;
  if (A.m() == 0) return {};
  const auto of_a = insert_row_sizes(g, A), of_b = insert_row_sizes(g, B);
  std::vector<int> a, f;
  if (!exponents_of(of_a, a) || !exponents_of(of_b, f)) return {};
  const int largest_a = *std::max_element(a.begin(), a.end()), largest_b = *std::max_element(f.begin(), f.end());
  int least = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = std::max(a[i] == none ? none : a[i] - largest_a, f[i] == none ? none : f[i] - largest_b);
    if (a[i] != none) least = std::min(least, a[i]);
  }
  if (least >= -little) return {};
  const auto of_sides = insert_row_sizes(g, b);
  if (!exponents_of(of_sides, f)) return {};
  int largest_side = none;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != none && f[i] != none) {
      a[i] = std::min(0, std::max(a[i], f[i] - most));
      largest_side = std::max(largest_side, f[i] - a[i]);
    }
  for (std::size_t i = 0; i < a.size(); ++i)  // 0 = b contradicts, however small b is
    if (a[i] == none) a[i] = f[i] == none || largest_side == none ? 0 : std::min(0, f[i] - largest_side);
  std::vector<T> units(a.size());
  const TileMatrix<T> factors(g.runtime(), A.m(), 1, {A.tile_shape().mb, 1}, "units");
  for (const bool half : {true, false}) {  // all of it may be no number
    for (std::size_t i = 0; i < a.size(); ++i) units[i] = std::ldexp(T(1), half ? -(a[i] / 2) : a[i] / 2 - a[i]);
    factors.copy_from(units.data(), A.m());
    for (const TileMatrix<T>* const matrix : {&A, &B, &b})
      matrix->for_each_tile([&](const Tile<T>& tile, index_t row, index_t) {
        g.insert<ScaleRows<T>>({}, factors(row / A.tile_shape().mb, 0), tile);
      });
  }
  return a;
}

template <class T>
void in_units_of_equations(const std::vector<int>& e, HostMatrix<T>& L, std::vector<int>& exponents) {
  if (e.empty()) return;
  for (index_t j = 0; j < L.cols(); ++j) {
    int most = none;
    for (index_t i = 0; i < L.rows(); ++i)
      if (L(i, j) != T(0)) most = std::max(most, std::ilogb(L(i, j)) - e[static_cast<std::size_t>(i)]);
    if (most == none) continue;
    for (index_t i = 0; i < L.rows(); ++i) L(i, j) = std::ldexp(L(i, j), -e[static_cast<std::size_t>(i)] - most);
    exponents[static_cast<std::size_t>(j)] += most;
  }
}

#define TESELA_INSTANTIATE(T)                                                                               \
  template std::vector<int> bring_equations_to_one_size(Graph&, const TileMatrix<T>&, const TileMatrix<T>&, \
                                                        const TileMatrix<T>&);                              \
  template void in_units_of_equations(const std::vector<int>&, HostMatrix<T>&, std::vector<int>&);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela::detail
