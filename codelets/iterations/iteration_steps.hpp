#pragma once

#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/host_device.hpp>

#include <cstdint>

namespace tesela::kernels {

/// How a QR step makes Q and R.
enum class StepFactor : std::uint8_t {
  givens,        ///< plane rotations, each column's chain from the bottom upwards
  householder,   ///< reflectors with v_1 = 1, their sign chosen so that nothing cancels
  gram_schmidt,  ///< classical: all products of a column with the ones before it at once
  mgs,           ///< modified: each column leaves all later ones at once
  cgs2,          ///< classical, twice
  cholesky_qr2,  ///< A = (A R^-1) R with R^T R = A^T A, twice
};

/// When D counts as diagonal.
enum class StopTest : std::uint8_t {
  off_diagonal,  ///< every element beside the diagonal is negligible
  subdiagonal,   ///< those next to the diagonal are, as published; what stands further away is not looked at
};

/// How far an iteration on one matrix is. Kernels go on from it.
struct IterationProgress {
  index_t steps = 0;
  index_t active = -1;  ///< order of the leading part that has not been deflated; -1: not begun
  index_t rotations = 0, deflations = 0;
  index_t broken = 0;  ///< 1 + the row whose pivot, or column whose rest, is zero or not finite
  bool converged = false;
  TESELA_BOTH bool ended() const { return converged || broken > 0; }
};

/// At most `steps` QR steps D - s I = Q R, D = R Q + s I, P = P Q on a symmetric matrix D, as one task: on a core, or
/// in one block of threads in shared memory as far as it fits. It ends where the stop test holds. D is n x n, both
/// triangles, and stays symmetric (the lower triangle of R Q is computed); or with half_width >= 0 a band in a
/// (3 half_width + 1) x n tile: element (i, j) in row half_width + i - j of column j, below which is room for R. P has
/// any number of rows and n columns, or is not read without vectors. `work` has iteration_work_size(n) elements.
template <class T>
struct QrSteps {
  static constexpr auto name = "qr_steps";
  static constexpr std::uint32_t color = 0x55a868;
  struct Args {
    StepFactor factor = StepFactor::givens;
    StopTest stop = StopTest::off_diagonal;
    bool wilkinson = false;  ///< s = the eigenvalue of the last 2 x 2 block that is nearer to its last element; else 0
    bool deflate = false;    ///< a last row that is negligible leaves the iteration
    bool vectors = true;
    bool positive = false;    ///< R's diagonal is: the unique Q R
    index_t half_width = -1;  ///< of a band, by rotations; -1: D is n x n
    index_t steps = 1;        ///< at most
    double negligible = 0;    ///< up to this an element beside the diagonal is
    auto cost_key() const {
      return static_cast<std::uint64_t>(factor) | static_cast<std::uint64_t>(vectors) << 4 |
             static_cast<std::uint64_t>(steps) << 8;
    }
  };
  static void cpu(const Args& args, InOut<T> d, InOut<T> p, InOut<IterationProgress> progress, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, InOut<T> d, InOut<T> p, InOut<IterationProgress> progress,
                   Scratch<T> work);
};

/// The same for LR steps on an n x n D: D = L U by Crout's elimination, U's diagonal 1, without pivoting, D = U L,
/// which becomes lower triangular; or with `cholesky` D = R R^T, R lower triangular, D = R^T R, for positive definite
/// D.
template <class T>
struct LrSteps {
  static constexpr auto name = "lr_steps";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    bool cholesky = false;
    StopTest stop = StopTest::off_diagonal;
    index_t steps = 1;
    double negligible = 0;
    auto cost_key() const { return static_cast<std::uint64_t>(cholesky) | static_cast<std::uint64_t>(steps) << 8; }
  };
  static void cpu(const Args& args, InOut<T> d, InOut<IterationProgress> progress, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, InOut<T> d, InOut<IterationProgress> progress,
                   Scratch<T> work);
};

/// Elements of `work` for a matrix of order n of which a column has so many elements beside the diagonal on either
/// side, and for P's rows where Q is formed (all factors but givens).
constexpr index_t iteration_work_size(index_t n, index_t half_width, index_t p_rows) {
  const index_t columns = n | 1;
  return 2 * half_width * n + 6 * n + 8 + (half_width + 1 < n ? 0 : (3 * n + p_rows) * columns);
}

}  // namespace tesela::kernels
