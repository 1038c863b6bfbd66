#pragma once

#include <tesela/host/blas.hpp>
#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// Triangular solves for GPUs, where substitution in small blocks leaves most of the machine idle: the diagonal blocks
// of R are inverted once and multiply every right-hand side. Errors grow with the condition of these blocks, rows and
// columns of R scaled as one likes (Du Croz, Higham, "Stability of methods for matrix inversion", IMA J. Numer. Anal.
// 12, 1992).

/// The rows of such a block, and of the work space.
inline constexpr index_t inverted_block = 512;

/// V becomes the inverses of the blocks on R's diagonal, R upper triangular, side by side: that of the block from
/// column j on is V(:, j ... j + inverted_block - 1), of which rows beyond the block are not to be read. V has R's
/// columns and as many rows, or inverted_block. Of a unit lower triangle those of its transpose: they are upper
/// triangular.
template <class T>
struct InvertBlocks {
  static constexpr auto name = "invert_blocks";
  static constexpr std::uint32_t color = 0xda8bc3;
  struct Args {
    blas::Triangle triangle = blas::Triangle::upper;
  };
  static double flops(const Args&, Shape r, Shape) {
    const auto n = static_cast<double>(r.rows), b = static_cast<double>(inverted_block);
    return n * (n < b ? n * n : b * b) / 3;
  }
  static void cpu(const Args& args, In<T> r, Out<T> v);
  static void cuda(CudaContext& context, const Args& args, In<T> r, Out<T> v);
};

/// X = op(R)^-1 X as Trsm, with the inverses V of R's diagonal blocks. The work space has inverted_block rows, and at
/// least as many columns as take part of X. On cores this is Trsm.
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
    return static_cast<double>(r.rows) * static_cast<double>(r.rows) * static_cast<double>(x.cols - args.column);
  }
  static void cpu(const Args& args, In<T> r, In<T> v, InOut<T> x, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> r, In<T> v, InOut<T> x, Scratch<T> work);
};

}  // namespace tesela::kernels
