#pragma once

#include "tools/peers/cusolver_eig.hpp"
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela {

/// symmetric_eig of a matrix in host memory by one call of cuSOLVER's syevd on device 0: A's lower triangle is read,
/// and scaled by a power of two first. Parts are taken from the whole. All calls throw EnvironmentError where the
/// device fails.
template <class T>
class CusolverSymmetricEig {
 public:
  /// Throws EnvironmentError without a CUDA device and without enough device memory. `a` must outlive this.
  CusolverSymmetricEig(const HostMatrix<T>& a, bool vectors);

  void prepare();  ///< a copy of A in host memory, before each solve()
  void solve();    ///< the call with its transfers; nothing where A is not finite
  /// Of the last solve(). The vectors that options ask for, a column each, are moved to `vectors`.
  SymmetricEig<T> result(const SymmetricEigOptions& options, HostMatrix<T>& vectors);

 private:
  const HostMatrix<T>* a_;
  bool vectors_;
  SymmetricEigStatus status_;
  int exponent_ = 0;
  CusolverEig<T> device_;
  HostMatrix<T> work_;
  std::vector<T> values_;
};

}  // namespace tesela
