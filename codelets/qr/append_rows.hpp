#pragma once

#include <tesela/runtime/codelet.hpp>

#include <algorithm>
#include <span>

namespace tesela::kernels {

/// LAPACK tpqrt without its vectors: R becomes the triangular factor of [R; A], so that R^T R grows by A^T A. R is n x
/// n and A m x n, given as tiles side by side whose columns add up to n (so [A | B] needs no copy). m may be 0 and less
/// than n. AppendRows<T, Out> is the same for an R that has no contents yet: the R of A alone.
///
/// R's signs are any, its strict lower triangle is written as zeros and never read. Householder reflectors on blocks of
/// rows (Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential QR and LU factorizations",
/// section 4): backward stable column by column, whatever the condition of A. Each column is scaled by a power of two
/// of its own where its size asks for it, so entries up to the ends of T's range neither overflow nor vanish. NaN and
/// infinities of A become NaN in R's columns from there on.
template <class T, template <class> class R = InOut>
struct AppendRows {
  static constexpr auto name = "append_rows";
  static constexpr std::uint32_t color = 0x8172b3;

  struct Args {
    bool triangle = false;  ///< A is upper triangular: the R of other rows, say
    /// The last tile is no part of A but m x 1: what each row of A is multiplied by on its way. Where it is 0 the row
    /// does not count, whatever it holds.
    bool weighted = false;
    std::uint64_t cost_key() const {
      return static_cast<std::uint64_t>(triangle) | static_cast<std::uint64_t>(weighted) << 1;
    }
  };
  static double flops(const Args& args, std::span<const Shape> shapes) {  // R, work, tiles of A
    const auto n = static_cast<double>(shapes[0].cols), m = static_cast<double>(shapes.back().rows);
    return args.triangle ? 2 * n * n * n / 3 : 2 * m * n * n;
  }

  static void cpu(const Args& args, R<T> r, Scratch<double> work, std::span<const In<T>> a);
  static void cuda(CudaContext& context, const Args& args, R<T> r, Scratch<double> work, std::span<const In<T>> a);
};

/// The shape of AppendRows' work tile for n columns of T, on any of the runtime's workers.
template <class T>
Shape append_rows_work(index_t n);

namespace internal {

/// What of it the CUDA variant needs, in doubles; 0 when the runtime has no GPU.
template <class T>
index_t append_rows_device_work(index_t n);

}  // namespace internal

}  // namespace tesela::kernels
