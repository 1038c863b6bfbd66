#include <tesela/codelets/mimo/internal/device_warp.cuh>
#include <tesela/codelets/mimo/internal/soft_subwarp_body.hpp>
#include <tesela/codelets/mimo/soft_detector.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace mimo {
namespace {

/// Runs one warp per block, with one signal per thread if its registers suffice, else several lanes per signal.
constexpr int linear_threads = warp_lanes;
template <int S>
inline constexpr int linear_lanes = S <= 4   ? 1
                                    : S <= 8 ? S / 2
                                             : S;
template <int S>
inline constexpr int linear_blocks = S <= 4   ? 16
                                     : S <= 8 ? 12
                                              : 8;
template <int S>
inline constexpr int linear_signals = linear_threads / linear_lanes<S>;

/// room: for the likelihoods of a warp's signals, which are then written together.
template <int S, class T>
__global__ void __launch_bounds__(linear_threads, linear_blocks<S>) find_linearly(SoftBatch<T> all, int bits) {
  extern __shared__ __align__(16) unsigned char room[];
  __shared__ std::uint32_t ones[S * most_bits];
  T* const likelihoods = reinterpret_cast<T*>(room);
  DeviceWarp warp;
  const int own = warp.lane();
  for (int e = own; all.lists.square && e < all.lists.n * most_bits; e += linear_threads) {
    const int j = e / most_bits, bit = e % most_bits;
    ones[e] = amplitudes_with(all.lists, all.lists.axis(j, (all.lists.width(j) - 1 - bit) % 2 != 0), bit);
  }
  warp.sync();
  constexpr int lanes = linear_lanes<S>;
  const index_t first = static_cast<index_t>(blockIdx.x) * linear_signals<S>, left = all.signals - first;
  T* const mine = likelihoods + own / lanes * (bits + 1);
  if constexpr (lanes == 1) {
    if (own < left) linear_signal<S>(all, first + own, ones, mine);
  } else {
    linear_signal_by_lanes<S, lanes>(warp, all, first, ones, mine);
  }
  warp.sync();
  for (int s = 0; s < linear_signals<S> && s < left; ++s)
    for (int bit = own; bit < bits; bit += linear_threads) all.of(first + s)[bit] = likelihoods[s * (bits + 1) + bit];
}

/// Searches one tree per thread; `together` signals per block.
template <int S, class T>
__global__ void __launch_bounds__(nway_threads) nway_signals_of(SoftBatch<T> all, int together, int cells) {
  extern __shared__ __align__(16) unsigned char room[];
  const int n = all.lists.n, threads = static_cast<int>(blockDim.x), own = static_cast<int>(threadIdx.x), j = own % n;
  T* const least = reinterpret_cast<T*>(room);
  const index_t k = static_cast<index_t>(blockIdx.x) * together + own / n;
  const bool there = k < all.signals;
  double n0 = 1;
  NwayTree<T, S> tree;
  double* const explained = reinterpret_cast<double*>(room);  // of trees, before the room holds distances
  if (there) {
    n0 = scaled_noise<double>(all.n0, tree.prepare(all.channel(k), all.y + k * all.ld_y, all.lists, j));
    explained[own] = tree.explained;
  }
  __syncthreads();
  double most = 0;
  for (int t = 0; there && t < n; ++t) most = fmax(most, explained[own / n * n + t]);
  __syncthreads();
  if (there) {
    tree.begin_at(most);
    T* const mine = least + own;
    for (int c = 0; c < cells; ++c) mine[c * threads] = endless<T>;
    tree.run([&](T distance, const int* met) {
      TESELA_FLAT
      for (int i = tree.begin(); i < S; ++i) {
        if (i < tree.first) continue;
        for (int part = 0; part < 2; ++part) {
          T& known = mine[met[2 * i + part] * threads];
          known = distance < known ? distance : known;
        }
      }
    });
  }
  __syncthreads();
  bool known = true;
  if (there) {
    const T* const trees = least + own / n * n;
    known = bits_of_cells(all, k, j, n0, [&](int c) {
      T distance = trees[c * threads];
      for (int t = 1; t < n; ++t) {
        const T other = trees[c * threads + t];
        distance = other < distance ? other : distance;
      }
      return distance;
    });
  }
  // If one stream fails, the signal fails.
  __syncthreads();
  int* const failed = reinterpret_cast<int*>(room);
  if (own < together) failed[own] = 0;
  __syncthreads();
  if (!known) failed[own / n] = 1;
  __syncthreads();
  if (!there) return;
  if (j == 0) {
    double looked = 0;
    for (int i = 0; i < n; ++i) looked += static_cast<double>(n) * all.lists.columns[i].count;
    all.nodes[k * all.ld_nodes] = failed[own / n] != 0 ? SoftDetector<T>::no_answer : looked;
    if (failed[own / n] != 0)
      for (int b = 0; b < all.bits(); ++b) all.of(k)[b] = 0;
  }
}

template <int S, class T>
void launch(const SoftBatch<T>& all, SoftKind kind, index_t bits, index_t amplitudes, CUstream_st* stream) {
  if (kind == SoftKind::mmse) {
    constexpr index_t together = linear_signals<S>;
    const auto blocks = static_cast<unsigned>(ceil_div(all.signals, together));
    const auto bytes = static_cast<unsigned>(together * (bits + 1) * static_cast<index_t>(sizeof(T)));
    find_linearly<S><<<blocks, linear_threads, bytes, stream>>>(all, static_cast<int>(bits));
    return;
  }
  const index_t n = all.lists.n, together = nway_signals(n, amplitudes, sizeof(T)), threads = together * n;
  const auto blocks = static_cast<unsigned>(ceil_div(all.signals, together));
  const auto bytes = static_cast<unsigned>(amplitudes * threads * static_cast<index_t>(sizeof(T)));
  nway_signals_of<S><<<blocks, static_cast<unsigned>(threads), bytes, stream>>>(all, static_cast<int>(together),
                                                                                static_cast<int>(amplitudes));
}

}  // namespace
}  // namespace mimo

template <class T>
void GpuSoftDetector<T>::cuda(CudaContext& context, const Args& args, In<std::complex<T>> h, In<std::complex<T>> y,
                              In<SearchColumn> columns, In<SearchPoint> points, Out<T> llrs, Out<double> nodes) {
  const auto n = static_cast<int>(args.streams);
  const bool square = columns.cols > args.streams;
  const mimo::SoftBatch<T> all{
      {h.rows, args.streams, reinterpret_cast<const mimo::Complex<T>*>(h.data), h.ld, columns.data, points.data},
      reinterpret_cast<const mimo::Complex<T>*>(y.data),
      y.ld,
      y.cols,
      args.coherence,
      llrs.data,
      llrs.ld,
      nodes.data,
      nodes.ld,
      {n, columns.data, points.data, square},
      args.n0,
      args.clip};
  const index_t amplitudes = points.cols - args.labels;
  if (y.cols == 0) return;
  if (n <= 4)
    mimo::launch<4>(all, args.kind, llrs.rows, amplitudes, context.stream());
  else if (n <= 8)
    mimo::launch<8>(all, args.kind, llrs.rows, amplitudes, context.stream());
  else
    mimo::launch<16>(all, args.kind, llrs.rows, amplitudes, context.stream());
  context.check(static_cast<int>(cudaGetLastError()), "the launch of gpu_soft_detector");
}

TESELA_CUDA_FOR_REALS(GpuSoftDetector)

}  // namespace tesela::kernels
