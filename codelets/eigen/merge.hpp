#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// Columns of eigenvectors in divide and conquer. A block of their rows is a list of tiles side by side, counted as one
// row of columns; several such blocks, one below the other, stand in a list one after the other, in as many tiles each.

/// Columns of some blocks of rows, chosen, brought together and rotated: column j of [kept | deflated] is column
/// plan(j) of the sources, or zero where that is -1. Then for r = 0, 1, … columns x and y of [kept | deflated], numbers
/// plan(kept + deflated + 2 r) and the one behind it, become c x + s y and c y - s x with c, s in row r of `rotations`.
/// A column in several rotations is y in one and x in the next. (LAPACK laed2.) A tile with one column more than args
/// says has none.
template <class T>
struct MergeColumns {
  static constexpr auto name = "merge_columns";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    index_t blocks = 1;  ///< of rows, in the list
    index_t kept = 0, deflated = 0, rotations = 0;
  };
  static void cpu(const Args& args, In<index_t> plan, In<T> rotations, Out<T> kept, Out<T> deflated,
                  std::span<const In<T>> sources);
  static void cuda(CudaContext& context, const Args& args, In<index_t> plan, In<T> rotations, Out<T> kept,
                   Out<T> deflated, std::span<const In<T>> sources);
};

/// C = A B(first … first + inner - 1, :), A m x inner, C m x n: a block of rows of the new vectors. (LAPACK laed3.)
template <class T>
struct MergeProduct {
  static constexpr auto name = "merge_product";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    index_t first = 0, inner = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(inner); }
  };
  static double flops(const Args& args, Shape, Shape, Shape c) {
    return 2.0 * static_cast<double>(args.inner) * static_cast<double>(c.rows) * static_cast<double>(c.cols);
  }
  static void cpu(const Args& args, In<T> a, In<T> b, Out<T> c);
  static void cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, Out<T> c);
};

/// row (k x 1) = row args.row of tiles side by side.
template <class T>
struct CopyRow {
  static constexpr auto name = "copy_row";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {
    index_t row = 0;
  };
  static void cpu(const Args& args, Out<T> row, std::span<const In<T>> sources);
  static void cuda(CudaContext& context, const Args& args, Out<T> row, std::span<const In<T>> sources);
};

/// Rows args.from … args.from + args.rows - 1 of tiles side by side go to rows args.to … of x: their column map(j) to
/// its column j, for all j with map(j) >= 0. PlaceColumns<T, Out> makes all else of x zero.
template <class T, template <class> class X = InOut>
struct PlaceColumns {
  static constexpr auto name = "place_columns";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    index_t from = 0, to = 0, rows = 0;
  };
  static void cpu(const Args& args, In<index_t> map, X<T> x, std::span<const In<T>> sources);
  static void cuda(CudaContext& context, const Args& args, In<index_t> map, X<T> x, std::span<const In<T>> sources);
};

}  // namespace tesela::kernels
