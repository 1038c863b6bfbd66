#include <tesela/codelets/eigen/bulge_blocks.hpp>
#include <tesela/codelets/eigen/internal/block_product.cuh>
#include <tesela/codelets/support/internal/device_scalar.cuh>

#include <optional>
#include <vector>

namespace tesela::kernels {
namespace {

constexpr index_t most_tiles = 128;  // of a launch: their addresses are kernel parameters

/// Positions of the reflectors of some sweeps at some hops: tiles of groups, in the order of their windows.
template <class T>
struct Kept {
  const T* tiles[most_tiles];
  int first_tile[most_tiles];  // of a group, minus its first window
  index_t ld, first_group;

  /// Returns a vector (b numbers) followed by tau.
  __device__ const T* at(const BulgePlan& plan, index_t sweep, index_t hop) const {
    const index_t g = sweep / plan.group, t = sweep % plan.group, step = hop + t, w = plan.window_of(g, step);
    return tiles[first_tile[g - first_group] + w] + plan.slot(g, w, t, step) * ld;
  }
};

constexpr int most_width = 32, most_length = 96, threads = 128;

template <class T>
struct Memory {
  static constexpr int ld = most_width + 4;
  T v[most_length][ld], t[most_width][ld], products[most_width][ld];
};

/// Computes T of I - V T V^H from V^H V above the diagonal of `products`; the part below is overwritten. Two
/// neighbouring triangles T1 and T2 form a triangle of twice their order with -T1 (V1^H V2) T2 between them. (LAPACK's
/// larft adds one column after the other.)
template <class T>
__device__ void join_triangles(Memory<T>& memory) {
  auto &t = memory.t, &products = memory.products;
  for (int size = 1; size < most_width; size *= 2) {
    const auto for_elements = [&](const auto& f) {
      for (int at = static_cast<int>(threadIdx.x); at < most_width / 2 * size; at += threads) {
        const int first = at / (size * size) * 2 * size;
        f(first, first + size, first + at / size % size, first + size + at % size);
      }
      __syncthreads();
    };
    for_elements([&](int, int second, int i, int j) {
      T sum = 0;
      for (int l = second; l <= j; ++l) sum = plus_product(sum, products[i][l], t[l][j]);
      products[j][i] = sum;
    });
    for_elements([&](int, int second, int i, int j) {
      T sum = 0;
      for (int l = i; l < second; ++l) sum = plus_product(sum, t[i][l], products[j][l]);
      t[i][j] = -sum;
    });
  }
}

/// The blocks and hops of a launch.
struct Part {
  index_t first_block, end_block, first_hop, end_hop;
};

/// Forms one block reflector per thread block, with code for the largest size.
template <class T>
__global__ void __launch_bounds__(threads) form_block(BulgeBlocks plan, index_t bundle, bool transpose, Part part,
                                                      Kept<T> kept, real_t<T>* blocks, index_t ld) {
  extern __shared__ double2 shared[];
  auto& memory = reinterpret_cast<Memory<T>&>(*shared);
  auto& v = memory.v;
  auto &t = memory.t, &products = memory.products;
  const index_t hop = part.first_hop + blockIdx.x, block = part.first_block + blockIdx.y;
  const BulgeBlocks of_parts = plan_of_parts<T>(plan);
  constexpr int parts = int{parts_of<T>};
  const int k = static_cast<int>(plan.width), rows = static_cast<int>(of_parts.length()) / parts,
            b = static_cast<int>(plan.chase.b), me = static_cast<int>(threadIdx.x), warp = me / 32, lane = me % 32;
  for (int j = warp; j < most_width; j += threads / 32) {
    const index_t sweep = plan.first_sweep(bundle, block) + j;
    const bool in = j < k && sweep < plan.chase.sweeps() && hop <= plan.chase.last_hop(sweep);
    const T* const x = in ? kept.at(plan.chase, sweep, hop) : nullptr;
    for (int r = lane; r < most_length; r += 32) v[r][j] = in && r >= j && r < j + b ? x[r - j] : T(0);
    t[j][lane] = lane == j && in ? x[b] : T(0);
  }
  __syncthreads();
  {
    const int i = warp / 2 * 16, j = warp % 2 * 16;
    T sums[1][2][4] = {};
    block_product<1, 2, most_length>(sums, lane, &v[0][i], Memory<T>::ld,
                                     [&](int r, int l) { return conj(v[r][j + l]); });
    for_fragment<1, 2>(
        lane, [&](int m, int n, int e, int row, int column) { products[i + row][j + column] = conj(sums[m][n][e]); });
  }
  __syncthreads();
  join_triangles(memory);
  real_t<T>*const first = blocks + plan.column(block, hop) * ld, *const second = first + of_parts.column_size() / 2;
  const auto to_first = [&](int r, int j, T x) { store_in_panels(first, parts * rows, j, r, conj(x)); };
  const auto to_second = [&](int r, int j, T x) { store_in_panels(second, parts * k, r, j, x); };
  constexpr int panel = 4 / parts;  // rows
  for (int at = me; at < k * rows; at += threads) {
    const int in_panel = at % panel, l = at / panel;
    if (transpose)
      to_second(l / k * panel + in_panel, l % k, v[l / k * panel + in_panel][l % k]);
    else
      to_first(l % rows, l / rows * panel + in_panel, v[l % rows][l / rows * panel + in_panel]);
  }
  constexpr int each = most_length / (threads / 32);
  T sums[2][each / 8][4] = {};  // T^T V^T
  block_product<2, each / 8, most_width>(sums, lane, &t[0][0], Memory<T>::ld,
                                         [&](int l, int r) { return v[warp * each + r][l]; });
  for_fragment<2, each / 8>(lane, [&](int m, int n, int e, int j, int column) {
    const int r = warp * each + column;
    if (j < k && r < rows) transpose ? to_first(r, j, sums[m][n][e]) : to_second(r, j, sums[m][n][e]);
  });
}

/// Returns the tiles that a part reads, or nothing if they are too many. `first_tile` has the position of each group's
/// first tile in the list.
template <class T>
std::optional<Kept<device_t<T>>> kept_of(const BulgeBlocks& p, index_t bundle, const Part& part,
                                         const std::vector<std::size_t>& first_tile,
                                         std::span<const In<T>> reflectors) {
  const BulgePlan& chase = p.chase;
  const index_t begin = p.first_sweep(bundle, part.first_block),
                end = std::min(p.first_sweep(bundle, part.end_block), p.end_sweep(bundle)),
                first_group = p.first_sweep(bundle) / chase.group;
  Kept<device_t<T>> kept{};
  kept.ld = reflectors.empty() ? 1 : reflectors.front().ld;
  kept.first_group = begin / chase.group;
  index_t count = 0;
  for (index_t g = kept.first_group; chase.first_sweep(g) < end; ++g) {
    const index_t last_step = chase.steps(g) - 1,
                  first = chase.window_of(g, std::min(part.first_hop, last_step)),  // of its first sweep, or earlier
        last = chase.window_of(g, std::min(part.end_hop - 1 + chase.size(g) - 1, last_step));
    if (count + last - first + 1 > most_tiles || g - kept.first_group >= most_tiles) return {};
    kept.first_tile[g - kept.first_group] = static_cast<int>(count - first);
    for (index_t w = first; w <= last; ++w)
      kept.tiles[count++] = device_pointer(reflectors[first_tile[static_cast<std::size_t>(g - first_group)] +
                                                      static_cast<std::size_t>(w - chase.first_window(g))]
                                               .data);
  }
  return kept;
}

}  // namespace

template <class T>
void FormBulgeBlocks<T>::cuda(CudaContext& context, const Args& args, Out<T> blocks, Scratch<T>,
                              std::span<const In<T>> reflectors) {
  const BulgeBlocks& p = args.plan;
  if (!gpu_applies(plan_of_parts<T>(p))) {
    context.check(cudaErrorInvalidValue, "form_bulge_blocks: the blocks are too large");
    return;
  }
  constexpr int bytes = sizeof(Memory<device_t<T>>);
  if (bytes > 48 << 10)
    context.check(cudaFuncSetAttribute(form_block<device_t<T>>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                  "form_bulge_blocks");
  std::vector<std::size_t> first_tile;
  std::size_t tile = 0;
  for (index_t g = p.first_sweep(args.bundle) / p.chase.group; p.chase.first_sweep(g) < p.end_sweep(args.bundle); ++g) {
    first_tile.push_back(tile);
    tile += static_cast<std::size_t>(p.chase.last_window(g) - p.chase.first_window(g) + 1);
  }
  // All blocks at once; if they read too many tiles, one block after the other, and fewer hops. A hop of a block has at
  // most 32 sweeps, which need at most two tiles each.
  const index_t hops = p.hops(args.bundle);
  Part part{0, p.blocks, 0, hops};
  while (part.first_block < p.blocks) {
    const auto kept = kept_of(p, args.bundle, part, first_tile, reflectors);
    if (!kept) {
      if (part.end_block - part.first_block > 1)
        part.end_block = part.first_block + 1;
      else
        part.end_hop = part.first_hop + (part.end_hop - part.first_hop) / 2;
      continue;
    }
    const dim3 grid(static_cast<unsigned>(part.end_hop - part.first_hop),
                    static_cast<unsigned>(part.end_block - part.first_block));
    form_block<<<grid, threads, bytes, context.stream()>>>(p, args.bundle, args.op != Op::none, part, *kept,
                                                           reinterpret_cast<real_t<T>*>(blocks.data),
                                                           parts_of<T> * blocks.ld);
    context.check(cudaGetLastError(), "form_bulge_blocks");
    const bool all_hops = part.end_hop == hops;
    part = {all_hops ? part.end_block : part.first_block, all_hops ? part.end_block + 1 : part.end_block,
            all_hops ? 0 : part.end_hop, hops};
  }
}

TESELA_CUDA_FOR_NUMBERS(FormBulgeBlocks)

}  // namespace tesela::kernels
