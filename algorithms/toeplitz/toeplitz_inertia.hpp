#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/codelets/toeplitz/cauchy_product.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <array>
#include <span>
#include <vector>

namespace tesela {

/// A symmetric Toeplitz matrix T, t_ij = t(|i - j|), in the sine basis, where it consists of two Cauchy-like blocks
/// (codelets/toeplitz/cauchy.hpp). T is scaled by 2^-exponent() first, because only one of a block's two generators
/// grows with T. All members describe the scaled matrix; the functions below use the units of T.
template <class T>
class SineToeplitz {
 public:
  /// Inserts the transformation of t (n >= 1 numbers, the first column) into the blocks. Throws ArgumentError if n < 1
  /// or a number is not finite.
  SineToeplitz(Graph& g, std::span<const T> t);

  index_t n() const { return n_; }  ///< order of T
  int exponent() const { return exponent_; }
  double norm() const { return norm_; }  ///< upper bound of ||T||_2: |t_0| + 2 sum |t_k|, at least the 1-norm
  double rms() const { return rms_; }    ///< ||T||_F / sqrt(n), the root mean square of the eigenvalues
  double mean() const { return mean_; }  ///< mean of the eigenvalues: t_0
  /// Returns a lower bound of ||T||_2, hardly less than a third of it: the largest |x^T T x| for the vectors x of the
  /// sine basis.
  double largest() const { return largest_; }
  Tile<T> column() const { return column_(0, 0); }  ///< t, n x 1
  Tile<T> blocks() const { return blocks_(0, 0); }
  Tile<T> tables() const { return tables_(0, 0); }  ///< tables of the sine basis

 private:
  index_t n_;
  int exponent_ = 0;
  double norm_ = 0, rms_ = 0, mean_ = 0, largest_ = 0;
  TileMatrix<T> column_, blocks_, tables_;
};

/// Number of eigenvalues below a shift, from the signs of an elimination's pivots (Sylvester's law of inertia).
struct Inertia {
  double shift = 0;                ///< the requested shift or, if nudged, the shift in use
  std::array<index_t, 2> below{};  ///< eigenvectors with J x = x, and with J x = -x
  bool nudged = false;             ///< whether the shift was moved, because an eigenvalue was too near
  bool doubtful = false;           ///< whether several nudges did not help: the counts may be wrong
  index_t total() const { return below[0] + below[1]; }  ///< eigenvalues of both parts
};

/// Method for systems with T - sigma I, and for its pivots.
enum class ToeplitzSolver : std::uint8_t {
  cauchy,   ///< elimination in the sine basis with diagonal pivoting; the default
  levinson  ///< Levinson's recursion without pivoting, for well-conditioned leading minors (Graciá Gil 2010)
};

/// Returns the methods with their names.
std::span<const Named<ToeplitzSolver>> toeplitz_solvers();

/// Options of toeplitz_count and toeplitz_slice.
struct CountOptions {
  bool nudge = true;  ///< whether to move a shift further down if a pivot shows that it is an eigenvalue to rounding
  index_t batch = 0;  ///< shifts per task; 0 selects the number for the workers
  ToeplitzSolver solver = ToeplitzSolver::cauchy;
  /// Whether toeplitz_slice first divides Gershgorin's largest disc (Graciá Gil 2010, Algorithm 5, line 1); otherwise
  /// the points within two root mean squares of the mean, where most eigenvalues are, and moves outwards.
  bool gershgorin = false;
};

/// Returns the numbers of eigenvalues below each shift. Shifts may be infinite, not NaN. An eigenvalue within rounding
/// of a shift counts as equal to it, which means not below: the count is four resolutions below the shift, or 8, 16,
/// ... 1024 if a pivot is below the resolution (see Inertia::shift). Waits for the graph.
template <class T>
std::vector<Inertia> toeplitz_count(Graph& g, const SineToeplitz<T>& A, std::span<const double> shifts,
                                    const CountOptions& options = {});

/// An interval low <= lambda < high with its number of eigenvalues.
struct SpectrumInterval {
  double low = 0, high = 0;
  std::array<index_t, 2> below{};                        ///< at `low`: symmetric and skew
  std::array<index_t, 2> count{};                        ///< eigenvalues of the symmetric and of the skew part
  bool cluster = false;                                  ///< more eigenvalues than requested, but too narrow to divide
  index_t total() const { return count[0] + count[1]; }  ///< eigenvalues of both parts
};

/// Returns intervals, ascending, that contain all eigenvalues in [low, high), with at most `most` eigenvalues each.
///
/// low, high  may be infinite.
/// counts     if not null, grows by the number of shifts.
/// Returns    the intervals. Their ends are ends of toeplitz_count: an eigenvalue within rounding of an end is in the
///            interval above it. An end is infinite only if an eigenvalue overflows. T = 0 gives one cluster, from 0 to
///            the smallest positive number.
/// Method     The first points have equal distances; an interval with too many eigenvalues is divided into equal parts
///            in proportion to its number.
template <class T>
std::vector<SpectrumInterval> toeplitz_slice(Graph& g, const SineToeplitz<T>& A, index_t most, double low, double high,
                                             index_t* counts = nullptr, const CountOptions& options = {});

/// Returns the width below which an interval cannot be divided, for the scaled matrix.
template <class T>
double toeplitz_resolution(const SineToeplitz<T>& A);

}  // namespace tesela
