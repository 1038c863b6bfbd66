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
  /// Converts values of the scaled matrix to values of the given one, and moves finite values into [low, high).
  void scale_back(std::vector<T>& values, double low, double high) const;
  /// Returns the number of eigenvalues of the given matrix below x, which is not NaN.
  index_t count_below(double x) const;

 private:
  bool zero_ = true;
};

/// Returns the positions that the options select, as tridiagonal_positions.
template <class T>
IndexRange selected_positions(const char* routine, const ScaledTridiagonal<T>& t, const TridiagonalEigOptions& options);

/// Returns the smallest order of a problem or a merge on a GPU; without GPUs the largest number.
index_t gpus_from(const WorkerCounts& workers, const TridiagonalEigOptions& options);

/// Returns the method of the options, or the faster one for this number of eigenvalues.
TridiagonalEigMethod tridiagonal_method(const WorkerCounts& workers, index_t n, index_t wanted,
                                        const TridiagonalEigOptions& options, bool vectors);

/// Waits for the graph, and sets the status if steps did not converge.
template <class T>
void wait_and_check_convergence(Graph& g, TridiagonalEigResult<T>& result) {
  const Status status = g.wait();
  if (status.ok()) return;
  result.status = {TridiagonalEigStatus::Verdict::not_converged, status.info - 1, false};
  result.values.clear();
}

/// An interval that contains an eigenvalue.
template <class T>
struct Bracket {
  T low, high;
  T middle() const { return (low + high) / 2; }
};

/// Computes eigenvalues `range` of T in result.values, and returns their intervals. All start from one interval, and
/// each end of an interval is the middle of an older one: a value results from the same halvings for every range. While
/// values share intervals, each interval is counted once, level by level; then each value is halved in its own vector
/// lane.
template <class T>
std::vector<Bracket<T>> bisect(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range,
                               const TridiagonalEigOptions& options, TridiagonalEigResult<T>& result);

/// Computes eigenpairs `range` of T in result.values and x: bisection, then inverse iteration in each block of T, with
/// all vectors of a cluster made orthonormal after each of three steps. Needs O(n k) memory for k vectors.
template <class T>
void bisect_and_iterate(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, const TileMatrix<T>& x,
                        const TridiagonalEigOptions& options, TridiagonalEigResult<T>& result);

/// Computes eigenvalues `range` of T in result.values and, if x is given, their vectors in x, by implicit QL steps. The
/// steps run one after another and store their rotations, n^2 at a time. Blocks of X's rows apply them concurrently
/// with each other and with the next steps.
template <class T>
void ql(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, const TileMatrix<T>* x,
        const TridiagonalEigOptions& options, TridiagonalEigResult<T>& result);

/// Computes eigenvalues `range` of T in result.values and, if x is given, their vectors in x, by Cuppen's tree, level
/// by level. Leaves are solved by QL steps. The merges of a level run concurrently; the host waits only for the numbers
/// that determine the size of a merge. The last merge of a block computes only the selected vectors. Values alone need
/// only the first and last row of the vectors: O(n^2) operations in total, by the same merges on blocks of one row.
template <class T>
void divide_and_conquer(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, const TileMatrix<T>* x,
                        const TridiagonalEigOptions& options, TridiagonalEigResult<T>& result);

}  // namespace tesela::detail
