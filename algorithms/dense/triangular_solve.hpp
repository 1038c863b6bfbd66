#pragma once

#include <tesela/codelets/dense/trsm.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>

namespace tesela {

/// X = op(R)^-1 X, LAPACK trtrs without its test, for the upper triangle R, n x n, and an n x r X in host memory: the
/// columns are divided among the workers. A zero on R's diagonal gives infinities and NaN. Waits for the graph, and
/// throws as Graph::wait does.
template <class T>
void triangular_solve(Graph& g, Op op, const HostMatrix<T>& R, HostMatrix<T>& X);

}  // namespace tesela
