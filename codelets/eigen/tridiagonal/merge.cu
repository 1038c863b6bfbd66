#include <tesela/codelets/dense/int8_gemm.hpp>
#include <tesela/codelets/eigen/internal/tile_parameters.cuh>
#include <tesela/codelets/eigen/tridiagonal/merge.hpp>

namespace tesela::kernels {
namespace {

constexpr int threads = 256;

/// Columns [left | right], `split` columns on the left.
template <class T>
struct TwoBlocks {
  T *left, *right;
  index_t ld_left, ld_right, split;
  __device__ T* column(index_t j) const { return j < split ? left + j * ld_left : right + (j - split) * ld_right; }
};

/// Copies columns of `to`, by their `map`, from tiles side by side: rows `begin` … `end` - 1 of a column from the
/// source's rows from `from` on. If `zeros`, all other elements of the `rows` rows become zero, including columns
/// without a source.
template <class T>
struct Placement {
  TwoBlocks<T> to;
  const index_t* map;
  index_t columns, rows, begin, end, from;
  bool zeros;
};

template <class T>
__global__ void place_kernel(Placement<T> p, const __grid_constant__ TileParameters<T> tiles) {
  for (index_t j = blockIdx.y; j < p.columns; j += gridDim.y) {
    const index_t source = p.map[j];
    const bool clear = tiles.the_first && p.zeros;
    const T* from = nullptr;
    for (int t = 0; t < tiles.parts; ++t) {
      const index_t column = source - tiles.part[t].first;
      if (column >= 0 && column < tiles.part[t].count) from = tiles.part[t].data + column * tiles.part[t].ld;
    }
    if (from == nullptr && !clear) continue;
    T* const to = p.to.column(j);
    const index_t begin = source < 0 ? 0 : p.begin, end = source < 0 ? 0 : p.end;
    for (index_t i = blockIdx.x * index_t{threads} + threadIdx.x; i < p.rows; i += gridDim.x * index_t{threads})
      if (i < begin || i >= end) {
        if (clear) to[i] = 0;
      } else if (from != nullptr) {
        to[i] = from[p.from + i - begin];
      }
  }
}

template <class T>
void place(CUstream_st* stream, const Placement<T>& p, std::span<const In<T>> list) {
  if (p.columns == 0 || p.rows == 0) return;
  const dim3 blocks(static_cast<unsigned>(std::min<index_t>(ceil_div(p.rows, 4 * threads), 1024)),
                    static_cast<unsigned>(std::min<index_t>(p.columns, 65535)));
  launch_by_tile_groups(
      list, [](const In<T>& tile) { return tile.cols; },
      [&](const TileParameters<T>& some) { place_kernel<<<blocks, threads, 0, stream>>>(p, some); });
}

/// Rotates with one thread per row. Consecutive rotations with a common column form a chain, and each chain has its own
/// row of blocks.
template <class T>
__global__ void rotate_kernel(TwoBlocks<T> to, index_t rows, const index_t* pairs, index_t rotations, const T* cosines,
                              const T* sines) {
  constexpr int ahead = 8;  // columns that are read before they are written
  const index_t i = blockIdx.x * index_t{threads} + threadIdx.x;
  if (i >= rows) return;
  const auto continues_chain = [&](index_t r) { return r > 0 && r < rotations && pairs[2 * r] == pairs[2 * r - 1]; };
  for (index_t first = blockIdx.y; first < rotations; first += gridDim.y) {
    if (continues_chain(first)) continue;
    index_t end = first + 1;
    while (continues_chain(end)) ++end;
    T x = to.column(pairs[2 * first])[i];
    for (index_t begin = first; begin < end; begin += ahead) {
      T y[ahead];
#pragma unroll
      for (int u = 0; u < ahead; ++u)
        if (begin + u < end) y[u] = to.column(pairs[2 * (begin + u) + 1])[i];
#pragma unroll
      for (int u = 0; u < ahead; ++u)
        if (begin + u < end) {
          const index_t r = begin + u;
          const T c = cosines[r], s = sines[r];
          to.column(pairs[2 * r])[i] = c * x + s * y[u];
          x = c * y[u] - s * x;
        }
    }
    to.column(pairs[2 * end - 1])[i] = x;
  }
}

template <class T>
struct RowOfTiles {
  T* to;
  index_t row;
  __device__ void operator()(const typename TileParameters<T>::Part& part, index_t j) const {
    to[part.first + j] = part.data[row + j * part.ld];
  }
};

}  // namespace

template <class T>
void MergeColumns<T>::cuda(CudaContext& context, const Args& args, In<index_t> plan, In<T> rotations, Out<T> kept,
                           Out<T> deflated, std::span<const In<T>> sources) {
  const index_t columns = args.kept + args.deflated;
  const std::size_t each = sources.size() / static_cast<std::size_t>(args.blocks);
  TwoBlocks<T> to{kept.data, deflated.data, kept.ld, deflated.ld, args.kept};
  index_t first = 0;
  for (std::size_t block = 0; block < sources.size(); block += each) {
    const auto tiles = sources.subspan(block, each);
    const index_t rows = tiles[0].rows;
    TwoBlocks<T> here = to;
    here.left += first, here.right += first;
    place<T>(context.stream(), {here, plan.data, columns, rows, 0, rows, 0, true}, tiles);
    first += rows;
  }
  if (args.rotations == 0) return;
  const dim3 blocks(static_cast<unsigned>(ceil_div(first, threads)),
                    static_cast<unsigned>(std::min<index_t>(args.rotations, 65535)));
  rotate_kernel<<<blocks, threads, 0, context.stream()>>>(to, first, plan.data + columns, args.rotations,
                                                          &rotations(0, 0), &rotations(0, 1));
}

template <class T>
void MergeProduct<T>::cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, Out<T> c, Scratch<double> work) {
  const auto size = [](index_t n) { return static_cast<std::size_t>(n) * sizeof(T); };
  if (args.inner == 0)
    context.check(
        cudaMemset2DAsync(c.data, size(c.ld), 0, size(c.rows), static_cast<std::size_t>(c.cols), context.stream()),
        "cudaMemset2DAsync");
  else
    multiply<T>(
        context, args.kernel,
        {Op::none, Op::none, c.rows, c.cols, args.inner, 1, a.data, a.ld, &b(args.first, 0), b.ld, 0, c.data, c.ld},
        work);
}

template <class T>
void CopyRow<T>::cuda(CudaContext& context, const Args& args, Out<T> row, std::span<const In<T>> sources) {
  each_of(
      context.stream(), sources, [](const In<T>& tile) { return tile.cols; }, RowOfTiles<T>{row.data, args.row});
}

template <class T, template <class> class X>
void PlaceColumns<T, X>::cuda(CudaContext& context, const Args& args, In<index_t> map, X<T> x,
                              std::span<const In<T>> sources) {
  constexpr bool zeros = X<T>::mode == Mode::out;
  place<T>(
      context.stream(),
      {{x.data, nullptr, x.ld, 0, x.cols}, map.data, x.cols, x.rows, args.to, args.to + args.rows, args.from, zeros},
      sources);
}

TESELA_CUDA_FOR_REALS(MergeColumns, MergeProduct, CopyRow)
#define TESELA_INSTANTIATE(T)                                                   \
  template decltype(PlaceColumns<T, InOut>::cuda) PlaceColumns<T, InOut>::cuda; \
  template decltype(PlaceColumns<T, Out>::cuda) PlaceColumns<T, Out>::cuda;
TESELA_FOR_REALS(TESELA_INSTANTIATE)

}  // namespace tesela::kernels
