#pragma once

#include <tesela/runtime/codelet.hpp>

#include <array>

namespace tesela::kernels {

// The eigenpairs that Lanczos runs (lanczos.hpp) have found: how many, by their tridiagonal matrices, and their
// vectors.

/// What an interval wants of a run: `wanted` eigenvalues of each part (symmetric, skew) in [low, high]; an eigenvalue
/// theta of the inverse has converged at residual tolerance |theta|.
struct LanczosGoal {
  double low = 0, high = 0, shift = 0, slack = 0, tolerance = 0;
  std::array<index_t, 2> wanted{};
};

/// Several runs' tests: for each of them, its history in `histories` (side by side) grows by columns first ... first +
/// steps - 1 of `coefficients` (after being emptied if `restart`), and column s of `verdicts` (2 x at_a_time) <- how
/// many eigenvalues in its interval have converged in each part, no more than wanted; zeros where `test` is false, -1
/// where a coefficient is not finite: the solver broke down.
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

/// Alpha, beta, gamma, delta so far of LanczosTest::at_a_time runs side by side: of each a column with the number of
/// steps, then a column a step.
Shape lanczos_histories(index_t capacity);

/// The eigenvectors of the tridiagonal matrices that belong to the wanted eigenvalues, nearest to the shift first to be
/// chosen, ascending: column j of z for the j-th symmetric one, column k / 2 + j for the skew ones, z being capacity x
/// k; NaN in columns of eigenvalues that have not converged, zeros in those that nobody wants.
template <class T>
struct RitzSelect {
  static constexpr auto name = "ritz_select";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    LanczosGoal goal;
    index_t which = 0;  ///< of the histories
  };
  static void cpu(const Args& args, In<double> histories, Out<T> z);
};

/// X = the slot's basis times z, n x k/2, columns normalised, and their Rayleigh quotients and residuals for C:
/// pairs (4 x k/2) has lambda and ||C x - lambda x|| of the symmetric vector, then of the skew one.
template <class T>
struct RitzPairs {
  static constexpr auto name = "ritz_pairs";
  static constexpr std::uint32_t color = 0xda8bc3;
  struct Args {};
  static void cpu(const Args& args, In<T> c, In<T> tables, In<T> slot, In<T> z, Out<T> x, Out<double> pairs,
                  Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> c, In<T> tables, In<T> slot, In<T> z, Out<T> x,
                   Out<double> pairs, Scratch<T> work);
};

namespace lanczos {

/// The eigenvalues of the symmetric tridiagonal matrix with diagonal d, in place and in no order, and the last
/// components of its unit eigenvectors; e, its off-diagonal (n - 1 of n), is lost. By implicit QL steps that keep one
/// row of the vectors (G. Golub, J. Welsch, Math. Comp. 23, 1969, who keep the first). False: no convergence.
bool ritz_values(index_t n, double* d, double* e, double* last);

}  // namespace lanczos
}  // namespace tesela::kernels
