#pragma once

#include "tools/bench/harness/report.hpp"

namespace tesela::bench {

/// The copy rate of the memory that a benchmark's data lie in, in GB/s, measured now and noted below its table: of the
/// devices that the runtime has, or of the host by all cores.
double noted_copy_ceiling(Report& report, const Runtime& runtime, bool on_device);

/// Measures and notes the rate of a product of square matrices in GFLOP/s: by cuBLAS on the runtime's devices, or by
/// OpenBLAS on all cores.
template <class T>
double noted_gemm_ceiling(Report& report, const Runtime& runtime);

}  // namespace tesela::bench
