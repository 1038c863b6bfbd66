#pragma once

#include "tools/peers/restored.hpp"
#include "tools/problems/method.hpp"
#include <tesela/tiles/host_matrix.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tesela::cli {

enum class DirectKind : std::uint8_t { cholesky, lu, lu_without_pivots };

/// A = R^T R or P A = L U, and A X = B: the matrices, and the memory that the methods share.
template <class T>
struct DirectProblem {
  DirectKind kind = DirectKind::lu;
  std::string tile = {};  ///< the text of --tile
  index_t n = 0;
  Runtime* runtime = nullptr;
  HostMatrix<T> a = {}, b = {};  ///< B may have no columns
  HostMatrix<T> work = {};       ///< A in a run, then its factors
  HostMatrix<T> x = {};          ///< B in a run, then X
  bool resident = false;         ///< the tiles of A and of its factors stay where the workers keep them
  double growth = 0;             ///< max |U| / max |A| of the last check_peer()
  std::optional<PinnedMemory> pinned = {};

  /// Generates A for a benchmark, in page-locked memory or where the workers keep its tiles: uniform random numbers,
  /// for Cholesky symmetric with 2 sqrt(n) + 1 added to the diagonal, without pivots with n.
  void generate_uniform(std::uint64_t seed, bool on_workers);
  /// Copies A into `work` and B into `x`.
  void restore();
  /// Restores A in tiles, and B.
  void restore(bench::RestoredMatrix<T>& matrix, TileShape tiles);
  /// Returns the tile shape of method "tiles".
  TileShape tile_shape() const;
};

/// Facts about the factors in DirectProblem::work.
struct DirectFactors {
  std::vector<index_t> rows = {};  ///< row i of P A is row rows[i] of A; empty without exchanges
  index_t stop = 0;                ///< the pivot or minor that stopped the factorization, from 1; 0 if none did
};

/// Throws ArgumentError for a --tile that is not NB or, for a symmetric matrix, NBxWIDTH. An empty text is right.
void require_tile(const std::string& tile, bool symmetric);

/// Converts LAPACK's exchanges of rows, counted from 1, to a permutation of n rows.
std::vector<index_t> rows_of(index_t n, const std::vector<int>& swaps);

/// The table of methods: tiles, stages, LAPACK and cuSOLVER. The libraries factor alone.
template <class T>
std::vector<Method<DirectProblem<T>, DirectFactors>> direct_table();

/// Returns ||P A - L U|| / ||A||, or of A - R^T R, relative to its bound. Throws WrongResult if that is above 1.
template <class T>
double check_peer(const std::string& peer, DirectProblem<T>& problem, const DirectFactors& factors);

}  // namespace tesela::cli
