#pragma once

#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/support/size_class.hpp>
#include <tesela/runtime/codelet.hpp>

#include <algorithm>

namespace tesela::kernels {

// The four kernels of tile QR in compact WY form: Q = I - V T V^H for each block of at most ib columns of V.
//
// A step factors `width` columns, from column `col` of its tile column on. The tile that holds the diagonal is the head
// of the step, whose first row in it is `row`. Every other tile takes part from its first row on. With tiles of nb x
// nb, row and col are 0 and width is nb.
//
// T is stored as by LAPACK's geqrt: the T of the columns c … c + ib - 1 of a step is the upper triangle in rows 0 … ib
// - 1 and columns c … c + ib - 1 of the step's T tile, which is at least ib x width. Below these triangles are zeros.

/// Returns the shape of the Scratch tile of the kernels below, for steps of at most `width` columns.
///
/// across   largest size of a tile of A or C in the dimension that Q does not change: columns, or C's rows if Q
///          multiplies from the right.
/// rows     largest number of rows of a tile of A, on which the larger space for GPUs depends.
/// with_gpu there are GPUs.
constexpr Shape qr_work(index_t width, index_t across, index_t rows, bool with_gpu) {
  if (!with_gpu) return {width, across + 2 * width};
  constexpr index_t exchange = 33024;  // floats that hold panel_exchange_bytes
  return {width, 2 * std::max(across, width) + std::max(rows, width) + 1 + ceil_div(exchange, width)};
}

/// Factors A(row:, col:col+width) = Q R (LAPACK geqrt), with R in the upper triangle and V below. Then applies Q^H to
/// A(row:, col+width:), the columns of the same tile that later steps factor.
template <class T>
struct Geqrt {
  static constexpr auto name = "geqrt";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    index_t row = 0, col = 0, width = 0, ib = 1;  ///< ib: inner block size
    index_t rows = 0;                             ///< active: rows of the tile from `row` on
    GemmKernel kernel = GemmKernel::cublas;
    std::uint64_t cost_key() const {
      return internal::size_class(rows) | static_cast<std::uint64_t>(width) << 10 |
             static_cast<std::uint64_t>(ib) << 32 | static_cast<std::uint64_t>(kernel) << 56;
    }
  };
  static double flops(const Args& args, Shape a, Shape, Shape) {
    const auto m = static_cast<double>(args.rows), n = static_cast<double>(args.width), k = std::min(m, n),
               rest = static_cast<double>(a.cols - args.col - args.width);
    return flops_each<T> * (4 * m * n * k - 2 * (m + n) * k * k + 4 * k * k * k / 3 + 2 * k * rest * (2 * m - k));
  }
  static void cpu(const Args& args, InOut<T> a, Out<T> t, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, Out<T> t, Scratch<T> work);
};

/// Computes C = op(Q) C or C op(Q) (LAPACK gemqrt) with the Q of a Geqrt: V in v(row:, col:col+width). From the left
/// C's rows `row` … change, from the right its columns `row` ….
template <class T>
struct Unmqr {
  static constexpr auto name = "unmqr";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    Side side = Side::left;
    Op op = Op::none;
    index_t row = 0, col = 0, width = 0, ib = 1;  ///< ib: inner block size
    index_t rows = 0;                             ///< active: rows of the tile from `row` on
    bool unit_lower = false;  ///< v has explicit zeros and ones above the vectors, so a GPU needs no copy
    GemmKernel kernel = GemmKernel::cublas;
    std::uint64_t cost_key() const {
      return internal::size_class(rows) | static_cast<std::uint64_t>(side) << 8 | (op != Op::none ? 1u << 9 : 0u) |
             static_cast<std::uint64_t>(width) << 10 | static_cast<std::uint64_t>(ib) << 32 |
             static_cast<std::uint64_t>(kernel) << 56 | static_cast<std::uint64_t>(unit_lower) << 62;
    }
  };
  static double flops(const Args& args, Shape, Shape, Shape c, Shape) {
    const auto m = static_cast<double>(args.rows), k = std::min(m, static_cast<double>(args.width)),
               n = static_cast<double>(args.side == Side::left ? c.cols : c.rows);
    return flops_each<T> * 2 * n * k * (2 * m - k);
  }
  static void cpu(const Args& args, In<T> v, In<T> t, InOut<T> c, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> v, In<T> t, InOut<T> c, Scratch<T> work);
};

/// Factors [R; B] = Q [R'; 0] (LAPACK tpqrt), and applies Q^H to the columns right of col+width of both tiles.
///
/// A        R = a(row:row+width, col:col+width) is upper triangular.
/// B        b(:, col:col+width). TS form: B is full and becomes V. TT form (`triangle`): only B's upper triangle takes
///          part; the vectors of other transformations below it stay. Later steps of the same tile column factor the
///          columns to the right.
template <class T>
struct Tpqrt {
  static constexpr auto name = "tpqrt";
  static constexpr std::uint32_t color = 0xdd8452;
  struct Args {
    index_t row = 0, col = 0, width = 0, ib = 1;  ///< ib: inner block size
    bool triangle = false;
    std::uint64_t cost_key() const {
      return static_cast<std::uint64_t>(triangle) | static_cast<std::uint64_t>(width) << 10 |
             static_cast<std::uint64_t>(ib) << 32;
    }
  };
  /// Returns the rows of B that take part.
  static index_t height(const Args& args, index_t rows) { return args.triangle ? std::min(rows, args.width) : rows; }
  static double flops(const Args& args, Shape, Shape b, Shape, Shape) {
    const auto m = static_cast<double>(height(args, b.rows)), n = static_cast<double>(args.width),
               rest = static_cast<double>(b.cols - args.col - args.width);
    return flops_each<T> *
           (args.triangle ? 2 * n * n * n / 3 + 2 * n * (n + 1) * rest : 2 * n * n * m + 4 * n * m * rest);
  }
  static void cpu(const Args& args, InOut<T> a, InOut<T> b, Out<T> t, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, InOut<T> b, Out<T> t, Scratch<T> work);
};

/// Computes [C1; C2] = op(Q) [C1; C2] or [C1 C2] op(Q) (LAPACK tpmqrt) with the Q of a Tpqrt, V in v(:, col:col+width).
/// From the left C1 = c1(row:row+width, :) and C2 = c2(0:height, :); from the right the same columns.
template <class T>
struct Tpmqrt {
  static constexpr auto name = "tpmqrt";
  static constexpr std::uint32_t color = 0x55a868;
  struct Args {
    Side side = Side::left;
    Op op = Op::none;
    index_t row = 0, col = 0, width = 0, ib = 1;  ///< ib: inner block size
    bool triangle = false;                        ///< TT form
    std::uint64_t cost_key() const {
      return static_cast<std::uint64_t>(triangle) | static_cast<std::uint64_t>(side) << 8 |
             (op != Op::none ? 1u << 9 : 0u) | static_cast<std::uint64_t>(width) << 10 |
             static_cast<std::uint64_t>(ib) << 32;
    }
  };
  static double flops(const Args& args, Shape v, Shape, Shape c1, Shape, Shape) {
    const auto m = static_cast<double>(args.triangle ? std::min(v.rows, args.width) : v.rows),
               k = static_cast<double>(args.width),
               n = static_cast<double>(args.side == Side::left ? c1.cols : c1.rows);
    return flops_each<T> * (args.triangle ? 2 * k * (k + 1) * n : 4 * m * k * n);
  }
  static void cpu(const Args& args, In<T> v, In<T> t, InOut<T> c1, InOut<T> c2, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> v, In<T> t, InOut<T> c1, InOut<T> c2, Scratch<T> work);
};

}  // namespace tesela::kernels
