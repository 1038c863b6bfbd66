#pragma once

#include "tools/peers/cusolver_peer.hpp"

namespace tesela {

/// Peer: cuSOLVER's QR of one matrix in device memory, column-major without gaps.
template <class T>
class CusolverQr {
 public:
  /// Allocates the matrix and the workspace. Throws ArgumentError for sizes beyond cuSOLVER's integers. Q is applied
  /// `at_once` reflectors at a time; 0: as many as cuSOLVER accepts.
  CusolverQr(index_t m, index_t n, index_t at_once = 0);

  T* a() const { return a_.template as<T>(); }               ///< in device memory
  cublasContext* blas() const { return on_.blas; }           ///< on device 0
  void upload(const T* a) const;                             ///< from host memory
  void download(T* a) const { download(a, 0, n_); }          ///< to host memory
  void download(T* a, index_t first, index_t count) const;   ///< `count` columns
  void factor() const;                                       ///< LAPACK geqrf
  void form_q() const;                                       ///< the first n columns of Q replace A (LAPACK orgqr)
  void multiply(Op op, T* c, index_t cols) const;            ///< C = op(Q) C in host memory, m x cols (LAPACK ormqr)
  void multiply_on_device(Op op, T* c, index_t cols) const;  ///< the same for a C in device memory
  /// Computes the least squares solution for m >= n: B becomes Q^H B, and its first n rows X = R^-1 times them. B, m x
  /// cols, is in host or device memory.
  void solve(T* b, index_t cols) const;

 private:
  int work_size();
  void apply_reflectors(Op op, index_t first, index_t reflectors, T* c, index_t cols) const;

  cusolver::Session on_;
  int m_, n_, k_, lwork_ = 0;
  index_t at_once_;
  cusolver::DeviceMemory a_, tau_, info_, work_;
  mutable std::unique_ptr<cusolver::DeviceMemory> q_work_;  // made by the first form_q; a second one is timed without
};

}  // namespace tesela
