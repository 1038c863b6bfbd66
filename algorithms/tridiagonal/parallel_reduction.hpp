#pragma once

#include <tesela/codelets/tridiagonal/parallel_reduction.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tridiagonal.hpp>

namespace tesela {

using kernels::ParallelReduction;

struct ParallelReductionOptions {
  ParallelReduction variant = ParallelReduction::pcr;
  index_t cut = 256;  ///< of cr_pcr and cr_rd: rows that cyclic reduction leaves
};

/// B <- X where A X = B, for many small systems, without pivoting: a GPU gives each a block of threads, which share all
/// of it; a core takes one after the other. Parallel cyclic reduction (Hockney and Jesshope) takes O(n log n) work in
/// log2(n) steps, recursive doubling (Stone) a scan of as many; the hybrids reduce by O(n) work until `cut` rows are
/// left (Y. Zhang, J. Cohen, J. D. Owens, Fast Tridiagonal Solvers on the GPU, PPoPP 2010). Each column of B is a
/// system; A's diagonals are as large as B, or n x 1 for all. Any tiles will do, but whole columns are gathered; those
/// of larger diagonals are as wide as B's. A is not changed, and its dl(0) and du(n - 1) are not read. A GPU keeps up
/// to 512 rows (single: 1024) in shared memory, and more of them in its own.
///
/// Products of recursive doubling grow like the solution's own recursion: on dominant matrices it overflows, or loses
/// all digits, within some hundred rows, and it cannot pass a du that is zero. So it measures what it found, as the
/// others here do not. Inserts into the graph and returns; Graph::wait() says i + 1 + n s when row i of system s has a
/// zero diagonal (rd: du) where it eliminates, or when something there is not finite, and with rd and cr_rd n + n s
/// when the residual ||A x - b|| / (||A|| ||x|| + ||b||) of system s exceeds 64 roundings. X of that system is
/// worthless then. Throws ArgumentError, with nothing inserted, when shapes do not fit or options.cut is less than 1.
template <class T>
void parallel_reduction(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                        const ParallelReductionOptions& options = {});

}  // namespace tesela
