#pragma once

#include <tesela/codelets/dense/gemm_launch.hpp>

namespace tesela::kernels {

/// Returned by gemm_bulk() if it does not apply; it has enqueued nothing then.
inline constexpr int gemm_bulk_declines = -1;

/// Multiplies doubles on compute capability 9.0 with copies by the hardware, which extra warps of each block request.
/// Declines on other devices, if an operand is not aligned to 16 bytes or has an odd leading dimension, and if C has
/// fewer tiles than `least_tiles` (0: the number of blocks that a device runs at once).
int gemm_bulk(CUstream_st* stream, const GemmProblem<double>& problem, index_t least_tiles = 0);

}  // namespace tesela::kernels
