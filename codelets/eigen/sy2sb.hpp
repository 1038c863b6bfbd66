#pragma once

#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/qr/tile_qr.hpp>

namespace tesela::kernels {

// Reduction of a symmetric or Hermitian matrix to a band of half-width b, A = Q B Q^H, panel by panel. The panel of
// columns c to c + b - 1 begins in row r = c + b: A(r:, c:c+b) = (I - V T V^H) R. Its Q changes the trailing matrix to
//
//   A - V Z^H - Z V^H,   Z = W - 1/2 V T^H V^H W,   W = A V T.
//
// V and Z of several panels are collected side by side (a block) before A is updated. A is in column tiles (n x w); its
// lower triangle is read and written, on GPUs also the mirrored part of diagonal blocks. Tiles of V and Z hold the rows
// from `top` on, and more below; tiles of A, P and W hold all rows.

/// Position of a panel, and the pending update of A: the block's columns from `waiting` to `at`.
struct BandPanel {
  index_t column = 0;   ///< c, the panel's first column and row in A
  index_t row = 0;      ///< r, first row of its reflectors
  index_t width = 0;    ///< its columns
  index_t vectors = 0;  ///< its reflectors
  index_t top = 0;      ///< first row of the block's tiles
  index_t at = 0;       ///< its first column in the block
  index_t waiting = 0;  ///< the block's first column that is not applied to A yet
};

/// Factors the panel's columns of A - V Z^H - Z V^H from their diagonal block on.
///
/// P        V with its zeros and ones is written to P(r:, :).
/// band     the diagonal block and R; element (i, j) in row i - j of column j.
/// T        its own tile.
/// Scratch  qr_work().
template <class T>
struct Sy2sbPanel {
  static constexpr auto name = "sy2sb_panel";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    BandPanel panel;
    index_t half_width = 0;               ///< of the band
    index_t column = 0, band_column = 0;  ///< of the panel in the tile of A, and in the band's tile
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(panel.at - panel.waiting); }
    /// Returns the arguments for P, which holds the reflectors.
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

/// Computes W(r:, 0:k) = A' V, with the panel's k columns of V in P(r:, :). A' is the part of A in the tiles of the
/// list, each with its mirror image above the diagonal. Tile i of the list is the column tile first + i stride.
template <class T>
struct Sy2sbSymm {
  static constexpr auto name = "sy2sb_symm";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    BandPanel panel;
    index_t first = 0, stride = 1;
    index_t tile_width = 0;  ///< of all tiles except the last
    bool mirrored = false;   ///< the part above the diagonal in a tile's diagonal block is valid; GPUs need it
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

/// Computes the panel's columns of V, from P, and of Z, from the sum of the list's W and the panel's T. Scratch: b x
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

/// Updates one column tile of A -= V Z^H + Z V^H, lower triangle, from column `first` of the matrix on (BLAS syr2k),
/// with the columns `begin` … `end` - 1 of the block.
template <class T>
struct Sy2sbUpdate {
  static constexpr auto name = "sy2sb_update";
  static constexpr std::uint32_t color = 0x55a868;
  struct Args {
    index_t tile_column = 0;  ///< the tile's first column in the matrix
    index_t first = 0;        ///< first column that changes, at or right of tile_column
    index_t top = 0;          ///< first row of V and Z in the matrix
    index_t begin = 0, end = 0;
    bool mirrored = false;  ///< also writes the mirror image above the diagonal of the tile's diagonal block
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

/// Computes the T of all of a block's columns from V and from the panels' T (LAPACK larft by blocks).
///
/// panels   the list in order, or side by side in its only tile, each of b columns except the last. I - V T V^H is the
///          product of the panels' reflectors.
template <class T>
struct JoinReflectors {
  static constexpr auto name = "join_reflectors";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    index_t columns = 0;     ///< columns of V with vectors
    index_t half_width = 0;  ///< of the band
  };
  static double flops(const Args& args, std::span<const Shape> shapes) {
    const auto k = static_cast<double>(args.columns);
    return static_cast<double>(shapes[0].rows) * k * k;
  }
  static void cpu(const Args& args, In<T> v, Out<T> t, std::span<const In<T>> panels);
  static void cuda(CudaContext& context, const Args& args, In<T> v, Out<T> t, std::span<const In<T>> panels);
};

/// Computes C(top:, :) = (I - V op(T) V^H) C(top:, :) (LAPACK larfb) with k columns of V, including its zeros and ones.
/// Scratch: k x (columns of C), on a GPU twice as many columns, and as kernels::multiply() needs it.
template <class T>
struct Larfb {
  static constexpr auto name = "larfb";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    Op op = Op::none;
    index_t top = 0, columns = 0;
    GemmKernel kernel = GemmKernel::cublas;
    std::uint64_t cost_key() const {
      return static_cast<std::uint64_t>(columns) | static_cast<std::uint64_t>(kernel) << 32;
    }
  };
  static double flops(const Args& args, Shape v, Shape, Shape c, Shape, Shape) {
    const auto k = static_cast<double>(args.columns);
    return static_cast<double>(c.cols) * k * (4 * static_cast<double>(v.rows) + k);
  }
  static void cpu(const Args& args, In<T> v, In<T> t, InOut<T> c, Scratch<T> work, Scratch<double> products);
  static void cuda(CudaContext& context, const Args& args, In<T> v, In<T> t, InOut<T> c, Scratch<T> work,
                   Scratch<double> products);
};

}  // namespace tesela::kernels
