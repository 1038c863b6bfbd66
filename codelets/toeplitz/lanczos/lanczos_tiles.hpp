#pragma once

#include <tesela/codelets/toeplitz/lanczos/lanczos.hpp>

namespace tesela::kernels {

// A Lanczos step of lanczos.hpp as tasks. The symmetric and the skew part of a run are independent. The basis of a part
// (rows x capacity) is cut into segments of rows, and so is the vector w, the product that becomes basis vector k. With
// a list for each segment of the part, step k is
//
//   product    y = (C - sigma I)^-1 w / ||w||                                  one task
//   recent     v_k = w / ||w||, the next column of the basis; [v_k-1 v_k]' y    a task per segment
//   project    w = y - [v_k-1 v_k] (sum of these); V' w                         a task per segment
//   subtract   w = w - V (sum of these); ||w||                                  a task per segment
//   norm       ||w|| of the whole part; the coefficients of the step            one task
//
// recent and project are the first pass of Gram-Schmidt's method, the three-term recurrence; project and subtract are
// the second, over the whole basis. Bases do not move: only segment tasks use them, and vectors travel.

/// Largest number of segments of a part.
inline constexpr int most_segments = 64;

/// Rows of the sums that segments pass on: of `recent` (two products and ||y||), and of `subtract` (||w||, alpha and
/// ||y||). `project` passes on capacity + 2: a product for each basis vector; before these alpha so far, and ||y||.
inline constexpr index_t lanczos_sum_rows = 3;

/// Begins a run: w becomes rows of the start vector, number `start` of `starts`; the segment's basis is empty.
template <class T>
struct LanczosBegin {
  static constexpr auto name = "lanczos_begin";
  static constexpr std::uint32_t color = 0x3b3b3b;
  struct Args {
    index_t row = 0, start = 0;  ///< first row of the segment in `starts`
  };
  static void cpu(const Args& args, In<T> starts, Out<T> w, Out<T> basis);
  static void cuda(CudaContext& context, const Args& args, In<T> starts, Out<T> w, Out<T> basis);
};

/// Position of a step, in all kernels below.
struct LanczosPlace {
  index_t k = 0;    ///< completed steps of the run; ||w|| counts as 1 in the first one
  index_t row = 0;  ///< first row of the segment in its part
  std::uint64_t cost_key() const { return static_cast<std::uint64_t>(k / 32); }
};

/// Computes y from all segments of w.
///
/// inverse  g, h and diagonal of the inverse: of this part alone or, as CauchyInvert writes it, of both.
/// refine   follows the product by one step of iterative refinement.
/// work     lanczos_product_rows(n) x 1.
template <class T>
struct LanczosProduct {
  static constexpr auto name = "lanczos_product";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    int part = 0;
    index_t k = 0, column = 0;  ///< first column of the inverse
    double shift = 0;           ///< sigma
    bool refine = false;
    std::uint64_t cost_key() const { return refine ? 1 : 0; }
  };
  static void cpu(const Args& args, In<T> c, In<T> tables, In<T> inverse, In<T> norm, Out<T> y, Scratch<T> work,
                  std::span<const In<T>> w);
  static void cuda(CudaContext& context, const Args& args, In<T> c, In<T> tables, In<T> inverse, In<T> norm, Out<T> y,
                   Scratch<T> work, std::span<const In<T>> w);
};
/// Returns the rows of its Scratch.
index_t lanczos_product_rows(index_t n);

/// Adds y to the basis and returns the sums of its products with w, for one segment.
template <class T>
struct LanczosRecent {
  static constexpr auto name = "lanczos_recent";
  static constexpr std::uint32_t color = 0xe8a1a3;
  using Args = LanczosPlace;
  static void cpu(const Args& args, In<T> y, In<T> w, In<T> norm, InOut<T> basis, Out<T> sums);
  static void cuda(CudaContext& context, const Args& args, In<T> y, In<T> w, In<T> norm, InOut<T> basis, Out<T> sums);
};

/// `recent`: the sums of all segments.
template <class T>
struct LanczosProject {
  static constexpr auto name = "lanczos_project";
  static constexpr std::uint32_t color = 0x8172b3;
  using Args = LanczosPlace;
  static void cpu(const Args& args, In<T> y, In<T> basis, Out<T> w, Out<T> sums, std::span<const In<T>> recent);
  static void cuda(CudaContext& context, const Args& args, In<T> y, In<T> basis, Out<T> w, Out<T> sums,
                   std::span<const In<T>> recent);
};

/// `projected`: the sums of all segments. work has the shape of a segment's sums.
template <class T>
struct LanczosSubtract {
  static constexpr auto name = "lanczos_subtract";
  static constexpr std::uint32_t color = 0xb3aad0;
  using Args = LanczosPlace;
  static void cpu(const Args& args, In<T> basis, InOut<T> w, Out<T> sums, Scratch<T> work,
                  std::span<const In<T>> projected);
  static void cuda(CudaContext& context, const Args& args, In<T> basis, InOut<T> w, Out<T> sums, Scratch<T> work,
                   std::span<const In<T>> projected);
};

/// Adds the sums of all segments.
///
/// norm          1 x 1: ||w||, or 0 if that is zero to rounding: the space is invariant, and all later vectors are
/// zero. coefficients  as in LanczosSteps; rows 2 part and 2 part + 1 of a column are written.
template <class T>
struct LanczosNorm {
  static constexpr auto name = "lanczos_norm";
  static constexpr std::uint32_t color = 0x64b5cd;
  struct Args {
    int part = 0;
    index_t column = 0;
  };
  static void cpu(const Args& args, Out<T> norm, Commute<double> coefficients, std::span<const In<T>> sums);
  static void cuda(CudaContext& context, const Args& args, Out<T> norm, Commute<double> coefficients,
                   std::span<const In<T>> sums);
};

}  // namespace tesela::kernels
