#pragma once

#include <tesela/runtime/codelet.hpp>

#include <algorithm>
#include <span>

namespace tesela::kernels {

/// Computes the triangular factor R of [R; A] without vectors (LAPACK tpqrt): R^H R grows by A^H A.
///
/// R        n x n with a real diagonal. Its signs are arbitrary; its strict lower triangle is never read and becomes
/// zero. AppendRows<T,
///          Out> does not read R and computes the factor of A alone.
/// A        m x n, as tiles side by side whose columns add up to n, so that [A | B] needs no copy. m may be 0 or less
///          than n. NaN and infinities become NaN in R's columns from there on.
/// Method   Householder reflectors on blocks of rows (Demmel, Grigori, Hoemmen and Langou, "Communication-optimal
///          parallel and sequential QR and LU factorizations", section 4). It is backward stable column by column for
///          any condition of A. A column whose size requires it is scaled by a power of two, so entries in all of T's
///          range neither overflow nor vanish.
template <class T, template <class> class R = InOut>
struct AppendRows {
  static constexpr auto name = "append_rows";
  static constexpr std::uint32_t color = 0x8172b3;

  struct Args {
    bool triangle = false;  ///< A is upper triangular, for example the R of other rows
    /// The last tile is m x 1 and not a part of A: it holds the weights of A's rows. A row of weight 0 is ignored, even
    /// if it is not finite.
    bool weighted = false;
    std::uint64_t cost_key() const {
      return static_cast<std::uint64_t>(triangle) | static_cast<std::uint64_t>(weighted) << 1;
    }
  };
  static double flops(const Args& args, std::span<const Shape> shapes) {  // shapes: R, work, tiles of A
    const auto n = static_cast<double>(shapes[0].cols), m = static_cast<double>(shapes.back().rows);
    return flops_each<T> * (args.triangle ? 2 * n * n * n / 3 : 2 * m * n * n);
  }

  static void cpu(const Args& args, R<T> r, Scratch<double> work, std::span<const In<T>> a);
  static void cuda(CudaContext& context, const Args& args, R<T> r, Scratch<double> work, std::span<const In<T>> a);
};

/// Returns the shape of AppendRows' work tile for n columns of T, for every worker of the runtime.
template <class T>
Shape append_rows_work(index_t n);

namespace internal {

/// Returns the part of it that the CUDA variant needs, in doubles; 0 if the runtime has no GPU.
template <class T>
index_t append_rows_device_work(index_t n);

}  // namespace internal

}  // namespace tesela::kernels
