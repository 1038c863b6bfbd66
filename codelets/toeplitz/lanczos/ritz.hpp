#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>
#include <tesela/runtime/codelet.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace tesela::kernels {

// Eigenpairs found by Lanczos runs (lanczos.hpp): their number, from the tridiagonal matrices, and their vectors.

/// Goal of a run for an interval: `wanted` eigenvalues of each part (symmetric, skew) in [low, high]. An eigenvalue
/// theta of the inverse has converged at residual tolerance |theta|.
struct LanczosGoal {
  double low = 0, high = 0, shift = 0, slack = 0, tolerance = 0;  ///< slack: distance that the interval is enlarged by
  std::array<index_t, 2> wanted{};
};

/// Tests several runs for convergence. Each run's history in `histories` (side by side) is extended by columns first
/// ... first + steps - 1 of `coefficients`, after it is cleared if `restart`.
///
/// verdicts 2 x at_a_time; column s becomes the number of converged eigenvalues in run s's interval for each part, at
///          most `wanted`; zeros if not `test`; -1 if a coefficient is not finite: the solver broke down.
struct LanczosTest {
  static constexpr auto name = "lanczos_test";
  static constexpr std::uint32_t color = 0xdd8452;
  static constexpr int at_a_time = 8;
  struct One {
    LanczosGoal goal;
    index_t first = 0, steps = 0;  ///< no steps: nothing to do
    bool restart = false, test = true;
  };
  struct Args {
    std::array<One, at_a_time> of{};
  };
  static void cpu(const Args& args, In<double> coefficients, InOut<double> histories, Out<index_t> verdicts);
};

/// Returns the shape of the histories, alpha, beta, gamma, delta, of LanczosTest::at_a_time runs side by side: for each
/// run a column with the number of steps, then one column per step.
Shape lanczos_histories(index_t capacity);

/// Computes the eigenvectors of the tridiagonal matrices for the wanted eigenvalues. The eigenvalues nearest to the
/// shift are chosen, in ascending order.
///
/// z        capacity x k: column j belongs to the j-th symmetric eigenvalue, column k / 2 + j to the j-th skew one; NaN
///          for eigenvalues that have not converged, zeros in columns that are not wanted. With `part`, 0 or 1, all
///          columns belong to that part alone.
template <class T>
struct RitzSelect {
  static constexpr auto name = "ritz_select";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    LanczosGoal goal;
    index_t which = 0;  ///< index of the history
    int part = -1;      ///< -1: both
  };
  static void cpu(const Args& args, In<double> histories, Out<T> z);
};

/// Computes X = the basis times z, n x k/2, with normalized columns, and their Rayleigh quotients and residuals for C:
/// pairs (4 x k/2) has lambda and ||C x - lambda x|| of the symmetric vector, then of the skew one.
///
/// basis    the n rows in one or several pieces, from column `column` of each on.
template <class T>
struct RitzPairs {
  static constexpr auto name = "ritz_pairs";
  static constexpr std::uint32_t color = 0xda8bc3;
  struct Args {
    index_t column = 0;
  };
  static void cpu(const Args& args, In<T> c, In<T> tables, In<T> z, Out<T> x, Out<double> pairs, Scratch<T> work,
                  std::span<const In<T>> basis);
  static void cuda(CudaContext& context, const Args& args, In<T> c, In<T> tables, In<T> z, Out<T> x, Out<double> pairs,
                   Scratch<T> work, std::span<const In<T>> basis);
};

/// Does the same as RitzPairs for one part, on a core, without storing X: two cores share the pairs of an interval.
///
/// z        capacity x k, of this part.
/// pairs    2 x k, the rows of this part.
/// work     ritz_part_work(n, k).
/// basis    the rows of this part in one or several pieces.
template <class T>
struct RitzPairsPart {
  static constexpr auto name = "ritz_pairs_part";
  static constexpr std::uint32_t color = 0xda8bc3;
  struct Args {
    int part = 0;
  };
  static void cpu(const Args& args, In<T> c, In<T> tables, In<T> z, Out<double> pairs, Scratch<T> work,
                  std::span<const In<T>> basis);
};
Shape ritz_part_work(index_t n, index_t columns);

namespace lanczos {

/// Computes the eigenvalues of a symmetric tridiagonal matrix, and the last components of its unit eigenvectors.
///
/// d        diagonal; becomes the eigenvalues, in no order.
/// e        off-diagonal (n - 1 of n numbers); overwritten.
/// Returns  false if it does not converge.
/// Method   implicit QL steps that keep one row of the vectors (G. Golub, J. Welsch, Math. Comp. 23, 1969, keep the
///          first).
bool ritz_values(index_t n, double* d, double* e, double* last);

}  // namespace lanczos
/// Calls f(part, piece, row, at, rows) for the rows of each part in each piece of a basis: rows row ... row + rows - 1
/// of the piece are rows at ... of all n. The pieces hold the n rows in their order; one piece may hold both parts.
template <class T, class F>
void for_each_piece(index_t n, const std::span<const In<T>>& pieces, const F& f) {
  index_t begin = 0;
  for (const In<T>& piece : pieces) {
    for (int part = 0; part < 2; ++part) {
      const index_t first = part * cauchy_rows(n, 0), from = std::max(begin, first),
                    to = std::min(begin + piece.rows, first + cauchy_rows(n, part));
      if (from < to) f(part, piece, from - begin, from, to - from);
    }
    begin += piece.rows;
  }
}

}  // namespace tesela::kernels
