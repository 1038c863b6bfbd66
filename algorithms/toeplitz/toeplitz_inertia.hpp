#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/codelets/toeplitz/cauchy_product.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <array>
#include <span>
#include <vector>

namespace tesela {

/// A symmetric Toeplitz matrix T, t_ij = t(|i - j|), on its way to its eigenvalues: in the sine basis, where it is two
/// Cauchy-like blocks (codelets/toeplitz/cauchy.hpp). One of a block's two generators grows with T and the other does
/// not, so T is scaled by a power of two first, 2^-exponent(), and all that this class tells is of the scaled matrix.
/// The functions below take shifts and answer in the units of T.
template <class T>
class SineToeplitz {
 public:
  /// Inserts what turns t (n >= 1 numbers, the first column) into the blocks. Throws ArgumentError where n < 1 or a
  /// number is not finite.
  SineToeplitz(Graph& g, std::span<const T> t);

  index_t n() const { return n_; }
  int exponent() const { return exponent_; }
  double norm() const { return norm_; }  ///< an upper bound of ||T||_2: |t_0| + 2 sum |t_k|, the 1-norm or more
  double rms() const { return rms_; }    ///< ||T||_F / sqrt(n): the root mean square of the eigenvalues
  double mean() const { return mean_; }  ///< of the eigenvalues: t_0
  /// A lower bound of ||T||_2, the largest |x^T T x| of the sine basis' vectors x: hardly less than a third of it.
  double largest() const { return largest_; }
  Tile<T> column() const { return column_(0, 0); }  ///< t, n x 1
  Tile<T> blocks() const { return blocks_(0, 0); }
  Tile<T> tables() const { return tables_(0, 0); }

 private:
  index_t n_;
  int exponent_ = 0;
  double norm_ = 0, rms_ = 0, mean_ = 0, largest_ = 0;
  TileMatrix<T> column_, blocks_, tables_;
};

/// How many eigenvalues lie below a shift, by the signs of an elimination's pivots (Sylvester's law of inertia).
struct Inertia {
  double shift = 0;                ///< the one that was asked for or, if nudged, the one that was counted at
  std::array<index_t, 2> below{};  ///< of the eigenvectors with J x = x, and of those with J x = -x
  bool nudged = false;             ///< moved: an eigenvalue was too near
  bool doubtful = false;           ///< several nudges did not help: the counts may be off
  index_t total() const { return below[0] + below[1]; }
};

/// How systems with T - sigma I are solved, or its pivots found.
enum class ToeplitzSolver : std::uint8_t {
  cauchy,   ///< elimination in the sine basis, which chooses its pivots
  levinson  ///< Levinson's recursion, which cannot choose, and is exact only as far as leading minors are
            ///< well-conditioned
};

std::span<const Named<ToeplitzSolver>> toeplitz_solvers();

struct CountOptions {
  bool nudge = true;  ///< where a pivot says that the shift is an eigenvalue to rounding, move it further down
  index_t batch = 0;  ///< shifts a task; 0: what suits the workers
  ToeplitzSolver solver = ToeplitzSolver::cauchy;
};

/// The eigenvalues below each shift; waits. An eigenvalue within rounding of a shift counts as equal to it, so it is
/// not below: what is counted at is four resolutions less than the shift, and where a pivot is below the resolution
/// still 8, 16, ... 1024 (Inertia::shift says where). Shifts may be infinite, not NaN.
template <class T>
std::vector<Inertia> toeplitz_count(Graph& g, const SineToeplitz<T>& A, std::span<const double> shifts,
                                    const CountOptions& options = {});

/// Eigenvalues low <= lambda < high.
struct SpectrumInterval {
  double low = 0, high = 0;
  std::array<index_t, 2> below{};  ///< low: symmetric and skew
  std::array<index_t, 2> count{};
  bool cluster = false;  ///< more than asked for, and too narrow to be divided
  index_t total() const { return count[0] + count[1]; }
};

/// Intervals with at most `most` eigenvalues each, ascending, that hold all eigenvalues of [low, high) (infinite: all
/// there are): the first points are spread evenly, and an interval that has too many is divided evenly by how many too
/// many. Ends are those of toeplitz_count: an eigenvalue within rounding of one is in the interval above it. `counts`,
/// if given, grows by the number of shifts. An end is infinite only if an eigenvalue overflows. T = 0 has one cluster,
/// from 0 to the smallest positive number.
template <class T>
std::vector<SpectrumInterval> toeplitz_slice(Graph& g, const SineToeplitz<T>& A, index_t most, double low, double high,
                                             index_t* counts = nullptr, const CountOptions& options = {});

/// An interval narrower than this cannot be divided; of the scaled matrix.
template <class T>
double toeplitz_resolution(const SineToeplitz<T>& A);

}  // namespace tesela
