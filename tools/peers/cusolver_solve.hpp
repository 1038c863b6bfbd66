#pragma once

#include <tesela/runtime/types.hpp>

#include <memory>

namespace tesela {

/// Peer: cuSOLVER's solvers (64-bit potrf and getrf with their solves) for one dense symmetric Toeplitz matrix in the
/// memory of CUDA device 0, outside any graph. All calls wait for the device and throw EnvironmentError if it fails.
template <class T>
class CusolverSolve {
 public:
  enum class By : std::uint8_t { cholesky, lu };

  /// Allocates the matrix, n x n, and r right-hand sides. Throws EnvironmentError without a CUDA device, in a build
  /// without CUDA, and without enough device memory.
  CusolverSolve(index_t n, index_t r);
  ~CusolverSolve();
  CusolverSolve(const CusolverSolve&) = delete;
  CusolverSolve& operator=(const CusolverSolve&) = delete;

  /// Sets the matrix to t(|i - j|), t (n) in host memory, and allocates the factorization's workspace. Throws
  /// EnvironmentError without enough device memory.
  void prepare(const T* t, By by) const;
  /// Overwrites B (n x r, without gaps, in host memory) with A^-1 B; the matrix is overwritten. Returns LAPACK's info:
  /// k if the leading minor of order k is not positive (Cholesky) or pivot k is zero; B is then undefined.
  int solve(T* b, By by) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tesela
