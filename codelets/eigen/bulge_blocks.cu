#include <tesela/codelets/eigen/bulge_blocks.hpp>

namespace tesela::kernels {
namespace {

/// Where the reflectors of a bundle's sweeps are: tiles of groups, in the order of their windows.
template <class T>
struct Kept {
  const T* tiles[most_gpu_reflector_tiles];
  int first_tile[most_gpu_reflector_tiles];  // of a group, less its first window
  index_t ld, first_group;

  /// b numbers and tau.
  __device__ const T* at(const BulgePlan& plan, index_t sweep, index_t hop) const {
    const index_t g = sweep / plan.group, t = sweep % plan.group, step = hop + t, w = plan.window_of(g, step);
    return tiles[first_tile[g - first_group] + w] + plan.slot(g, w, t, step) * ld;
  }
};

constexpr int most_width = 32, most_length = 96, threads = 128;

/// One block reflector a block of threads: I - V T V^T, T by columns, T(0:j, j) = -tau T(0:j, 0:j) V^T v (larft).
template <class T>
__global__ void form_block(BulgeBlocks plan, index_t bundle, bool transpose, Kept<T> kept, T* blocks, index_t ld) {
  extern __shared__ double memory[];
  auto* const v = reinterpret_cast<T(*)[most_length + 1]>(memory);  // a row a reflector
  auto* const products = reinterpret_cast<T(*)[most_width + 1]>(v + most_width);
  auto* const t = products + most_width;
  const index_t hop = blockIdx.x, block = blockIdx.y;
  const int k = static_cast<int>(plan.width), rows = static_cast<int>(plan.length()),
            b = static_cast<int>(plan.chase.b), me = static_cast<int>(threadIdx.x);
  for (int j = me / 32; j < k; j += threads / 32) {
    const index_t sweep = plan.first_sweep(bundle, block) + j;
    const bool in = sweep < plan.chase.sweeps() && hop <= plan.chase.last_hop(sweep);
    const T* const x = in ? kept.at(plan.chase, sweep, hop) : nullptr;
    for (int r = me % 32; r < rows; r += 32) v[j][r] = in && r >= j && r < j + b ? x[r - j] : T(0);
    for (int l = me % 32; l < k; l += 32) t[l][j] = l == j && in ? x[b] : T(0);
  }
  __syncthreads();
  for (int at = me; at < k * k; at += threads) {
    const int l = at / k, j = at % k;
    if (l >= j) continue;
    T sum = 0;
    for (int r = j; r < l + b; ++r) sum += v[l][r] * v[j][r];
    products[l][j] = sum;
  }
  __syncthreads();
  if (me < k) {  // a row of T a thread: it needs no other one
    for (int j = me + 1; j < k; ++j) {
      T sum = 0;
      for (int l = me; l < j; ++l) sum += t[me][l] * products[l][j];
      t[me][j] = -t[j][j] * sum;
    }
  }
  __syncthreads();
  T *const first = blocks + plan.column(block, hop) * ld, *const second = first + k * rows;
  for (int at = me; at < k * rows; at += threads) {
    const int j = at % k, r = at / k;
    T sum = 0;
    for (int l = 0; l <= j; ++l) sum += v[l][r] * t[l][j];
    first[j / 4 * 4 * rows + 4 * r + j % 4] = transpose ? sum : v[j][r];
    second[r / 4 * 4 * k + 4 * j + r % 4] = transpose ? v[j][r] : sum;
  }
}

}  // namespace

template <class T>
void FormBulgeBlocks<T>::cuda(CudaContext& context, const Args& args, Out<T> blocks, Scratch<T>,
                              std::span<const In<T>> reflectors) {
  const BulgeBlocks& p = args.plan;
  Kept<T> kept{};
  if (!gpu_applies(p) || static_cast<index_t>(reflectors.size()) > most_gpu_reflector_tiles) {
    context.check(cudaErrorInvalidValue, "form_bulge_blocks of such sizes");
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
  constexpr int bytes = (most_width * (most_length + 1) + 2 * most_width * (most_width + 1)) * int{sizeof(T)};
  const dim3 grid(static_cast<unsigned>(p.hops(args.bundle)), static_cast<unsigned>(p.blocks));
  form_block<<<grid, threads, bytes, context.stream()>>>(p, args.bundle, args.op == Op::transpose, kept, blocks.data,
                                                         blocks.ld);
  context.check(cudaGetLastError(), "form_bulge_blocks");
}

template decltype(FormBulgeBlocks<float>::cuda) FormBulgeBlocks<float>::cuda;
template decltype(FormBulgeBlocks<double>::cuda) FormBulgeBlocks<double>::cuda;

}  // namespace tesela::kernels
