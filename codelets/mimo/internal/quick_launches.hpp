#pragma once

#include <tesela/codelets/mimo/internal/hard_batch.hpp>

struct CUstream_st;

// Kernels of QuickDetector, which are compiled in parallel. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

template <class T>
void launch_kbest(const HardBatch<T>& all, CUstream_st* stream);
template <class T>
void launch_nway(const HardBatch<T>& all, CUstream_st* stream);
/// Launches mf, zf and mmse.
template <class T>
void launch_linear(const HardBatch<T>& all, CUstream_st* stream);

}  // namespace tesela::kernels::mimo
