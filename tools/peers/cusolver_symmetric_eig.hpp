#pragma once

#include "tools/peers/cusolver_eig.hpp"
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela {

/// Peer: symmetric_eig of a host matrix by one call of cuSOLVER's syevd on device 0. Reads A's lower triangle and
/// scales it by a power of two. Parts are selected from the full result. All calls throw EnvironmentError if the device
/// fails.
template <class T>
class CusolverSymmetricEig {
 public:
  /// Throws EnvironmentError without a CUDA device and without enough device memory. `a` must outlive this object.
  CusolverSymmetricEig(const HostMatrix<T>& a, bool vectors);

  void prepare();  ///< copies A in host memory; precedes each solve()
  void solve();    ///< calls syevd with its transfers; does nothing if A is not finite
  /// Returns the result of the last solve(). Moves the requested eigenvectors, as columns, to `vectors`.
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
