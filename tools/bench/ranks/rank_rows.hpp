#pragma once

#include <tesela/runtime/runtime.hpp>

#include <string>

// Declarations that the rows of tesela-rank-rows share.

namespace tesela::bench {

/// The result of one method: its seconds, and its error relative to the bound.
struct RankRun {
  double seconds = 0, error = 0;
};

/// Sizes of a row.
struct RankProblem {
  index_t m = 0, n = 0;
  bool check = true;  ///< else the result is taken for right: it was, the time before
};

// Our graphs, with this Runtime, whatever the ranks: data are made, the graph is timed, the result is checked.
RankRun rank_gemm(Runtime& runtime, RankProblem problem);
RankRun rank_qr(Runtime& runtime, RankProblem problem);
RankRun rank_tall_skinny(Runtime& runtime, RankProblem problem);
RankRun rank_tridiagonal(Runtime& runtime, RankProblem problem);
RankRun rank_toeplitz(Runtime& runtime, RankProblem problem);

/// Inserts the QR factorization of tiles x tiles tiles as one of 64 ranks, tasks off, and prints the time and memory.
void print_insertion(index_t tiles, const std::string& tree, const std::string& rank_tree);

/// ScaLAPACK's, on a grid of rows x columns ranks with blocks of nb; all ranks call them. Built where ScaLAPACK is.
RankRun scalapack_gemm(RankProblem problem, int rows, int columns, index_t nb);
RankRun scalapack_qr(RankProblem problem, int rows, int columns, index_t nb);

}  // namespace tesela::bench
