#pragma once

// Only where there is CUDA.
#include "bench/harness/device.hpp"

#include <cuda_runtime.h>

#include <cusparse.h>

namespace tesela::bench {

/// cuSPARSE's functions for T by one name.
template <class T>
struct CusparseGtsv;
template <>
struct CusparseGtsv<float> {
  static constexpr auto solve = cusparseSgtsv2;
  static constexpr auto solve_bytes = cusparseSgtsv2_bufferSizeExt;
  static constexpr auto nopivot = cusparseSgtsv2_nopivot;
  static constexpr auto nopivot_bytes = cusparseSgtsv2_nopivot_bufferSizeExt;
  static constexpr auto strided = cusparseSgtsv2StridedBatch;
  static constexpr auto strided_bytes = cusparseSgtsv2StridedBatch_bufferSizeExt;
  static constexpr auto interleaved = cusparseSgtsvInterleavedBatch;
  static constexpr auto interleaved_bytes = cusparseSgtsvInterleavedBatch_bufferSizeExt;
};
template <>
struct CusparseGtsv<double> {
  static constexpr auto solve = cusparseDgtsv2;
  static constexpr auto solve_bytes = cusparseDgtsv2_bufferSizeExt;
  static constexpr auto nopivot = cusparseDgtsv2_nopivot;
  static constexpr auto nopivot_bytes = cusparseDgtsv2_nopivot_bufferSizeExt;
  static constexpr auto strided = cusparseDgtsv2StridedBatch;
  static constexpr auto strided_bytes = cusparseDgtsv2StridedBatch_bufferSizeExt;
  static constexpr auto interleaved = cusparseDgtsvInterleavedBatch;
  static constexpr auto interleaved_bytes = cusparseDgtsvInterleavedBatch_bufferSizeExt;
};

/// A stream of device 0 and a cuSPARSE handle on it.
struct CusparseStream {
  CusparseStream() {
    select_first_device();
    check_device(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check_device(cusparseCreate(&handle), "cusparseCreate");
    check_device(cusparseSetStream(handle, stream), "cusparseSetStream");
  }
  ~CusparseStream() {
    cusparseDestroy(handle);
    cudaStreamDestroy(stream);
  }
  CusparseStream(const CusparseStream&) = delete;
  CusparseStream& operator=(const CusparseStream&) = delete;
  cudaStream_t stream = nullptr;
  cusparseHandle_t handle = nullptr;
};

}  // namespace tesela::bench
