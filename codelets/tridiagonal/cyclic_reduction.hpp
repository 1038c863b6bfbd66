#pragma once

#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/scalar.hpp>

#include <span>

namespace tesela::kernels {

// Cyclic reduction of a tile of m rows. Level 0 has all rows. A step adds to every odd row (counted from 0) multiples
// of its two neighbours that eliminate their unknowns; these rows form the next level, so level l has floor(m / 2^l)
// rows. A tile's last row lacks its neighbour in the next tile; CrJoin adds its contribution. Cores reduce complex
// numbers, too.

/// Storage of the rows of a level.
enum class Reduction : std::uint8_t {
  in_place,  ///< level 1 in `work` ((m / 2) x 3) and in B; rows of later levels 2, 4, … apart in the same place
  staged,    ///< as in_place; on a GPU a block first loads its rows to shared memory
  packed,    ///< each level after the previous one in `work` (m x (3 + r)), without gaps; B is written once
};

/// Arguments of the reduction.
struct CrArgs {
  Reduction how = Reduction::in_place;
  int levels = 0;                  ///< number of reductions
  bool first = true, last = true;  ///< of the system's tiles: dl of the first row and du of the last are not read
  index_t stride = 1;              ///< the system has every stride-th row of a larger one, whose rows info counts
  index_t coarse_first = 0;        ///< index of this tile's first row among the coarse rows
  std::uint64_t cost_key() const { return static_cast<std::uint64_t>(how) + 4 * static_cast<std::uint64_t>(levels); }
};

/// Returns how often m rows must be halved until at most `rest` are left.
constexpr int cr_levels(index_t m, index_t rest = 0) {
  int levels = 0;
  while (m >> levels > rest) ++levels;
  return levels;
}

/// Returns the shape of `work` for tiles of m rows and r right-hand sides.
Shape cr_work(Reduction how, index_t m, index_t r);

/// Reduces the tile to level `levels`.
///
/// edge     optional tile of the list, (levels + q) x (3 + r): becomes the first row of each level, then the q rows of
///          the last level: dl, d, du and the right-hand sides.
/// info     0, or the first row, on the lowest such level, whose diagonal is zero or not finite at its elimination
///          (times the stride, counted from 1).
template <class T>
struct CrReduce {
  static constexpr auto name = "cr_reduce";
  static constexpr std::uint32_t color = 0x4c72b0;
  static constexpr bool cores_only = is_complex<T>;
  using Args = CrArgs;
  static double flops(const Args&, std::span<const Shape> tiles) {
    return static_cast<double>(tiles[3].rows) * (8 + 4 * static_cast<double>(tiles[3].cols));
  }
  static void cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Out<T> work, Scratch<index_t> failure,
                  Out<int> info, std::span<const Out<T>> edge);
  static void cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Out<T> work,
                   Scratch<index_t> failure, Out<int> info, std::span<const Out<T>> edge);
};

/// Assembles the system of the rows that remain after all tiles' reductions, from their edges.
template <class T>
struct CrJoin {
  static constexpr auto name = "cr_join";
  static constexpr std::uint32_t color = 0xdd8452;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {
    int levels = 0;         ///< number of reductions
    index_t n = 0, mb = 0;  ///< rows of the whole system, and of its tiles except the last
  };
  static void cpu(const Args& args, Out<T> dl, Out<T> d, Out<T> du, Out<T> b, std::span<const In<T>> edges);
  static void cuda(CudaContext& context, const Args& args, Out<T> dl, Out<T> d, Out<T> du, Out<T> b,
                   std::span<const In<T>> edges);
};

/// Substitutes from level `levels` down to 0: B becomes X. The list holds the X of the coarse system, or is empty if
/// that level has no rows. info = 0, or the first row whose unknowns are not finite, counted as by CrReduce.
template <class T>
struct CrSubstitute {
  static constexpr auto name = "cr_substitute";
  static constexpr std::uint32_t color = 0x55a868;
  static constexpr bool cores_only = is_complex<T>;
  using Args = CrArgs;
  static double flops(const Args&, std::span<const Shape> tiles) {
    return static_cast<double>(tiles[4].rows) * 5 * static_cast<double>(tiles[4].cols);
  }
  static void cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> work, InOut<T> b, Scratch<index_t> failure,
                  Out<int> info, std::span<const In<T>> coarse);
  static void cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> work, InOut<T> b,
                   Scratch<index_t> failure, Out<int> info, std::span<const In<T>> coarse);
};

}  // namespace tesela::kernels
