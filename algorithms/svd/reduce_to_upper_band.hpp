#pragma once

#include <tesela/algorithms/eigen/reflector_blocks.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela {

/// An upper band matrix B of order n with b diagonals above the main one and room for bulges: a (3b - 1) x n TileMatrix
/// in one tile row, with B(i, j) in row i - j + 2b - 1 of column j. A tile has a multiple of b columns, at least 2b,
/// unless one tile has all columns.
template <class T>
class UpperBand {
 public:
  /// Allocates a band without contents. The half-width is clamped to 1 … n - 1. Throws ArgumentError for a negative
  /// order or half-width, and for a window that is less than twice the half-width or not a multiple of it.
  UpperBand(Runtime& runtime, index_t n, index_t half_width, index_t window);

  /// Returns n.
  index_t order() const { return tiles_.n(); }
  /// Returns b.
  index_t half_width() const { return (tiles_.m() + 1) / 3; }
  /// Returns the storage.
  const TileMatrix<T>& tiles() const { return tiles_; }

  /// Returns B(j, j + distance) for all j. Waits for the tasks that write it.
  std::vector<T> diagonal(index_t distance) const;

 private:
  TileMatrix<T> tiles_;
};

/// Options of reduce_to_upper_band.
struct ReduceToUpperBandOptions {
  index_t block = 0;    ///< columns of V per tile, rounded up to a multiple of b; 0 selects them
  index_t parts = 0;    ///< tasks that share a product with A; 0 selects one per core, or per GPU
  bool vectors = true;  ///< whether to keep the reflectors, for apply()
};

/// The reduction A = U B V^H of a square matrix, where B is an upper band matrix.
template <class T>
class UpperBandReduction {
 public:
  /// Inserts X = Q X or, unless `op` is none, X = Q^H X with Q = U (left) or Q = V (right). X is n x any, in tiles of
  /// whole columns. Throws ArgumentError for other shapes, and if the reflectors were not kept.
  void apply(Graph& g, Side side, Op op, const TileMatrix<T>& X) const;

  /// Returns the order of A.
  index_t n() const { return n_; }

 private:
  UpperBandReduction(Graph& g, const TileMatrix<T>& A, const UpperBand<T>& band,
                     const ReduceToUpperBandOptions& options);
  template <class U>
  friend UpperBandReduction<U> reduce_to_upper_band(Graph&, const TileMatrix<U>&, const UpperBand<U>&,
                                                    const ReduceToUpperBandOptions&);

  index_t n_;
  bool vectors_;
  std::vector<ReflectorBlock<T>> left_, right_;
  std::vector<TileMatrix<T>> work_;  // kept until the graph has run
};

/// Inserts the reduction A = U B V^H (first half of the two-stage LAPACK gebrd): 8/3 n^3 flops.
///
/// A        n x n in tiles of whole columns; each tile has a multiple of b columns, or all. Overwritten. Its elements
///          should have size 1.
/// band     becomes B, with zeros in the room for bulges; its half-width is b.
/// Returns  the reduction.
/// Throws   ArgumentError for other shapes.
/// Method   QR of b columns and LQ of b rows in turn; one product updates A by both (B. Großer, B. Lang, "Efficient
///          parallel reduction to bidiagonal form", Parallel Computing 25, 1999).
template <class T>
[[nodiscard]] UpperBandReduction<T> reduce_to_upper_band(Graph& g, const TileMatrix<T>& A, const UpperBand<T>& band,
                                                         const ReduceToUpperBandOptions& options = {});

}  // namespace tesela
