#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal_segment.hpp>
#include <tesela/runtime/codelet.hpp>

#include <span>

namespace tesela::kernels {

/// Layout of the unknowns of one system in memory.
enum class SystemsIn : std::uint8_t {
  columns,  ///< each column of B is a right-hand side: n x k
  rows,     ///< each row of B is a right-hand side (an interleaved batch): k x n
};

namespace tridiagonal {

/// Layout of the systems in a tile of B, and the tile's position in them. The tiles of the bands dl, d, du have B's
/// shape, or hold a single system that is common to all.
struct SystemsTile {
  SystemsIn systems = SystemsIn::columns;
  /// Whether dl of the tile's first row couples to an unknown before it, and du of the last row to one after it.
  /// Otherwise they are not read.
  bool before = false, behind = false;
  index_t n = 0;  ///< equations of a whole system, the stride in a status

  auto cost_key() const { return static_cast<std::uint64_t>(systems); }
};

/// Returns the rows of the `work` tile for each system of a tile with this number of equations.
index_t work_segments(index_t equations);

/// Returns the flops: 1 for a division, 26 for the elimination of an unknown, 5 for its substitution.
inline double flops(const SystemsTile&, Shape b) {
  return 31 * static_cast<double>(b.rows) * static_cast<double>(b.cols);
}

}  // namespace tridiagonal

/// Solves B <- A^-1 B for a tile of whole systems. `info` becomes i + 1 + n s if system s is singular or its solution
/// is not finite, detected in equation i. `work` is work_segments(n) x systems.
template <class T>
struct TridiagonalSolve {
  static constexpr auto name = "tridiagonal_solve";
  static constexpr std::uint32_t color = 0x55a868;
  struct Args : tridiagonal::SystemsTile {
    bool periodic = false;  ///< whether the first and the last unknown are neighbours
    bool one_pass = false;  ///< try one pass on a GPU: TridiagonalOptions
    auto cost_key() const { return SystemsTile::cost_key() + (one_pass ? 2 : 0); }
  };
  static double flops(const Args& args, Shape, Shape, Shape, Shape b, Shape, Shape) {
    return 2 * tridiagonal::flops(args, b);
  }
  static void cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Scratch<tridiagonal::Segment<T>> work,
                  InOut<int> info);
  static void cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b,
                   Scratch<tridiagonal::Segment<T>> work, InOut<int> info);
};

/// Reduces the rows of a tile to equations of the unknowns around its ends: ends(0, s) for system s. `work` keeps
/// segments of parts of the rows for the substitution.
template <class T>
struct TridiagonalReduce {
  static constexpr auto name = "tridiagonal_reduce";
  static constexpr std::uint32_t color = 0x4c72b0;
  using Args = tridiagonal::SystemsTile;
  static double flops(const Args& args, Shape, Shape, Shape, Shape b, Shape, Shape) {
    return tridiagonal::flops(args, b);
  }
  static void cpu(const Args& args, In<T> dl, In<T> d, In<T> du, In<T> b, Out<tridiagonal::Segment<T>> work,
                  Out<tridiagonal::Segment<T>> ends);
  static void cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, In<T> b,
                   Out<tridiagonal::Segment<T>> work, Out<tridiagonal::Segment<T>> ends);
};

/// Reduces real numbers on cores, and solves rows that do not depend on other tiles.
///
/// B        solved rows become their unknowns: in a long column, stretches between unknowns that two neighbouring
///          stretches determine alone, to less than the smallest normal number. Each such row is read from memory once.
/// work     lists the other rows for TridiagonalSubstitute.
/// info     as for TridiagonalSubstitute.
template <class T>
struct TridiagonalReduceAndSolve {
  static constexpr auto name = "tridiagonal_reduce_and_fill";
  static constexpr std::uint32_t color = 0x4c72b0;
  using Args = tridiagonal::SystemsTile;
  static double flops(const Args& args, Shape, Shape, Shape, Shape b, Shape, Shape, Shape) {
    return tridiagonal::flops(args, b);
  }
  static void cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Out<tridiagonal::Segment<T>> work,
                  Out<tridiagonal::Segment<T>> ends, InOut<int> info);
};

/// Solves the equations of a system's tiles from Reduce.
///
/// values   (2 i, s) and (2 i + 1, s) become the unknowns before and at the first row of tile i of system s, (2 i + 2,
///          s) and (2 i + 3, s) the unknowns at and after its last row.
/// joints   tiles x systems.
/// info     1 + n s if system s is singular.
template <class T>
struct TridiagonalJoin {
  static constexpr auto name = "tridiagonal_join";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args : tridiagonal::SystemsTile {
    bool periodic = false;  ///< whether the first and the last unknown are neighbours
  };
  static void cpu(const Args& args, Out<T> values, Scratch<tridiagonal::Joint<T>> joints, InOut<int> info,
                  std::span<const In<tridiagonal::Segment<T>>> ends);
  static void cuda(CudaContext& context, const Args& args, Out<T> values, Scratch<tridiagonal::Joint<T>> joints,
                   InOut<int> info, std::span<const In<tridiagonal::Segment<T>>> ends);
};

/// Sets B to the unknowns of tile number `tile` between the ends that Join computed. `work` comes from Reduce and is
/// undefined afterwards. `info` as for TridiagonalSolve, with i counted from the tile's first row.
template <class T>
struct TridiagonalSubstitute {
  static constexpr auto name = "tridiagonal_substitute";
  static constexpr std::uint32_t color = 0xdd8452;
  struct Args : tridiagonal::SystemsTile {
    index_t tile = 0;
  };
  static double flops(const Args& args, Shape, Shape, Shape, Shape b, Shape, Shape, Shape) {
    return tridiagonal::flops(args, b);
  }
  static void cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, InOut<tridiagonal::Segment<T>> work,
                  In<T> values, InOut<int> info);
  static void cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b,
                   InOut<tridiagonal::Segment<T>> work, In<T> values, InOut<int> info);
};

}  // namespace tesela::kernels
