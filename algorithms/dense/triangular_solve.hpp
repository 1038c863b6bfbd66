#pragma once

#include <tesela/codelets/dense/trsm.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>

namespace tesela {

/// Computes X = op(R)^-1 X (LAPACK trtrs without its test for singularity).
///
/// R      n x n in host memory; its upper triangle is read. A zero on the diagonal gives infinities and NaN.
/// X      n x r in host memory, overwritten. Its columns are divided among the workers.
/// Waits  for the graph; throws as Graph::wait does.
template <class T>
void triangular_solve(Graph& g, Op op, const HostMatrix<T>& R, HostMatrix<T>& X);

}  // namespace tesela
