#pragma once

#include <tesela/runtime/codelet.hpp>

#include <cstdint>

namespace tesela::kernels {

/// Copies a block of op(A), from (a_row, a_column) on, to the rows x columns block of B from (b_row, b_column) on; on
/// request with rows or columns in reverse order. CopyBlock<T, Out> does not read B, and the block must be all of it.
template <class T, template <class> class B = InOut>
struct CopyBlock {
  static constexpr auto name = "copy_block";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {
    index_t a_row = 0, a_column = 0, b_row = 0, b_column = 0, rows = 0, columns = 0;
    Op op = Op::none;
    bool reverse_rows = false, reverse_columns = false;  ///< orders in B
  };
  static void cpu(const Args& args, In<T> a, B<T> b);
  static void cuda(CudaContext& context, const Args& args, In<T> a, B<T> b);
};

/// Elements of a matrix that count: all, without the diagonal (beside_diagonal), or in the diagonals next to it
/// (next_to_diagonal).
enum class Counted : std::uint8_t { all, beside_diagonal, next_to_diagonal };

/// Finds the largest magnitude of a tile's elements that count, of complex ones the larger part's; NaN if one is NaN.
/// `found` is 1 x 1.
template <class T>
struct LargestElement {
  static constexpr auto name = "largest_element";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    Counted counted = Counted::all;
    index_t first_row = 0, first_column = 0;  ///< of the tile, in the matrix
  };
  static void cpu(const Args& args, In<T> a, Out<double> found);
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<double> found);
};

/// Copies the part below the diagonal, or its conjugates, to the part above it, in a tile with a square of the diagonal
/// that begins in row `row`. Imaginary parts of the diagonal are dropped.
template <class T>
struct MirrorTile {
  static constexpr auto name = "mirror_tile";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {
    index_t row = 0;
  };
  static void cpu(const Args& args, InOut<T> a);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a);
};

/// Finds NaN and infinities at the speed of memory: `status` becomes 1 + the first column of the tile that has one, if
/// it is 0 or larger.
template <class T>
struct NotFinite {
  static constexpr auto name = "not_finite";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    bool upper = false;                       ///< ignores elements below the matrix's diagonal
    bool lower = false;                       ///< ignores elements above it
    index_t first_row = 0, first_column = 0;  ///< of the tile, in the matrix
    std::uint64_t cost_key() const { return upper || lower ? 1 : 0; }
  };
  static void cpu(const Args& args, In<T> a, InOut<int> status);
  static void cuda(CudaContext& context, const Args& args, In<T> a, InOut<int> status);
};

/// Computes A *= 2^exponent, even if that power exceeds T's range.
template <class T>
struct ScalePowerOfTwo {
  static constexpr auto name = "scale_power_of_two";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    int exponent = 0;
  };
  static void cpu(const Args& args, InOut<T> a);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a);
};

/// Transposes: B = A^T, A m x n and B n x m.
template <class T>
struct Transpose {
  static constexpr auto name = "transpose";
  static constexpr std::uint32_t color = 0xb0b0b0;
  struct Args {};
  static void cpu(const Args& args, In<T> a, Out<T> b);
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<T> b);
};

}  // namespace tesela::kernels
