#pragma once

#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>

#include <span>
#include <vector>

namespace tesela::detail {

/// A symmetric tridiagonal matrix times 2^-exponent: its largest entry is in [1/2, 1), or all entries are zero.
template <class T>
struct ScaledTridiagonal {
  std::vector<T> d, e;
  int exponent = 0;
  TridiagonalEigStatus status;  ///< if not_finite, d and e are not scaled

  ScaledTridiagonal(const char* routine, std::span<const T> diagonal, std::span<const T> off_diagonal);
  index_t n() const { return static_cast<index_t>(d.size()); }
  bool zero() const { return zero_; }
  /// Converts values of the scaled matrix to values of the given one.
  void scale_back(std::vector<T>& values) const;

 private:
  bool zero_ = true;
};

/// Returns the range of the options, or 0 … n - 1. Throws ArgumentError for a range outside.
IndexRange wanted_range(const char* routine, const TridiagonalEigOptions& options, index_t n);

/// Returns the smallest order of a problem or a merge on a GPU; without GPUs the largest number.
index_t gpus_from(const WorkerCounts& workers, const TridiagonalEigOptions& options);

/// Waits for the graph, and sets the status if QL steps did not converge.
template <class T>
void wait_and_check_convergence(Graph& g, TridiagonalEigResult<T>& result) {
  const Status status = g.wait();
  if (status.ok()) return;
  result.status = {TridiagonalEigStatus::Verdict::not_converged, status.info - 1, false};
  result.values.clear();
}

}  // namespace tesela::detail
