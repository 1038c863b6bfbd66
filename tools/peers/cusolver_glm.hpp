#pragma once

#include "tools/peers/cusolver_qr.hpp"
#include <tesela/runtime/types.hpp>

#include <memory>

namespace tesela {

/// Peer: a general linear model with cuSOLVER's routines on CUDA device 0, outside any graph. A = Q R, Q^T B = [B1;
/// B2]; then factors [B2^T B1^T] (`whole`, as Ramiro Sánchez 2010, section 5.2, except for the order of rows) or B2^T
/// alone. Requires n <= m <= n + p and full rank. Throws as CusolverQr.
template <class T>
class CusolverGlm {
 public:
  CusolverGlm(index_t m, index_t n, index_t p, index_t r, bool whole);
  ~CusolverGlm();
  CusolverGlm(const CusolverGlm&) = delete;
  CusolverGlm& operator=(const CusolverGlm&) = delete;

  T* data(int which) const;                     ///< A (0), B (1) and b (2) in device memory, without gaps
  void upload(int which, const T* from) const;  ///< from host memory
  void solve(T* x, T* u) const;                 ///< X, n x r, and U, p x r, in host memory; overwrites A, B and b

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tesela
