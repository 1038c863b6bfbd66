#pragma once

#include <tesela/codelets/tridiagonal/parallel_reduction.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tridiagonal.hpp>

namespace tesela {

using kernels::ParallelReduction;

/// Options of parallel_reduction.
struct ParallelReductionOptions {
  ParallelReduction variant = ParallelReduction::pcr;
  index_t cut = 256;  ///< for cr_pcr and cr_rd: rows at which cyclic reduction stops
};

/// Inserts the solution B = A^-1 B of many small systems without pivoting.
///
/// A       its diagonals have the shape of B, or are n x 1 for all systems; only read. dl(0) and du(n - 1) are not
///         read.
/// B       each column is a system; overwritten by X. Any tiles are allowed, but tiles of whole columns avoid a copy.
///         Tiles of A with several columns are as wide as B's.
/// Status  Graph::wait() returns i + 1 + n s if row i of system s has a zero diagonal at its elimination, or a number
///         there is not finite; with rd and cr_rd n + n s if the backward error ||A x - b|| / (||A|| ||x|| + ||b||) of
///         system s, with rows scaled to one size, exceeds 64 roundings. X of that system is undefined then.
/// Throws  ArgumentError, with nothing inserted, if shapes do not conform or options.cut < 1.
/// Method  A GPU solves each real system with one thread block, a core one system after another. Parallel cyclic
///         reduction (Hockney and Jesshope) needs O(n log n) work in log2(n) steps; recursive doubling (Stone) is a
///         scan of as many steps; the hybrids first reduce to `cut` rows with O(n) work (Y. Zhang, J. Cohen, J. D.
///         Owens, Fast Tridiagonal Solvers on the GPU, PPoPP 2010). A GPU keeps up to 614 rows (single precision: 1228)
///         in shared memory, longer systems in global memory. Recursive doubling multiplies steps of leading minors,
///         whose ratios are the pivots. If A is not dominant, these products lose digits. Therefore rd and cr_rd
///         measure the backward error, and above 8 roundings correct X by the solution of A y = b - A x, up to four
///         times.
template <class T>
void parallel_reduction(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                        const ParallelReductionOptions& options = {});

}  // namespace tesela
