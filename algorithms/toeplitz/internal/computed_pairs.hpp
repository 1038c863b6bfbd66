#pragma once

#include <tesela/tiles/tile_matrix.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace tesela::detail {

/// A matrix that is one tile.
template <class T>
struct OneTile {
  TileMatrix<T> matrix;
  OneTile(Runtime& runtime, Shape shape, const char* name)
      : matrix(runtime, shape.rows, shape.cols, {std::max<index_t>(1, shape.rows), std::max<index_t>(1, shape.cols)},
               name) {}
  Tile<T> operator*() const { return matrix(0, 0); }
};

/// An eigenvalue of the scaled matrix, with the place of its vector.
struct ComputedEigenvalue {
  double value = 0, residual = 0;
  std::size_t part = 0;   ///< 0: J x = x, 1: J x = -x
  std::size_t piece = 0;  ///< piece of the search
  index_t column = 0;     ///< column of the piece's part, or of the dense solver's vectors
};

/// The pairs of one interval: the values of each part, ascending, and the largest residual of each part.
template <class T>
struct IntervalPairs {
  double low = 0;  ///< lower end of the interval
  std::array<std::vector<double>, 2> values{};
  std::array<double, 2> residual{};
  OneTile<T> x;  ///< the vectors in the sine basis, as RitzPairs writes them
};

}  // namespace tesela::detail
