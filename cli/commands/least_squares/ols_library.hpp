#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <memory>
#include <optional>
#include <string>

namespace tesela::cli {

/// What a library says about the rank of A as it is.
struct LibraryRank {
  index_t rank = 0;
  double condition = 1;  ///< the largest singular value over the smallest
  double cut = 0;        ///< the norm of those that count as zero over the norm of all
};

/// Somebody else's least squares in host memory.
template <class T>
class OlsLibrary {
 public:
  virtual ~OlsLibrary() = default;
  /// A, m x n, is lost; B has max(m, n) rows and becomes X in its first n.
  virtual void solve(HostMatrix<T>& a, HostMatrix<T>& b) = 0;
  /// Of the last solve(); none from those that take A's rank for full.
  virtual std::optional<LibraryRank> rank() const { return std::nullopt; }
  /// The min(m, n) x min(m, n) upper triangle of the last solve(): A's R, or A^T's for m < n. Not of those that
  /// answer a rank.
  virtual HostMatrix<T> triangle(const HostMatrix<T>& a) const = 0;
};

/// "lapack", "gelsd" (which alone has an rcond) or "cusolver" (m >= n). Throws ArgumentError for a shape that it does
/// not solve, EnvironmentError where there is no device for it.
template <class T>
std::unique_ptr<OlsLibrary<T>> make_ols_library(const std::string& method, Shape shape, double rcond);

}  // namespace tesela::cli
