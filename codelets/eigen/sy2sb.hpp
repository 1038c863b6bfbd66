#pragma once

#include <tesela/codelets/qr/tile_qr.hpp>

namespace tesela::kernels {

// Reduction of a symmetric matrix to a band of half-width b, A = Q B Q^T, panel by panel. The panel of columns c to
// c + b - 1 begins in row r = c + b: A(r:, c:c+b) = (I - V T V^T) R. What its Q does to the trailing matrix is
//
//   A - V Z^T - Z V^T,   Z = W - 1/2 V T^T V^T W,   W = A V T.
//
// V and Z of several panels are gathered side by side (a block) before A takes them. A is in column tiles (n x w), of
// which the lower triangle is read and written, on GPUs also what mirrors it in diagonal blocks. Tiles of V and Z hold
// the rows from `top` on, and more below; A's, P's and W's all rows.

/// Where a panel stands, and what A still lacks: the block's columns from `waiting` to `at`.
struct BandPanel {
  index_t column = 0;   ///< c, the panel's first column and row in A
  index_t row = 0;      ///< r, where its reflectors begin
  index_t width = 0;    ///< its columns
  index_t vectors = 0;  ///< its reflectors
  index_t top = 0;      ///< first row of the block's tiles
  index_t at = 0;       ///< its first column in the block
  index_t waiting = 0;  ///< the block's first column that A has not taken yet
};

/// The panel's columns of A - V Z^T - Z V^T, from their diagonal block on, are factored: the diagonal block and R go to
/// the band (element (i, j) in row i - j of column j), V with its zeros and ones to P(r:, :), T to a tile of its own.
/// Scratch: qr_work().
template <class T>
struct Sy2sbPanel {
  static constexpr auto name = "sy2sb_panel";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    BandPanel panel;
    index_t half_width = 0;
    index_t column = 0, band_column = 0;  ///< of the panel in the tile of A, and in the band's
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(panel.at - panel.waiting); }
    /// Of P, in which the reflectors are found.
    typename Geqrt<T>::Args qr(index_t n) const { return {panel.row, 0, panel.width, half_width, n - panel.row}; }
  };
  static double flops(const Args& args, Shape a, Shape, Shape, Shape, Shape, Shape, Shape) {
    const auto m = static_cast<double>(a.rows - args.panel.column), k = static_cast<double>(args.panel.width);
    return 4 * m * k * static_cast<double>(args.panel.at - args.panel.waiting) + 2 * m * k * k;
  }
  static void cpu(const Args& args, In<T> a, In<T> v, In<T> z, Out<T> p, InOut<T> band, Out<T> t, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> a, In<T> v, In<T> z, Out<T> p, InOut<T> band, Out<T> t,
                   Scratch<T> work);
};

/// W(r:, 0:k) = A' V, the panel's k columns of V in P(r:, :): A' is what the tiles of the list hold of A, each with
/// what mirrors it above the diagonal. Tile i of the list is the column tile first + i stride.
template <class T>
struct Sy2sbSymm {
  static constexpr auto name = "sy2sb_symm";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    BandPanel panel;
    index_t first = 0, stride = 1;
    index_t tile_width = 0;  ///< of the tiles but the last
    bool mirrored = false;   ///< what stands above the diagonal in a tile's diagonal block is right, too; GPUs need it
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(panel.row / 256); }
  };
  static double flops(const Args& args, std::span<const Shape> shapes) {
    double elements = 0;
    for (std::size_t i = 2; i < shapes.size(); ++i) {
      const index_t begin = (args.first + static_cast<index_t>(i - 2) * args.stride) * args.tile_width,
                    left = std::max(begin, args.panel.row),
                    columns = std::max<index_t>(0, begin + shapes[i].cols - left);
      elements += static_cast<double>(columns) *
                  (static_cast<double>(shapes[i].rows - left) - 0.5 * static_cast<double>(columns));
    }
    return 4 * elements * static_cast<double>(args.panel.vectors);
  }
  static void cpu(const Args& args, In<T> p, Out<T> w, std::span<const In<T>> a);
  static void cuda(CudaContext& context, const Args& args, In<T> p, Out<T> w, std::span<const In<T>> a);
};

/// The panel's columns of V, from P, and of Z, from the sum of the W of the list and the panel's T. Scratch: b x
/// (columns of the block).
template <class T>
struct Sy2sbJoin {
  static constexpr auto name = "sy2sb_join";
  static constexpr std::uint32_t color = 0xdd8452;
  struct Args {
    BandPanel panel;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(panel.at - panel.waiting); }
  };
  static double flops(const Args& args, std::span<const Shape> shapes) {
    const auto m = static_cast<double>(shapes[1].rows - args.panel.row), k = static_cast<double>(args.panel.vectors),
               lacking = static_cast<double>(args.panel.at - args.panel.waiting);
    return m * k * (8 * lacking + 5 * k);
  }
  static void cpu(const Args& args, In<T> t, In<T> p, InOut<T> v, InOut<T> z, Scratch<T> work,
                  std::span<const In<T>> w);
  static void cuda(CudaContext& context, const Args& args, In<T> t, In<T> p, InOut<T> v, InOut<T> z, Scratch<T> work,
                   std::span<const In<T>> w);
};

/// One column tile of A -= V Z^T + Z V^T, lower triangle, from column `first` of the matrix on (BLAS syr2k): the
/// columns `begin` … `end` - 1 of the block.
template <class T>
struct Sy2sbUpdate {
  static constexpr auto name = "sy2sb_update";
  static constexpr std::uint32_t color = 0x55a868;
  struct Args {
    index_t tile_column = 0;  ///< the tile's first column in the matrix
    index_t first = 0;        ///< first column that changes, not left of it
    index_t top = 0;
    index_t begin = 0, end = 0;
    bool mirrored = false;  ///< writes what mirrors the tile's diagonal block above its diagonal, too
    std::uint64_t cost_key() const {
      return static_cast<std::uint64_t>(first / 256) | static_cast<std::uint64_t>(end - begin) << 32;
    }
  };
  static double flops(const Args& args, Shape, Shape, Shape a) {
    const auto columns = static_cast<double>(args.tile_column + a.cols - args.first),
               rows = static_cast<double>(a.rows - args.first);
    return 4 * columns * (rows - 0.5 * columns) * static_cast<double>(args.end - args.begin);
  }
  static void cpu(const Args& args, In<T> v, In<T> z, InOut<T> a);
  static void cuda(CudaContext& context, const Args& args, In<T> v, In<T> z, InOut<T> a);
};

/// T of all of a block's columns from V and from the panels' (the list in order, or side by side in its only tile),
/// each of b columns but the last: I - V T V^T is the product of theirs (LAPACK larft by blocks).
template <class T>
struct JoinReflectors {
  static constexpr auto name = "join_reflectors";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    index_t columns = 0;  ///< of V that hold vectors
    index_t half_width = 0;
  };
  static double flops(const Args& args, std::span<const Shape> shapes) {
    const auto k = static_cast<double>(args.columns);
    return static_cast<double>(shapes[0].rows) * k * k;
  }
  static void cpu(const Args& args, In<T> v, Out<T> t, std::span<const In<T>> panels);
  static void cuda(CudaContext& context, const Args& args, In<T> v, Out<T> t, std::span<const In<T>> panels);
};

/// LAPACK larfb: C(top:, :) = (I - V op(T) V^T) C(top:, :), V with its zeros and ones written out, k columns of it.
/// Scratch: k x (columns of C), on a GPU twice as many columns.
template <class T>
struct Larfb {
  static constexpr auto name = "larfb";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    Op op = Op::none;
    index_t top = 0, columns = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(columns); }
  };
  static double flops(const Args& args, Shape v, Shape, Shape c, Shape) {
    const auto k = static_cast<double>(args.columns);
    return static_cast<double>(c.cols) * k * (4 * static_cast<double>(v.rows) + k);
  }
  static void cpu(const Args& args, In<T> v, In<T> t, InOut<T> c, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> v, In<T> t, InOut<T> c, Scratch<T> work);
};

}  // namespace tesela::kernels
