#pragma once

#include "tiles/host_matrix.hpp"

#include <memory>
#include <string>

namespace tesela::cli {

/// Somebody else's least squares in host memory, for problems of full rank.
template <class T>
class OlsLibrary {
 public:
  virtual ~OlsLibrary() = default;
  /// A, m x n, is lost; B has max(m, n) rows and becomes X in its first n.
  virtual void solve(HostMatrix<T>& a, HostMatrix<T>& b) = 0;
  /// The min(m, n) x min(m, n) upper triangle of the last solve(): A's R, or A^T's for m < n.
  virtual HostMatrix<T> triangle(const HostMatrix<T>& a) const = 0;
};

/// "lapack" or "cusolver" (m >= n). Throws ArgumentError for a shape that it does not solve, EnvironmentError where
/// there is no device for it.
template <class T>
std::unique_ptr<OlsLibrary<T>> make_ols_library(const std::string& method, Shape shape);

}  // namespace tesela::cli
