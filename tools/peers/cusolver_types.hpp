#pragma once

#include <tesela/host/by_type.hpp>

#include <cuda_runtime.h>

#include <cusolverDn.h>

// Arguments of cuSOLVER; only builds with CUDA include them.
namespace tesela::cusolver {

template <class T>
constexpr cudaDataType type = by_type<T, CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F>;

inline cusolverEigMode_t job(bool vectors) { return vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR; }

}  // namespace tesela::cusolver
