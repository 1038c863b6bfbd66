#pragma once

#include "tools/app/report.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal_matrices.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// The problem of `tesela tridiag`, from its options.
struct TridiagInput {
  index_t n = -1, batch = 1, rhs = 1;
  std::vector<index_t> sizes;  ///< sizes of the matrices if they differ; otherwise `batch` matrices of size n
  std::string dl, d, du, b;    ///< files
  std::string random = "dominant";
  std::uint64_t seed = 1;
  bool interleaved = false, periodic = false, known = false, equilibrate = false;

  TridiagonalOptions options() const {
    return {interleaved ? SystemsIn::rows : SystemsIn::columns, periodic, equilibrate};
  }
  /// Sets n, batch and rhs from the files. Throws ArgumentError if the files contradict each other.
  void take_sizes_from_files();
};

/// `batch` matrices of one size in host memory, and `rhs` right-hand sides for each: A's diagonals are n x batch, B and
/// X n x (batch rhs); all are transposed if each system is a row.
template <class T>
struct TridiagBlock {
  index_t n = 0, batch = 0, rhs = 0;
  std::uint64_t seed = 0;  ///< for data that no file provides
  HostMatrix<T> dl, d, du, b, x;

  index_t systems() const { return batch * rhs; }
};

/// Returns the blocks of the input: one, or one for each of its sizes. generate() fills the data that no file provides.
template <class T>
std::vector<TridiagBlock<T>> load(const TridiagInput& input);

/// Some or all systems of a block, in tiles mapped in place.
template <class T>
struct TridiagTiles {
  Tridiagonal<T> A;
  TileMatrix<T> B, X;
};

/// Tiling of a block: equations and systems per tile. With one_matrix each matrix is solved separately, with all its
/// right-hand sides in one tile.
struct TridiagTiling {
  index_t along = 1, across = 1;
  bool one_matrix = false;
};

/// A block's tiles, and its parts that are solved one by one: the whole block, or its matrices.
template <class T>
struct TiledBlock {
  TridiagTiles<T> whole;
  std::vector<TridiagTiles<T>> parts;
};
template <class T>
TiledBlock<T> cut(Runtime& runtime, TridiagBlock<T>& block, SystemsIn systems, const TridiagTiling& how);

/// Inserts tasks that generate A, and B at random or as A times a known X, unless they were read from files. The
/// numbers depend only on the block's seed, not on its tiles.
template <class T>
void generate(Graph& g, const TridiagInput& input, const TridiagBlock<T>& block, const TiledBlock<T>& tiles);

/// Largest errors over all systems; the forward error only if X is known.
struct TridiagChecks {
  double residual = 0, residual_componentwise = 0, residual_equilibrated = 0, forward_error = 0;
  index_t matrix_of_residual = 0, matrix_of_equilibrated = 0;  ///< systems with the largest errors
};
template <class T>
TridiagChecks measure(const TridiagInput& input, const std::vector<TridiagBlock<T>>& blocks);

/// Shows X of a good report, and writes it unless the path is empty, as write_matrices() does. Matrices of different
/// sizes are stacked vertically.
template <class T>
void write_solution(const std::string& path, const std::vector<TridiagBlock<T>>& blocks, Report& report);

}  // namespace tesela::cli
