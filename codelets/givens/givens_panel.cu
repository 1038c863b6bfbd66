#include <tesela/codelets/givens/givens.hpp>
#include <tesela/codelets/givens/internal/givens_launch.hpp>
#include <tesela/codelets/givens/rotation.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>

#include <cuda_runtime.h>

namespace tesela::kernels {
namespace {

constexpr int cells = max_givens_window;
constexpr int warps = 8;
constexpr int pitch = cells + 1;  // odd, so that columns of shared memory are in different banks

/// A window's cells in a wavefront: in stage g, cell t rotates the row that entered in step g - t. First one warp
/// computes the rotations of the stage, one cell per thread, then all threads apply them.
template <class T>
struct Wavefront {
  T cell[cells][pitch];         // [t][column]
  T passing[2][cells][pitch];   // the row that cell t rotates, in this stage and the next
  T incoming[2][cells][pitch];  // [step][column]: the rows that enter in this chunk of steps and the next
  SharedRotation<T> rotation[cells];
  unsigned long long rotations;
};

constexpr std::size_t most_static = 48 << 10;  // bytes of shared memory that need no request

template <class T>
__device__ Wavefront<T>& shared_wavefront() {
  if constexpr (sizeof(Wavefront<T>) <= most_static) {
    __shared__ Wavefront<T> s;
    return s;
  } else {
    extern __shared__ double2 memory[];
    return *reinterpret_cast<Wavefront<T>*>(memory);
  }
}

constexpr int reach_threads = 256, rows_per_thread = 8;  // of reach_kernel

/// Raises *p.reach to the largest distance of a nonzero element below the diagonal. Blocks (x, t) read parts of column
/// t.
template <class T>
__global__ void reach_kernel(GivensPanelProblem<T> p) {
  const index_t t = blockIdx.y, diagonal = p.row + t,
                first = diagonal + 1 + static_cast<index_t>(blockIdx.x) * reach_threads * rows_per_thread;
  unsigned distance = 0;
  for (int k = 0; k < rows_per_thread; ++k) {
    const index_t i = first + k * reach_threads + threadIdx.x;
    if (i < p.m && !internal::is_zero(p.a[i + t * p.lda])) distance = static_cast<unsigned>(i - diagonal);
  }
  distance = __reduce_max_sync(0xffffffffu, distance);
  if (threadIdx.x % 32 == 0 && distance > 0) atomicMax(p.reach, static_cast<unsigned long long>(distance));
}

/// Reads this thread's share of the rows that enter in steps from, from + 1, …
template <class T>
__device__ void read_chunk(const GivensPanelProblem<T>& p, const GivensWindow& w, index_t from,
                           T (&mine)[cells / warps]) {
  const index_t e = from + threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < cells / warps; ++k) {
    const index_t u = threadIdx.x / 32 + k * warps;
    mine[k] = e < w.steps() && u < w.width ? p.a[w.in_row(e) + u * p.lda] : T(0);
  }
}

template <class T>
__device__ void write_chunk(T (&to)[cells][pitch], const T (&mine)[cells / warps]) {
#pragma unroll
  for (int k = 0; k < cells / warps; ++k) to[threadIdx.x % 32][threadIdx.x / 32 + k * warps] = mine[k];
}

template <class T>
__global__ void __launch_bounds__(32 * warps) panel_kernel(GivensPanelProblem<T> p) {
  Wavefront<T>& s = shared_wavefront<T>();
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  if (threadIdx.x == 0) s.rotations = 0;
  const GivensWindow w = GivensWindow::make(p.pivot, p.row, p.m, p.width, static_cast<index_t>(*p.reach));

  for (int t = warp; t < w.first_cells(); t += warps) {
    if (lane < w.width) s.cell[t][lane] = p.a[w.first_row(t) + lane * p.lda];
    if (p.l != nullptr && lane == t) p.l[w.first_row(t) + t * p.ldl] = s.cell[t][t];
  }
  T mine[cells / warps];
  read_chunk(p, w, 0, mine);
  write_chunk(s.incoming[0], mine);
  index_t count = 0;
  __syncthreads();

  const index_t stages = w.steps() > 0 ? w.steps() + w.width - 1 : 0;
  for (index_t g = 0; g < stages; ++g) {
    const auto row_for = [&](int t, int u) -> T& {
      return t == 0 ? s.incoming[g / cells % 2][g % cells][u] : s.passing[g % 2][t][u];
    };
    if (g % cells == 0) read_chunk(p, w, g + cells, mine);  // arrives during the work on this chunk
    if (warp == 0 && lane < w.width && g >= lane && g - lane < w.steps()) {
      const int t = lane;
      const index_t e = g - t;
      const T v = row_for(t, t);
      if (t <= w.cells(e) && p.l != nullptr) p.l[w.in_row(e) + t + t * p.ldl] = v;
      if (t < w.cells(e)) {
        const T upper = p.pivot == Pivot::adjacent ? v : s.cell[t][t],
                lower = p.pivot == Pivot::adjacent ? s.cell[t][t] : v;
        const Annihilation<T> x = givens(upper, lower);
        s.rotation[t] = {x.rotation.c, x.rotation.s};
        s.cell[t][t] = x.r;
        p.a[w.zero_row(e, t) + t * p.lda] = x.rho;
        count += p.pivot == Pivot::diagonal || !internal::is_zero(lower) ? 1 : 0;
      }
    }
    __syncthreads();
    for (int t = warp; t < w.width; t += warps) {
      const index_t e = g - t;
      if (e < 0 || e >= w.steps() || lane < t || lane >= w.width) continue;
      T v = row_for(t, lane);
      if (t == w.cells(e)) {
        s.cell[t][lane] = v;
      } else if (t < w.cells(e) && lane > t) {
        T held = s.cell[t][lane];
        const Rotation<T> x{s.rotation[t].c, s.rotation[t].s};
        if (p.pivot == Pivot::adjacent) {
          rotate(x, v, held);
          s.cell[t][lane] = v;
          v = held;
        } else {
          rotate(x, held, v);
          s.cell[t][lane] = held;
        }
        s.passing[(g + 1) % 2][t + 1][lane] = v;  // lane > t, so t + 1 is a cell
      }
    }
    if (g % cells == cells - 1) write_chunk(s.incoming[(g / cells + 1) % 2], mine);
    __syncthreads();
  }

  for (int t = warp; t < w.last_cells(); t += warps)
    if (lane >= t && lane < w.width) p.a[w.begin + t + lane * p.lda] = s.cell[t][lane];
  if (count > 0) atomicAdd(&s.rotations, static_cast<unsigned long long>(count));
  __syncthreads();
  if (threadIdx.x != 0) return;
  const index_t reach = w.reach, rotations = static_cast<index_t>(s.rotations);
  p.info[0] = p.accumulate && p.info[0] > reach ? p.info[0] : reach;
  p.info[1] = p.accumulate ? p.info[1] + rotations : rotations;
}

/// Runs in one warp: a band's columns depend on each other, and a row has only kl + ku + 1 elements to distribute.
template <class T>
__global__ void band_kernel(index_t m, index_t n, index_t kl, index_t ku, T* ab, index_t ld, index_t* info) {
  const index_t lane = threadIdx.x, above = kl + ku, columns = m - 1 < n ? m - 1 : n;
  const Strided<T> a{ab + above, 1, ld - 1};
  for (index_t x = lane; x < n * kl; x += 32) ab[x % kl + x / kl * ld] = T(0);
  __syncwarp();
  index_t rotations = 0;
  for (index_t j = 0; j < columns; ++j) {
    index_t last = j + kl < m - 1 ? j + kl : m - 1;
    while (last > j && internal::is_zero(a(last, j))) --last;
    rotations += last - j;
    T carried = a(last, j);
    for (index_t i = last; i > j; --i) {
      const Annihilation<T> x = givens(a(i - 1, j), carried);
      carried = x.r;
      __syncwarp();
      if (lane == 0) a(i, j) = x.rho;
      for (index_t u = j + 1 + lane; u <= j + above && u < n; u += 32) rotate(x.rotation, a(i - 1, u), a(i, u));
      __syncwarp();
    }
    if (lane == 0 && last > j) a(j, j) = carried;
    __syncwarp();
  }
  if (lane == 0) {
    info[0] = kl;
    info[1] = rotations;
  }
}

}  // namespace

template <class Host>
int givens_panel(CUstream_st* stream, const GivensPanelProblem<Host>& host) {
  using T = device_t<Host>;
  const GivensPanelProblem<T> problem{
      host.pivot, host.row,  host.m,     host.width,     device_pointer(host.a), host.lda, device_pointer(host.l),
      host.ldl,   host.info, host.reach, host.accumulate};
  if (const cudaError_t status = cudaMemsetAsync(problem.reach, 0, sizeof(*problem.reach), stream);
      status != cudaSuccess)
    return static_cast<int>(status);
  const index_t below = problem.m - problem.row - 1;
  if (problem.pivot == Pivot::adjacent && below > 0 && problem.width > 0) {
    const dim3 blocks(static_cast<unsigned>(ceil_div(below, index_t{reach_threads * rows_per_thread})),
                      static_cast<unsigned>(problem.width));
    reach_kernel<T><<<blocks, reach_threads, 0, stream>>>(problem);
  }
  constexpr std::size_t bytes = sizeof(Wavefront<T>) <= most_static ? 0 : sizeof(Wavefront<T>);
  if (bytes > 0)
    if (const cudaError_t status =
            cudaFuncSetAttribute(panel_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, int{bytes});
        status != cudaSuccess)
      return static_cast<int>(status);
  panel_kernel<T><<<1, 32 * warps, bytes, stream>>>(problem);
  return static_cast<int>(cudaGetLastError());
}

template <class T>
int givens_band(CUstream_st* stream, index_t m, index_t n, index_t kl, index_t ku, T* ab, index_t ld, index_t* info) {
  band_kernel<device_t<T>><<<1, 32, 0, stream>>>(m, n, kl, ku, device_pointer(ab), ld, info);
  return static_cast<int>(cudaGetLastError());
}

TESELA_FUNCTIONS_FOR_NUMBERS(givens_band)
#define TESELA_INSTANTIATE(T) template int givens_panel(CUstream_st*, const GivensPanelProblem<T>&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::kernels
