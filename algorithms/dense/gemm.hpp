#pragma once

#include <tesela/algorithms/dense/products.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/matrix_view.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <type_traits>

namespace tesela {

/// Tile sizes of a product: C in mb x nb, op(A) in mb x kb, op(B) in kb x nb.
struct GemmTile {
  index_t mb = 0, nb = 0, kb = 0;
};

/// Options of gemm.
struct GemmOptions {
  GemmKernel kernel = GemmKernel::automatic;       ///< kernel on GPUs; gemm_kernel() decides about automatic
  int block = 32;                                  ///< edge of the thread blocks of naive, shared and coarse: 16 or 32
  bool bring_home = false;                         ///< send each tile of C to the host after its last task
  Priority priority = {};                          ///< priority of the tasks
  GemmTile tile = {};                              ///< tiles of matrices in memory; zeros select them
  GemmAccuracy accuracy = GemmAccuracy::normwise;  ///< of products by residues
};

/// Inserts C = alpha op(A) op(B) + beta C (BLAS gemm).
///
/// A, B, C  op(A) m x k, op(B) k x n, C m x n; any size may be 0. Their tiles must cut m, n and k at the same places.
///          As in BLAS, beta = 0 ignores the contents of C, and alpha = 0 or k = 0 ignores A and B. T is float, double
///          or a std::complex of them; GPUs multiply complex numbers by cuBLAS.
/// Throws   ArgumentError, with nothing inserted, if shapes or tilings do not conform, if C shares tiles with A or B,
///          if a tile or a leading dimension exceeds the 31 bits of BLAS, or if options.block is neither 16 nor 32.
template <class T>
void gemm(Graph& g, Op op_a, Op op_b, T alpha, const TileMatrix<T>& A, const TileMatrix<T>& B, T beta,
          const TileMatrix<T>& C, const GemmOptions& options = {});

/// Computes the product of matrices in memory: chooses the tiles, and waits. Returns the status of the graph.
template <class T>
Status gemm(Runtime& runtime, Op op_a, Op op_b, T alpha, std::type_identity_t<MatrixView<const T>> a,
            std::type_identity_t<MatrixView<const T>> b, T beta, std::type_identity_t<MatrixView<T>> c,
            const GemmOptions& options = {});

/// Returns the tile sizes for the product of an m x k and a k x n matrix on the workers of `runtime`. `on_devices`: the
/// matrices are in the memory of GPUs, so that no transfer needs small tiles.
GemmTile gemm_tile(const Runtime& runtime, index_t m, index_t n, index_t k, bool on_devices = false);

}  // namespace tesela
