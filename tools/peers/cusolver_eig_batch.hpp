#pragma once

#include <tesela/runtime/types.hpp>

#include <memory>

namespace tesela {

/// Peer: cuSOLVER's XsyevBatched for symmetric matrices of one order, adjacent in the memory of CUDA device 0, outside
/// any graph. It fails for 65536 or more matrices, so larger batches are solved 32768 at a time. All calls wait for the
/// device and throw EnvironmentError if it fails.
template <class T>
class CusolverEigBatch {
 public:
  /// Allocates `count` matrices of order n and the workspace. Throws EnvironmentError without a CUDA device, in a build
  /// without CUDA, and without enough device memory.
  CusolverEigBatch(index_t n, index_t count, bool vectors);
  ~CusolverEigBatch();
  CusolverEigBatch(const CusolverEigBatch&) = delete;
  CusolverEigBatch& operator=(const CusolverEigBatch&) = delete;

  void upload(const T* a) const;  ///< n x (count n) from host memory
  void solve() const;             ///< also throws EnvironmentError if a matrix did not converge
  void values(T* w) const;        ///< n x count to host memory
  void vectors(T* x) const;       ///< n x (count n) to host memory

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tesela
