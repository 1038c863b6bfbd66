#pragma once

#include <tesela/codelets/qr/tile_qr.hpp>
#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// Reduction of a square matrix to an upper band, A = U B V^H, in steps of b columns and b rows. In step c the QR
// factorization of the columns c to c + b - 1 gives I - V1 T1 V1^H, and the LQ factorization of the rows c to c + b -
// 1, right of these columns, gives I - V2 T2 V2^H. They change the rest of A together:
//
//   A - V1 Y - X V2^H,   Y = T1^H V1^H A,   X = (A - V1 Y) V2 T2.
//
// A is in column tiles (n x w); tiles of V hold the rows from `top` on. G (n x 2b) = [V1 X], and H (2b x w) = [Y; V2^H]
// for each tile of A, so that the update is one product.
//
// Element (i, j) of the band is in row i - j + 2b - 1 of column j, with room for bulges: 3b - 1 rows.

/// A step of the reduction.
struct TriangularPanel {
  index_t column = 0;      ///< c, first row and column of the step
  index_t half_width = 1;  ///< b
  index_t width = 0;       ///< its columns: b, or fewer at the end
  index_t vectors = 0;     ///< its reflectors of rows: b, or fewer at the end
  index_t at = 0;          ///< first column of its reflectors in the tiles of V
  /// Returns the first column of the next step.
  index_t next() const { return column + half_width; }
};

/// The arguments that all kernels of a step have.
struct TriangularStep {
  TriangularPanel panel;
  std::uint64_t cost_key() const { return static_cast<std::uint64_t>(panel.column / 256); }
};

/// Factors the columns of a step.
///
/// V        its reflectors with their zeros and ones, also copied to G.
/// band     the triangle R.
/// T        its own tile.
/// Scratch  qr_work().
template <class T>
struct Ge2tbColumns {
  static constexpr auto name = "ge2tb_columns";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args : TriangularStep {
    index_t top = 0;                      ///< first row of V's tiles
    index_t column = 0, band_column = 0;  ///< of the step in the tile of A, and in the band's tile
  };
  static double flops(const Args& args, Shape a, Shape, Shape, Shape, Shape, Shape) {
    const auto m = static_cast<double>(a.rows - args.panel.column), k = static_cast<double>(args.panel.width);
    return 2 * m * k * k;
  }
  static void cpu(const Args& args, In<T> a, InOut<T> v, Out<T> g, InOut<T> band, Out<T> t, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> a, InOut<T> v, Out<T> g, InOut<T> band, Out<T> t,
                   Scratch<T> work);
};

/// Computes a tile's Y, in H, and the adjoint of the step's rows of A - V1 Y, in P (w x b).
template <class T>
struct Ge2tbRows {
  static constexpr auto name = "ge2tb_rows";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args : TriangularStep {
    index_t first = 0;  ///< first column of the tile right of the step
  };
  static double flops(const Args& args, Shape, Shape, Shape a, Shape, Shape) {
    const auto m = static_cast<double>(a.rows - args.panel.column), k = static_cast<double>(args.panel.half_width);
    return 2 * static_cast<double>(a.cols - args.first) * k * (m + 1.5 * k);
  }
  static void cpu(const Args& args, In<T> g, In<T> t, In<T> a, Out<T> h, Out<T> p);
  static void cuda(CudaContext& context, const Args& args, In<T> g, In<T> t, In<T> a, Out<T> h, Out<T> p);
};

/// Factors the rows of a step from the P of all tiles that begin in or right of column next(). Writes V2, its T, and
/// the lower triangle into the band.
template <class T>
struct Ge2tbFactorRows {
  static constexpr auto name = "ge2tb_factor_rows";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args : TriangularStep {
    index_t top = 0;          ///< first row of V2's tile
    index_t tile_width = 0;   ///< of all tiles of A except the last
    index_t band_column = 0;  ///< of column next() in the band's tile
  };
  static double flops(const Args& args, std::span<const Shape> shapes) {
    const auto m = static_cast<double>(shapes[0].rows), k = static_cast<double>(args.panel.half_width);
    return 2 * m * k * k;
  }
  static void cpu(const Args& args, InOut<T> v, Out<T> t, InOut<T> band, Scratch<T> work, std::span<const In<T>> p);
  static void cuda(CudaContext& context, const Args& args, InOut<T> v, Out<T> t, InOut<T> band, Scratch<T> work,
                   std::span<const In<T>> p);
};

/// Computes a part of (A - V1 Y) V2 in X (n x b): the list has the tiles of A first, first + stride, …, each followed
/// by its H. Scratch: b x b.
template <class T>
struct Ge2tbProduct {
  static constexpr auto name = "ge2tb_product";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args : TriangularStep {
    index_t top = 0;                ///< first row of V2's tile
    index_t first = 0, stride = 1;  ///< first tile of the list, and the distance of its tiles
    index_t tile_width = 0;         ///< of all tiles of A except the last
  };
  static double flops(const Args& args, std::span<const Shape> shapes) {
    double columns = 0;
    for (std::size_t i = 4; i < shapes.size(); i += 2) columns += static_cast<double>(shapes[i].cols);
    return 2 * columns * static_cast<double>(shapes[2].rows - args.panel.next()) *
           static_cast<double>(args.panel.vectors);
  }
  static void cpu(const Args& args, In<T> v, In<T> g, Out<T> x, Scratch<T> work, std::span<const In<T>> tiles);
  static void cuda(CudaContext& context, const Args& args, In<T> v, In<T> g, Out<T> x, Scratch<T> work,
                   std::span<const In<T>> tiles);
};

/// Computes X, in G, from the sum of the list and the T of the rows.
template <class T>
struct Ge2tbJoin {
  static constexpr auto name = "ge2tb_join";
  static constexpr std::uint32_t color = 0xdd8452;
  using Args = TriangularStep;
  static double flops(const Args& args, std::span<const Shape> shapes) {
    const auto m = static_cast<double>(shapes[1].rows - args.panel.next()), k = static_cast<double>(args.panel.vectors);
    return m * k * (k + static_cast<double>(shapes.size()) - 2);
  }
  static void cpu(const Args& args, In<T> t, InOut<T> g, std::span<const In<T>> parts);
  static void cuda(CudaContext& context, const Args& args, In<T> t, InOut<T> g, std::span<const In<T>> parts);
};

/// Updates a tile of A, rows and columns from next() on: A -= G H. Writes V2^H into H first.
template <class T>
struct Ge2tbUpdate {
  static constexpr auto name = "ge2tb_update";
  static constexpr std::uint32_t color = 0x55a868;
  struct Args : TriangularStep {
    index_t top = 0;          ///< first row of V2's tile
    index_t tile_column = 0;  ///< first column of the tile of A
    index_t first = 0;        ///< first column of the tile right of the step
  };
  static double flops(const Args& args, Shape, Shape, Shape, Shape a) {
    return 2 * static_cast<double>(a.cols - args.first) * static_cast<double>(a.rows - args.panel.next()) *
           static_cast<double>(args.panel.half_width + args.panel.vectors);
  }
  static void cpu(const Args& args, In<T> g, In<T> v, InOut<T> h, InOut<T> a);
  static void cuda(CudaContext& context, const Args& args, In<T> g, In<T> v, InOut<T> h, InOut<T> a);
};

}  // namespace tesela::kernels
