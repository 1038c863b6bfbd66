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
/// Status  Graph::wait() returns i + 1 + n s if row i of system s has a zero diagonal (rd: du) at its elimination, or a
///         number there is not finite; with rd and cr_rd n + n s if the residual ||A x - b|| / (||A|| ||x|| + ||b||) of
///         system s exceeds 64 roundings. X of that system is undefined then.
/// Throws  ArgumentError, with nothing inserted, if shapes do not conform or options.cut < 1.
/// Method  A GPU solves each system with one thread block, a core one system after another. Parallel cyclic reduction
///         (Hockney and Jesshope) needs O(n log n) work in log2(n) steps; recursive doubling (Stone) is a scan of as
///         many steps; the hybrids first reduce to `cut` rows with O(n) work (Y. Zhang, J. Cohen, J. D. Owens, Fast
///         Tridiagonal Solvers on the GPU, PPoPP 2010). A GPU keeps up to 512 rows (single precision: 1024) in shared
///         memory, longer systems in global memory. Products of recursive doubling grow like the solution's recurrence:
///         for dominant matrices they overflow, or lose all digits, within some hundred rows, and a zero in du stops
///         them. Therefore rd and cr_rd measure their residuals.
template <class T>
void parallel_reduction(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                        const ParallelReductionOptions& options = {});

}  // namespace tesela
