#pragma once

#include <tesela/codelets/eigen/internal/device_reflector.cuh>
#include <tesela/runtime/types.hpp>

// Reduction to tridiagonal form by thread blocks that keep the matrix distributed among them. Internal to
// codelets/eigen.

namespace tesela::kernels {

/// A number that is sent once, to memory whose bits are all ones initially.
template <class T>
struct Mail;

template <>
struct Mail<double> {
  __device__ static void send(double* to, double value) {
    unsigned long long bits = __double_as_longlong(value);
    if (bits == ~0ull) bits = 0x7ff8000000000000;  // a different NaN
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(bits) : "memory");
  }
  __device__ static double look(const double* at) {
    unsigned long long bits;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(at) : "memory");
    return __longlong_as_double(static_cast<long long>(bits));
  }
  __device__ static bool missing(double x) { return __double_as_longlong(x) == ~0ll; }
};

template <>
struct Mail<float> {
  __device__ static void send(float* to, float value) {
    unsigned bits = __float_as_uint(value);
    if (bits == ~0u) bits = 0x7fc00000;
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(bits) : "memory");
  }
  __device__ static float look(const float* at) {
    unsigned bits;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(bits) : "l"(at) : "memory");
    return __uint_as_float(bits);
  }
  __device__ static bool missing(float x) { return __float_as_uint(x) == ~0u; }
};

template <class T>
struct SytrdLaunch {
  static constexpr int most_blocks = 8;
  struct Reflectors {
    T* v;  ///< element (i, j) of V, counted in A, is v[i + j ld]
    index_t ld;
    T* tau;
    index_t tau_ld;
  };
  const T* a;
  index_t lda;
  int n;
  T* band;
  index_t band_ld;
  int block;  ///< columns of one such tile
  Reflectors reflectors[most_blocks];
  T *rows, *products;  ///< n x n: row j of A before step j, and step j's product, with all bits set until they are sent
  T* far;              ///< null: elements outside of registers are in shared memory
  int chunks;          ///< chunks of rows per thread block
};

/// Reduces a matrix that is distributed over thread blocks. A block has chunks of eight rows, dealt out in turn, of the
/// whole matrix; a thread has every 256th column of them, C in all.
///
/// The update A - v w^T - w v^T by the last reflector v, with w = tau A v - tau^2/2 (v^T A v) v, is done in the pass
/// over A that multiplies it by the next reflector. That reflector follows from the next row, which its owner has sent
/// in the previous pass. So each step has one exchange, of the product and of that row. All blocks compute v and w,
/// with the same bits.
template <class T, int C>
struct ResidentSytrd {
  static constexpr int threads = 256, warps = threads / 32, high = 8, widest = threads * C,
                       near = C == 8 && sizeof(T) == 4 ? 2 : 1;  ///< chunks in registers: the last, longest in use

  struct alignas(16) Shared {
    T v[widest + high], w[widest + high], x[widest];
    T dots[warps], squares[warps];
    T first_product, alpha;
  };
  /// Returns the bytes of shared memory.
  static constexpr int bytes(int chunks, bool far_is_shared) {
    const int far = far_is_shared ? (chunks - near) * high * widest : 0;
    return static_cast<int>(sizeof(Shared)) + (warps * high * chunks + far) * static_cast<int>(sizeof(T));
  }

  using Columns = T[C];
  using Chunk = T[high][C];
  struct FarChunk {
    T* first;
    struct Row {
      T* first;
      __device__ T& operator[](int c) const { return first[c * threads]; }
    };
    __device__ Row operator[](int r) const { return {first + r * C * threads}; }
  };

  const SytrdLaunch<T>& run;
  Shared& s;
  T *const sums, *const far;
  const int n, thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32,
               place = static_cast<int>(blockIdx.x), places = static_cast<int>(gridDim.x), far_chunks;

  __device__ ResidentSytrd(const SytrdLaunch<T>& launch, Shared& shared)
      : run(launch),
        s(shared),
        sums(reinterpret_cast<T*>(&shared + 1)),
        far(launch.far != nullptr
                ? launch.far + static_cast<index_t>(blockIdx.x) * (launch.chunks - near) * high * widest
                : sums + warps * high * launch.chunks),
        n(launch.n),
        far_chunks(launch.chunks - near) {}

  __device__ int column(int c) const { return thread + c * threads; }
  __device__ int top(int chunk) const { return high * (chunk * places + place); }
  __device__ FarChunk far_chunk(int chunk) const { return {far + chunk * high * widest + thread}; }

  __device__ void reduce() const {
    Chunk kept[near];
    load(kept);
    Columns v = {}, w = {}, c, next;  // c: row j of A, then the updated column j, then A v
#pragma unroll
    for (int i = 0; i < C; ++i) c[i] = element(column(i), 0);
    T w_first = 0;
    clear();
    for (int j = 0; j < n; ++j) {
      const int first = j + 1;
      if (j > 0)  // v's first element, in row j, is one
#pragma unroll
        for (int i = 0; i < C; ++i) c[i] -= fma(w_first, v[i], w[i]);
      if (first == n) {
        if (place == j % places) write_diagonal(c, j);
        return;
      }
      const DeviceReflector<T> reflector = reflector_of_column(c, first);
#pragma unroll
      for (int i = 0; i < C; ++i) {
        const int k = column(i);
        next[i] = k == first ? T(1) : k > first && k < n ? reflector(c[i]) : T(0);
      }
      if (place == j % places) write(c, next, reflector, j);
      pass(kept, first, v, w, next);
      const bool exchanged = reflector.tau != T(0);
      Columns row;
      receive(c, row, first, exchanged);
      T shift = 0;
      if (exchanged) {
        T dot = 0;
#pragma unroll
        for (int i = 0; i < C; ++i) {
          dot += c[i] * next[i];
          if (column(i) == first) s.first_product = c[i];
        }
        shift = T(-0.5) * reflector.tau * reflector.tau * block_sum(dot, s.dots);
      }
#pragma unroll
      for (int i = 0; i < C; ++i) {
        v[i] = next[i];
        w[i] = exchanged ? fma(reflector.tau, c[i], shift * next[i]) : T(0);
        s.v[column(i)] = v[i];
        s.w[column(i)] = w[i];
        c[i] = row[i];
      }
      w_first = exchanged ? fma(reflector.tau, s.first_product, shift) : T(0);
    }
  }

 private:
  __device__ T block_sum(T value, T* part) const {
    value = warp_sum(value);
    if (lane == 0) part[warp] = value;
    __syncthreads();
    return sum_of_warps(part, 1);
  }
  /// Returns the sum over all warps' parts.
  __device__ T sum_of_warps(const T* part, int stride) const {
    T sum[warps];
#pragma unroll
    for (int i = 0; i < warps; ++i) sum[i] = part[i * stride];
#pragma unroll
    for (int half = warps / 2; half > 0; half /= 2)
#pragma unroll
      for (int i = 0; i < half; ++i) sum[i] += sum[i + half];
    return sum[0];
  }

  __device__ T element(int i, int k) const {
    if (i >= n || k >= n) return T(0);
    return i >= k ? run.a[i + k * run.lda] : run.a[k + i * run.lda];
  }
  template <class AnyChunk>
  __device__ void load_chunk(AnyChunk& a, int chunk) const {
#pragma unroll
    for (int r = 0; r < high; ++r)
#pragma unroll
      for (int c = 0; c < C; ++c) a[r][c] = element(top(chunk) + r, column(c));
  }
  __device__ void load(Chunk (&kept)[near]) const {
    for (int chunk = 0; chunk < far_chunks; ++chunk) {
      FarChunk a = far_chunk(chunk);
      load_chunk(a, chunk);
    }
#pragma unroll
    for (int i = 0; i < near; ++i) load_chunk(kept[i], far_chunks + i);
  }
  __device__ void clear() const {
    for (int i = thread; i < widest + high; i += threads) s.v[i] = s.w[i] = T(0);
    __syncthreads();
  }

  /// Returns the reflector of c from row `first` on.
  __device__ DeviceReflector<T> reflector_of_column(const Columns& c, int first) const {
    T squares = 0;
#pragma unroll
    for (int i = 0; i < C; ++i) {
      if (column(i) > first) squares += c[i] * c[i];
      if (column(i) == first) s.alpha = c[i];
    }
    squares = block_sum(squares, s.squares);
    const T alpha = s.alpha;
    if (squares_are_safe(alpha, squares)) return reflector_of(alpha, squares);
#pragma unroll
    for (int i = 0; i < C; ++i) s.x[column(i)] = column(i) >= first ? c[i] : T(0);
    __syncthreads();
    const Magnitude<T> m = Magnitude<T>::template of<widest>(lane, first, s.x);
    if (m.bad != 0) return {m.bad, m.bad, m.bad, 0};
    if (m.largest_other == T(0)) return {alpha, T(0), T(0), 0};
    int exponent = 0;
    frexp(m.largest, &exponent);
    squares = 0;
    for (int i = first + 1 + lane; i < n; i += 32) {
      const T x = scalbn(s.x[i], -exponent);
      squares += x * x;
    }
    DeviceReflector<T> scaled = reflector_of(scalbn(alpha, -exponent), warp_sum(squares));
    scaled.beta = scalbn(scaled.beta, exponent);
    scaled.exponent = exponent;
    return scaled;
  }

  __device__ void write_diagonal(const Columns& c, int j) const {
#pragma unroll
    for (int i = 0; i < C; ++i)
      if (column(i) == j) run.band[j * run.band_ld] = c[i];
  }
  __device__ void write(const Columns& c, const Columns& v, const DeviceReflector<T>& reflector, int j) const {
    write_diagonal(c, j);
    const typename SytrdLaunch<T>::Reflectors& to = run.reflectors[j / run.block];
#pragma unroll
    for (int i = 0; i < C; ++i)
      if (column(i) > j && column(i) < n) to.v[column(i) + j * to.ld] = v[i];
    if (thread > 0) return;
    run.band[1 + j * run.band_ld] = reflector.beta;
    to.tau[j * to.tau_ld] = reflector.tau;
  }

  /// Updates A -= v w^T + w v^T in rows and columns from `first` on, sends row `first`, and computes A's product with
  /// `next`.
  __device__ void pass(Chunk (&kept)[near], int first, const Columns& v, const Columns& w, const Columns& next) const {
    for (int chunk = 0; chunk < far_chunks; ++chunk)
      if (in_use(chunk, first)) {
        FarChunk a = far_chunk(chunk);
        pass_chunk(a, chunk, first, v, w, next);
      }
#pragma unroll
    for (int i = 0; i < near; ++i)
      if (in_use(far_chunks + i, first)) pass_chunk(kept[i], far_chunks + i, first, v, w, next);
    __syncthreads();
    const int rows = high * run.chunks;
    for (int i = thread; i < rows; i += threads) {
      const int row = top(i / high) + i % high;
      if (row < first || row >= n) continue;
      Mail<T>::send(run.products + static_cast<index_t>(first - 1) * n + row, sum_of_warps(sums + i, rows));
    }
  }
  __device__ bool in_use(int chunk, int first) const { return top(chunk) < n && top(chunk) + high > first; }

  template <class AnyChunk>
  __device__ void pass_chunk(AnyChunk& a, int chunk, int first, const Columns& v, const Columns& w,
                             const Columns& next) const {
    const int row = top(chunk);
    T sum[high] = {}, v_row[high], w_row[high];
#pragma unroll
    for (int r = 0; r < high; ++r) v_row[r] = s.v[row + r], w_row[r] = s.w[row + r];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      if ((c + 1) * threads <= first) continue;
#pragma unroll
      for (int r = 0; r < high; ++r) {
        const T x = fma(-w_row[r], v[c], fma(-v_row[r], w[c], a[r][c]));
        a[r][c] = x;
        sum[r] = fma(x, next[c], sum[r]);
      }
    }
    if (row <= first) {
#pragma unroll
      for (int r = 0; r < high; ++r)
        if (row + r == first) {
#pragma unroll
          for (int c = 0; c < C; ++c)
            if (column(c) >= first && column(c) < n)
              Mail<T>::send(run.rows + static_cast<index_t>(first) * n + column(c), a[r][c]);
        }
    }
    halve<4>(sum, 16);
    halve<2>(sum, 8);
    halve<1>(sum, 4);
    for (int d = 2; d > 0; d /= 2) sum[0] += __shfl_xor_sync(0xffffffffu, sum[0], d);
    if (lane % 4 == 0) sums[warp * high * run.chunks + chunk * high + lane / 4] = sum[0];
  }
  /// Keeps half of a lane's sums, and adds the sums of the lane `bit` away.
  template <int half>
  __device__ void halve(T (&sum)[high], int bit) const {
    const bool upper = (lane & bit) != 0;
#pragma unroll
    for (int k = 0; k < half; ++k) {
      const T sent = upper ? sum[k] : sum[k + half], kept = upper ? sum[k + half] : sum[k];
      sum[k] = kept + __shfl_xor_sync(0xffffffffu, sent, bit);
    }
  }

  /// Receives the product, if there is one, and row `first` of A. A thread waits for the last number that it needs and
  /// then looks at all others, most of which have arrived as well.
  __device__ void receive(Columns& product, Columns& row, int first, bool with_product) const {
    const T* const products = run.products + static_cast<index_t>(first - 1) * n;
    const T* const rows = run.rows + static_cast<index_t>(first) * n;
    const int last = thread < n ? thread + (n - 1 - thread) / threads * threads : 0;
    if (last >= first)
      while (Mail<T>::missing(Mail<T>::look((with_product ? products : rows) + last))) continue;
#pragma unroll
    for (int i = 0; i < C; ++i) {
      const int k = column(i);
      const bool live = k >= first && k < n;
      product[i] = live && with_product ? Mail<T>::look(products + k) : T(0);
      row[i] = live ? Mail<T>::look(rows + k) : T(0);
    }
    bool all = false;
    while (!all) {
      all = true;
#pragma unroll
      for (int i = 0; i < C; ++i) {
        const int k = column(i);
        if (Mail<T>::missing(product[i])) product[i] = Mail<T>::look(products + k), all = false;
        if (Mail<T>::missing(row[i])) row[i] = Mail<T>::look(rows + k), all = false;
      }
    }
  }
};

}  // namespace tesela::kernels
