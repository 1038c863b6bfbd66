#pragma once

#include "tools/bench/harness/report.hpp"

namespace tesela::bench {

/// Measures the copy rate in GB/s of the memory that holds a benchmark's data, on the runtime's devices or on the host
/// by all cores, and notes it below the table.
double measure_copy_ceiling(Report& report, const Runtime& runtime, bool on_device);

/// Measures and notes the rate of a product of square matrices in GFLOP/s: cuBLAS on the runtime's devices, or OpenBLAS
/// on all cores.
template <class T>
double measure_gemm_ceiling(Report& report, const Runtime& runtime);

}  // namespace tesela::bench
