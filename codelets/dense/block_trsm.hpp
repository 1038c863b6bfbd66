#pragma once

#include <tesela/host/blas.hpp>
#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// Triangular solves for GPUs. Substitution in small blocks leaves most of a GPU idle, so the diagonal blocks of R are
// inverted once and then multiply every right-hand side. Errors grow with the condition of these blocks, minimized over
// scalings of R's rows and columns (Du Croz, Higham, "Stability of methods for matrix inversion", IMA J. Numer. Anal.
// 12, 1992).

/// Rows of a diagonal block that is inverted, and of the work space.
inline constexpr index_t inverted_block = 512;

/// Inverts the diagonal blocks of R (upper triangular).
///
/// V        the inverses, side by side: columns j ... j + inverted_block - 1 hold the inverse of the block that starts
///          at column j. V has R's columns, and as many rows as R or inverted_block. The rows beyond a smaller last
///          block must not be read. For a unit lower triangle V holds the inverses of the transposed blocks, which are
///          upper triangular.
template <class T>
struct InvertBlocks {
  static constexpr auto name = "invert_blocks";
  static constexpr std::uint32_t color = 0xda8bc3;
  struct Args {
    blas::Triangle triangle = blas::Triangle::upper;
  };
  static double flops(const Args&, Shape r, Shape) {
    const auto n = static_cast<double>(r.rows), b = static_cast<double>(inverted_block);
    return flops_each<T> * n * (n < b ? n * n : b * b) / 3;
  }
  static void cpu(const Args& args, In<T> r, Out<T> v);
  static void cuda(CudaContext& context, const Args& args, In<T> r, Out<T> v);
};

/// Solves X = op(R)^-1 X as Trsm does, with the inverses V of R's diagonal blocks. The work space has inverted_block
/// rows and at least as many columns as X has from `column` on. The CPU version is Trsm's.
template <class T>
struct BlockTrsm {
  static constexpr auto name = "block_trsm";
  static constexpr std::uint32_t color = 0xda8bc3;
  struct Args {
    Op op = Op::none;
    index_t column = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(op); }
  };
  static double flops(const Args& args, Shape r, Shape, Shape x, Shape) {
    return flops_each<T> * static_cast<double>(r.rows) * static_cast<double>(r.rows) *
           static_cast<double>(x.cols - args.column);
  }
  static void cpu(const Args& args, In<T> r, In<T> v, InOut<T> x, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> r, In<T> v, InOut<T> x, Scratch<T> work);
};

}  // namespace tesela::kernels
