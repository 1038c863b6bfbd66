#include <tesela/codelets/qr/internal/qr_panel.hpp>
#include <tesela/codelets/qr/internal/qr_panel_exchange.cuh>
#include <tesela/codelets/support/internal/device_scalar.cuh>

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>

// Factors panels of up to 32 columns in registers. A panel is spread over one thread block per 512 rows (double; 256
// rows if complex) and stays in their registers from its first column to its last. Each column needs one exchange
// between the blocks: the dot products of its tail with every other column, finished or not, in one sum. They determine
// its norm, the update of the columns to its right, and its column of T (from V^T v). The exchanged numbers carry their
// epoch, so that a polling thread sees a number as soon as it arrives, without a barrier. The parts of complex numbers
// are exchanged as two numbers.

namespace tesela::kernels {
namespace {

using namespace panel_exchange;

/// Computes T's columns from tau and V^H V, one lane per row: T(0:j, j) = -tau_j T(0:j, 0:j) (V^H v_j).
template <class T, int W, class S>
__device__ void write_block_factor(const Panel<T>& p, int steps, const S (&gram)[panel_columns][panel_columns + 1],
                                   const S (&tau)[panel_columns], int lane) {
  S row[W];
#pragma unroll
  for (int j = 0; j < W; ++j) {
    S sum = 0;
#pragma unroll
    for (int k = 0; k < j; ++k) sum = plus_product(sum, row[k], gram[k][j]);
    row[j] = lane < j ? -tau[j] * sum : lane == j ? tau[j] : S(0);
    if (lane < steps && j < steps) p.t[lane + j * p.ldt] = narrowed<T>(row[j]);
  }
}

/// Columns with a smaller norm get a finer unit, because squares of subnormal numbers are missing in the norm. Three
/// steps of it reach the smallest number.
template <class T>
constexpr double vanishing = sizeof(real_t<T>) == 4 ? 0x1p-40 : 0x1p-480;

/// A Householder reflector that maps a column to beta e1: tau, and the factor of the column's tail.
template <class S>
struct Reflector {
  S beta, tau, scale;
};

/// Returns the reflector of a column with pivot alpha, whose tail has the squared norm `squares`; norm2: the same with
/// alpha.
__device__ inline Reflector<double> make_reflector(double alpha, double squares, double norm2) {
  if (squares == 0) return {alpha, 0, 0};
  const double inverse = rsqrt(norm2), norm = norm2 * inverse;
  return {-copysign(norm, alpha),
          1 + fabs(alpha) * inverse,                   // (beta - alpha) / beta
          copysign(1 / (fabs(alpha) + norm), alpha)};  // 1 / (alpha - beta)
}
__device__ inline Reflector<DeviceComplex<double>> make_reflector(DeviceComplex<double> alpha, double squares,
                                                                  double norm2) {
  if (squares == 0 && alpha.im == 0) return {alpha, 0, 0};  // as LAPACK's larfg
  const double inverse = rsqrt(norm2), norm = norm2 * inverse;
  return {-copysign(norm, alpha.re),
          {1 + fabs(alpha.re) * inverse, alpha.im * copysign(inverse, alpha.re)},
          reciprocal(DeviceComplex<double>(alpha.re + copysign(norm, alpha.re), alpha.im))};
}

/// Factors W columns with R rows per thread.
template <class T, int W, int R>
__global__ void __launch_bounds__(threads, 1) panel_kernel(Panel<T> p, Packet* packets, unsigned epoch) {
  using S = wide_t<T>;
  __shared__ Exchange<S> x;
  __shared__ double unit[panel_columns], inverse_unit[panel_columns];  // each column is kept in units of a power of two
  __shared__ S top[panel_columns][panel_columns + 1];                  // R, unless trapezoid
  __shared__ S gram[panel_columns][panel_columns + 1], taus[panel_columns];
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
    for (int l = warp; l < cols; l += warps) top[lane][l] = lane <= l ? widened(p.r[lane + l * p.ldr]) : S(0);

  {  // scales so that no square overflows or vanishes; V and T do not change
    T s[W];
#pragma unroll
    for (int l = 0; l < W; ++l) {
      s[l] = T(0);
#pragma unroll
      for (int r = 0; r < R; ++r) s[l] = Max::combine(s[l], T(largest_part(a[r][l])));
    }
    double largest = real_part(reduce<W, Max>(s, x, packets, ++epoch, -1));
    if (stacked && lane < cols)
      for (int i = 0; i <= lane; ++i) largest = Max::combine(largest, largest_part(top[i][lane]));
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
    for (int r = 0; r < R; ++r) a[r][l] = narrowed<T>(widened(a[r][l]) * inverse);
  }
  if (stacked)
    for (int l = warp; l < cols; l += warps) top[lane][l] *= inverse_unit[l];
  __syncthreads();

  const int steps = stacked || rows > cols ? cols : rows;
  for (int j = 0; j < steps; ++j) {
    const int pivot = stacked ? -1 : j;
    T tail[R];
    S dot, p_l, alpha;
    double squares, norm2;
    for (int finer = 0;; ++finer) {
      ++epoch;
      T s[is_complex<T> ? W / 2 : W];
#pragma unroll
      for (int r = 0; r < R; ++r) tail[r] = row(r) > pivot ? a[r][0] : T(0);
      const auto product = [&](int l) {
        T sum = conj(tail[0]) * a[0][l];
#pragma unroll
        for (int r = 1; r < R; ++r) sum = plus_product(sum, conj(tail[r]), a[r][l]);
        return sum;
      };
      if constexpr (is_complex<T>) {  // registers suffice for half of the products
#pragma unroll
        for (int l = 0; l < W / 2; ++l) s[l] = combine_two<W / 2, Sum>(product(l), product(l + W / 2), lane);
      } else {
#pragma unroll
        for (int l = 0; l < W; ++l) s[l] = product(l);
      }
      if (stacked) {
        if (warp == 0) x.pivot[epoch % 2][lane] = lane < W - j && j + lane < cols ? top[j][j + lane] : S(0);
      } else if (first == pivot) {  // pivot < 32 <= threads: always a thread's first row, in block 0
#pragma unroll
        for (int l = 0; l < W; ++l) x.pivot[epoch % 2][l] = widened(a[0][l]);
      }
      dot = reduce<W, Sum>(s, x, packets, epoch, stacked ? -1 : 0);
      p_l = lane < W ? x.pivot[epoch % 2][lane] : S(0);
      alpha = from_first_lane(p_l), squares = __shfl_sync(whole_warp, real_part(dot), 0);
      norm2 = real_part(conj(alpha) * alpha) + squares;
      if (!(norm2 < vanishing<T> * vanishing<T>) || finer == 3) break;

        // Only rounding errors remain of a column that depends on others: repeat in a finer unit, because its reflector
        // would not be orthogonal otherwise.
#pragma unroll
      for (int r = 0; r < R; ++r)  // values above the pivot are unused and could overflow
        a[r][0] = row(r) >= pivot ? a[r][0] * static_cast<real_t<T>>(1 / vanishing<T>) : T(0);
      if (stacked && thread == 0) top[j][j] *= 1 / vanishing<T>;  // the same thread reads it next
      if (warp == 1 && lane == 0) unit[j] *= vanishing<T>;
    }
    const auto [beta, tau, scale] = make_reflector(alpha, squares, norm2);
    const S w = plus_product(p_l, conj(scale), dot);  // v^H a_l, and for finished columns v^H v_l
    const S f = lane > 0 && lane < W - j ? conj(tau) * w : S(0);
    x.broadcast[warp][lane] = f;
    __syncwarp();

    T v[R];
#pragma unroll
    for (int r = 0; r < R; ++r)
      v[r] = row(r) > pivot ? narrowed<T>(scale * widened(tail[r])) : T(row(r) == pivot ? 1 : 0);
    const auto shift = [&](int r, int l, S factor) { a[r][l - 1] = minus_product(a[r][l], v[r], narrowed<T>(factor)); };
    if constexpr (is_complex<T>) {
#pragma unroll
      for (int l = 1; l < W; ++l) {
        const S one = x.broadcast[warp][l];
#pragma unroll
        for (int r = 0; r < R; ++r) shift(r, l, one);
      }
    } else {
#pragma unroll
      for (int l = 0; l < W; l += 2) {
        const double2 two = reinterpret_cast<const double2*>(x.broadcast[warp])[l / 2];
#pragma unroll
        for (int r = 0; r < R; ++r) {
          if (l > 0) shift(r, l, two.x);
          shift(r, l + 1, two.y);
        }
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
        r_row[(j + lane) * ld] = narrowed<T>((lane == 0 ? beta : p_l - f) * unit[j + lane]);
      if (lane >= W - j && lane < W) gram[lane - (W - j)][j] = conj(w);
      if (lane == 0) taus[j] = tau;
    }
    __syncwarp();
  }
  __syncwarp();
  if (blockIdx.x == 0 && warp == 1) write_block_factor<T, W>(p, steps, gram, taus, lane);
}

/// Rows per thread of a panel of w columns: as many as its registers hold.
template <class T>
constexpr int rows_per_thread(int w) {
  return 512 / w / static_cast<int>(sizeof(T));
}

template <int W, class T>
int launch(CUstream_st* stream, const Panel<T>& panel, Packet* packets, unsigned epoch) {
  constexpr int R = rows_per_thread<T>(W);
  const index_t blocks = std::max<index_t>(1, ceil_div(panel.rows, threads * R));
  Panel<device_t<T>> p{panel.form,
                       panel.rows,
                       panel.cols,
                       device_pointer(panel.a),
                       panel.lda,
                       device_pointer(panel.r),
                       panel.ldr,
                       panel.above,
                       device_pointer(panel.v),
                       panel.ldv,
                       device_pointer(panel.t),
                       panel.ldt};
  void* arguments[] = {&p, &packets, &epoch};
  const auto* kernel = reinterpret_cast<const void*>(&panel_kernel<device_t<T>, W, R>);
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
  return resident_blocks() * threads * rows_per_thread<T>(static_cast<int>(w));
}

}  // namespace

template <class T>
index_t panel_width(index_t rows) {
  for (index_t w = panel_columns; w >= 4; w /= 2)
    if (rows <= capacity<T>(w)) return w;
  return 0;
}

template <class T>
std::size_t panel_exchange_bytes() {
  return (2 * max_blocks + 2) * panel_columns * parts<wide_t<device_t<T>>> * sizeof(Packet);
}

template <class T>
int factor_panel(CUstream_st* stream, const Panel<T>& panel, void* exchange, unsigned& epoch) {
  const unsigned before = epoch;
  epoch += 4 * static_cast<unsigned>(panel.cols) + 1;  // at most
  auto* packets = static_cast<Packet*>(exchange);
  switch (panel_width<T>(panel.rows)) {
    case 32: return launch<32>(stream, panel, packets, before);
    case 16: return launch<16>(stream, panel, packets, before);
    case 8: return launch<8>(stream, panel, packets, before);
    case 4: return launch<4>(stream, panel, packets, before);
  }
  return static_cast<int>(cudaErrorInvalidValue);
}

TESELA_FUNCTIONS_FOR_NUMBERS(panel_width, panel_exchange_bytes, factor_panel)

}  // namespace tesela::kernels
