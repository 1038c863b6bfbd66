#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

namespace tesela {

using kernels::GemmKernel;

std::span<const Named<GemmKernel>> gemm_kernels();

struct GemmOptions {
  GemmKernel kernel = GemmKernel::cublas;  ///< what GPUs run
  int block = 32;                          ///< thread-block edge of naive, shared and coarse: 16 or 32
  bool bring_home = false;                 ///< send each tile of C to the host as soon as it is final
  Priority priority = {};                  ///< of the tasks
};

/// BLAS gemm: C = alpha op(A) op(B) + beta C over tiles, with op(A) m x k, op(B) k x n and C m x n, any of them 0.
/// A's, B's and C's tiles must cut m, n and k at the same places. As in BLAS, beta = 0 ignores what C held (which may
/// be nothing) and alpha = 0 or k = 0 ignores A and B. Inserts into the graph and returns; Graph::wait waits.
/// Throws ArgumentError, with nothing inserted, when shapes or tilings do not conform, when C shares tiles with A or B,
/// when a tile or a leading dimension exceeds BLAS's 31 bits, and for a block that is neither 16 nor 32.
template <class T>
void gemm(Graph& g, Op op_a, Op op_b, T alpha, const TileMatrix<T>& A, const TileMatrix<T>& B, T beta,
          const TileMatrix<T>& C, const GemmOptions& options = {});

/// How a product is cut: C into mb x nb, op(A) into mb x kb, op(B) into kb x nb.
struct GemmTile {
  index_t mb = 0, nb = 0, kb = 0;
};

/// The tiles that suit the runtime's workers for the product of an m x k and a k x n matrix.
GemmTile suitable_gemm_tile(const Runtime& runtime, index_t m, index_t n, index_t k);

}  // namespace tesela
