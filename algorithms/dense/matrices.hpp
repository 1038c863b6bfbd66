#pragma once

#include <tesela/codelets/dense/cholesky.hpp>
#include <tesela/codelets/support/fill.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

namespace tesela {

/// Inserts a task for each tile of A that writes its elements from `generator`.
template <class T>
void fill(Graph& g, const TileMatrix<T>& A, Generator<T> generator) {
  generator.rows = A.m();
  generator.columns = A.n();
  A.for_each_tile([&](Tile<T> tile, index_t row, index_t column) {
    g.insert<kernels::Fill<T>>({generator, row, column}, tile);
  });
}

/// Inserts A = alpha A; alpha = 0 writes zeros and ignores the contents of A.
template <class T>
void scale(Graph& g, T alpha, const TileMatrix<T>& A) {
  if (alpha == T(0)) return fill(g, A, Generator<T>{});
  if (alpha == T(1)) return;
  A.for_each_tile([&](Tile<T> tile, index_t, index_t) { g.insert<kernels::Scal<T>>({alpha}, tile); });
}

/// Computes X = op(R)^-1 X (LAPACK trtrs without its test for singularity).
///
/// R      n x n in host memory; its upper triangle is read. A zero on the diagonal gives infinities and NaN.
/// X      n x r in host memory, overwritten. 64 columns are a task; the calling thread computes up to 64.
/// Waits  for the graph; throws as Graph::wait does.
template <class T>
void triangular_solve(Graph& g, Op op, const HostMatrix<T>& R, HostMatrix<T>& X);

/// Returns an estimate of the reciprocal of R's condition in the 1-norm, R upper triangular (LAPACK trcon).
template <class T>
double triangular_condition(const HostMatrix<T>& R);

}  // namespace tesela
