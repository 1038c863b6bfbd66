#pragma once

#include "tools/peers/cusolver_peer.hpp"

#include <cstdint>

namespace tesela {

/// Peer: cuSOLVER's factorizations (64-bit potrf and getrf) of one matrix, n x n, in device memory, and their solves.
template <class T>
class CusolverFactor {
 public:
  enum class By : std::uint8_t {
    cholesky,        ///< R in the upper triangle
    cholesky_lower,  ///< L in the lower triangle
    lu,
    lu_without_pivots
  };

  /// Allocates the matrix, r right-hand sides and the workspace, and if `kept` a copy that restores the matrix.
  CusolverFactor(index_t n, By by, bool kept, index_t r = 0);

  void choose(By by);  ///< changes the factorization
  /// Sets the copy from host memory.
  void keep(const T* a) const { bench::copy_memory(original_.template as<T>(), a, bytes_); }
  void put_back() const;  ///< restores the matrix on the device
  void upload(const T* a) const { bench::copy_memory(a_.template as<T>(), a, bytes_); }  ///< from host memory
  void download(T* a) const { bench::copy_memory(a, a_.template as<T>(), bytes_); }      ///< to host memory
  /// Sets the matrix to t(|i - j|), t (n) in host memory.
  void fill_toeplitz(const T* t) const { cusolver::fill_toeplitz(n_, t, a_.template as<T>()); }
  /// Returns LAPACK's info: k if the leading minor of order k is not positive (Cholesky) or pivot k is zero.
  int factor();
  /// Factors, and overwrites B (n x r, without gaps, in host memory) with A^-1 B if info is 0. Returns info.
  int solve(T* b);
  /// Row i of A was exchanged with row swaps()[i], counted from 1; empty without pivots.
  std::vector<int> swaps() const;

 private:
  std::int64_t* pivots() const { return by_ == By::lu ? pivots_.template as<std::int64_t>() : nullptr; }

  cusolver::Session on_;
  index_t n_, r_;
  By by_;
  std::size_t bytes_;  // of A
  cusolver::DeviceMemory a_, original_, b_, pivots_, info_;
  cusolver::Workspace work_;
};

}  // namespace tesela
