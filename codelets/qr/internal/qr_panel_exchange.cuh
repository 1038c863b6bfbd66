#pragma once

#include <tesela/codelets/qr/internal/qr_panel.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>

// Sums over the thread blocks of a panel: the exchange of the numbers of each column. Internal to qr_panel.cu.

namespace tesela::kernels::panel_exchange {

constexpr int threads = 256, warps = threads / 32;
constexpr int max_blocks = 128;
constexpr unsigned whole_warp = 0xffffffffu;

/// One double and, in both halves, its epoch: 8 bytes always arrive together.
struct alignas(16) Packet {
  unsigned low, epoch_low, high, epoch_high;
};

__device__ inline Packet load(const Packet* p) {
  Packet q;
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(q.low), "=r"(q.epoch_low), "=r"(q.high), "=r"(q.epoch_high)
               : "l"(p)
               : "memory");
  return q;
}

__device__ inline void publish(Packet* p, double value, unsigned epoch) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p),
               "r"(static_cast<unsigned>(__double2loint(value))), "r"(epoch),
               "r"(static_cast<unsigned>(__double2hiint(value))), "r"(epoch)
               : "memory");
}

__device__ inline bool arrived(const Packet& q, unsigned epoch) {
  return q.epoch_low == epoch && q.epoch_high == epoch;
}

__device__ inline double value_of(const Packet& q) {
  return __hiloint2double(static_cast<int>(q.high), static_cast<int>(q.low));
}

/// The type of sums and exchanged numbers of T: double, or complex numbers of doubles.
template <class T>
using wide_t = std::conditional_t<is_complex<T>, DeviceComplex<double>, double>;

/// Packets of one such number.
template <class S>
constexpr int parts = is_complex<S> ? 2 : 1;

/// Returns x with parts in double precision.
template <class T>
__device__ wide_t<T> widened(T x) {
  if constexpr (is_complex<T>)
    return {static_cast<double>(x.re), static_cast<double>(x.im)};
  else
    return static_cast<double>(x);
}

/// Returns x with parts in T's precision.
template <class T>
__device__ T narrowed(wide_t<T> x) {
  if constexpr (is_complex<T>)
    return {static_cast<real_t<T>>(x.re), static_cast<real_t<T>>(x.im)};
  else
    return static_cast<T>(x);
}

template <class S>
__device__ void publish_number(Packet* p, S value, unsigned epoch) {
  if constexpr (is_complex<S>) {
    publish(p, value.re, epoch);
    publish(p + 1, value.im, epoch);
  } else {
    publish(p, value, epoch);
  }
}

/// The packets of one number.
template <class S>
struct Received {
  Packet part[parts<S>];
  __device__ void load_from(const Packet* p) {
#pragma unroll
    for (int i = 0; i < parts<S>; ++i) part[i] = load(p + i);
  }
  __device__ S wait(const Packet* p, unsigned epoch) {
#pragma unroll
    for (int i = 0; i < parts<S>; ++i)
      while (!arrived(part[i], epoch)) part[i] = load(p + i);
    if constexpr (is_complex<S>)
      return {value_of(part[0]), value_of(part[1])};
    else
      return value_of(part[0]);
  }
};

/// Returns the number of the warp's first lane.
template <class S>
__device__ S from_first_lane(S x) {
  if constexpr (is_complex<S>)
    return {__shfl_sync(whole_warp, x.re, 0), __shfl_sync(whole_warp, x.im, 0)};
  else
    return __shfl_sync(whole_warp, x, 0);
}

struct Sum {
  static constexpr double neutral = 0;
  template <class T>
  __device__ static T combine(T a, T b) {
    return a + b;
  }
};

struct Max {
  static constexpr double neutral = 0;
  template <class T>
  __device__ static T combine(T a, T b) {
    if constexpr (is_complex<T>)  // of the parts
      return {a.re > b.re ? a.re : b.re, a.im > b.im ? a.im : b.im};
    else
      return a > b ? a : b;
  }
};

/// Exchange space of the threads of a block and of the blocks: two turns, so that nobody overwrites a number that
/// another thread still polls.
template <class S>
struct Exchange {
  S partial[warps][panel_columns];
  S gathered[warps][panel_columns];
  S pivot[2][panel_columns];                      // the pivot row, in two turns: no barrier ends a step
  alignas(16) S broadcast[warps][panel_columns];  // one copy per warp, which saves a barrier
};

template <class S>
__device__ Packet* sums_of(Packet* packets, unsigned epoch) {
  return packets + epoch % 2 * max_blocks * panel_columns * parts<S>;
}
template <class S>
__device__ Packet* row_of(Packet* packets, unsigned epoch) {
  return packets + (2 * max_blocks + epoch % 2) * panel_columns * parts<S>;
}

template <class Op, class S>
__device__ S combine_warps(const S (&of_warp)[warps][panel_columns], int lane) {
  S c[warps];
#pragma unroll
  for (int w = 0; w < warps; ++w) c[w] = of_warp[w][lane];
#pragma unroll
  for (int h = warps / 2; h >= 1; h /= 2)
#pragma unroll
    for (int w = 0; w < h; ++w) c[w] = Op::combine(c[w], c[w + h]);
  return c[0];
}

/// Combines two numbers of each of two lanes: returns the first one in the lower lane.
template <int H, class Op, class T>
__device__ T combine_two(T low, T high, int lane) {
  const bool upper = (lane & H) != 0;
  const T received = shuffle_xor(upper ? low : high, H);
  return Op::combine(upper ? high : low, received);
}

/// Combines pairs of lanes and halves the numbers per lane, for H and all smaller powers of two: lane l ends with index
/// l (mod 2 H) in s[0].
template <int H, class Op, class T, int W>
__device__ void combine_lanes(T (&s)[W], int lane) {
#pragma unroll
  for (int k = 0; k < H; ++k) {
    const T low = s[k], high = s[k + H];  // named, because a choice between array elements would go through memory
    s[k] = combine_two<H, Op>(low, high, lane);
  }
  if constexpr (H > 1) combine_lanes<H / 2, Op>(s, lane);
}

/// Combines s[l] over all threads of all blocks; lane l of every warp returns the result for l. If pivot_block >= 0,
/// all blocks also receive x.pivot of that block. If N is W / 2, combine_two<W / 2> has made s.
template <int W, class Op, class T, int N>
__device__ wide_t<T> reduce(T (&s)[N], Exchange<wide_t<T>>& x, Packet* packets, unsigned epoch, int pivot_block) {
  using S = wide_t<T>;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  combine_lanes<N / 2, Op>(s, lane);
  S mine = widened(s[0]);
#pragma unroll
  for (int h = W; h < 32; h *= 2) mine = Op::combine(mine, shuffle_xor(mine, h));

  x.partial[warp][lane] = mine;
  __syncthreads();
  const int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
  if (blocks == 1) {
    mine = combine_warps<Op>(x.partial, lane);
    __syncthreads();
    return mine;
  }
  const auto packets_of = [&](int b) { return sums_of<S>(packets, epoch) + (b * panel_columns + lane) * parts<S>; };
  Packet* const row = row_of<S>(packets, epoch) + lane * parts<S>;
  if (warp == 0) publish_number(packets_of(block), combine_warps<Op>(x.partial, lane), epoch);
  if (warp == 1 && block == pivot_block) publish_number(row, x.pivot[epoch % 2][lane], epoch);
  // Polls several numbers at once; the order in which they are combined does not depend on their arrival.
  constexpr int at_once = 8 / parts<S>;
  mine = S(Op::neutral);
  for (int b0 = warp; b0 < blocks; b0 += at_once * warps) {
    Received<S> q[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u)
      if (b0 + u * warps < blocks) q[u].load_from(packets_of(b0 + u * warps));
#pragma unroll
    for (int u = 0; u < at_once; ++u)
      if (b0 + u * warps < blocks) mine = Op::combine(mine, q[u].wait(packets_of(b0 + u * warps), epoch));
  }
  if (warp == warps - 1 && pivot_block >= 0 && block != pivot_block) {
    Received<S> q;
    q.load_from(row);
    x.pivot[epoch % 2][lane] = q.wait(row, epoch);
  }
  x.gathered[warp][lane] = mine;
  __syncthreads();
  return combine_warps<Op>(x.gathered, lane);
}

}  // namespace tesela::kernels::panel_exchange
