#pragma once

#include <tesela/codelets/dense/internal/int8_barriers.cuh>
#include <tesela/codelets/dense/internal/int8_moduli.hpp>
#include <tesela/codelets/dense/internal/int8_steps.hpp>
#include <tesela/codelets/dense/internal/int8_workspace.hpp>
#include <tesela/runtime/types.hpp>

#include <type_traits>

// The last part of a product by residues: elements of C from their residues, which are kept in pieces of 16 x 16.
// Internal to codelets/.

namespace tesela::kernels::int8 {

constexpr int pieces = 128, piece_words = 32;  // of a tile; uint2 of a piece and modulus
constexpr int helpers = 3;                     // warps that restore pieces

/// Returns the pieces in shared memory for each of these warps; 16 moduli leave room for two.
TESELA_BOTH constexpr int slots(int count) { return count <= 15 ? 3 : 2; }

/// The kernel's parameters.
template <class T>
struct Parameters {
  int m, n;
  int a_line, b_line;                  ///< lines of C's first row and column
  int slices, tiles_i, tiles_j, band;  ///< of 128 k; tiles of C; tiles_i of the tiles that run together
  int tiles;                           ///< in all; fewer than tiles_i tiles_j if `upper`
  bool upper, spread;                  ///< as in Product
  bool pairs;                          ///< C's pairs of elements are aligned
  bool usual;                          ///< alpha has a moderate exponent
  int beta_kind;                       ///< 0: beta is 0, 1: it is 1, 2: other
  double factor;                       ///< alpha restore.unit
  T alpha, beta;
  int piece_rows, piece_columns;
  Piece<T> pieces[most_pieces];  ///< of C
  const int *rows, *columns;     ///< exponents
  uint2* kept;                   ///< two tiles of each block: [piece][modulus][lane]
  Restoration restore;
  std::uint32_t powers[most_moduli], top[most_moduli];
  int start[most_moduli], scale[most_moduli];
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
/// Returns 2^exponent, a normal number.
__device__ __forceinline__ double power(int exponent) { return __hiloint2double((exponent + 1023) << 20, 0); }

/// Returns C's first element of the tile at row i0 and column j0, and its leading dimension.
template <class T>
__device__ __forceinline__ Piece<T> tile_of(const Parameters<T>& p, int i0, int j0) {
  const int row = i0 / p.piece_rows, column = j0 / p.piece_columns;
  const Piece<T>& piece = p.pieces[row + column];
  return {piece.data + (i0 - row * p.piece_rows) + (j0 - column * p.piece_columns) * piece.ld, piece.ld};
}

/// The eight elements of a piece that a thread restores: rows i, i + 1, i + 8, i + 9 of columns j and j + 8.
template <class T>
struct Eight {
  using Pair = std::conditional_t<sizeof(T) == 8, double2, float2>;
  int i, j;
  T* c;
  index_t ld;

  /// `piece` 16 w + q holds rows 16 q … of columns 16 w … of the tile.
  __device__ __forceinline__ Eight(const Piece<T>& tile, int piece, int i0, int j0) : ld(tile.ld) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int down = piece % 16 * 16 + lane % 4 * 2, across = piece / 16 * 16 + lane / 4;
    i = i0 + down, j = j0 + across;
    c = tile.data + down + across * ld;
  }
  /// Reads the elements of C; 0 outside.
  __device__ __forceinline__ void read(const Parameters<T>& p, T (&old)[8]) const {
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const bool inside = j + 8 * h < p.n;
        const T* from = c + 8 * g + 8 * h * ld;
        T* to = &old[4 * g + 2 * h];
        if (p.pairs && inside && i + 8 * g + 1 < p.m) {
          const Pair two = __ldcs(reinterpret_cast<const Pair*>(from));
          to[0] = two.x, to[1] = two.y;
        } else {
          for (int e = 0; e < 2; ++e) to[e] = inside && i + 8 * g + e < p.m ? from[e] : T(0);
        }
      }
  }
  /// Writes alpha times the product plus beta times `old`. The FP64 units start only between two products of the tensor
  /// cores, so their instructions for all elements follow each other.
  template <int N>
  __device__ __forceinline__ void write(const Parameters<T>& p, const uint2 (&bytes)[N], const T (&old)[8]) const {
    Fraction fraction[8];
#pragma unroll
    for (int b = 0; b < 8; ++b) fraction[b] = {p.restore.start[0], p.restore.start[1], p.restore.start[2]};
#pragma unroll
    for (int l = 0; l < N; ++l)
#pragma unroll
      for (int b = 0; b < 8; ++b)
        fraction[b].add(__byte_perm(b < 4 ? bytes[l].x : bytes[l].y, 0, 0x4440 + b % 4), p.restore, l);
    const int column[2] = {p.columns[j], p.columns[j + 8]};
    const int2 row[2] = {*reinterpret_cast<const int2*>(p.rows + i), *reinterpret_cast<const int2*>(p.rows + i + 8)};
    int exponent[8];
    bool usual = p.usual;
    double value[8], factor[8];
#pragma unroll
    for (int b = 0; b < 8; ++b) {
      exponent[b] = -((b % 2 == 0 ? row[b / 4].x : row[b / 4].y) + column[b / 2 % 2]);
      usual = usual && exponent[b] >= -400 && exponent[b] <= 400;
      factor[b] = __hiloint2double(__double2hiint(p.factor) + (exponent[b] << 20), __double2loint(p.factor));
      value[b] = static_cast<double>(fraction[b].value());
    }
    if (usual && p.beta_kind == 0) {
#pragma unroll
      for (int b = 0; b < 8; ++b) value[b] *= factor[b];
    } else if (usual) {
      double base[8];
#pragma unroll
      for (int b = 0; b < 8; ++b) base[b] = static_cast<double>(old[b]);
      if (p.beta_kind == 2) {
#pragma unroll
        for (int b = 0; b < 8; ++b) base[b] *= static_cast<double>(p.beta);
      }
#pragma unroll
      for (int b = 0; b < 8; ++b) value[b] = fma(value[b], factor[b], base[b]);
    } else {  // elements with usual exponents must not depend on the others
      for (int b = 0; b < 8; ++b) {
        const bool plain = p.usual && exponent[b] >= -400 && exponent[b] <= 400;
        const double base = p.beta_kind == 0   ? 0
                            : p.beta_kind == 1 ? static_cast<double>(old[b])
                                               : static_cast<double>(p.beta) * static_cast<double>(old[b]);
        if (!plain) {
          const int half = exponent[b] / 2;
          value[b] *= p.usual ? p.factor : p.restore.unit;
          value[b] *= power(max(-1000, min(1000, half)));
          value[b] *= power(max(-1000, min(1000, exponent[b] - half)));
          if (exponent[b] <= -not_finite / 2) value[b] = __hiloint2double(0x7ff80000, 0);
        }
        const double times = plain ? factor[b] : p.usual ? 1 : static_cast<double>(p.alpha);
        value[b] = p.beta_kind == 0 ? value[b] * times : fma(value[b], times, base);
      }
    }
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int b = 4 * g + 2 * h;
        const bool inside = j + 8 * h < p.n;
        const bool first = inside && i + 8 * g < p.m && (p.spread || exponent[b] > -not_finite / 2);
        const bool second = inside && i + 8 * g + 1 < p.m && (p.spread || exponent[b + 1] > -not_finite / 2);
        T* to = c + 8 * g + 8 * h * ld;
        if (p.pairs && first && second) {
          __stcs(reinterpret_cast<Pair*>(to), Pair{static_cast<T>(value[b]), static_cast<T>(value[b + 1])});
        } else {
          if (first) to[0] = static_cast<T>(value[b]);
          if (second) to[1] = static_cast<T>(value[b + 1]);
        }
      }
  }
};

/// A warp that restores every third piece of each tile. Copies of pieces run ahead in `ahead` slots of shared memory.
template <class T, int N>
struct Restorer {
  static constexpr unsigned bytes = N * piece_words * 8;
  static constexpr int ahead = slots(N);
  unsigned memory, barriers;  ///< of the slots, in shared memory
  int count = 0;              ///< pieces so far

  /// Starts to copy a piece into the slot of the warp's piece `number`.
  __device__ __forceinline__ void request(const uint2* kept, int piece, int number) const {
    const unsigned slot = static_cast<unsigned>(number % ahead), barrier = barriers + 8 * slot;
    if (threadIdx.x % 32 > 0 || piece >= pieces) return;
    expect(barrier, bytes);
    copy_bytes(memory + bytes * slot, kept + piece * N * piece_words, bytes, barrier);
  }
  /// Restores pieces first, first + helpers, … of a tile.
  __device__ __forceinline__ void restore(const Parameters<T>& p, const uint2* kept, int first, int i0, int j0) {
    for (int q = 0; q < ahead; ++q) request(kept, first + helpers * q, count + q);
    T old[8], next[8];
    const Piece<T> tile = tile_of(p, i0, j0);
    Eight<T> here(tile, first, i0, j0);
    if (p.beta_kind != 0) here.read(p, next);
#pragma unroll 1
    for (int piece = first; piece < pieces; piece += helpers, ++count) {
      const Eight<T> at = here;
      uint2 now[N];
      const unsigned slot = static_cast<unsigned>(count % ahead);
      wait(barriers + 8 * slot, count / ahead & 1);
#pragma unroll
      for (int l = 0; l < N; ++l)
        asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                     : "=r"(now[l].x), "=r"(now[l].y)
                     : "r"(memory + bytes * slot + 8 * (l * piece_words + threadIdx.x % 32)));
      __syncwarp();
      request(kept, piece + helpers * ahead, count + ahead);
      if (p.beta_kind != 0) {
#pragma unroll
        for (int b = 0; b < 8; ++b) old[b] = next[b];
        here = Eight<T>(tile, piece + helpers, i0, j0);
        if (piece + helpers < pieces) here.read(p, next);
      } else {
        here = Eight<T>(tile, piece + helpers, i0, j0);
      }
      at.write(p, now, old);
    }
  }
};
#endif

}  // namespace tesela::kernels::int8
