#pragma once

#include "tools/peers/cusolver_peer.hpp"

// Peers: cuSOLVER's symmetric eigensolvers for dense matrices in device memory.
namespace tesela {

/// cuSOLVER's syevd for one matrix, or syevdx for a part of its spectrum.
template <class T>
class CusolverEig {
 public:
  /// Allocates the matrix and the workspace, for all eigenvalues or, if not 0, the `smallest` ones.
  CusolverEig(index_t n, bool vectors, index_t smallest = 0);

  T* a() const { return a_.template as<T>(); }  ///< the matrix in device memory
  /// Sets the matrix to t(|i - j|), t (n) in host memory.
  void fill_toeplitz(const T* t) const { cusolver::fill_toeplitz(n_, t, a()); }
  /// Sets the matrix to a, n x n in host memory.
  void upload(const T* a) const { bench::copy_memory(this->a(), a, cusolver::bytes_of<T>(n_ * n_)); }
  /// Stores the eigenvalues, ascending, in host memory; overwrites the matrix, with eigenvectors as columns if
  /// requested.
  void solve(real_t<T>* values);
  /// Copies `count` eigenvectors to host memory, n x count.
  void download(T* vectors, index_t count) const {
    bench::copy_memory(vectors, a(), cusolver::bytes_of<T>(n_ * count));
  }

 private:
  cusolver::Session on_;
  index_t n_, count_;
  bool vectors_;
  cusolver::DeviceMemory a_, w_, info_;
  cusolver::Workspace work_;
  std::int64_t found_ = 0;
};

/// cuSOLVER's XsyevBatched for adjacent matrices of one order. It fails for 65536 or more matrices, so larger batches
/// are solved 32768 at a time.
template <class T>
class CusolverEigBatch {
 public:
  CusolverEigBatch(index_t n, index_t count, bool vectors);  ///< allocates `count` matrices of order n

  /// Copies n x (count n) from host memory.
  void upload(const T* a) const { bench::copy_memory(a_.template as<T>(), a, cusolver::bytes_of<T>(n_ * n_ * count_)); }
  void solve();  ///< also throws EnvironmentError if a matrix did not converge
  /// Copies n x count to host memory.
  void values(T* w) const { bench::copy_memory(w, w_.template as<T>(), cusolver::bytes_of<T>(n_ * count_)); }
  /// Copies n x (count n) to host memory.
  void vectors(T* x) const { bench::copy_memory(x, a_.template as<T>(), cusolver::bytes_of<T>(n_ * n_ * count_)); }

 private:
  cusolver::Session on_;
  index_t n_, count_, at_once_;
  bool vectors_;
  cusolver::DeviceMemory a_, w_, info_;
  cusolver::Workspace work_;
  std::vector<int> infos_;
};

/// cuSOLVER's sygvd for A x = lambda B x.
template <class T>
class CusolverGeneralizedEig {
 public:
  /// Allocates both matrices and the workspace. Throws ArgumentError if the sizes exceed cuSOLVER's 32-bit integers.
  CusolverGeneralizedEig(index_t n, bool vectors);

  /// Copies n x n each from host memory.
  void upload(const T* a, const T* b) const {
    bench::copy_memory(a_.template as<T>(), a, bytes_);
    bench::copy_memory(b_.template as<T>(), b, bytes_);
  }
  /// Stores the eigenvalues, ascending, in host memory; overwrites B, and A, with eigenvectors as columns if requested.
  void solve(T* values) const;
  /// Copies n x n to host memory.
  void download(T* vectors) const { bench::copy_memory(vectors, a_.template as<T>(), bytes_); }

 private:
  cusolver::Session on_;
  int n_, size_ = 0;
  bool vectors_;
  std::size_t bytes_;
  cusolver::DeviceMemory a_, b_, w_, info_;
  std::unique_ptr<cusolver::DeviceMemory> work_;
};

}  // namespace tesela
