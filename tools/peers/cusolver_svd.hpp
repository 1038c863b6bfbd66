#pragma once

#include "tools/peers/cusolver_peer.hpp"
#include <tesela/runtime/scalar.hpp>

#include <cstdint>

struct gesvdjInfo;

// Peers: cuSOLVER's singular value decompositions of matrices in device memory.
namespace tesela {

/// A routine of cuSOLVER.
enum class CusolverSvdRoutine : std::uint8_t {
  gesvd,   ///< QR iteration
  gesvdp,  ///< polar decomposition
  gesvdj   ///< one-sided Jacobi rotations
};

/// One m x n matrix, m >= n, with min(m, n) vectors on each side or none. gesvdj is for real numbers.
template <class T>
class CusolverSvd {
 public:
  /// Allocates the matrix and the workspace. Throws ArgumentError if m < n or if gesvdj's sizes exceed 32 bits.
  CusolverSvd(CusolverSvdRoutine routine, index_t m, index_t n, bool vectors);
  ~CusolverSvd();
  CusolverSvd(const CusolverSvd&) = delete;
  CusolverSvd& operator=(const CusolverSvd&) = delete;

  /// Copies m x n from host memory.
  void upload(const T* a) const { bench::copy_memory(a_.template as<T>(), a, cusolver::bytes_of<T>(m_ * n_)); }
  /// Stores the values, descending, in host memory; overwrites the matrix.
  void solve(real_t<T>* values);
  /// Copies U, m x n, and V, n x n, to host memory; gesvd computes V^H.
  void download(T* u, T* v) const {
    bench::copy_memory(u, u_.template as<T>(), cusolver::bytes_of<T>(m_ * n_));
    bench::copy_memory(v, v_.template as<T>(), cusolver::bytes_of<T>(n_ * n_));
  }
  /// Returns whether download() copies V^H.
  bool transposed() const { return routine_ == CusolverSvdRoutine::gesvd; }

 private:
  cusolver::Session on_;
  CusolverSvdRoutine routine_;
  index_t m_, n_;
  bool vectors_;
  cusolver::DeviceMemory a_, s_, u_, v_, info_;
  cusolver::Workspace work_;
  gesvdjInfo* jacobi_ = nullptr;
};

/// cuSOLVER's gesvdjBatched for adjacent matrices of one shape.
template <class T>
class CusolverSvdBatch {
 public:
  static constexpr index_t largest = 32;  ///< largest m and n of the library

  /// Allocates `count` m x n matrices. Throws ArgumentError for larger ones.
  CusolverSvdBatch(index_t m, index_t n, index_t count, bool vectors);
  ~CusolverSvdBatch();
  CusolverSvdBatch(const CusolverSvdBatch&) = delete;
  CusolverSvdBatch& operator=(const CusolverSvdBatch&) = delete;

  /// Copies m x (n count) from host memory.
  void upload(const T* a) const { bench::copy_memory(a_.template as<T>(), a, cusolver::bytes_of<T>(m_ * n_ * count_)); }
  /// Solves; also throws EnvironmentError if the library rejects a matrix.
  void solve();
  /// Copies the values, min(m, n) x count, and with vectors U, m x (m count), and V, n x (n count), to host memory.
  void download(T* s, T* u, T* v) const;

 private:
  cusolver::Session on_;
  index_t m_, n_, count_;
  bool vectors_;
  cusolver::DeviceMemory a_, s_, u_, v_, info_;
  cusolver::Workspace work_;
  int size_ = 0;
  gesvdjInfo* jacobi_ = nullptr;
};

}  // namespace tesela
