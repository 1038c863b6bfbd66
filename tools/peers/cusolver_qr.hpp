#pragma once

#include <tesela/runtime/types.hpp>

#include <memory>

namespace tesela {

/// Peer: cuSOLVER's QR of one matrix in the memory of CUDA device 0, outside any graph. The matrix is column-major
/// without gaps. All calls wait for the device and throw EnvironmentError if it fails.
template <class T>
class CusolverQr {
 public:
  /// Allocates the matrix and the workspace. Throws EnvironmentError without a CUDA device or enough device memory,
  /// and ArgumentError for sizes beyond cuSOLVER's integers. Q is applied `at_once` reflectors at a time; 0: as many as
  /// cuSOLVER accepts.
  CusolverQr(index_t m, index_t n, index_t at_once = 0);
  ~CusolverQr();
  CusolverQr(const CusolverQr&) = delete;
  CusolverQr& operator=(const CusolverQr&) = delete;

  T* a() const;                                              ///< in device memory
  void upload(const T* a) const;                             ///< from host memory
  void download(T* a) const;                                 ///< to host memory
  void download(T* a, index_t first, index_t count) const;   ///< `count` columns
  void factor() const;                                       ///< LAPACK geqrf
  void form_q() const;                                       ///< the first n columns of Q replace A (LAPACK orgqr)
  void multiply(Op op, T* c, index_t cols) const;            ///< C = op(Q) C in host memory, m x cols (LAPACK ormqr)
  void multiply_on_device(Op op, T* c, index_t cols) const;  ///< the same for a C in device memory
  /// Computes the least squares solution for m >= n: B becomes Q^T B, and its first n rows X = R^-1 times them. B, m x
  /// cols, is in host or device memory.
  void solve(T* b, index_t cols) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tesela
