#include "codelets/cublas.hpp"
#include "codelets/lanczos.hpp"

#include <algorithm>
#include <bit>

namespace tesela {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr int chunk = 1024;  // rows of a part that one block works on
constexpr int per_thread = chunk / threads;
constexpr int most = LanczosSteps<float>::most_slots;

/// Some vectors of order n that go through a product together, and where their matrices are. A lane is one part of one
/// of them: lane 2 v + part.
template <class T>
struct Vectors {
  index_t n, length, ld_tables;
  const T* tables;
  T *z, *y;  // transforms, `length` complex numbers a lane; results, n numbers a vector
  const T* c[most];
  const T* x[most];
  index_t ldc[most];
};

/// x, from which residuals are taken, and the shifts.
template <class T>
struct Refinement {
  T *y, *r;  // n numbers a vector
  const T* x[most];
  double sigma[most];
};

/// One block's share: some rows of one lane.
template <class T>
struct Share {
  const T *g, *h, *d, *x, *inverse_sine, *cotangent, *z;
  T* y;
  index_t rows;  // of the part, from this share's first on; the share has min(rows, chunk)
  index_t first, offset;

  __device__ Share(const Vectors<T>& v, int lane, index_t from) {
    const int part = lane % 2, vector = lane / 2;
    first = part * cauchy_rows(v.n, 0) + from;
    offset = from;
    rows = cauchy_rows(v.n, part) - from;
    g = v.c[vector] + first;
    h = g + v.ldc[vector];
    d = h + v.ldc[vector];
    x = v.x[vector] + first;
    inverse_sine = v.tables + 4 * v.ld_tables + first;
    cotangent = inverse_sine + v.ld_tables;
    z = v.z + 2 * (v.length * lane + from);
    y = v.y + v.n * vector + first;
  }
  __device__ int count() const { return static_cast<int>(rows < chunk ? (rows > 0 ? rows : 0) : chunk); }

  __device__ T product(int a) const {
    const T hs = h[a] * inverse_sine[a];
    return g[a] * z[2 * a] - hs * z[2 * a + 1] + (d[a] + g[a] * hs * cotangent[a]) * x[a];
  }
};

template <class T>
__global__ void product_begin(Vectors<T> v) {
  const index_t a = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (a >= v.length) return;
  const int lane = static_cast<int>(blockIdx.y);
  const Share<T> s(v, lane, 0);
  T* const z = v.z + 2 * (v.length * lane + a);
  z[0] = a < s.rows ? s.h[a] * s.inverse_sine[a] * s.x[a] : T(0);
  z[1] = a < s.rows ? s.g[a] * s.x[a] : T(0);
}

template <class T>
__global__ void product_middle(Vectors<T> v) {
  const index_t k = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (k >= v.length) return;
  const int lane = static_cast<int>(blockIdx.y);
  const T *const t = v.tables + 2 * (lane % 2) * v.ld_tables + 2 * k, *const h = t + v.ld_tables;
  T* const z = v.z + 2 * (v.length * lane + k);
  const T re = z[0], im = z[1];
  z[0] = t[0] * re - t[1] * im - (h[0] * re + h[1] * im);
  z[1] = t[0] * im + t[1] * re - (h[1] * re - h[0] * im);
}

template <class T>
__global__ void product_end(Vectors<T> v) {
  const Share<T> s(v, static_cast<int>(blockIdx.y), static_cast<index_t>(blockIdx.x) * chunk);
  for (int a = static_cast<int>(threadIdx.x); a < s.count(); a += threads) s.y[a] = s.product(a);
}

/// r = x - (C - sigma I) y, the product with C being that of `v`, whose vectors are y's.
template <class T>
__global__ void product_residual(Vectors<T> v, Refinement<T> refinement) {
  const int lane = static_cast<int>(blockIdx.y), vector = lane / 2;
  const Share<T> s(v, lane, static_cast<index_t>(blockIdx.x) * chunk);
  const index_t at = v.n * vector + s.first;
  const T sigma = static_cast<T>(refinement.sigma[vector]);
  for (int a = static_cast<int>(threadIdx.x); a < s.count(); a += threads)
    refinement.r[at + a] = refinement.x[vector][s.first + a] - (s.product(a) - sigma * refinement.y[at + a]);
}

/// What the transforms of the product need around them.
template <class T>
void transform(CudaContext& context, const Vectors<T>& v, int vectors, int room) {
  const auto blocks = static_cast<unsigned>((v.length + threads - 1) / threads);
  // Few different counts, because each has a plan: what is transformed beside the vectors in use is ignored.
  const auto lanes = 2 * std::min(room, static_cast<int>(std::bit_ceil(static_cast<unsigned>(vectors))));
  auto* const z = reinterpret_cast<std::complex<T>*>(v.z);
  fft::transform<T>(context, fft::Direction::forward, v.length, lanes, z, v.length);
  product_middle<<<dim3(blocks, static_cast<unsigned>(2 * vectors)), threads, 0, context.stream()>>>(v);
  fft::transform<T>(context, fft::Direction::backward, v.length, lanes, z, v.length);
}

template <class T>
dim3 by_element(const Vectors<T>& v, int vectors) {
  return {static_cast<unsigned>((v.length + threads - 1) / threads), static_cast<unsigned>(2 * vectors)};
}
template <class T>
dim3 by_share(const Vectors<T>& v, int vectors) {
  return {static_cast<unsigned>((cauchy_rows(v.n, 0) + chunk - 1) / chunk), static_cast<unsigned>(2 * vectors)};
}

/// y = B x for the vectors of `v`, then r = x - (C - sigma I) y.
template <class T>
void residual(CudaContext& context, const Vectors<T>& v, Refinement<T>& refinement, const In<T>& c, int vectors,
              int room) {
  CUstream_st* const stream = context.stream();
  Vectors<T> from_y = v, to_y = v;
  to_y.y = refinement.y;
  for (int i = 0; i < vectors; ++i) {
    refinement.x[i] = v.x[i];
    from_y.c[i] = c.data;
    from_y.ldc[i] = c.ld;
    from_y.x[i] = refinement.y + v.n * i;
  }
  product_begin<<<by_element(v, vectors), threads, 0, stream>>>(v);
  transform(context, v, vectors, room);
  product_end<<<by_share(v, vectors), threads, 0, stream>>>(to_y);
  product_begin<<<by_element(v, vectors), threads, 0, stream>>>(from_y);
  transform(context, v, vectors, room);
  product_residual<<<by_share(v, vectors), threads, 0, stream>>>(from_y, refinement);
}

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

template <class T>
__device__ T over_warp(T value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

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

template <class T>
__device__ T over_block(T value) {
  __shared__ T of_warp[warps];
  value = over_warp(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  T sum = 0;
  for (int w = 0; w < warps; ++w) sum += of_warp[w];
  return sum;
}

/// Each part of each column to unit norm, unless it is zero.
template <class T>
__global__ void normalise(index_t n, T* x, index_t ld) {
  const int part = static_cast<int>(blockIdx.y);
  const index_t rows = cauchy_rows(n, part);
  T* const v = x + blockIdx.x * ld + part * cauchy_rows(n, 0);
  T squares = 0;
  for (index_t a = threadIdx.x; a < rows; a += threads) squares += v[a] * v[a];
  const T norm = sqrt(over_block(squares));
  for (index_t a = threadIdx.x; norm > 0 && a < rows; a += threads) v[a] /= norm;
}

/// lambda = x' y and ||y - lambda x|| of both parts of each column.
template <class T>
__global__ void measure(index_t n, const T* x, index_t ld, const T* y, double* pairs, index_t ld_pairs) {
  const int part = static_cast<int>(blockIdx.y);
  const index_t rows = cauchy_rows(n, part), first = part * cauchy_rows(n, 0);
  const T *const v = x + blockIdx.x * ld + first, *const w = y + blockIdx.x * n + first;
  double sum = 0;
  for (index_t a = threadIdx.x; a < rows; a += threads) sum += static_cast<double>(v[a]) * static_cast<double>(w[a]);
  const double value = over_block(sum);
  double squares = 0;
  for (index_t a = threadIdx.x; a < rows; a += threads) {
    const double d = static_cast<double>(w[a]) - value * static_cast<double>(v[a]);
    squares += d * d;
  }
  squares = over_block(squares);
  if (threadIdx.x == 0) {
    pairs[blockIdx.x * ld_pairs + 2 * part] = value;
    pairs[blockIdx.x * ld_pairs + 2 * part + 1] = sqrt(squares);
  }
}

index_t shares_of(index_t n) { return (cauchy_rows(n, 0) + chunk - 1) / chunk; }

/// r += sigma y for residuals that were taken without a shift.
template <class T>
__global__ void add_shifts(index_t n, const double* sigma, const T* y, T* r) {
  const index_t from = static_cast<index_t>(blockIdx.x) * 2 * chunk, at = n * blockIdx.y;
  const T shift = static_cast<T>(sigma[blockIdx.y]);
  for (index_t a = from + threadIdx.x; a < n && a < from + 2 * chunk; a += threads) r[at + a] += shift * y[at + a];
}

/// quality(part, i) = ||r|| of one part of one vector.
template <class T>
__global__ void norms(index_t n, const T* r, double* quality, index_t ld) {
  const int part = static_cast<int>(blockIdx.y);
  const T* const v = r + n * blockIdx.x + part * cauchy_rows(n, 0);
  double squares = 0;
  for (index_t a = threadIdx.x; a < cauchy_rows(n, part); a += threads) squares += static_cast<double>(v[a]) * v[a];
  squares = over_block(squares);
  if (threadIdx.x == 0) quality[blockIdx.x * ld + part] = sqrt(squares);
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
void CauchyQuality<T>::cuda(CudaContext& context, const Args&, In<T> c, In<T> tables, In<double> sigma, In<T> inverse,
                            In<T> starts, Out<double> quality, Scratch<T> work) noexcept {
  const index_t n = c.rows, length = cauchy_length(n), room = std::min<index_t>(work.cols, most);
  for (index_t j = 0; j < sigma.rows; j += room) {
    const auto some = static_cast<int>(std::min(room, sigma.rows - j));
    T* const y = work.data + 4 * length * work.cols;
    Vectors<T> v{n, length, tables.ld, tables.data, work.data, y, {}, {}, {}};
    Refinement<T> refinement{y, y + n * work.cols, {}, {}};
    for (int i = 0; i < some; ++i) {
      v.c[i] = inverse.data + 3 * (j + i) * inverse.ld;
      v.ldc[i] = inverse.ld;
      v.x[i] = starts.data;
    }
    // The shifts are on the device.
    residual(context, v, refinement, c, some, static_cast<int>(room));
    add_shifts<<<dim3(static_cast<unsigned>(shares_of(n)), static_cast<unsigned>(some)), threads, 0,
                 context.stream()>>>(n, sigma.data + j, refinement.y, refinement.r);
    norms<<<dim3(static_cast<unsigned>(some), 2), threads, 0, context.stream()>>>(
        n, refinement.r, quality.data + j * quality.ld, quality.ld);
  }
  context.check(cudaGetLastError(), "cauchy_quality");
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

template <class T>
void RitzPairs<T>::cuda(CudaContext& context, const Args&, In<T> c, In<T> tables, In<T> slot, In<T> z, Out<T> x,
                        Out<double> pairs, Scratch<T> work) noexcept {
  const index_t n = c.rows, length = cauchy_length(n), count = x.cols;
  CUstream_st* const stream = context.stream();
  for (int part = 0; part < 2; ++part) {
    const index_t first = part * cauchy_rows(n, 0), rows = cauchy_rows(n, part);
    if (rows > 0)
      context.check(
          cublas::gemm<T>(context.cublas(), Op::none, Op::none, rows, count, z.rows, 1, slot.data + 3 * slot.ld + first,
                          slot.ld, z.data + part * count * z.ld, z.ld, 0, x.data + first, x.ld),
          "cublas gemm");
  }
  normalise<<<dim3(static_cast<unsigned>(count), 2), threads, 0, stream>>>(n, x.data, x.ld);
  const index_t room = std::min<index_t>(work.cols, most);
  for (index_t j = 0; j < count; j += room) {
    const auto some = static_cast<int>(std::min(room, count - j));
    Vectors<T> v{n, length, tables.ld, tables.data, work.data, work.data + 4 * length * work.cols, {}, {}, {}};
    for (int i = 0; i < some; ++i) {
      v.c[i] = c.data;
      v.ldc[i] = c.ld;
      v.x[i] = x.data + (j + i) * x.ld;
    }
    product_begin<<<by_element(v, some), threads, 0, stream>>>(v);
    transform(context, v, some, static_cast<int>(room));
    product_end<<<by_share(v, some), threads, 0, stream>>>(v);
    measure<<<dim3(static_cast<unsigned>(some), 2), threads, 0, stream>>>(n, v.x[0], x.ld, v.y,
                                                                          pairs.data + j * pairs.ld, pairs.ld);
  }
  context.check(cudaGetLastError(), "ritz_pairs");
}

template void LanczosStart<float>::cuda(CudaContext&, const Args&, In<float>, In<float>, Out<float>) noexcept;
template void LanczosStart<double>::cuda(CudaContext&, const Args&, In<double>, In<double>, Out<double>) noexcept;
template void CauchyQuality<float>::cuda(CudaContext&, const Args&, In<float>, In<float>, In<double>, In<float>,
                                         In<float>, Out<double>, Scratch<float>) noexcept;
template void CauchyQuality<double>::cuda(CudaContext&, const Args&, In<double>, In<double>, In<double>, In<double>,
                                          In<double>, Out<double>, Scratch<double>) noexcept;
template void LanczosSteps<float>::cuda(CudaContext&, const Args&, In<float>, In<float>, Out<double>, Scratch<float>,
                                        std::span<const InOut<float>>) noexcept;
template void LanczosSteps<double>::cuda(CudaContext&, const Args&, In<double>, In<double>, Out<double>,
                                         Scratch<double>, std::span<const InOut<double>>) noexcept;
template void RitzPairs<float>::cuda(CudaContext&, const Args&, In<float>, In<float>, In<float>, In<float>, Out<float>,
                                     Out<double>, Scratch<float>) noexcept;
template void RitzPairs<double>::cuda(CudaContext&, const Args&, In<double>, In<double>, In<double>, In<double>,
                                      Out<double>, Out<double>, Scratch<double>) noexcept;

}  // namespace tesela
