#pragma once

#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// Columns of eigenvectors in divide and conquer. A block of their rows is a list of tiles side by side, counted as one
// row of columns. Several such blocks, one below the other, follow each other in a list, with the same number of tiles
// each.

/// Selects, gathers and rotates columns of some blocks of rows (LAPACK laed2).
///
/// kept, deflated column j of [kept | deflated] becomes column plan(j) of the sources, or zero if that is -1. A tile
///                with one column more than args specifies counts as empty.
/// rotations      row r has c, s. For r = 0, 1, … columns x and y of [kept | deflated], with the indices plan(kept +
///                deflated + 2 r) and the next one, become c x + s y and c y - s x. A column in several rotations is y
///                in one and x in the next.
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

/// Computes C = A B(first … first + inner - 1, :), A m x inner, C m x n: a block of rows of the new vectors (LAPACK
/// laed3). Scratch: as kernels::multiply() needs it on GPUs.
template <class T>
struct MergeProduct {
  static constexpr auto name = "merge_product";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    index_t first = 0, inner = 0;
    GemmKernel kernel = GemmKernel::cublas;
    std::uint64_t cost_key() const {
      return static_cast<std::uint64_t>(inner) | static_cast<std::uint64_t>(kernel) << 32;
    }
  };
  static double flops(const Args& args, Shape, Shape, Shape c, Shape) {
    return 2.0 * static_cast<double>(args.inner) * static_cast<double>(c.rows) * static_cast<double>(c.cols);
  }
  static void cpu(const Args& args, In<T> a, In<T> b, Out<T> c, Scratch<double> work);
  static void cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, Out<T> c, Scratch<double> work);
};

/// Sets row (k x 1) to row args.row of tiles side by side.
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

/// Copies rows args.from … args.from + args.rows - 1 of tiles side by side to rows args.to … of x: their column map(j)
/// to column j of x, for all j with map(j) >= 0. PlaceColumns<T, Out> sets the rest of x to zero.
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
