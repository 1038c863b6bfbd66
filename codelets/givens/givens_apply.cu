#include <tesela/codelets/givens/givens.hpp>
#include <tesela/codelets/givens/internal/givens_launch.hpp>
#include <tesela/codelets/givens/rotation.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>

#include <cuda_runtime.h>

namespace tesela::kernels {
namespace {

constexpr int cells = max_givens_window;

/// Steps whose rotations are in shared memory at a time, and threads that apply them, for T's registers and memory.
template <class T>
constexpr int chunk = sizeof(T) <= 8 ? 32 : 16;
template <class T>
constexpr int most_appliers = sizeof(T) <= 8 ? 512 : 224;

/// [step][cell]; with this pitch, writes down a column use different banks.
template <class T>
using Rotations = SharedRotation<T>[chunk<T>][cells + 1];

template <class T>
__device__ SharedRotation<T> shared(const Rotation<T>& x) {
  return {x.c, x.s};
}

/// Unpacks a chunk's rotations, one step per thread, so that neighbouring threads read neighbouring scalars.
template <class T>
struct Unpack {
  __device__ void operator()(const GivensWindow& w, Side side, const Strided<const T>& v, index_t from,
                             Rotations<T>& x) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const index_t e = from + lane;
    const index_t n = lane < chunk<T> && e < w.steps() ? w.cells(e) : 0;
#pragma unroll 4
    for (int t = 0; t < n; ++t) x[lane][t] = shared(for_side(side, unpack(v(w.zero_row(e, t), t))));
  }
};

/// Recomputes a chunk's rotations from copied columns, one column and its chain per thread.
template <class T>
struct Recompute {
  T carried = 0, next = 0;
  __device__ T entry(const GivensWindow& w, const Strided<const T>& l, index_t e, int t) const {
    return e < w.steps() && t <= w.cells(e) && t < w.width ? l(w.in_row(e) + t, t) : T(0);
  }
  __device__ void operator()(const GivensWindow& w, Side side, const Strided<const T>& l, index_t from,
                             Rotations<T>& x) {
    const int t = static_cast<int>(threadIdx.x % 32);
    if (from == 0) {
      carried = t < w.first_cells() ? l(w.first_row(t), t) : T(0);
      next = entry(w, l, 0, t);
    }
    for (int k = 0; k < chunk<T> && from + k < w.steps(); ++k) {
      const index_t e = from + k;
      const T a = next;
      next = entry(w, l, e + 1, t);  // loaded during the work on the present entry
      if (t < w.cells(e)) {
        const Annihilation<T> y = givens(a, carried);
        x[k][t] = shared(for_side(side, y.rotation));
        carried = y.r;
      } else if (t == w.cells(e)) {
        carried = a;
      }
    }
  }
};

/// A column of C, in one thread's registers as far as the window's cells hold it.
template <class T, Pivot pivot>
struct ColumnWindow {
  T cell[cells];
  T ahead = 0;

  __device__ static void turn(const SharedRotation<T>& at, T& held, T& v) {
    const SharedRotation<T> read = at;
    const Rotation<T> x{read.c, read.s};
    if constexpr (pivot == Pivot::adjacent) {
      rotate(x, v, held);
      const T upper = v;
      v = held;
      held = upper;
    } else {
      rotate(x, held, v);
    }
  }
  __device__ static void turn_back(const SharedRotation<T>& at, T& held, T& v) {
    const SharedRotation<T> read = at;
    const Rotation<T> x{read.c, read.s};
    if constexpr (pivot == Pivot::adjacent) {
      const T upper = held;
      held = v;
      v = upper;
      rotate_back(x, v, held);
    } else {
      rotate_back(x, held, v);
    }
  }

  template <class Row>
  __device__ void load(const Strided<T>& c, index_t n, Row row) {
#pragma unroll
    for (int t = 0; t < cells; ++t) cell[t] = t < n ? c(row(t), 0) : T(0);
  }
  template <class Row>
  __device__ void store(const Strided<T>& c, index_t n, Row row) {
#pragma unroll
    for (int t = 0; t < cells; ++t)
      if (t < n) c(row(t), 0) = cell[t];
  }

  __device__ void forward(const GivensWindow& w, const Strided<T>& c, index_t from, const Rotations<T>& x) {
    if (from == 0) ahead = c(w.in_row(0), 0);
    for (int k = 0; k < chunk<T> && from + k < w.steps(); ++k) {
      const index_t e = from + k, n = w.cells(e);
      T v = ahead;
      if (e + 1 < w.steps()) ahead = c(w.in_row(e + 1), 0);
      if (n == cells) {
#pragma unroll
        for (int t = 0; t < cells; ++t) turn(x[k][t], cell[t], v);
      } else {
#pragma unroll
        for (int t = 0; t < cells; ++t)
          if (t < n)
            turn(x[k][t], cell[t], v);
          else if (t == n && n < w.width)
            cell[t] = v;
      }
      if (n == w.width) c(w.out_row(e), 0) = v;
    }
  }

  __device__ void back(const GivensWindow& w, const Strided<T>& c, index_t from, const Rotations<T>& x) {
    const index_t end = from + chunk<T> < w.steps() ? from + chunk<T> : w.steps();
    if (end == w.steps() && w.cells(end - 1) == w.width) ahead = c(w.out_row(end - 1), 0);
    for (index_t e = end - 1; e >= from; --e) {
      const index_t k = e - from, n = w.cells(e);
      T v = ahead;
      if (e > 0 && w.cells(e - 1) == w.width) ahead = c(w.out_row(e - 1), 0);
      if (n == cells) {
#pragma unroll
        for (int t = cells - 1; t >= 0; --t) turn_back(x[k][t], cell[t], v);
      } else {
#pragma unroll
        for (int t = cells - 1; t >= 0; --t)
          if (t < n)
            turn_back(x[k][t], cell[t], v);
          else if (t == n && n < w.width)
            v = cell[t];
      }
      c(w.in_row(e), 0) = v;
    }
  }
};

/// Applies rotations chunk by chunk: the block's last warp computes the rotations of the next chunk while the other
/// warps, one column per thread, apply the present chunk's.
template <class T, Pivot pivot, bool is_forward, class Make>
__global__ void __launch_bounds__(most_appliers<T> + 32) apply_kernel(GivensApplyProblem<T> p) {
  __shared__ Rotations<T> x[2];
  const int appliers = static_cast<int>(blockDim.x) - 32;
  const bool maker = static_cast<int>(threadIdx.x) >= appliers;
  const index_t column = static_cast<index_t>(blockIdx.x) * appliers + threadIdx.x;
  const bool active = !maker && column < p.columns;
  const Strided<T> c{p.c.data + (active ? column : 0) * p.c.column_stride, p.c.row_stride, 1};
  const index_t windows = (p.width + p.window - 1) / p.window, reach = p.info[0];
  for (index_t n = 0; n < windows; ++n) {
    const index_t first = (is_forward ? n : windows - 1 - n) * p.window;
    const index_t width = p.width - first < p.window ? p.width - first : p.window;
    const GivensWindow w = GivensWindow::make(pivot, p.row + first, p.m, width, reach);
    const Strided<const T> source{p.source.data + first * p.source.column_stride, p.source.row_stride,
                                  p.source.column_stride};
    const index_t chunks = (w.steps() + chunk<T> - 1) / chunk<T>;
    const auto start = [&](index_t k) { return (is_forward ? k : chunks - 1 - k) * chunk<T>; };
    const auto first_row = [&](int t) { return w.first_row(t); };
    const auto last_row = [&](int t) { return w.begin + t; };
    if (chunks == 0) continue;
    Make make;
    ColumnWindow<T, pivot> held;
    if (maker) make(w, p.side, source, start(0), x[0]);
    if (active) is_forward ? held.load(c, w.first_cells(), first_row) : held.load(c, w.last_cells(), last_row);
    __syncthreads();
    for (index_t k = 0; k < chunks; ++k) {
      if (maker && k + 1 < chunks) make(w, p.side, source, start(k + 1), x[(k + 1) % 2]);
      if (active) is_forward ? held.forward(w, c, start(k), x[k % 2]) : held.back(w, c, start(k), x[k % 2]);
      __syncthreads();
    }
    if (active) is_forward ? held.store(c, w.last_cells(), last_row) : held.store(c, w.first_cells(), first_row);
  }
}

template <class T, Pivot pivot, bool is_forward, class Make>
int launch(CUstream_st* stream, const GivensApplyProblem<T>& p) {
  const int appliers = p.block < most_appliers<T> ? p.block : most_appliers<T>;
  const auto blocks = static_cast<unsigned>(ceil_div(p.columns, appliers));
  const auto threads = static_cast<unsigned>(appliers + 32);
  apply_kernel<T, pivot, is_forward, Make><<<blocks, threads, 0, stream>>>(p);
  return static_cast<int>(cudaGetLastError());
}

template <class T>
Strided<device_t<T>> on_device(const Strided<T>& x) {
  return {device_pointer(x.data), x.row_stride, x.column_stride};
}

}  // namespace

template <class Host>
int givens_apply(CUstream_st* stream, const GivensApplyProblem<Host>& host) {
  using T = device_t<Host>;
  if (host.columns == 0 || host.width == 0) return 0;
  const GivensApplyProblem<T> p{host.pivot,   host.side,         host.chain,
                                host.forward, host.row,          host.m,
                                host.width,   host.window,       on_device(host.source),
                                host.info,    on_device(host.c), host.columns,
                                host.block};
  if (p.chain) return launch<T, Pivot::adjacent, true, Recompute<T>>(stream, p);
  if (p.pivot == Pivot::adjacent)
    return p.forward ? launch<T, Pivot::adjacent, true, Unpack<T>>(stream, p)
                     : launch<T, Pivot::adjacent, false, Unpack<T>>(stream, p);
  return p.forward ? launch<T, Pivot::diagonal, true, Unpack<T>>(stream, p)
                   : launch<T, Pivot::diagonal, false, Unpack<T>>(stream, p);
}

#define TESELA_INSTANTIATE(T) template int givens_apply(CUstream_st*, const GivensApplyProblem<T>&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::kernels
