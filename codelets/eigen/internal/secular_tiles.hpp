#pragma once

#include <tesela/codelets/eigen/internal/secular_loops.hpp>

#include <limits>
#include <span>
#include <vector>

// Tiles of the secular equation's kernels as arrays for its loops. Internal to codelets/eigen.

namespace tesela::kernels::secular {

/// Returns column `column` of tiles one below the other.
template <class T>
std::vector<T> stacked(std::span<const In<T>> tiles, index_t column) {
  std::vector<T> all;
  for (const In<T>& tile : tiles) all.insert(all.end(), &tile(0, column), &tile(0, column) + tile.rows);
  return all;
}

/// Poles and weights in the order of the rows, padded to whole vectors by weights of zero at poles far from all roots.
template <class T>
struct OrderedPoles {
  std::vector<T> d, weights;
  OrderedPoles(const In<T>& poles, const In<index_t>& order, std::span<const In<T>> tiles) {
    const std::vector<T> all = stacked(tiles, 0);
    const auto padded = static_cast<std::size_t>(ceil_div(poles.rows, vector_numbers<T>) * vector_numbers<T>);
    d.assign(padded, std::numeric_limits<T>::max());
    weights.assign(padded, T(0));
    for (index_t r = 0; r < poles.rows; ++r) {
      const index_t i = order.data[r];
      d[static_cast<std::size_t>(r)] = poles(i, 0);
      weights[static_cast<std::size_t>(r)] = all[static_cast<std::size_t>(i)];
    }
  }
};

/// Computes the roots from `first` on.
template <class T, Equation equation = Equation::eigenvalue>
void roots_of(const In<T>& poles, T rho, index_t first, const Out<T>& roots) {
  std::vector<T> d(static_cast<std::size_t>(poles.rows + vector_numbers<T>)), squares(d.size());
  for (index_t i = 0; i < poles.rows; ++i) {
    d[static_cast<std::size_t>(i)] = poles(i, 0);
    squares[static_cast<std::size_t>(i)] = poles(i, 1) * poles(i, 1);
  }
  find_roots(RootBatch<T, equation>{poles.rows, d.data(), squares.data(), rho, first, roots});
}

/// Computes the weights from `first` on.
template <class T, Equation equation = Equation::eigenvalue>
void weights_of(const In<T>& poles, index_t first, const Out<T>& weights, std::span<const In<T>> roots) {
  const std::vector<T> pole = stacked(roots, 0), distance = stacked(roots, 1);
  find_weights(WeightBatch<T, equation>{poles.rows, &poles(0, 0), &poles(0, 1), pole.data(), distance.data(), first,
                                        weights.rows, weights.data});
}

}  // namespace tesela::kernels::secular
