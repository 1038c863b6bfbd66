#pragma once

#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela {

/// What a QR factorization of [A | B], m x (n + r), leaves of it at home: all that a least-squares solution needs.
///
///     [A | B] = Q [R  C]   k = min(m, n) rows
///                 [0  S]   the others
template <class T>
struct ExtendedQr {
  HostMatrix<T> R;                ///< k x n, zeros below its diagonal
  HostMatrix<T> C;                ///< k x r
  std::vector<T> residual_norms;  ///< ||S e_j||_2 of each of the r columns, without overflow
};

/// From A's factorization and a B that holds Q^T B already (factors.apply). B's rows below C stay where they are, for
/// problems that need S itself. `tile` is how A is cut. Waits for the graph, and throws as Graph::wait does.
template <class T>
[[nodiscard]] ExtendedQr<T> extended_qr(Graph& g, const QrFactorization<T>& factors, TileShape tile,
                                        const TileMatrix<T>& B);
template <class T>
[[nodiscard]] ExtendedQr<T> extended_qr(Graph& g, const GivensQr<T>& factors, TileShape tile, const TileMatrix<T>& B);

/// From rows that were appended, k = n whatever their number: rows of zeros where there were fewer. Waits likewise.
template <class T>
[[nodiscard]] ExtendedQr<T> extended_qr(Graph& g, const QrUpdater<T>& updater);

/// Whether nothing in it is NaN or infinite.
template <class T>
bool all_finite(const ExtendedQr<T>& e);

/// A matrix as its first rows and what is left of the others.
template <class T>
struct FirstRows {
  HostMatrix<T> rows;
  std::vector<T> norms_below;  ///< of each column's remainder
};

/// The first k rows of B, 0 <= k <= m. Waits for the tasks that write B, and throws as Tile::read does.
template <class T>
[[nodiscard]] FirstRows<T> first_rows(const TileMatrix<T>& B, index_t k);

}  // namespace tesela
