#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>

#include <array>

namespace tesela::kernels {

// Two-way Lanczos on (C - sigma I)^-1 for matrices of cauchy.hpp. One product serves a symmetric and a skew Krylov
// space, because a vector of the sine basis holds a symmetric vector above a skew one. In exact arithmetic, with v_s
// and v_a the two parts of (C - sigma I)^-1 (p_k + q_k),
//   alpha_k = v_s' p_k, beta_k p_{k+1} = v_s - alpha_k p_k - beta_{k-1} p_{k-1},
// and gamma, delta, q in the same way (H. Voss, A symmetry exploiting Lanczos method for symmetric Toeplitz matrices,
// Numer. Algorithms 25, 2000; spectrum slicing by shifts: T. Ericsson, A. Ruhe, Math. Comp. 35, 1980). In addition,
// every new vector is orthogonalized against its whole basis here.

/// Returns the shape of one run's slot: g, h and diagonal of the inverse in the first three columns, then up to
/// capacity + 1 basis vectors, p above q.
inline Shape lanczos_slot(index_t n, index_t capacity) { return {n, capacity + 4}; }

/// Fills a slot with inverse number `shift` of a CauchyInvert, and with column `start` of `starts`, whose parts have
/// unit norm (or are zero).
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

/// Performs `steps` steps in each of several slots; slot s has the shift shift[s] and has completed first[s] steps.
///
/// refine       follows each product with the inverse by one step of iterative refinement, which makes it backward
///              stable (three products).
/// coefficients column s steps + k is (alpha, beta, gamma, delta) of slot s's k-th step. If a beta or delta is zero to
///              rounding, the space is invariant; the next vector and all later coefficients are then zero.
template <class T>
struct LanczosSteps {
  static constexpr auto name = "lanczos_steps";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    int steps = 0, slots = 0;
    bool refine = false;
    std::array<int, most_side_by_side> first{};
    std::array<double, most_side_by_side> shift{};
    std::uint64_t cost_key() const {
      return (static_cast<std::uint64_t>(steps) * 1000 + static_cast<std::uint64_t>(slots)) * 2 + (refine ? 1 : 0);
    }
  };
  static void cpu(const Args& args, In<T> c, In<T> tables, Out<double> coefficients, Scratch<T> work,
                  std::span<const InOut<T>> slots);
  static void cuda(CudaContext& context, const Args& args, In<T> c, In<T> tables, Out<double> coefficients,
                   Scratch<T> work, std::span<const InOut<T>> slots);
};

/// Does the same as LanczosSteps with Levinson's recursion for t (n x 1) instead of an inverse.
///
/// coefficients NaN if the recursion breaks down (a leading minor of T - sigma I vanishes).
/// slots        the first three columns are not used.
/// Method       Each solve needs n steps; it uses the order of the unknowns and lies between two sine transforms.
template <class T>
struct LevinsonLanczosSteps {
  static constexpr auto name = "levinson_lanczos_steps";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    int steps = 0, slots = 0;
    std::array<int, most_side_by_side> first{};
    std::array<double, most_side_by_side> shift{};  ///< sigma of each run
    std::uint64_t cost_key() const {
      return static_cast<std::uint64_t>(steps) * 1000 + static_cast<std::uint64_t>(slots);
    }
  };
  static void cpu(const Args& args, In<T> t, Out<double> coefficients, Scratch<T> work,
                  std::span<const InOut<T>> slots);
  static void cuda(CudaContext& context, const Args& args, In<T> t, Out<double> coefficients, Scratch<T> work,
                   std::span<const InOut<T>> slots);
};
/// Returns the shape of its Scratch for this number of slots.
Shape levinson_lanczos_work(index_t n, index_t capacity, index_t slots);

/// Returns the shape of the Scratch of LanczosSteps, RitzPairs and CauchyInverseError for this number of slots, columns
/// or shifts at a time.
Shape lanczos_work(index_t n, index_t capacity, index_t slots);

}  // namespace tesela::kernels
