#pragma once

#include <tesela/algorithms/tridiagonal/tridiagonal_matrices.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <array>
#include <vector>

namespace tesela::test {

/// Diagonals in host memory, with one matrix in each column or row.
template <class T>
struct Diagonals {
  HostMatrix<T> dl, d, du;
};

/// Returns the position of row i of matrix s.
inline std::pair<index_t, index_t> place(const TridiagonalOptions& options, index_t i, index_t s) {
  return options.systems == SystemsIn::rows ? std::pair{s, i} : std::pair{i, s};
}

/// Returns the shape of k systems of n equations, or of tiles.
inline Shape shape_of(const TridiagonalOptions& options, index_t n, index_t k) {
  return options.systems == SystemsIn::rows ? Shape{k, n} : Shape{n, k};
}
inline TileShape tile_of(const TridiagonalOptions& options, index_t n, index_t k) {
  const Shape shape = shape_of(options, n, k);
  return {shape.rows, shape.cols};
}

template <class T>
Tridiagonal<T> diagonals(Runtime& runtime, const TridiagonalOptions& options, index_t n, index_t k, TileShape tile) {
  const auto [m, columns] = shape_of(options, n, k);
  return {TileMatrix<T>(runtime, m, columns, tile, "dl"), TileMatrix<T>(runtime, m, columns, tile, "d"),
          TileMatrix<T>(runtime, m, columns, tile, "du")};
}

/// Returns the columns and values of row i of matrix s in the order of the diagonals.
template <class T>
std::vector<std::pair<index_t, T>> row_of(const Diagonals<T>& a, const TridiagonalOptions& options, index_t n,
                                          index_t i, index_t s) {
  const auto [r, c] = place(options, i, s);
  std::vector<std::pair<index_t, T>> row{{i, a.d(r, c)}};
  if (i > 0 || options.periodic) row.emplace_back(i > 0 ? i - 1 : n - 1, a.dl(r, c));
  if (i < n - 1 || options.periodic) row.emplace_back(i < n - 1 ? i + 1 : 0, a.du(r, c));
  return row;
}

/// Returns the transpose of an m x n matrix without padding.
template <class T>
std::vector<T> transposed(const std::vector<T>& v, index_t m, index_t n) {
  std::vector<T> t(v.size());
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) t[static_cast<std::size_t>(j + i * n)] = v[static_cast<std::size_t>(i + j * m)];
  return t;
}

inline constexpr std::array every_kind{TridiagonalKind::uniform, TridiagonalKind::dominant, TridiagonalKind::toeplitz,
                                       TridiagonalKind::zero_diagonal, TridiagonalKind::near_singular};

}  // namespace tesela::test
