#pragma once

#include <tesela/algorithms/support/measured.hpp>
#include <tesela/algorithms/support/named.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tesela {

/// Who finds the eigenpairs.
enum class SpectrumMethod : std::uint8_t {
  automatic,  ///< lanczos, but dense where that is faster on this machine and fits (docs/toeplitz.md)
  lanczos,    ///< intervals by counting, Lanczos on inverses in each; LAPACK for what that cannot tell apart
  dense       ///< LAPACK, from the symmetric and the skew half as dense matrices, one on a core each: n^2 / 2 numbers
};

std::span<const Named<SpectrumMethod>> spectrum_methods();

/// How toeplitz_spectrum goes about it. The defaults are those that were measured to be fast (docs/toeplitz.md).
struct SpectrumOptions {
  SpectrumMethod method = SpectrumMethod::automatic;
  bool vectors = false;
  double low = -std::numeric_limits<double>::infinity();  ///< only eigenvalues in [low, high)
  double high = std::numeric_limits<double>::infinity();
  index_t smallest = 0, largest = 0;  ///< only so many from one end; 0: all in [low, high)

  // The search by Lanczos. Whoever chooses one of these chooses that method.
  index_t per_interval = 0;                         ///< eigenvalues in an interval at most; 0: what suits
  index_t dk = 8;                                   ///< Lanczos steps between tests
  ToeplitzSolver solver = ToeplitzSolver::cauchy;   ///< of each Lanczos step; levinson: O(n^2) a step, not refined
  ToeplitzSolver counter = ToeplitzSolver::cauchy;  ///< whose pivots count the eigenvalues of an interval
  index_t max_attempts = 5;                         ///< shifts tried in an interval before it is divided
  double krylov_factor = 2;                         ///< steps at most: krylov_factor * per_interval + krylov_more
  index_t krylov_more = 32;
  double tolerance = 0;  ///< a Ritz value's residual, relative to it; 0: 1e-10 (values) or 1e-14 (vectors, refined),
                         ///< 2e-6 in single precision
  bool midpoint = true;  ///< the first shift in the middle of its interval, else at random
  bool fixed_start = false;  ///< (e_1 +- e_n) / sqrt(2) first, else at random
  bool divide = true;        ///< divide an interval whose attempts are used up, rather than report a shortage
  index_t window = 0;        ///< intervals in flight; 0: what suits the workers and their memory
  index_t group = 0;         ///< of which one task steps so many; 0: 1 on cores; on GPUs at most 64, fewer where memory
                             ///< or equal shares for several GPUs ask for it
  std::uint64_t seed = 1;

  /// The published code's: 2 eigenvalues an interval, tests every 2 steps, a tolerance of 0.1, 5 attempts, 5 steps an
  /// eigenvalue at most, Levinson's recursion to solve and to count, the fixed start, and intervals given up.
  static SpectrumOptions published();
};

/// An interval of which fewer eigenvalues were found than it holds.
struct SpectrumShortage {
  double low = 0, high = 0;
  index_t found = 0, expected = 0;
};

/// What toeplitz_spectrum found, and what it took.
template <class T>
struct Spectrum {
  std::vector<double> values;     ///< ascending
  std::vector<double> residuals;  ///< ||T x - lambda x||_2 of each, measured in the sine basis; of a cluster its width,
                                  ///< and of a value that counts had to make sure of how far off it may be
  std::vector<signed char> symmetry;     ///< 1: J x = x, -1: J x = -x
  std::optional<TileMatrix<T>> vectors;  ///< n x values.size(), a column each in tiles of whole ones, if wanted
  index_t expected = 0;                  ///< by inertia
  index_t first = 0;                     ///< eigenvalues below all that were wanted, by inertia
  double resolution = 0;                 ///< what is nearer than this to an end of the range counts as equal to it
  std::vector<SpectrumShortage> shortages;
  std::vector<SpectrumInterval> clusters;  ///< intervals of many eigenvalues too near to be told apart
  bool dense = false;                      ///< LAPACK found everything, from the two blocks as dense matrices
  double tolerance = 0;  ///< a Ritz value had converged at this residual, relative to it (SpectrumOptions)
  index_t intervals = 0, counts = 0, relaunches = 0, divisions = 0, steps = 0;
  index_t inversions = 0;  ///< shifts tried
  index_t relaunched = 0;  ///< intervals, divided ones' halves too, that one shift was not enough for

  // What these values are worth, judged by themselves when they had been found (docs/toeplitz.md). Relative to the
  // largest eigenvalue: of those found, or the root mean square of all if that is more.
  Measured residual;      ///< the largest residual
  Measured error;         ///< how far a value may be from its eigenvalue, given all residuals and gaps
  index_t uncertain = 0;  ///< values that residuals and counts do not show to be eigenvalues of their own
  /// Of a range: how far down one of its ends was moved, to where it could be counted, relative to the range. Of the
  /// eigenvalues there nobody knows on which side they are.
  Measured moved;
  /// As many as there are, each certain, residuals and errors within their bounds, in the range that was asked for.
  bool good() const {
    return static_cast<index_t>(values.size()) == expected && uncertain == 0 && residual.good() && error.good() &&
           moved.good();
  }
};

/// The eigenvalues of a symmetric Toeplitz matrix, and its eigenvectors if wanted. Intervals with few eigenvalues each
/// are found by counting (toeplitz_slice); in each, a two-way Lanczos process runs on (T - sigma I)^-1 until it has as
/// many as the inertia says. `window` of them are in flight; a window's memory, window * n * (steps + 4) numbers, does
/// not depend on how many intervals there are. Values are Rayleigh quotients of T, and their residuals are measured.
/// Vectors of neighbouring intervals are orthogonalized against each other where their eigenvalues are close. Where
/// vectors of a cluster are wanted, no shift tells them apart, and the two blocks are given to LAPACK as dense matrices
/// (n^2 / 2 numbers). SpectrumMethod::dense does so from the start; values alone come from tridiagonal forms then, and
/// each has the same residual, how far it may be from an eigenvalue of its own. Waits. Throws ArgumentError for t empty
/// or not finite, or options that mean nothing.
template <class T>
Spectrum<T> toeplitz_spectrum(Graph& g, std::span<const T> t, const SpectrumOptions& options = {});

}  // namespace tesela
