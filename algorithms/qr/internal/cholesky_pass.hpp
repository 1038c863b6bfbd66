#pragma once

#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/qr/orthogonalize.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/tile_matrix.hpp>

// The steps of a pass of Cholesky QR, A = (A R^-1) R, for A in one tile column.

namespace tesela::detail {

/// Inserts G = A^H A.
template <class T>
void insert_gram(Graph& g, const TileMatrix<T>& A, const Tile<T>& G) {
  for (index_t i = 0; i < A.mt(); ++i)
    if (i == 0)
      g.insert<kernels::Gemm<T, Out>>(on_gpu, {.op_a = adjoint<T>}, A(0, 0), A(0, 0), G);
    else
      g.insert<kernels::Gemm<T>>(on_gpu, {.op_a = adjoint<T>, .beta = 1}, A(i, 0), A(i, 0), G);
}

/// Inserts the computation of G's Cholesky factor R in its place. `info` becomes 0, or the minor that is not positive.
template <class T>
void insert_gram_factor(Graph& g, const Tile<T>& G, const Tile<int>& info) {
  using Factor = kernels::GramCholesky<T>;
  // On a GPU if there is one: a core would keep the GPU waiting.
  g.insert<Factor>(Priority{highest_priority, true}, {}, G, info, g.scratch<T>(Factor::work_size(G.cols()), 1));
}

/// Inserts A = A R^-1.
template <class T>
void insert_solve_right(Graph& g, const Tile<T>& R, const TileMatrix<T>& A) {
  for (index_t i = 0; i < A.mt(); ++i) g.insert<kernels::SolveRight<T>>(on_gpu, {}, R, A(i, 0));
}

}  // namespace tesela::detail
