#pragma once

#include <tesela/algorithms/support/measured.hpp>
#include <tesela/algorithms/support/named.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>

#include <limits>
#include <optional>
#include <vector>

namespace tesela {

/// Method for the eigenpairs.
enum class SpectrumMethod : std::uint8_t {
  automatic,  ///< lanczos; dense if that is faster on this machine and fits into memory (docs/toeplitz.md)
  lanczos,    ///< intervals by counting, Lanczos on inverses in each; LAPACK for eigenvalues that it cannot separate
  dense  ///< LAPACK on the symmetric and the skew half as dense matrices, one core each: n^2 / 2 numbers. For small n
};

/// Returns the methods with their names.
std::span<const Named<SpectrumMethod>> spectrum_methods();

/// Tasks of the Lanczos steps in an interval.
enum class LanczosTasks : std::uint8_t {
  automatic,  ///< tiles on cores if long vectors in few intervals leave most workers idle; otherwise fused
  fused,      ///< several steps are one task; workers share the intervals
  tiles       ///< a step is tasks on tiles of the basis, on one process; all workers share an interval
};

/// Returns the kinds of tasks with their names.
std::span<const Named<LanczosTasks>> lanczos_tasks();

/// Options of toeplitz_spectrum. The defaults were measured to be fast (docs/toeplitz.md).
struct SpectrumOptions {
  SpectrumMethod method = SpectrumMethod::automatic;
  bool vectors = false;                                   ///< whether to compute eigenvectors
  double low = -std::numeric_limits<double>::infinity();  ///< only eigenvalues in [low, high)
  double high = std::numeric_limits<double>::infinity();  ///< end of that interval
  index_t smallest = 0, largest = 0;                      ///< only this many from one end; 0: all in [low, high)

  // Options of the search by Lanczos. Setting any of them selects lanczos.
  index_t per_interval = 0;                         ///< largest number of eigenvalues per interval; 0 selects it
  index_t dk = 8;                                   ///< Lanczos steps between tests
  ToeplitzSolver solver = ToeplitzSolver::cauchy;   ///< for each Lanczos step; levinson: O(n^2) per step, not refined
  ToeplitzSolver counter = ToeplitzSolver::cauchy;  ///< its pivots count the eigenvalues of an interval
  index_t max_attempts = 5;                         ///< shifts that are tried in an interval before it is divided
  double krylov_factor = 2;  ///< largest number of steps: krylov_factor * per_interval + krylov_more
  index_t krylov_more = 32;  ///< steps
  /// Residual of a converged Ritz value, relative to it; 0 selects 1e-10 (values) or 1e-14 (vectors, refined), 2e-6 in
  /// single precision.
  double tolerance = 0;
  bool midpoint = true;      ///< whether the first shift is the middle of its interval; otherwise random
  bool fixed_start = false;  ///< whether the first start vector is (e_1 +- e_n) / sqrt(2); otherwise random
  bool gershgorin = false;   ///< whether to divide Gershgorin's disc first (CountOptions)
  bool divide = true;        ///< whether to divide an interval after max_attempts; otherwise a shortage is reported
  index_t window = 0;        ///< intervals in flight; 0 selects the number for the workers and their memory
  /// Intervals in flight per task; 0 selects 1 on cores and at most 64 on GPUs, fewer if memory or equal shares of
  /// several GPUs require it.
  index_t group = 0;
  LanczosTasks tasks = LanczosTasks::automatic;
  std::uint64_t seed = 1;

  /// Returns the options of Graciá Gil 2010: 2 eigenvalues per interval, tests every 2 steps, a tolerance of 0.1, 5
  /// attempts, at most 5 steps per eigenvalue, Levinson's recursion to solve and to count, Gershgorin's disc, the
  /// fixed start, and no division of intervals.
  static SpectrumOptions published();
};

/// An interval whose search found fewer eigenvalues than it contains.
struct SpectrumShortage {
  double low = 0, high = 0;         ///< ends of the interval
  index_t found = 0, expected = 0;  ///< numbers of eigenvalues
};

/// Result of toeplitz_spectrum.
template <class T>
struct Spectrum {
  std::vector<double> values;  ///< ascending
  /// ||T x - lambda x||_2 of each, measured in the sine basis; for a cluster its width, and for a value that was
  /// refined by counting the largest possible error.
  std::vector<double> residuals;
  std::vector<signed char> symmetry;     ///< 1: J x = x, -1: J x = -x
  std::optional<TileMatrix<T>> vectors;  ///< n x values.size() in tiles of whole columns, on request
  index_t expected = 0;                  ///< number of eigenvalues in the range, by inertia
  index_t first = 0;                     ///< number of eigenvalues below the wanted ones, by inertia
  /// Number of eigenvalues within the rounding of the counts of an end of the range, 4 resolutions or more: they count
  /// as equal to the end, but may be on either side, so `expected` is right up to this number.
  index_t doubtful = 0;
  double resolution = 0;                    ///< rounding error of a pivot in the counts, in units of T
  std::vector<SpectrumShortage> shortages;  ///< empty if all eigenvalues were found
  /// Intervals of many eigenvalues that are too near to each other to separate.
  std::vector<SpectrumInterval> clusters;
  bool dense = false;    ///< whether LAPACK computed all results, from the two blocks as dense matrices
  double tolerance = 0;  ///< residual of a converged Ritz value, relative to it (SpectrumOptions)
  LanczosTasks tasks = LanczosTasks::fused;  ///< tasks of the Lanczos steps
  /// Numbers of intervals with their searches, inertia counts, searches that had to be repeated, divided intervals, and
  /// Lanczos steps.
  index_t intervals = 0, counts = 0, relaunches = 0, divisions = 0, steps = 0;
  index_t inversions = 0;  ///< shifts that were tried
  index_t relaunched = 0;  ///< intervals, including halves of divided ones, that needed several shifts

  // Accuracy of the values, measured after the computation (docs/toeplitz.md), relative to the largest computed
  // eigenvalue or, if that is larger, to the root mean square of all eigenvalues.
  Measured residual;      ///< the largest residual
  Measured error;         ///< the largest possible distance of a value from its eigenvalue, by all residuals and gaps
  index_t uncertain = 0;  ///< values that residuals and counts do not prove to belong to distinct eigenvalues
  /// Largest distance from an end of the range down to the place of its count, relative to the range. It is bounded by
  /// 10^-3 in addition to four resolutions.
  Measured moved;
  /// Returns whether all eigenvalues of the requested range were found, each certain, with residuals and errors within
  /// their bounds.
  bool good() const {
    return static_cast<index_t>(values.size()) == expected && uncertain == 0 && residual.good() && error.good() &&
           moved.good();
  }
};

/// Computes the eigenvalues of a symmetric Toeplitz matrix, and on request its eigenvectors.
///
/// t        first column, n >= 1 finite numbers.
/// Returns  values with measured residuals and errors, and `shortages` for eigenvalues that were not found.
/// Throws   ArgumentError for an empty t, a number that is not finite, and contradictory options.
/// Waits    for the graph.
/// Method   lanczos: counting divides the range into intervals with few eigenvalues each (toeplitz_slice). In each
///          interval a two-way Lanczos process runs on (T - sigma I)^-1 until it has as many eigenvalues as the
///          inertia. `window` intervals are in flight; their memory, window * n * (steps + 4) numbers, does not depend
///          on the number of intervals. Values are Rayleigh quotients of T. Vectors of neighbouring intervals are
///          orthogonalized against each other if their eigenvalues are close. No shift separates the vectors of a
///          cluster; if they are wanted, LAPACK solves the two blocks as dense matrices (n^2 / 2 numbers). dense:
///          LAPACK from the start; values alone come from tridiagonal forms, and all have the same residual, a bound of
///          their errors.
template <class T>
Spectrum<T> toeplitz_spectrum(Graph& g, std::span<const T> t, const SpectrumOptions& options = {});

/// Computes the same in a new graph.
template <class T>
Spectrum<T> toeplitz_spectrum(Runtime& runtime, std::span<const T> t, const SpectrumOptions& options = {}) {
  Graph g(runtime);
  return toeplitz_spectrum<T>(g, t, options);
}

}  // namespace tesela
