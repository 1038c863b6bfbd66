#include <tesela/codelets/qr/internal/qr_panel.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <limits>

// Factors panels of up to 32 columns in registers. A panel is spread over one thread block per 512 rows (double) and
// stays in their registers from its first column to its last. Each column needs one exchange between the blocks: the
// dot products of its tail with every other column, finished or not, in one sum. They determine its norm, the update of
// the columns to its right, and its column of T (from V^T v). The exchanged numbers carry their epoch, so that a
// polling thread sees a number as soon as it arrives, without a barrier.

namespace tesela::kernels {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr int max_blocks = 128;
constexpr unsigned whole_warp = 0xffffffffu;

/// One double and, in both halves, its epoch: 8 bytes always arrive together.
struct alignas(16) Packet {
  unsigned low, epoch_low, high, epoch_high;
};

__device__ Packet load(const Packet* p) {
  Packet q;
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(q.low), "=r"(q.epoch_low), "=r"(q.high), "=r"(q.epoch_high)
               : "l"(p)
               : "memory");
  return q;
}

__device__ void publish(Packet* p, double value, unsigned epoch) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p),
               "r"(static_cast<unsigned>(__double2loint(value))), "r"(epoch),
               "r"(static_cast<unsigned>(__double2hiint(value))), "r"(epoch)
               : "memory");
}

__device__ bool arrived(const Packet& q, unsigned epoch) { return q.epoch_low == epoch && q.epoch_high == epoch; }

__device__ double value_of(const Packet& q) {
  return __hiloint2double(static_cast<int>(q.high), static_cast<int>(q.low));
}

__device__ double wait_for(const Packet* p, unsigned epoch) {
  Packet q = load(p);
  while (!arrived(q, epoch)) q = load(p);
  return value_of(q);
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
    return a > b ? a : b;
  }
};

/// Exchange space of the threads of a block and of the blocks: two turns, so that nobody overwrites a number that
/// another thread still polls.
struct Exchange {
  double partial[warps][panel_columns];
  double gathered[warps][panel_columns];
  double pivot[2][panel_columns];               // the pivot row, in two turns: no barrier ends a step
  double2 broadcast[warps][panel_columns / 2];  // one copy per warp, which saves a barrier
};

__device__ Packet* sums_of(Packet* packets, unsigned epoch) { return packets + epoch % 2 * max_blocks * panel_columns; }
__device__ Packet* row_of(Packet* packets, unsigned epoch) {
  return packets + (2 * max_blocks + epoch % 2) * panel_columns;
}

template <class Op>
__device__ double combine_warps(const double (&of_warp)[warps][panel_columns], int lane) {
  double c[warps];
#pragma unroll
  for (int w = 0; w < warps; ++w) c[w] = of_warp[w][lane];
#pragma unroll
  for (int h = warps / 2; h >= 1; h /= 2)
#pragma unroll
    for (int w = 0; w < h; ++w) c[w] = Op::combine(c[w], c[w + h]);
  return c[0];
}

/// Combines pairs of lanes and halves the numbers per lane, for H and all smaller powers of two: lane l ends with index
/// l (mod 2 H) in s[0].
template <int H, class Op, class T, int W>
__device__ void combine_lanes(T (&s)[W], int lane) {
  const bool upper = (lane & H) != 0;
#pragma unroll
  for (int k = 0; k < H; ++k) {
    const T low = s[k], high = s[k + H];  // named, because a choice between array elements would go through memory
    const T received = __shfl_xor_sync(whole_warp, upper ? low : high, H);
    s[k] = Op::combine(upper ? high : low, received);
  }
  if constexpr (H > 1) combine_lanes<H / 2, Op>(s, lane);
}

/// Combines s[l] over all threads of all blocks; lane l of every warp returns the result for l. If pivot_block >= 0,
/// all blocks also receive x.pivot of that block.
template <int W, class Op, class T>
__device__ double reduce(T (&s)[W], Exchange& x, Packet* packets, unsigned epoch, int pivot_block) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  combine_lanes<W / 2, Op>(s, lane);
  double mine = static_cast<double>(s[0]);
#pragma unroll
  for (int h = W; h < 32; h *= 2) mine = Op::combine(mine, __shfl_xor_sync(whole_warp, mine, h));

  x.partial[warp][lane] = mine;
  __syncthreads();
  const int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
  if (blocks == 1) {
    mine = combine_warps<Op>(x.partial, lane);
    __syncthreads();
    return mine;
  }
  Packet* const sums = sums_of(packets, epoch);
  if (warp == 0) publish(sums + block * panel_columns + lane, combine_warps<Op>(x.partial, lane), epoch);
  if (warp == 1 && block == pivot_block) publish(row_of(packets, epoch) + lane, x.pivot[epoch % 2][lane], epoch);
  // Polls several numbers at once; the order in which they are combined does not depend on their arrival.
  constexpr int at_once = 8;
  mine = Op::neutral;
  for (int b0 = warp; b0 < blocks; b0 += at_once * warps) {
    Packet q[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u)
      if (b0 + u * warps < blocks) q[u] = load(sums + (b0 + u * warps) * panel_columns + lane);
#pragma unroll
    for (int u = 0; u < at_once; ++u)
      if (b0 + u * warps < blocks) {
        const Packet* p = sums + (b0 + u * warps) * panel_columns + lane;
        while (!arrived(q[u], epoch)) q[u] = load(p);
        mine = Op::combine(mine, value_of(q[u]));
      }
  }
  if (warp == warps - 1 && pivot_block >= 0 && block != pivot_block)
    x.pivot[epoch % 2][lane] = wait_for(row_of(packets, epoch) + lane, epoch);
  x.gathered[warp][lane] = mine;
  __syncthreads();
  return combine_warps<Op>(x.gathered, lane);
}

/// Computes T's columns from tau and V^T V, one lane per row: T(0:j, j) = -tau_j T(0:j, 0:j) (V^T v_j).
template <class T, int W>
__device__ void write_block_factor(const Panel<T>& p, int steps, const double (&gram)[panel_columns][panel_columns + 1],
                                   const double (&tau)[panel_columns], int lane) {
  double row[W];
#pragma unroll
  for (int j = 0; j < W; ++j) {
    double sum = 0;
#pragma unroll
    for (int k = 0; k < j; ++k) sum += row[k] * gram[k][j];
    row[j] = lane < j ? -tau[j] * sum : lane == j ? tau[j] : 0.0;
    if (lane < steps && j < steps) p.t[lane + j * p.ldt] = static_cast<T>(row[j]);
  }
}

/// Columns with a smaller norm get a finer unit, because squares of subnormal numbers are missing in the norm. Three
/// steps of it reach the smallest number.
template <class T>
constexpr double vanishing = sizeof(T) == 4 ? 0x1p-40 : 0x1p-480;

/// Factors W columns with R rows per thread.
template <class T, int W, int R>
__global__ void __launch_bounds__(threads, 1) panel_kernel(Panel<T> p, Packet* packets, unsigned epoch) {
  __shared__ Exchange x;
  __shared__ double unit[panel_columns], inverse_unit[panel_columns];  // each column is kept in units of a power of two
  __shared__ double top[panel_columns][panel_columns + 1];             // R, unless trapezoid
  __shared__ double gram[panel_columns][panel_columns + 1], taus[panel_columns];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int cols = static_cast<int>(p.cols);
  const bool stacked = p.form != PanelForm::trapezoid;

  // a[r][l] is column j + l of row(r) at step j, while that column exists; finished columns move to the end.
  T a[R][W];
  const int rows = static_cast<int>(p.rows), first = static_cast<int>(blockIdx.x) * (threads * R) + thread;
  const auto row = [&](int r) { return first + r * threads; };
#pragma unroll
  for (int r = 0; r < R; ++r)
#pragma unroll
    for (int l = 0; l < W; ++l) {
      const bool counts = row(r) < rows && l < cols && (p.form != PanelForm::triangle || row(r) <= p.above + l);
      a[r][l] = counts ? p.a[row(r) + l * p.lda] : T(0);
    }
  if (stacked)
    for (int l = warp; l < cols; l += warps)
      top[lane][l] = lane <= l ? static_cast<double>(p.r[lane + l * p.ldr]) : 0.0;

  {  // scales so that no square overflows or vanishes; V and T do not change
    T s[W];
#pragma unroll
    for (int l = 0; l < W; ++l) {
      s[l] = T(0);
#pragma unroll
      for (int r = 0; r < R; ++r) s[l] = Max::combine(s[l], static_cast<T>(fabs(a[r][l])));
    }
    double largest = reduce<W, Max>(s, x, packets, ++epoch, -1);
    if (stacked && lane < cols)
      for (int i = 0; i <= lane; ++i) largest = Max::combine(largest, fabs(top[i][lane]));
    int e = 0;
    if (largest > 0 && largest < HUGE_VAL) frexp(largest, &e);
    e = e > 1000 ? 1000 : e < -1000 ? -1000 : e;
    if (warp == 0) {
      unit[lane] = lane < cols ? ldexp(1.0, e) : 1.0;
      inverse_unit[lane] = lane < cols ? ldexp(1.0, -e) : 1.0;
    }
  }
  __syncthreads();
#pragma unroll
  for (int l = 0; l < W; ++l) {
    const double inverse = inverse_unit[l];
#pragma unroll
    for (int r = 0; r < R; ++r) a[r][l] = static_cast<T>(static_cast<double>(a[r][l]) * inverse);
  }
  if (stacked)
    for (int l = warp; l < cols; l += warps) top[lane][l] *= inverse_unit[l];
  __syncthreads();

  const int steps = stacked || rows > cols ? cols : rows;
  for (int j = 0; j < steps; ++j) {
    const int pivot = stacked ? -1 : j;
    T tail[R];
    double dot, p_l, alpha, squares, norm2;
    for (int finer = 0;; ++finer) {
      ++epoch;
      T s[W];
#pragma unroll
      for (int r = 0; r < R; ++r) tail[r] = row(r) > pivot ? a[r][0] : T(0);
#pragma unroll
      for (int l = 0; l < W; ++l) {
        s[l] = tail[0] * a[0][l];
#pragma unroll
        for (int r = 1; r < R; ++r) s[l] += tail[r] * a[r][l];
      }
      if (stacked) {
        if (warp == 0) x.pivot[epoch % 2][lane] = lane < W - j && j + lane < cols ? top[j][j + lane] : 0.0;
      } else if (first == pivot) {  // pivot < 32 <= threads: always a thread's first row, in block 0
#pragma unroll
        for (int l = 0; l < W; ++l) x.pivot[epoch % 2][l] = static_cast<double>(a[0][l]);
      }
      dot = reduce<W, Sum>(s, x, packets, epoch, stacked ? -1 : 0);
      p_l = lane < W ? x.pivot[epoch % 2][lane] : 0.0;
      alpha = __shfl_sync(whole_warp, p_l, 0), squares = __shfl_sync(whole_warp, dot, 0);
      norm2 = alpha * alpha + squares;
      if (!(norm2 < vanishing<T> * vanishing<T>) || finer == 3) break;

        // Only rounding errors remain of a column that depends on others: repeat in a finer unit, because its reflector
        // would not be orthogonal otherwise.
#pragma unroll
      for (int r = 0; r < R; ++r)  // values above the pivot are unused and could overflow
        a[r][0] = row(r) >= pivot ? a[r][0] * static_cast<T>(1 / vanishing<T>) : T(0);
      if (stacked && thread == 0) top[j][j] *= 1 / vanishing<T>;  // the same thread reads it next
      if (warp == 1 && lane == 0) unit[j] *= vanishing<T>;
    }
    double beta = alpha, tau = 0, scale = 0;
    if (squares != 0) {
      const double inverse = rsqrt(norm2), norm = norm2 * inverse;
      beta = -copysign(norm, alpha);
      tau = 1 + fabs(alpha) * inverse;                    // (beta - alpha) / beta
      scale = copysign(1 / (fabs(alpha) + norm), alpha);  // 1 / (alpha - beta)
    }
    const double w = p_l + scale * dot;  // v^T a_l, and for finished columns v_l^T v
    const double f = lane > 0 && lane < W - j ? tau * w : 0.0;
    reinterpret_cast<double*>(x.broadcast[warp])[lane] = f;
    __syncwarp();

    T v[R];
#pragma unroll
    for (int r = 0; r < R; ++r)
      v[r] = row(r) > pivot ? static_cast<T>(scale * static_cast<double>(tail[r])) : T(row(r) == pivot ? 1 : 0);
#pragma unroll
    for (int l = 0; l < W; l += 2) {
      const double2 two = x.broadcast[warp][l / 2];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        if (l > 0) a[r][l - 1] = a[r][l] - v[r] * static_cast<T>(two.x);
        a[r][l] = a[r][l + 1] - v[r] * static_cast<T>(two.y);
      }
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
      a[r][W - 1] = v[r];
      if (row(r) < rows) {
        p.v[row(r) + j * p.ldv] = v[r];
        if (row(r) > pivot && (p.form != PanelForm::triangle || row(r) <= p.above + j)) p.a[row(r) + j * p.lda] = v[r];
      }
    }
    if (blockIdx.x == 0 && warp == 1) {
      // Row j of R is final.
      T* const r_row = stacked ? p.r + j : p.a + j;
      const index_t ld = stacked ? p.ldr : p.lda;
      if (lane < W - j && j + lane < cols)
        r_row[(j + lane) * ld] = static_cast<T>((lane == 0 ? beta : p_l - f) * unit[j + lane]);
      if (lane >= W - j && lane < W) gram[lane - (W - j)][j] = w;
      if (lane == 0) taus[j] = tau;
    }
    __syncwarp();
  }
  __syncwarp();
  if (blockIdx.x == 0 && warp == 1) write_block_factor<T, W>(p, steps, gram, taus, lane);
}

template <class T, int W, int R>
int launch(CUstream_st* stream, const Panel<T>& panel, Packet* packets, unsigned epoch) {
  const index_t blocks = std::max<index_t>(1, ceil_div(panel.rows, threads * R));
  Panel<T> p = panel;
  void* arguments[] = {&p, &packets, &epoch};
  const auto* kernel = reinterpret_cast<const void*>(&panel_kernel<T, W, R>);
  const dim3 grid(static_cast<unsigned>(blocks)), block(threads);
  // Cooperative launch, because the blocks wait for each other and must all run at once.
  return blocks == 1 ? cudaLaunchKernel(kernel, grid, block, arguments, 0, stream)
                     : cudaLaunchCooperativeKernel(kernel, grid, block, arguments, 0, stream);
}

/// Returns our blocks that the current device runs at once: one per multiprocessor.
index_t resident_blocks() {
  int device = 0, multiprocessors = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
    return 1;
  return std::min(multiprocessors, max_blocks);
}

/// Returns the rows of w columns that the registers of all blocks hold together.
template <class T>
index_t capacity(index_t w) {
  return resident_blocks() * threads * (64 / w) * static_cast<index_t>(sizeof(double) / sizeof(T));
}

}  // namespace

template <class T>
index_t panel_width(index_t rows) {
  for (index_t w = panel_columns; w >= 4; w /= 2)
    if (rows <= capacity<T>(w)) return w;
  return 0;
}

std::size_t panel_exchange_bytes() { return (2 * max_blocks + 2) * panel_columns * sizeof(Packet); }

template <class T>
int factor_panel(CUstream_st* stream, const Panel<T>& panel, void* exchange, unsigned& epoch) {
  const unsigned before = epoch;
  epoch += 4 * static_cast<unsigned>(panel.cols) + 1;  // at most
  auto* packets = static_cast<Packet*>(exchange);
  constexpr int more = sizeof(double) / sizeof(T);  // a thread holds twice as many floats
  switch (panel_width<T>(panel.rows)) {
    case 32:
      return launch<T, 32, 2 * more>(stream, panel, packets, before);
    case 16:
      return launch<T, 16, 4 * more>(stream, panel, packets, before);
    case 8:
      return launch<T, 8, 8 * more>(stream, panel, packets, before);
    case 4:
      return launch<T, 4, 16 * more>(stream, panel, packets, before);
  }
  return static_cast<int>(cudaErrorInvalidValue);
}

template index_t panel_width<float>(index_t);
template index_t panel_width<double>(index_t);
template int factor_panel(CUstream_st*, const Panel<float>&, void*, unsigned&);
template int factor_panel(CUstream_st*, const Panel<double>&, void*, unsigned&);

}  // namespace tesela::kernels
