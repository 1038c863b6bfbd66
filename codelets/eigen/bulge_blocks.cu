#include <tesela/codelets/eigen/bulge_blocks.hpp>
#include <tesela/codelets/eigen/internal/block_product.cuh>

namespace tesela::kernels {
namespace {

/// Positions of the reflectors of a bundle's sweeps: tiles of groups, in the order of their windows.
template <class T>
struct Kept {
  const T* tiles[most_gpu_reflector_tiles];
  int first_tile[most_gpu_reflector_tiles];  // of a group, minus its first window
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

/// Computes T of I - V T V^T from V^T V above the diagonal of `products`; the part below is overwritten. Two
/// neighbouring triangles T1 and T2 form a triangle of twice their order with -T1 (V1^T V2) T2 between them. (LAPACK's
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
      for (int l = second; l <= j; ++l) sum += products[i][l] * t[l][j];
      products[j][i] = sum;
    });
    for_elements([&](int, int second, int i, int j) {
      T sum = 0;
      for (int l = i; l < second; ++l) sum += t[i][l] * products[j][l];
      t[i][j] = -sum;
    });
  }
}

/// Forms one block reflector per thread block, with code for the largest size.
template <class T>
__global__ void __launch_bounds__(threads)
    form_block(BulgeBlocks plan, index_t bundle, bool transpose, Kept<T> kept, T* blocks, index_t ld) {
  extern __shared__ double2 shared[];
  auto& memory = reinterpret_cast<Memory<T>&>(*shared);
  auto& v = memory.v;
  auto &t = memory.t, &products = memory.products;
  const index_t hop = blockIdx.x, block = blockIdx.y;
  const int k = static_cast<int>(plan.width), rows = static_cast<int>(plan.length()),
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
    block_product<1, 2, most_length>(sums, lane, &v[0][i], Memory<T>::ld, [&](int r, int l) { return v[r][j + l]; });
    for_fragment<1, 2>(
        lane, [&](int m, int n, int e, int row, int column) { products[i + row][j + column] = sums[m][n][e]; });
  }
  __syncthreads();
  join_triangles(memory);
  T *const first = blocks + plan.column(block, hop) * ld, *const second = first + k * rows;
  const auto in_first = [&](int r, int j) { return first + j / 4 * 4 * rows + 4 * r + j % 4; };
  const auto in_second = [&](int r, int j) { return second + r / 4 * 4 * k + 4 * j + r % 4; };
  for (int at = me; at < k * rows; at += threads) {
    const int l = at / 4;
    if (transpose)
      second[at] = v[l / k * 4 + at % 4][l % k];
    else
      first[at] = v[l % rows][l / rows * 4 + at % 4];
  }
  constexpr int each = most_length / (threads / 32);
  T sums[2][each / 8][4] = {};  // T^T V^T
  block_product<2, each / 8, most_width>(sums, lane, &t[0][0], Memory<T>::ld,
                                         [&](int l, int r) { return v[warp * each + r][l]; });
  for_fragment<2, each / 8>(lane, [&](int m, int n, int e, int j, int column) {
    const int r = warp * each + column;
    if (j < k && r < rows) *(transpose ? in_first(r, j) : in_second(r, j)) = sums[m][n][e];
  });
}

}  // namespace

template <class T>
void FormBulgeBlocks<T>::cuda(CudaContext& context, const Args& args, Out<T> blocks, Scratch<T>,
                              std::span<const In<T>> reflectors) {
  const BulgeBlocks& p = args.plan;
  Kept<T> kept{};
  if (!gpu_applies(p) || static_cast<index_t>(reflectors.size()) > most_gpu_reflector_tiles) {
    context.check(cudaErrorInvalidValue, "form_bulge_blocks: the sizes are too large");
    return;
  }
  for (std::size_t i = 0; i < reflectors.size(); ++i) kept.tiles[i] = reflectors[i].data;
  kept.ld = reflectors.empty() ? 1 : reflectors.front().ld;
  kept.first_group = p.first_sweep(args.bundle) / p.chase.group;
  index_t tile = 0;
  for (index_t g = kept.first_group; g * p.chase.group < p.end_sweep(args.bundle); ++g) {
    kept.first_tile[g - kept.first_group] = static_cast<int>(tile - p.chase.first_window(g));
    tile += p.chase.last_window(g) - p.chase.first_window(g) + 1;
  }
  const dim3 grid(static_cast<unsigned>(p.hops(args.bundle)), static_cast<unsigned>(p.blocks));
  form_block<<<grid, threads, sizeof(Memory<T>), context.stream()>>>(p, args.bundle, args.op == Op::transpose, kept,
                                                                     blocks.data, blocks.ld);
  context.check(cudaGetLastError(), "form_bulge_blocks");
}

template decltype(FormBulgeBlocks<float>::cuda) FormBulgeBlocks<float>::cuda;
template decltype(FormBulgeBlocks<double>::cuda) FormBulgeBlocks<double>::cuda;

}  // namespace tesela::kernels
