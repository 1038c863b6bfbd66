#pragma once

#include <tesela/codelets/toeplitz/cauchy_product.hpp>

#include <array>
#include <limits>

namespace tesela::kernels {

// Two-way Lanczos on (C - sigma I)^-1 for matrices of cauchy.hpp: one product serves a symmetric and a skew Krylov
// space, because a vector of the sine basis holds a symmetric one above a skew one. In exact arithmetic, with v_s and
// v_a the two parts of (C - sigma I)^-1 (p_k + q_k),
//   alpha_k = v_s' p_k, beta_k p_{k+1} = v_s - alpha_k p_k - beta_{k-1} p_{k-1}, and gamma, delta, q likewise
// (H. Voss, A symmetry exploiting Lanczos method for symmetric Toeplitz matrices, Numer. Algorithms 25, 2000; spectrum
// slicing by shifts: T. Ericsson, A. Ruhe, Math. Comp. 35, 1980). Here every new vector is orthogonalized against its
// whole basis besides.

/// What one run works on: g, h and diagonal of the inverse in the first three columns, then up to capacity + 1 basis
/// vectors, p above q.
inline Shape lanczos_slot(index_t n, index_t capacity) { return {n, capacity + 4}; }
/// Alpha, beta, gamma, delta so far of LanczosTest::at_a_time runs side by side: of each a column with the number of
/// steps, then a column a step.
Shape lanczos_histories(index_t capacity);

/// Slot <- inverse number `shift` of a CauchyInvert, and column `start` of `starts`, whose parts have unit norm (or are
/// zero).
template <class T>
struct LanczosStart {
  static constexpr auto name = "lanczos_start";
  static constexpr std::uint32_t color = 0x3b3b3b;
  struct Args {
    index_t shift = 0, start = 0;
  };
  static void cpu(const Args& args, In<T> inverse, In<T> starts, Out<T> slot);
  static void cuda(CudaContext& context, const Args& args, In<T> inverse, In<T> starts, Out<T> slot);
};

/// quality(part, s) = ||(C - sigma_s I) B x - x|| for B, number s of a CauchyInvert, and x, the first of `starts`: what
/// rounding left of the inverse. A Ritz pair of B is one of C to about that times its distance from the shift.
template <class T>
struct CauchyQuality {
  static constexpr auto name = "cauchy_quality";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {};
  static void cpu(const Args& args, In<T> c, In<T> tables, In<double> sigma, In<T> inverse, In<T> starts,
                  Out<double> quality, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> c, In<T> tables, In<double> sigma, In<T> inverse,
                   In<T> starts, Out<double> quality, Scratch<T> work);
};

/// `steps` steps in each of several slots, slot s having done first[s] before, with shift[s]. With `refine` each
/// product with the inverse is followed by one step of iterative refinement, which makes it backward stable (three
/// products). Column s steps + k of `coefficients` is (alpha, beta, gamma, delta) of its k-th: the next vector is zero,
/// as are all coefficients after it, where a beta or delta is zero to rounding (the space is invariant).
template <class T>
struct LanczosSteps {
  static constexpr auto name = "lanczos_steps";
  static constexpr std::uint32_t color = 0xc44e52;
  static constexpr int most_slots = 64;
  struct Args {
    int steps = 0, slots = 0;
    bool refine = false;
    std::array<int, most_slots> first{};
    std::array<double, most_slots> shift{};
    std::uint64_t cost_key() const {
      return (static_cast<std::uint64_t>(steps) * 1000 + static_cast<std::uint64_t>(slots)) * 2 + (refine ? 1 : 0);
    }
  };
  static void cpu(const Args& args, In<T> c, In<T> tables, Out<double> coefficients, Scratch<T> work,
                  std::span<const InOut<T>> slots);
  static void cuda(CudaContext& context, const Args& args, In<T> c, In<T> tables, Out<double> coefficients,
                   Scratch<T> work, std::span<const InOut<T>> slots);
};

/// The same with Levinson's recursion for t (n x 1) in the place of an inverse: n steps for each solve, which is in the
/// order of the unknowns, between two sine transforms. Slots' first three columns are not used. Where the recursion
/// breaks down (a leading minor of T - sigma I vanishes) the coefficients are NaN.
template <class T>
struct LevinsonLanczosSteps {
  static constexpr auto name = "levinson_lanczos_steps";
  static constexpr std::uint32_t color = 0xc44e52;
  static constexpr int most_slots = LanczosSteps<T>::most_slots;
  struct Args {
    int steps = 0, slots = 0;
    std::array<int, most_slots> first{};
    std::array<double, most_slots> shift{};
    std::uint64_t cost_key() const {
      return static_cast<std::uint64_t>(steps) * 1000 + static_cast<std::uint64_t>(slots);
    }
  };
  static void cpu(const Args& args, In<T> t, Out<double> coefficients, Scratch<T> work,
                  std::span<const InOut<T>> slots);
  static void cuda(CudaContext& context, const Args& args, In<T> t, Out<double> coefficients, Scratch<T> work,
                   std::span<const InOut<T>> slots);
};
/// Its scratch for so many slots.
Shape levinson_lanczos_work(index_t n, index_t capacity, index_t slots);

/// Scratch of LanczosSteps, RitzPairs and CauchyQuality for so many slots, columns or shifts at a time.
Shape lanczos_work(index_t n, index_t capacity, index_t slots);

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
