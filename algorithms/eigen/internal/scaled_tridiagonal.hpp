#pragma once

#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>

#include <span>
#include <vector>

namespace tesela::detail {

/// A symmetric tridiagonal matrix times 2^-exponent: its largest entry is in [1/2, 1), or all are zero.
template <class T>
struct ScaledTridiagonal {
  std::vector<T> d, e;
  int exponent = 0;
  TridiagonalEigStatus status;  ///< not_finite: d and e are not scaled

  ScaledTridiagonal(const char* routine, std::span<const T> diagonal, std::span<const T> off_diagonal);
  index_t n() const { return static_cast<index_t>(d.size()); }
  bool zero() const { return zero_; }
  /// Values of the scaled matrix become the given one's.
  void scale_back(std::vector<T>& values) const;

 private:
  bool zero_ = true;
};

/// The range that options ask for, or all of 0 … n - 1. Throws ArgumentError for one outside.
IndexRange wanted_range(const char* routine, const TridiagonalEigOptions& options, index_t n);

/// The order from which on GPUs solve a problem, or do a merge; larger than any where there are none.
index_t gpus_from(const WorkerCounts& workers, const TridiagonalEigOptions& options);

/// Waits, and says in the result where QL steps did not converge.
template <class T>
void settle(Graph& g, TridiagonalEigResult<T>& result) {
  const Status status = g.wait();
  if (status.ok()) return;
  result.status = {TridiagonalEigStatus::Verdict::not_converged, status.info - 1, false};
  result.values.clear();
}

}  // namespace tesela::detail
