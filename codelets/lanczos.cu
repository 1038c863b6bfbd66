#include "codelets/cauchy_product.cuh"
#include "codelets/lanczos.hpp"

namespace tesela {
namespace {

/// The Lanczos runs of one task.
template <class T>
struct Runs {
  index_t ld[most], sums_ld;
  T* basis[most];
  int steps[most];  // done before
  T* sums;          // of each share: over the basis vectors, then of squares
  double* coefficients;
  index_t ld_coefficients;
  int of_slot;  // columns of `coefficients` a slot

  __device__ T* partial(int lane, index_t share, index_t shares) const {
    return sums + (static_cast<index_t>(lane) * shares + share) * sums_ld;
  }
};

/// partial(j) = (basis vector first + j)' y over this share, j < columns; a column a warp at a time.
template <class T>
__device__ void project(const T* basis, index_t ld, int columns, const T* y, int count, T* partial) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  for (int j = warp; j < columns; j += warps) {
    const T* const v = basis + j * ld;
    T sum = 0;
#pragma unroll 8
    for (int a = lane; a < count; a += 32) sum += v[a] * y[a];
    sum = over_warp(sum);
    if (lane == 0) partial[j] = sum;
  }
}

/// h(j) = the sum over shares of what project() found; all threads see it afterwards.
template <class T>
__device__ void gather(const Runs<T>& r, int lane, index_t shares, int columns, T* h) {
  for (int j = static_cast<int>(threadIdx.x); j < columns; j += threads) {
    T sum = 0;
    for (index_t s = 0; s < shares; ++s) sum += r.partial(lane, s, shares)[j];
    h[j] = sum;
  }
  __syncthreads();
}

/// y = (C - sigma I)^-1 p_k, and its projections on itself and on the last two basis vectors. `before`, if not null, is
/// what the product is added to.
template <class T>
__global__ void step_product(Vectors<T> v, Runs<T> r, const T* before, int k) {
  __shared__ T y[chunk];
  const int lane = static_cast<int>(blockIdx.y), slot = lane / 2, done = r.steps[slot] + k;
  const Share<T> s(v, lane, static_cast<index_t>(blockIdx.x) * chunk);
  for (int a = static_cast<int>(threadIdx.x); a < s.count(); a += threads)
    s.y[a] = y[a] = s.product(a) + (before != nullptr ? before[v.n * slot + s.first + a] : T(0));
  __syncthreads();
  const int recent = done > 0 ? 2 : 1;
  T* const partial = r.partial(lane, blockIdx.x, gridDim.x);
  project(r.basis[slot] + s.first + (done + 1 - recent) * r.ld[slot], r.ld[slot], recent, y, s.count(), partial);
  if (threadIdx.x >= threads - 32) {  // a warp that has no basis vector
    T sum = 0;
    for (int a = static_cast<int>(threadIdx.x) % 32; a < s.count(); a += 32) sum += y[a] * y[a];
    sum = over_warp(sum);
    if (threadIdx.x == threads - 32) partial[2] = sum;
  }
}

/// y without its parts along the last two basis vectors, and its projections on all of them. `kept` (4 a lane): the
/// norm before, and what was taken along the last.
template <class T>
__global__ void step_recent(Vectors<T> v, Runs<T> r, T* kept, T* sums, int k) {
  __shared__ T y[chunk];
  __shared__ T h[4];
  const int lane = static_cast<int>(blockIdx.y), slot = lane / 2, done = r.steps[slot] + k;
  const Share<T> s(v, lane, static_cast<index_t>(blockIdx.x) * chunk);
  const int recent = done > 0 ? 2 : 1;
  gather(r, lane, gridDim.x, 3, h);
  const T* const basis = r.basis[slot] + s.first;
  for (int a = static_cast<int>(threadIdx.x); a < s.count(); a += threads) {
    T value = s.y[a];
    for (int j = 0; j < recent; ++j) value -= h[j] * basis[a + (done + 1 - recent + j) * r.ld[slot]];
    s.y[a] = y[a] = value;
  }
  __syncthreads();
  Runs<T> all = r;
  all.sums = sums;
  project(basis, r.ld[slot], done + 1, y, s.count(), all.partial(lane, blockIdx.x, gridDim.x));
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    kept[2 * lane] = h[2];
    kept[2 * lane + 1] = h[recent - 1];
  }
}

/// y without its parts along all basis vectors, and its square.
template <class T>
__global__ void step_all(Vectors<T> v, Runs<T> r, T* kept, int k) {
  extern __shared__ unsigned char memory[];
  T* const h = reinterpret_cast<T*>(memory);
  __shared__ T of_warp[warps];
  const int lane = static_cast<int>(blockIdx.y), slot = lane / 2, done = r.steps[slot] + k;
  const Share<T> s(v, lane, static_cast<index_t>(blockIdx.x) * chunk);
  gather(r, lane, gridDim.x, done + 1, h);
  const T* const basis = r.basis[slot] + s.first;
  T value[per_thread], squares = 0;
  for (int i = 0; i < per_thread; ++i) {
    const int a = static_cast<int>(threadIdx.x) + i * threads;
    value[i] = a < s.count() ? s.y[a] : T(0);
  }
  if (s.count() == chunk) {
#pragma unroll 2
    for (int j = 0; j <= done; ++j)
      for (int i = 0; i < per_thread; ++i) value[i] -= h[j] * basis[threadIdx.x + i * threads + j * r.ld[slot]];
  } else {
    for (int j = 0; j <= done; ++j)
      for (int i = 0; i < per_thread; ++i) {
        const int a = static_cast<int>(threadIdx.x) + i * threads;
        if (a < s.count()) value[i] -= h[j] * basis[a + j * r.ld[slot]];
      }
  }
  for (int i = 0; i < per_thread; ++i) {
    const int a = static_cast<int>(threadIdx.x) + i * threads;
    if (a < s.count()) s.y[a] = value[i];
    squares += value[i] * value[i];
  }
  squares = over_warp(squares);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = squares;
  __syncthreads();
  if (threadIdx.x == 0) {
    T sum = 0;
    for (int w = 0; w < warps; ++w) sum += of_warp[w];
    // Behind what other shares may still be reading.
    r.partial(lane, blockIdx.x, gridDim.x)[r.sums_ld - 1] = sum;
    if (blockIdx.x == 0) kept[2 * lane + 1] += h[done];
  }
}

/// The next basis vector, the coefficients, and the beginning of the next product.
template <class T>
__global__ void step_next(Vectors<T> v, Runs<T> r, const T* kept, T epsilon, int k, bool last) {
  const int lane = static_cast<int>(blockIdx.y), slot = lane / 2, part = lane % 2, done = r.steps[slot] + k;
  const index_t shares = (cauchy_rows(v.n, 0) + chunk - 1) / chunk;
  T squares = 0;
  for (index_t s = 0; s < shares; ++s) squares += r.partial(lane, s, shares)[r.sums_ld - 1];
  T left = sqrt(squares);
  if (!(left > 4 * epsilon * sqrt(kept[2 * lane]))) left = 0;
  const index_t a = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  const Share<T> s(v, lane, 0);
  T next = 0;
  if (a < s.rows) {
    next = left > 0 ? s.y[a] / left : T(0);
    r.basis[slot][s.first + a + (done + 1) * r.ld[slot]] = next;
  }
  if (!last && a < v.length) {
    T* const z = v.z + 2 * (v.length * lane + a);
    z[0] = a < s.rows ? s.h[a] * s.inverse_sine[a] * next : T(0);
    z[1] = a < s.rows ? s.g[a] * next : T(0);
  }
  if (a == 0) {
    double* const out = r.coefficients + (slot * r.of_slot + k) * r.ld_coefficients + 2 * part;
    out[0] = static_cast<double>(kept[2 * lane + 1]);
    out[1] = static_cast<double>(left);
  }
}

}  // namespace

template <class T>
void LanczosStart<T>::cuda(CudaContext& context, const Args& args, In<T> inverse, In<T> starts, Out<T> slot) noexcept {
  const auto copy = [&](const T* from, index_t j) {
    context.check(cudaMemcpyAsync(&slot(0, j), from, static_cast<std::size_t>(slot.rows) * sizeof(T),
                                  cudaMemcpyDeviceToDevice, context.stream()),
                  "cudaMemcpyAsync");
  };
  for (index_t j = 0; j < 3; ++j) copy(&inverse(0, 3 * args.shift + j), j);
  copy(&starts(0, args.start), 3);
}

template <class T>
void LanczosSteps<T>::cuda(CudaContext& context, const Args& args, In<T> c, In<T> tables, Out<double> coefficients,
                           Scratch<T> work, std::span<const InOut<T>> slots) noexcept {
  const index_t n = c.rows, length = cauchy_length(n), shares = shares_of(n), room = work.cols;
  const auto count = static_cast<int>(slots.size());
  Vectors<T> v{n, length, tables.ld, tables.data, work.data, work.data + 4 * length * room, {}, {}, {}};
  Refinement<T> refinement{v.y + n * room, v.y + 2 * n * room, {}, {}};
  Runs<T> r{};
  r.sums_ld = slots[0].cols;
  T* const recent_sums = v.y + 3 * n * room;
  T* const all_sums = recent_sums + 2 * room * shares * r.sums_ld;
  T* const kept = all_sums + 2 * room * shares * r.sums_ld;
  r.coefficients = coefficients.data;
  r.ld_coefficients = coefficients.ld;
  r.of_slot = args.steps;
  for (int s = 0; s < count; ++s) {
    const InOut<T>& slot = slots[static_cast<std::size_t>(s)];
    v.c[s] = slot.data;
    v.ldc[s] = r.ld[s] = slot.ld;
    r.basis[s] = slot.data + 3 * slot.ld;
    r.steps[s] = args.first[static_cast<std::size_t>(s)];
    v.x[s] = r.basis[s] + r.steps[s] * slot.ld;
    refinement.sigma[s] = args.shift[static_cast<std::size_t>(s)];
  }
  const dim3 elements = by_element(v, count), parts = by_share(v, count);
  const auto memory = static_cast<unsigned>(r.sums_ld) * static_cast<unsigned>(sizeof(T));
  CUstream_st* const stream = context.stream();
  for (int k = 0; k < args.steps; ++k) {
    Vectors<T> last = v;
    if (args.refine) {
      residual(context, v, refinement, c, count, static_cast<int>(room));
      for (int s = 0; s < count; ++s) last.x[s] = refinement.r + n * s;
    }
    if (args.refine || k == 0) product_begin<<<elements, threads, 0, stream>>>(last);
    transform(context, last, count, static_cast<int>(room));
    r.sums = recent_sums;
    step_product<<<parts, threads, 0, stream>>>(last, r, args.refine ? refinement.y : nullptr, k);
    step_recent<<<parts, threads, 0, stream>>>(v, r, kept, all_sums, k);
    r.sums = all_sums;
    step_all<<<parts, threads, memory, stream>>>(v, r, kept, k);
    step_next<<<elements, threads, 0, stream>>>(v, r, kept, std::numeric_limits<T>::epsilon(), k,
                                                args.refine || k + 1 == args.steps);
    for (int s = 0; s < count; ++s) v.x[s] += v.ldc[s];
  }
  context.check(cudaGetLastError(), "lanczos_steps");
}

template void LanczosStart<float>::cuda(CudaContext&, const Args&, In<float>, In<float>, Out<float>) noexcept;
template void LanczosStart<double>::cuda(CudaContext&, const Args&, In<double>, In<double>, Out<double>) noexcept;
template void LanczosSteps<float>::cuda(CudaContext&, const Args&, In<float>, In<float>, Out<double>, Scratch<float>,
                                        std::span<const InOut<float>>) noexcept;
template void LanczosSteps<double>::cuda(CudaContext&, const Args&, In<double>, In<double>, Out<double>,
                                         Scratch<double>, std::span<const InOut<double>>) noexcept;

}  // namespace tesela
