#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// A tile of the diagonal: what stands above its diagonal becomes what stands below.
template <class T>
struct MirrorTile {
  static constexpr auto name = "mirror_tile";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {};
  static void cpu(const Args& args, InOut<T> a);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a);
};

/// A = R^T R for a whole symmetric tile (LAPACK potrf): R in the upper triangle, zeros below. `minor` (1 x 1) becomes
/// the order of the leading minor that is not positive (or NaN), this tile's first row being row `first` of the matrix.
/// Then, and where it is more than zero before, A's contents are of no use.
template <class T>
struct Potrf {
  static constexpr auto name = "potrf";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    index_t first = 0;
  };
  static double flops(const Args&, Shape a, Shape) {
    const auto n = static_cast<double>(a.rows);
    return n * n * n / 3;
  }
  static void cpu(const Args& args, InOut<T> a, InOut<double> minor);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, InOut<double> minor);
};

/// The rows x columns block of B from (b_row, b_column) on becomes that of op(A) from (a_row, a_column) on.
/// CopyBlock<T, Out> is the same for a B without contents, of which the block is all.
template <class T, template <class> class B = InOut>
struct CopyBlock {
  static constexpr auto name = "copy_block";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {
    index_t a_row = 0, a_column = 0, b_row = 0, b_column = 0, rows = 0, columns = 0;
    Op op = Op::none;
  };
  static void cpu(const Args& args, In<T> a, B<T> b);
  static void cuda(CudaContext& context, const Args& args, In<T> a, B<T> b);
};

}  // namespace tesela::kernels
