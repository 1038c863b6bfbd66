#include <tesela/codelets/toeplitz/internal/cauchy_product.cuh>
#include <tesela/codelets/toeplitz/internal/sine_transform_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_device.cuh>
#include <tesela/codelets/toeplitz/lanczos/lanczos.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>

namespace tesela::kernels {
namespace {

/// The Lanczos runs of one task.
template <class T>
struct Runs {
  index_t ld[most], sums_ld;
  T* basis[most];
  int steps[most];  // completed steps
  T* sums;          // of each share: over the basis vectors, then of squares
  double* coefficients;
  index_t ld_coefficients;
  int of_slot;            // columns of `coefficients` per slot
  const double* reports;  // of Levinson's recursion, or null

  __device__ T* partial(int lane, index_t share, index_t shares) const {
    return sums + (static_cast<index_t>(lane) * shares + share) * sums_ld;
  }
};

/// Computes partial(j) = (basis vector first + j)' y over this share for j < columns, one column per warp at a time.
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

/// Sums project()'s results over the shares: h(j); all threads see it afterwards.
template <class T>
__device__ void gather(const Runs<T>& r, int lane, index_t shares, int columns, T* h) {
  for (int j = static_cast<int>(threadIdx.x); j < columns; j += threads) {
    T sum = 0;
    for (index_t s = 0; s < shares; ++s) sum += r.partial(lane, s, shares)[j];
    h[j] = sum;
  }
  __syncthreads();
}

/// Computes y = (C - sigma I)^-1 p_k, and its projections on itself and on the last two basis vectors. `before`, if not
/// null, is added to the product. If `solved`, y is already computed.
template <class T, bool solved>
__global__ void step_product(Vectors<T> v, Runs<T> r, const T* before, int k) {
  __shared__ T y[chunk];
  const int lane = static_cast<int>(blockIdx.y), slot = lane / 2, done = r.steps[slot] + k;
  const Share<T> s(v, lane, static_cast<index_t>(blockIdx.x) * chunk);
  for (int a = static_cast<int>(threadIdx.x); a < s.count(); a += threads)
    if constexpr (solved)
      y[a] = s.y[a];
    else
      s.y[a] = y[a] = s.product(a) + (before != nullptr ? before[v.n * slot + s.first + a] : T(0));
  __syncthreads();
  const int recent = done > 0 ? 2 : 1;
  T* const partial = r.partial(lane, blockIdx.x, gridDim.x);
  project(r.basis[slot] + s.first + (done + 1 - recent) * r.ld[slot], r.ld[slot], recent, y, s.count(), partial);
  if (threadIdx.x >= threads - 32) {  // a warp without a basis vector
    T sum = 0;
    for (int a = static_cast<int>(threadIdx.x) % 32; a < s.count(); a += 32) sum += y[a] * y[a];
    sum = over_warp(sum);
    if (threadIdx.x == threads - 32) partial[2] = sum;
  }
}

/// Subtracts from y its components along the last two basis vectors, and computes its projections on all of them.
/// `kept` (4 per slot): the squared norm before, and the component along the last basis vector.
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

/// Subtracts from y its components along all basis vectors, and computes its square.
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
    // After the sums that other shares may still be reading.
    r.partial(lane, blockIdx.x, gridDim.x)[r.sums_ld - 1] = sum;
    if (blockIdx.x == 0) kept[2 * lane + 1] += h[done];
  }
}

/// Computes the next basis vector, the coefficients, and the beginning of the next product.
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
    const bool broken = r.reports != nullptr && r.reports[slot * levinson_report_rows + levinson_breakdown] != 0;
    const double nan = __longlong_as_double(0x7ff8000000000000ll);
    out[0] = broken ? nan : static_cast<double>(kept[2 * lane + 1]);
    out[1] = broken ? nan : static_cast<double>(left);
  }
}

/// Copies y = p_k of each slot, and the shifts, from arguments to memory.
template <class T>
__global__ void gather_vectors(Vectors<T> v, Refinement<T> shifts, double* sigma) {
  const auto slot = static_cast<int>(blockIdx.y);
  const index_t a = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (a < v.n) v.y[a + slot * v.n] = v.x[slot][a];
  if (a == 0) sigma[slot] = shifts.sigma[slot];
}

/// Last part of every step: y is orthogonalized and becomes the next basis vector.
template <class T>
struct Advance {
  T *recent_sums, *all_sums, *kept;

  Advance(T* sums, index_t shares, index_t ld, index_t room)
      : recent_sums(sums), all_sums(sums + 2 * room * shares * ld), kept(all_sums + 2 * room * shares * ld) {}

  template <bool solved>
  void operator()(const CudaContext& context, const Vectors<T>& product, const Vectors<T>& v, Runs<T> r,
                  const T* before, int count, int k, bool last) const {
    const dim3 elements = by_element(v, count), parts = by_share(v, count);
    const auto memory = static_cast<unsigned>(r.sums_ld) * static_cast<unsigned>(sizeof(T));
    CUstream_st* const stream = context.stream();
    r.sums = recent_sums;
    step_product<T, solved><<<parts, threads, 0, stream>>>(product, r, before, k);
    step_recent<<<parts, threads, 0, stream>>>(v, r, kept, all_sums, k);
    r.sums = all_sums;
    step_all<<<parts, threads, memory, stream>>>(v, r, kept, k);
    step_next<<<elements, threads, 0, stream>>>(v, r, kept, std::numeric_limits<T>::epsilon(), k, last);
  }
};

/// Enters the slots as runs and as the matrices of products.
template <class T>
void place_slots(const std::span<const InOut<T>>& slots, const int* first, Vectors<T>& v, Runs<T>& r) {
  r.sums_ld = slots[0].cols;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    const InOut<T>& slot = slots[s];
    v.c[s] = slot.data;
    v.ldc[s] = r.ld[s] = slot.ld;
    r.basis[s] = slot.data + 3 * slot.ld;
    r.steps[s] = first[s];
    v.x[s] = r.basis[s] + r.steps[s] * slot.ld;
  }
}

}  // namespace

template <class T>
void LanczosStart<T>::cuda(CudaContext& context, const Args& args, In<T> inverse, In<T> starts, Out<T> slot) {
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
                           Scratch<T> work, std::span<const InOut<T>> slots) {
  const index_t n = c.rows, length = cauchy_length(n), shares = shares_of(n), room = work.cols;
  const auto count = static_cast<int>(slots.size());
  Vectors<T> v{n, length, tables.ld, tables.data, work.data, work.data + 4 * length * room, {}, {}, {}};
  Refinement<T> refinement{v.y + n * room, v.y + 2 * n * room, {}, {}};
  Runs<T> r{};
  r.coefficients = coefficients.data;
  r.ld_coefficients = coefficients.ld;
  r.of_slot = args.steps;
  place_slots(slots, args.first.data(), v, r);
  for (int s = 0; s < count; ++s) refinement.sigma[s] = args.shift[static_cast<std::size_t>(s)];
  const Advance<T> advance(v.y + 3 * n * room, shares, r.sums_ld, room);
  for (int k = 0; k < args.steps; ++k) {
    Vectors<T> last = v;
    if (args.refine) {
      residual(context, v, refinement, c, count, static_cast<int>(room));
      for (int s = 0; s < count; ++s) last.x[s] = refinement.r + n * s;
    }
    if (args.refine || k == 0) product_begin<<<by_element(v, count), threads, 0, context.stream()>>>(last);
    transform(context, last, count, static_cast<int>(room));
    advance.template operator()<false>(context, last, v, r, args.refine ? refinement.y : nullptr, count, k,
                                       args.refine || k + 1 == args.steps);
    for (int s = 0; s < count; ++s) v.x[s] += v.ldc[s];
  }
  context.check(cudaGetLastError(), "lanczos_steps");
}

template <class T>
void LevinsonLanczosSteps<T>::cuda(CudaContext& context, const Args& args, In<T> t, Out<double> coefficients,
                                   Scratch<T> work, std::span<const InOut<T>> slots) {
  const index_t n = t.rows, room = work.cols;
  const auto count = static_cast<int>(slots.size());
  auto* const reports = reinterpret_cast<double*>(work.data);  // first, because doubles need alignment
  double* const sigma = reports + levinson_report_rows * room;
  T* const transform = reinterpret_cast<T*>(sigma + 2 * room);  // complex numbers need alignment, too
  T* const y = transform + sine_rows(n) * room;
  T* const recursion = y + n * room;
  Vectors<T> v{n, cauchy_length(n), 0, nullptr, nullptr, y, {}, {}, {}};
  Runs<T> r{};
  r.coefficients = coefficients.data;
  r.ld_coefficients = coefficients.ld;
  r.of_slot = args.steps;
  r.reports = reports;
  place_slots(slots, args.first.data(), v, r);
  Refinement<T> shifts{};
  for (int s = 0; s < count; ++s) shifts.sigma[s] = args.shift[static_cast<std::size_t>(s)];
  const Advance<T> advance(recursion + levinson_work_rows(n) * room, shares_of(n), r.sums_ld, room);
  const dim3 vectors(static_cast<unsigned>((n + threads - 1) / threads), static_cast<unsigned>(count));
  // Few different counts, because each has a plan; extra transforms next to the vectors in use are ignored.
  const index_t columns = std::min(room, static_cast<index_t>(std::bit_ceil(static_cast<unsigned>(count))));
  const toeplitz::Device device{context};
  for (int k = 0; k < args.steps; ++k) {
    gather_vectors<<<vectors, threads, 0, context.stream()>>>(v, shifts, sigma);
    toeplitz::sine_transform(device, true, n, columns, y, n, y, n, transform);
    levinson_solve(context, n, t.data, count, sigma, y, n, reports, recursion);
    toeplitz::sine_transform(device, false, n, columns, y, n, y, n, transform);
    advance.template operator()<true>(context, v, v, r, nullptr, count, k, true);
    for (int s = 0; s < count; ++s) v.x[s] += v.ldc[s];
  }
  context.check(cudaGetLastError(), "levinson_lanczos_steps");
}

template void LanczosStart<float>::cuda(CudaContext&, const Args&, In<float>, In<float>, Out<float>);
template void LanczosStart<double>::cuda(CudaContext&, const Args&, In<double>, In<double>, Out<double>);
template void LanczosSteps<float>::cuda(CudaContext&, const Args&, In<float>, In<float>, Out<double>, Scratch<float>,
                                        std::span<const InOut<float>>);
template void LanczosSteps<double>::cuda(CudaContext&, const Args&, In<double>, In<double>, Out<double>,
                                         Scratch<double>, std::span<const InOut<double>>);

template void LevinsonLanczosSteps<float>::cuda(CudaContext&, const Args&, In<float>, Out<double>, Scratch<float>,
                                                std::span<const InOut<float>>);
template void LevinsonLanczosSteps<double>::cuda(CudaContext&, const Args&, In<double>, Out<double>, Scratch<double>,
                                                 std::span<const InOut<double>>);

}  // namespace tesela::kernels
