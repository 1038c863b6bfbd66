#pragma once

#include <tesela/runtime/types.hpp>

#include <memory>

namespace tesela {

/// cuSOLVER's solvers (its 64-bit potrf and getrf, and what solves with their factors) for one dense symmetric Toeplitz
/// matrix in the memory of CUDA device 0, outside any graph: a peer. All calls wait for the device and throw
/// EnvironmentError when it fails.
template <class T>
class CusolverSolve {
 public:
  enum class By : std::uint8_t { cholesky, lu };

  /// Allocates the matrix, n x n, and r right-hand sides. Throws EnvironmentError without a CUDA device, in a build
  /// without CUDA and without enough device memory.
  CusolverSolve(index_t n, index_t r);
  ~CusolverSolve();
  CusolverSolve(const CusolverSolve&) = delete;
  CusolverSolve& operator=(const CusolverSolve&) = delete;

  /// The matrix <- t(|i - j|), t (n) in host memory, with the workspace that the factorization asks for. Throws
  /// EnvironmentError without enough device memory.
  void prepare(const T* t, By by) const;
  /// B (n x r, without gaps, in host memory) = A^-1 B; the matrix is lost. Answers LAPACK's info, B being lost where it
  /// is not 0: k when the leading minor of order k is not positive (Cholesky) or pivot k is zero.
  int solve(T* b, By by) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tesela
