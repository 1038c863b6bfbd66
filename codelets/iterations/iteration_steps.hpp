#pragma once

#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/host_device.hpp>

#include <cstdint>

namespace tesela::kernels {

/// Factorization of a QR step.
enum class StepFactor : std::uint8_t {
  givens,        ///< plane rotations, each column's chain from the bottom upwards
  householder,   ///< reflectors with v_1 = 1, their sign chosen to avoid cancellation
  gram_schmidt,  ///< classical: all products of a column with the earlier ones at once
  mgs,           ///< modified: each column is subtracted from all later ones at once
  cgs2,          ///< classical, twice
  cholesky_qr2,  ///< A = (A R^-1) R with R^T R = A^T A, twice
};

/// Test whether D is diagonal.
enum class StopTest : std::uint8_t {
  off_diagonal,  ///< all elements off the diagonal are negligible
  subdiagonal,   ///< the elements next to the diagonal are negligible; others are ignored (Cinvestav thesis, 5.1.1)
};

/// Progress of an iteration on one matrix, from which kernels continue.
struct IterationProgress {
  index_t steps = 0;                      ///< number of steps so far
  index_t active = -1;                    ///< order of the leading part that is not deflated; -1: not started
  index_t rotations = 0, deflations = 0;  ///< their numbers so far
  index_t broken = 0;      ///< 1 + the row whose pivot, or the column whose remainder, is zero or not finite
  bool converged = false;  ///< whether the stop test holds
  TESELA_BOTH bool ended() const { return converged || broken > 0; }  ///< whether it converged or broke down
};

/// Performs at most `steps` QR steps D - s I = Q R, D = R Q + s I, P = P Q on a symmetric matrix D, as one task: on a
/// core, or in one thread block, in shared memory as far as it fits. It ends when the stop test holds.
///
/// D        n x n, both triangles; it stays symmetric (the lower triangle of R Q is computed). With half_width >= 0 a
///          band in a (3 half_width + 1) x n tile: element (i, j) in row half_width + i - j of column j, with room for
///          R below.
/// P        any number of rows, n columns; not read without vectors.
/// work     iteration_work_size(n) elements.
template <class T>
struct QrSteps {
  static constexpr auto name = "qr_steps";
  static constexpr std::uint32_t color = 0x55a868;
  struct Args {
    StepFactor factor = StepFactor::givens;
    StopTest stop = StopTest::off_diagonal;
    bool wilkinson = false;  ///< s = the eigenvalue of the last 2 x 2 block nearest to its last element; else 0
    bool deflate = false;    ///< a negligible last row leaves the iteration
    bool vectors = true;
    bool positive = false;    ///< R's diagonal is positive: the unique Q R
    index_t half_width = -1;  ///< half-width of a band, by rotations; -1: D is n x n
    index_t steps = 1;        ///< at most
    double negligible = 0;    ///< largest size of a negligible off-diagonal element
    auto cost_key() const {
      return static_cast<std::uint64_t>(factor) | static_cast<std::uint64_t>(vectors) << 4 |
             static_cast<std::uint64_t>(steps) << 8;
    }
  };
  static void cpu(const Args& args, InOut<T> d, InOut<T> p, InOut<IterationProgress> progress, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, InOut<T> d, InOut<T> p, InOut<IterationProgress> progress,
                   Scratch<T> work);
};

/// Performs LR steps on an n x n D in the same way.
///
/// D        D = L U by Crout's elimination without pivoting, L's diagonal 1, then D = U L, which converges to an upper
///          triangle. With `cholesky`, for positive definite D: D = R R^T, R lower triangular, then D = R^T R.
template <class T>
struct LrSteps {
  static constexpr auto name = "lr_steps";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    bool cholesky = false;
    StopTest stop = StopTest::off_diagonal;
    index_t steps = 1;
    double negligible = 0;  ///< largest size of a negligible element below the diagonal
    auto cost_key() const { return static_cast<std::uint64_t>(cholesky) | static_cast<std::uint64_t>(steps) << 8; }
  };
  static void cpu(const Args& args, InOut<T> d, InOut<IterationProgress> progress, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, InOut<T> d, InOut<IterationProgress> progress,
                   Scratch<T> work);
};

/// Returns the elements of `work` for a matrix of order n whose columns have half_width off-diagonal elements on either
/// side, and for P's rows if Q is formed (all factorizations except givens).
constexpr index_t iteration_work_size(index_t n, index_t half_width, index_t p_rows) {
  const index_t columns = n | 1;
  return 2 * half_width * n + 6 * n + 8 + (half_width + 1 < n ? 0 : (3 * n + p_rows) * columns);
}

}  // namespace tesela::kernels
