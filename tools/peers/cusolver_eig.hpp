#pragma once

#include <tesela/runtime/types.hpp>

#include <memory>

namespace tesela {

/// Peer: cuSOLVER's symmetric eigensolver (syevd, or syevdx for a part) for one dense matrix in the memory of CUDA
/// device 0, outside any graph. All calls wait for the device and throw EnvironmentError if it fails.
template <class T>
class CusolverEig {
 public:
  /// Allocates the matrix and the workspace, for all eigenvalues or, if not 0, the `smallest` ones. Throws
  /// EnvironmentError without a CUDA device, in a build without CUDA, and without enough device memory.
  CusolverEig(index_t n, bool vectors, index_t smallest = 0);
  ~CusolverEig();
  CusolverEig(const CusolverEig&) = delete;
  CusolverEig& operator=(const CusolverEig&) = delete;

  T* a() const;  ///< the matrix in device memory; null without CUDA
  /// Sets the matrix to t(|i - j|), t (n) in host memory.
  void fill_toeplitz(const T* t) const;
  /// Sets the matrix to a, n x n in host memory.
  void upload(const T* a) const;
  /// Stores the eigenvalues, ascending, in host memory; overwrites the matrix, with eigenvectors as columns if
  /// requested.
  void solve(T* values) const;
  /// Copies `count` eigenvectors to host memory, n x count.
  void download(T* vectors, index_t count) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tesela
