#pragma once

#include <tesela/runtime/types.hpp>

// A team performs an iteration's steps: a thread block, in groups that are parts of a warp, or one core. The steps are
// written once for both. A team has
//   rank, size       this thread, and the number of threads
//   group, groups    its group, and the number of groups
//   lane, lanes      its place in the group, and the number of places
//   narrow()         the same threads in smaller groups
//   sync()           a barrier of all; together() a barrier of the group
//   sum              over the lanes of a group; dot, axpy, scale of contiguous vectors, each by a group
//   product          C = A B by all, with barriers around it
//   alone            whether it is one core; such a team has
//   Strip            neighbouring rows in vectors, with get(), put() and meet() as for numbers
// Internal to codelets/.

#ifdef __CUDACC__
#define TESELA_STEP __device__ inline
#define TESELA_UNROLL _Pragma("unroll")
#else
#define TESELA_STEP inline __attribute__((always_inline))
#define TESELA_UNROLL _Pragma("GCC unroll 4")
#endif
