#include <tesela/codelets/dense/internal/int8_restore.cuh>
#include <tesela/codelets/dense/internal/int8_steps.hpp>
#include <tesela/codelets/dense/internal/wgmma_s8.cuh>
#include <tesela/codelets/support/internal/bulk_copy.cuh>

#include <algorithm>
#include <cmath>

// A block multiplies tiles of 256 x 128 of C, each modulo all moduli in turn. Two groups of four warps multiply on the
// tensor cores. One thread requests slices of the operands in advance, across moduli and tiles. After each modulus the
// multiplying warps reduce their sums and write them as bytes to the block's part of `kept`, which holds two tiles and
// mostly stays in L2. Three more warps restore the elements of the previous tile meanwhile. In the tensor cores' terms
// columns of C are rows, so that a thread's neighbouring sums are neighbours in memory.

namespace tesela::kernels::int8 {
namespace {

constexpr int depth = 128, stages = 4, band = 8;
constexpr int j_bytes = tile_j * depth, i_bytes = tile_i * depth, stage_bytes = j_bytes + i_bytes;
constexpr int plane_words = pieces * piece_words;  // uint2 per modulus of a tile
constexpr int shared_bytes(int count) {
  return stages * stage_bytes + helpers * slots(count) * count * piece_words * 8 + 1024 + 256;
}

/// Boxes of the operands: rows of C from op(A), and columns of C from op(B).
struct Maps {
  CUtensorMap i, j;
};

/// Returns the rows of tiles in column c of a band of `height` rows that begins on the diagonal; tiles have twice as
/// many rows as columns.
TESELA_BOTH constexpr int rows_in_column(int c, int height) { return c / 2 + 1 < height ? c / 2 + 1 : height; }

/// Returns the tiles on and above the diagonal of a band of `height` rows and `columns` columns that begins there.
TESELA_BOTH constexpr int tiles_in_band(int height, int columns) {
  int sum = 0;
  for (int c = 0; c < columns && c < 2 * height; ++c) sum += rows_in_column(c, height);
  return sum + (columns > 2 * height ? (columns - 2 * height) * height : 0);
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
/// Describes a slice in shared memory to the tensor cores: lines of 128 bytes whose 16-byte pieces are permuted.
__device__ __forceinline__ unsigned long long describe(unsigned address) {
  return static_cast<unsigned long long>((address & 0x3FFFF) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}

/// Returns the first row and column of a tile. Tiles that run at the same time form a near-square patch of C, so that
/// they share slices of the operands in L2.
template <class T>
__device__ __forceinline__ void place(const Parameters<T>& p, int tile, int& i0, int& j0) {
  int row = 0, column = 0;
  if (p.upper) {
    int height = min(p.band, p.tiles_i), in_band = tiles_in_band(height, p.tiles_j);
    while (tile >= in_band) {
      tile -= in_band, row += height;
      height = min(p.band, p.tiles_i - row), in_band = tiles_in_band(height, p.tiles_j - 2 * row);
    }
    while (column < 2 * height && tile >= rows_in_column(column, height)) tile -= rows_in_column(column++, height);
    i0 = (row + tile % height) * tile_i;
    j0 = (2 * row + column + tile / height) * tile_j;
    return;
  }
  const int across = p.band * p.tiles_j, within = tile % across;
  row = tile / across * p.band;
  const int height = min(p.band, p.tiles_i - row);
  i0 = (row + within % height) * tile_i;
  j0 = within / height * tile_j;
}
#endif

template <class T, int N>
__global__ void __launch_bounds__(384, 1)
    product_kernel(const __grid_constant__ Maps maps, const __grid_constant__ Parameters<T> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char raw[];
  const unsigned base = (shared_address(raw) + 1023) / 1024 * 1024, full = base + stages * stage_bytes,
                 empty = full + 8 * stages;
  // Barriers: slices have arrived, are used; a tile's residues are written, restored; pieces have arrived.
  const unsigned ready = empty + 8 * stages, taken = ready + 16, arrivals = taken + 16, memory = arrivals + 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) init(full + 8 * s, 1), init(empty + 8 * s, 2);
    for (int s = 0; s < 2; ++s) init(ready + 8 * s, 256), init(taken + 8 * s, 32 * helpers);
    for (int s = 0; s < helpers * slots(N); ++s) init(arrivals + 8 * s, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    order_copies();
  }
  __syncthreads();
  const int group = static_cast<int>(threadIdx.x) / 128, tiles = p.tiles;
  const int first = static_cast<int>(blockIdx.x), step = static_cast<int>(gridDim.x);
  uint2* kept = p.kept + static_cast<std::size_t>(blockIdx.x) * 2 * N * plane_words;

  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 152;");
    const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
    if (threadIdx.x == 0) {  // requests slices
      int stage = 0;
      unsigned parity = 1;
      for (int tile = first; tile < tiles; tile += step) {
        int i0, j0;
        place(p, tile, i0, j0);
        for (int l = 0; l < N; ++l)
          for (int s = 0; s < p.slices; ++s) {
            wait(empty + 8 * stage, parity);
            const unsigned to = base + stage * stage_bytes, barrier = full + 8 * stage;
            expect(barrier, stage_bytes);
            copy_box(to, &maps.j, s * depth, p.b_line + j0, l, barrier);
            copy_box(to + j_bytes, &maps.i, s * depth, p.a_line + i0, l, barrier);
            if (++stage == stages) stage = 0, parity ^= 1;
          }
      }
    } else if (warp > 0) {
      Restorer<T, N> restorer{memory + static_cast<unsigned>(warp - 1) * slots(N) * Restorer<T, N>::bytes,
                              arrivals + 8 * slots(N) * static_cast<unsigned>(warp - 1)};
      int round = 0;
      for (int tile = first; tile < tiles; tile += step, ++round) {
        int i0, j0;
        place(p, tile, i0, j0);
        wait(ready + 8 * (round % 2), round / 2 & 1);
        order_copies();
        restorer.restore(p, kept + round % 2 * N * plane_words, warp - 1, i0, j0);
        arrive(taken + 8 * (round % 2));
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 176;");
    const int w = group - 1, within = static_cast<int>(threadIdx.x) % 128, lane = within % 32;
    const auto release = [&](int which) {
      if (within == 0) arrive(empty + 8 * which);
    };
    int stage = 0, round = 0;
    unsigned parity = 0;
    for (int tile = first; tile < tiles; tile += step, ++round) {
      uint2* mine = kept + round % 2 * N * plane_words + (w * 4 + within / 32) * 16 * N * piece_words + lane;
      if (round >= 2) wait(taken + 8 * (round % 2), (round / 2 - 1) & 1);
#pragma unroll 1
      for (int l = 0; l < N; ++l) {
        int sum[128];
        int before = -1;
#pragma unroll 1
        for (int s = 0; s < p.slices; ++s) {
          wait(full + 8 * stage, parity);
          const unsigned at = base + stage * stage_bytes;
          const unsigned long long a = describe(at + w * 64 * depth), b = describe(at + j_bytes);
          asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
          for (int part = 0; part < depth / 32; ++part) {
            multiply_bytes(sum, a + 2 * part, b + 2 * part, (s | part) != 0);
            if (part > 0) continue;
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            if (before >= 0) {  // all products of the stage before are done
              asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
              release(before);
            }
          }
          asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
          before = stage;
          if (++stage == stages) stage = 0, parity ^= 1;
        }
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
        for (int e = 0; e < 128; ++e) asm volatile("" : "+r"(sum[e])::"memory");
        release(before);
        const std::uint32_t powers = p.powers[l], top = p.top[l];
        const int start = p.start[l], scale = p.scale[l];
        uint2* to = mine + l * piece_words;
#pragma unroll
        for (int q = 0; q < 16; ++q) {
          unsigned word[2];
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const int* four = sum + 8 * q + 4 * half;
            int r[4];
#pragma unroll
            for (int e = 0; e < 4; ++e) r[e] = reduce(four[e], powers, start, scale, top);
            word[half] =
                __byte_perm(__byte_perm(r[0], r[1], 0x0040), __byte_perm(r[2], r[3], 0x0040), 0x5410) ^ 0x80808080u;
          }
          __stcg(to + q * N * piece_words, make_uint2(word[0], word[1]));
        }
      }
      order_copies();
      __threadfence_block();
      arrive(ready + 8 * (round % 2));
    }
  }
#endif
}

/// Describes boxes of `height` lines and 128 k of one modulus.
bool describe_planes(CUtensorMap& map, const Planes& planes, int depth_bytes, int count, int height) {
  const auto encode = tensor_map_encoder();
  if (encode == nullptr) return false;
  const auto line = static_cast<cuuint64_t>(depth_bytes);
  const cuuint64_t size[] = {line, static_cast<cuuint64_t>(planes.lines), static_cast<cuuint64_t>(count)};
  const cuuint64_t step[] = {line, line * static_cast<cuuint64_t>(planes.lines)};
  const cuuint32_t box[] = {depth, static_cast<cuuint32_t>(height), 1}, each[] = {1, 1, 1};
  return encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, planes.bytes, size, step, box, each,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

template <class T, int N>
int launch(CUstream_st* stream, const Product<T>& x) {
  if (x.m == 0 || x.n == 0) return cudaSuccess;
  if (x.pieces.size() > most_pieces) return cudaErrorInvalidValue;
  Parameters<T> p{};
  p.m = x.m, p.n = x.n, p.a_line = x.a_line, p.b_line = x.b_line, p.upper = x.upper, p.spread = x.spread;
  const auto pieces_of = [](int size, int piece) { return (size + piece - 1) / piece; };
  p.slices = pieces_of(x.k, depth);
  p.tiles_i = pieces_of(p.m, tile_i), p.tiles_j = pieces_of(p.n, tile_j);
  p.band = std::min(band, p.tiles_i);
  p.tiles = p.upper ? 0 : p.tiles_i * p.tiles_j;
  for (int row = 0; p.upper && row < p.tiles_i; row += p.band)
    p.tiles += tiles_in_band(std::min(p.band, p.tiles_i - row), p.tiles_j - 2 * row);
  p.piece_rows = x.piece_rows, p.piece_columns = x.piece_columns;
  std::copy(x.pieces.begin(), x.pieces.end(), p.pieces);
  p.pairs = std::all_of(x.pieces.begin(), x.pieces.end(), [](const Piece<T>& piece) {
    return piece.ld % 2 == 0 && reinterpret_cast<std::uintptr_t>(piece.data) % (2 * sizeof(T)) == 0;
  });
  p.alpha = x.alpha, p.beta = x.beta;
  p.rows = x.a.exponents + x.a_line, p.columns = x.b.exponents + x.b_line;
  p.kept = reinterpret_cast<uint2*>(x.kept);
  p.restore = restoration(N);
  p.factor = static_cast<double>(x.alpha) * p.restore.unit;
  p.usual = std::abs(p.factor) > 0x1p-400 && std::abs(p.factor) < 0x1p400;
  p.beta_kind = x.beta == 0 ? 0 : x.beta == 1 ? 1 : 2;
  for (int l = 0; l < N; ++l) {
    const Modulus c = modulus(l);
    p.powers[l] = c.low, p.start[l] = c.start, p.scale[l] = c.scale, p.top[l] = static_cast<std::uint32_t>(c.p) << 24;
  }
  Maps maps;
  if (!describe_planes(maps.i, x.a, x.depth, N, tile_i) || !describe_planes(maps.j, x.b, x.depth, N, tile_j))
    return cudaErrorNotSupported;
  const auto kernel = product_kernel<T, N>;
  if (const int status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes(N)))
    return status;
  int device = 0, processors = 0;
  if (const int status = cudaGetDevice(&device)) return status;
  if (const int status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device)) return status;
  const int blocks = std::min({p.tiles, processors, most_blocks});
  kernel<<<static_cast<unsigned>(blocks), 384, shared_bytes(N), stream>>>(maps, p);
  return cudaGetLastError();
}

}  // namespace

template <class T>
int multiply(CUstream_st* stream, const Product<T>& x) {
  if (x.count == 14) return launch<T, 14>(stream, x);
  if constexpr (sizeof(T) == sizeof(double))
    return x.count == 15 ? launch<T, 15>(stream, x) : x.count == 16 ? launch<T, 16>(stream, x) : cudaErrorInvalidValue;
  else
    return x.count == 7 ? launch<T, 7>(stream, x) : cudaErrorInvalidValue;
}

template int multiply(CUstream_st*, const Product<float>&);
template int multiply(CUstream_st*, const Product<double>&);

}  // namespace tesela::kernels::int8
