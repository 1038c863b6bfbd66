#pragma once

#include "tools/bench/harness/report.hpp"

namespace tesela::bench {

/// The copy rate of the memory that a benchmark's data lie in, in GB/s, measured now and noted below its table: of the
/// devices that the runtime has, or of the host by all cores.
double noted_copy_ceiling(Report& report, const Runtime& runtime, bool on_device);

/// The rate of a product of square matrices in GFLOP/s, measured and noted likewise: cuBLAS on the devices that the
/// runtime has, or OpenBLAS on all cores.
template <class T>
double noted_gemm_ceiling(Report& report, const Runtime& runtime);

}  // namespace tesela::bench
