#pragma once

#include <tesela/runtime/codelet.hpp>

#include <span>

namespace tesela {

/// Numbers at the points (x, y, z) of a box, nx x ny x nz with x running fastest, are held as matrices in two ways:
///
/// - as *planes*, nx x (ny nz): one plane of nx x ny behind the other. A tile is some whole planes.
/// - as *lines*, (nx ny) x nz: a row for each (x, y). A tile is all z for some neighbouring y.
///
/// Both have the same order in memory; their tiles differ. A tridiagonal system along x is a column of planes, along y
/// a row of a plane, and along z a row of lines.
namespace box {

/// How the kernels see a plane.
struct Planes {
  index_t ny = 0;     ///< columns of a plane
  index_t first = 0;  ///< number of the first plane, or of the first y, that the written tile holds
};

}  // namespace box

/// W = factor (the sum of the six neighbours of each point - 6 U), zero outside the box: planes. `before` holds the
/// plane before the tile's first as its last, and `after` the one behind its last as its first, if they are wanted;
/// either may be the tile of U itself.
template <class T>
struct BoxLaplace {
  static constexpr auto name = "box_laplace";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    T factor = 1;
    index_t ny = 0;
    bool has_before = false, has_after = false;
  };
  static double flops(const Args&, Shape, Shape u, Shape, Shape) {
    return 8 * static_cast<double>(u.rows) * static_cast<double>(u.cols);
  }
  static void cpu(const Args& args, In<T> before, In<T> u, In<T> after, Out<T> w);
  static void cuda(CudaContext& context, const Args& args, In<T> before, In<T> u, In<T> after, Out<T> w);
};

/// A tile of lines, whose first y is args.first, from all tiles of planes.
template <class T>
struct BoxLines {
  static constexpr auto name = "box_lines";
  static constexpr std::uint32_t color = 0x8c8c8c;
  using Args = box::Planes;
  static void cpu(const Args& args, Out<T> lines, std::span<const In<T>> planes);
  static void cuda(CudaContext& context, const Args& args, Out<T> lines, std::span<const In<T>> planes);
};

/// Adds all tiles of lines to a tile of planes, whose first z is args.first.
template <class T>
struct BoxAddLines {
  static constexpr auto name = "box_add_lines";
  static constexpr std::uint32_t color = 0x937860;
  using Args = box::Planes;
  static void cpu(const Args& args, InOut<T> planes, std::span<const In<T>> lines);
  static void cuda(CudaContext& context, const Args& args, InOut<T> planes, std::span<const In<T>> lines);
};

}  // namespace tesela
