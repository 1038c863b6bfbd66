#pragma once

/// For what a core and a GPU both compile.
#ifdef __CUDACC__
#define TESELA_BOTH __host__ __device__
#else
#define TESELA_BOTH
#endif
