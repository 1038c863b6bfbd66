#pragma once

#include <tesela/codelets/mimo/internal/detection_batch.hpp>

struct CUstream_st;

// Kernels of GpuDetector, which are compiled in parallel. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

template <class T>
void launch_kbest(const DetectionBatch<T>& all, CUstream_st* stream);
template <class T>
void launch_nway(const DetectionBatch<T>& all, CUstream_st* stream);
/// Launches mf, zf and mmse.
template <class T>
void launch_linear(const DetectionBatch<T>& all, CUstream_st* stream);

}  // namespace tesela::kernels::mimo
