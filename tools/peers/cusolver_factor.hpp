#pragma once

#include <tesela/runtime/types.hpp>

#include <memory>
#include <vector>

namespace tesela {

/// Peer: cuSOLVER's factorizations (64-bit potrf and getrf) of one matrix, n x n, in the memory of CUDA device 0,
/// outside any graph. All calls wait for the device and throw EnvironmentError if it fails.
template <class T>
class CusolverFactor {
 public:
  enum class By : std::uint8_t { cholesky, lu, lu_without_pivots };

  /// Allocates the matrix, if `kept` a copy from which to restore it, and the workspace. Throws EnvironmentError
  /// without a CUDA device, in a build without CUDA, and without enough device memory.
  CusolverFactor(index_t n, By by, bool kept);
  ~CusolverFactor();
  CusolverFactor(const CusolverFactor&) = delete;
  CusolverFactor& operator=(const CusolverFactor&) = delete;

  void keep(const T* a) const;    ///< sets the copy from host memory
  void put_back() const;          ///< restores the matrix on the device
  void upload(const T* a) const;  ///< from host memory
  void download(T* a) const;      ///< to host memory
  /// Returns LAPACK's info. The Cholesky factor R is in the upper triangle.
  int factor() const;
  /// Row i of A was exchanged with row swaps()[i], counted from 1; empty without pivots.
  std::vector<int> swaps() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tesela
