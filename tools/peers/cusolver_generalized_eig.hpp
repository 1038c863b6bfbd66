#pragma once

#include <tesela/runtime/types.hpp>

#include <memory>

namespace tesela {

/// Peer: cuSOLVER's sygvd for A x = lambda B x, dense, in the memory of CUDA device 0, outside any graph. All calls
/// wait for the device and throw EnvironmentError if it fails.
template <class T>
class CusolverGeneralizedEig {
 public:
  /// Allocates both matrices and the workspace. Throws EnvironmentError without a CUDA device, in a build without CUDA,
  /// and without enough device memory, and ArgumentError if the sizes exceed cuSOLVER's 32-bit integers.
  CusolverGeneralizedEig(index_t n, bool vectors);
  ~CusolverGeneralizedEig();
  CusolverGeneralizedEig(const CusolverGeneralizedEig&) = delete;
  CusolverGeneralizedEig& operator=(const CusolverGeneralizedEig&) = delete;

  void upload(const T* a, const T* b) const;  ///< n x n each, from host memory
  /// Stores the eigenvalues, ascending, in host memory; overwrites B, and A, with eigenvectors as columns if requested.
  void solve(T* values) const;
  void download(T* vectors) const;  ///< n x n to host memory

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tesela
