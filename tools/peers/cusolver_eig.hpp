#pragma once

#include <tesela/runtime/types.hpp>

#include <memory>

namespace tesela {

/// cuSOLVER's symmetric eigensolver (syevd, of a part syevdx) for one dense matrix in the memory of CUDA device 0,
/// outside any graph: a peer. All calls wait for the device and throw EnvironmentError when it fails.
template <class T>
class CusolverEig {
 public:
  /// Allocates the matrix and the workspace, for all eigenvalues, or the `smallest` ones where that is not 0. Throws
  /// EnvironmentError without a CUDA device, in a build without CUDA and without enough device memory.
  CusolverEig(index_t n, bool vectors, index_t smallest = 0);
  ~CusolverEig();
  CusolverEig(const CusolverEig&) = delete;
  CusolverEig& operator=(const CusolverEig&) = delete;

  T* a() const;  ///< the matrix in device memory; null without CUDA
  /// The matrix <- t(|i - j|), t (n) in host memory.
  void fill_toeplitz(const T* t) const;
  /// The matrix <- a, n x n in host memory.
  void upload(const T* a) const;
  /// Its eigenvalues, ascending, to host memory; the matrix becomes the eigenvectors, a column each, or is lost.
  void solve(T* values) const;
  /// So many eigenvectors to host memory, n x count.
  void download(T* vectors, index_t count) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tesela
