#pragma once

#include "tools/peers/cusolver_qr.hpp"
#include <tesela/runtime/types.hpp>

#include <memory>

namespace tesela {

/// Peer: least squares with equality constraints with cuSOLVER's routines on CUDA device 0, outside any graph. A = Q R
/// and Q^T b; C^T = P [S; 0]; S^T y1 = d; and y2 by a QR factorization of the last columns of R P. Requires p < n <= m
/// and full ranks. Throws as CusolverQr.
template <class T>
class CusolverLse {
 public:
  CusolverLse(index_t m, index_t n, index_t p, index_t r);
  ~CusolverLse();
  CusolverLse(const CusolverLse&) = delete;
  CusolverLse& operator=(const CusolverLse&) = delete;

  T* data(int which) const;                     ///< A (0), b (1), C (2) and d (3) in device memory, without gaps
  void upload(int which, const T* from) const;  ///< from host memory
  void solve(T* x) const;                       ///< X, n x r, in host memory; overwrites A, b, C and d

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tesela
