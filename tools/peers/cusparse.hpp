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
  static constexpr auto solve = by_type<T, cusparseSgtsv2, cusparseDgtsv2, cusparseCgtsv2, cusparseZgtsv2>;
  static constexpr auto solve_bytes = by_type<T, cusparseSgtsv2_bufferSizeExt, cusparseDgtsv2_bufferSizeExt,
                                              cusparseCgtsv2_bufferSizeExt, cusparseZgtsv2_bufferSizeExt>;
  static constexpr auto nopivot =
      by_type<T, cusparseSgtsv2_nopivot, cusparseDgtsv2_nopivot, cusparseCgtsv2_nopivot, cusparseZgtsv2_nopivot>;
  static constexpr auto nopivot_bytes =
      by_type<T, cusparseSgtsv2_nopivot_bufferSizeExt, cusparseDgtsv2_nopivot_bufferSizeExt,
              cusparseCgtsv2_nopivot_bufferSizeExt, cusparseZgtsv2_nopivot_bufferSizeExt>;
  static constexpr auto strided = by_type<T, cusparseSgtsv2StridedBatch, cusparseDgtsv2StridedBatch,
                                          cusparseCgtsv2StridedBatch, cusparseZgtsv2StridedBatch>;
  static constexpr auto strided_bytes =
      by_type<T, cusparseSgtsv2StridedBatch_bufferSizeExt, cusparseDgtsv2StridedBatch_bufferSizeExt,
              cusparseCgtsv2StridedBatch_bufferSizeExt, cusparseZgtsv2StridedBatch_bufferSizeExt>;
  static constexpr auto interleaved = by_type<T, cusparseSgtsvInterleavedBatch, cusparseDgtsvInterleavedBatch,
                                              cusparseCgtsvInterleavedBatch, cusparseZgtsvInterleavedBatch>;
  static constexpr auto interleaved_bytes =
      by_type<T, cusparseSgtsvInterleavedBatch_bufferSizeExt, cusparseDgtsvInterleavedBatch_bufferSizeExt,
              cusparseCgtsvInterleavedBatch_bufferSizeExt, cusparseZgtsvInterleavedBatch_bufferSizeExt>;
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
