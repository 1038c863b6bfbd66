#pragma once

#include <tesela/codelets/dense/gemm_launch.hpp>

namespace tesela::kernels {

/// What gemm_bulk() returns where it does not apply, and has enqueued nothing.
inline constexpr int gemm_bulk_declines = -1;

/// xGEMM in double for compute capability 9.0: the copies are the hardware's, and four warps of a block only ask for
/// them. Declines on other devices, where an operand does not lie at 16 bytes with an even leading dimension, and where
/// C makes fewer tiles than `least_tiles` (0: than blocks that a device holds at once).
int gemm_bulk(CUstream_st* stream, const GemmProblem<double>& problem, index_t least_tiles = 0);

}  // namespace tesela::kernels
