#pragma once

/// Marks functions that are compiled for both cores and GPUs.
#ifdef __CUDACC__
#define TESELA_BOTH __host__ __device__
#else
#define TESELA_BOTH
#endif
