#pragma once

// Only where there is CUDA.
#include "tools/peers/device.hpp"
#include <tesela/host/by_type.hpp>

#include <cuda_runtime.h>

#include <cusparse.h>

namespace tesela::bench {

/// cuSPARSE's functions for T by one name.
template <class T>
struct CusparseGtsv {
  static constexpr auto solve = by_type<T, cusparseSgtsv2, cusparseDgtsv2>;
  static constexpr auto solve_bytes = by_type<T, cusparseSgtsv2_bufferSizeExt, cusparseDgtsv2_bufferSizeExt>;
  static constexpr auto nopivot = by_type<T, cusparseSgtsv2_nopivot, cusparseDgtsv2_nopivot>;
  static constexpr auto nopivot_bytes =
      by_type<T, cusparseSgtsv2_nopivot_bufferSizeExt, cusparseDgtsv2_nopivot_bufferSizeExt>;
  static constexpr auto strided = by_type<T, cusparseSgtsv2StridedBatch, cusparseDgtsv2StridedBatch>;
  static constexpr auto strided_bytes =
      by_type<T, cusparseSgtsv2StridedBatch_bufferSizeExt, cusparseDgtsv2StridedBatch_bufferSizeExt>;
  static constexpr auto interleaved = by_type<T, cusparseSgtsvInterleavedBatch, cusparseDgtsvInterleavedBatch>;
  static constexpr auto interleaved_bytes =
      by_type<T, cusparseSgtsvInterleavedBatch_bufferSizeExt, cusparseDgtsvInterleavedBatch_bufferSizeExt>;
};

/// A stream of device 0 and a cuSPARSE handle on it.
struct CusparseStream {
  CusparseStream() {
    select_first_device();
    check_device(cudaStreamCreateWithFlags(stream.out(), cudaStreamNonBlocking), "cudaStreamCreate");
    check_device(cusparseCreate(handle.out()), "cusparseCreate");
    check_device(cusparseSetStream(handle, stream), "cusparseSetStream");
  }
  Handle<cudaStream_t, cudaStreamDestroy> stream;
  Handle<cusparseHandle_t, cusparseDestroy> handle;
};

}  // namespace tesela::bench
