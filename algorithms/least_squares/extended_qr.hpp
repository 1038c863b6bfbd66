#pragma once

#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela {

/// The parts of a QR factorization of [A | B], m x (n + r), that a least-squares solution needs, in host memory.
///
///     [A | B] = Q [R  C]   k = min(m, n) rows
///                 [0  S]   m - k rows
template <class T>
struct ExtendedQr {
  HostMatrix<T> R;                        ///< k x n, zeros below its diagonal
  HostMatrix<T> C;                        ///< k x r
  std::vector<real_t<T>> residual_norms;  ///< ||S e_j||_2 of the r columns, without overflow
};

/// Copies the parts from A's factorization and a B that holds Q^H B (factors.apply). B's rows below C keep their
/// contents S.
///
/// tile   tile shape of A.
/// Waits  for the graph; throws as Graph::wait.
template <class T>
[[nodiscard]] ExtendedQr<T> extended_qr(Graph& g, const QrFactorization<T>& factors, TileShape tile,
                                        const TileMatrix<T>& B);
template <class T>
[[nodiscard]] ExtendedQr<T> extended_qr(Graph& g, const GivensQr<T>& factors, TileShape tile, const TileMatrix<T>& B);

/// Copies the parts from appended rows. k = n; R has zero rows if fewer than n rows were appended. Waits for the
/// updates.
template <class T>
[[nodiscard]] ExtendedQr<T> extended_qr(Graph& g, const QrUpdater<T>& updater);

/// Returns whether all elements are finite.
template <class T>
bool all_finite(const ExtendedQr<T>& e);

/// The first rows of a matrix, and the norms of the rest of its columns.
template <class T>
struct FirstRows {
  HostMatrix<T> rows;
  std::vector<real_t<T>> norms_below;  ///< norm of each column below these rows
};

/// Returns the first k rows of B, 0 <= k <= m. Waits for the tasks that write B; throws as Tile::read.
template <class T>
[[nodiscard]] FirstRows<T> first_rows(const TileMatrix<T>& B, index_t k);

}  // namespace tesela
