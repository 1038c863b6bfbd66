#pragma once

#include <tesela/codelets/eigen/internal/device_reflector.cuh>

// Arithmetic of a hop in a thread block. Internal to codelets/eigen.

namespace tesela::kernels {

/// Returns a b without contraction with an addition: the compiler might contract it in one kernel and not in another.
__device__ inline double rounded_product(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float rounded_product(float a, float b) { return __fmul_rn(a, b); }
template <class R>
__device__ inline DeviceComplex<R> rounded_product(DeviceComplex<R> a, DeviceComplex<R> b) {
  return device_times(a, b);
}
template <class R>
__device__ inline DeviceComplex<R> rounded_product(R a, DeviceComplex<R> b) {
  return {rounded_product(a, b.re), rounded_product(a, b.im)};
}

/// Blocks E and D of a hop, at most R x R elements, distributed over a thread block, 4 x 4 elements per thread. Rows
/// and columns have places: row g of the matrix is in place (g - 1) modulo b. E and D of the next sweep, which are one
/// row and one column further, thus differ in one place only. The reflector's leading element is in place `pivot`.
///
/// All sums are computed in the order of places, so T has the same bits for every way to load and keep the blocks.
template <class T, int R>
struct BulgeHop {
  static constexpr int tile = 4, across = R / tile, threads = across * across, warps = threads / 32,
                       copies = across / tile;  // threads that get the sum of the same row
  using Real = real_t<T>;
  using Tile = T[tile][tile];

  /// A tile in shared memory that only this thread accesses.
  struct SharedTile {
    T* first;
    struct Row {
      T* first;
      __device__ T& operator[](int c) const { return first[c * threads]; }
    };
    __device__ Row operator[](int r) const { return {first + r * tile * threads}; }
  };

  struct alignas(sizeof(T) < 16 ? 2 * sizeof(T) : 16) Pair {
    T x, y;
  };
  struct alignas(16) Shared {
    T dots[warps][R];
    T u[R], w[R], z[R], y[R], c[R];
    Real squares[warps], products[warps];
  };

  Shared& s;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32, i = thread / copies,
            q = thread % copies,  // the row whose sums this thread gets, and its index among the copies
      row = tile * (thread / across), place_across = thread % across;

  __device__ explicit BulgeHop(Shared& shared) : s(shared) {}

  /// Returns the column of a thread's elements (…, c).
  __device__ int column(int c) const { return c / 2 * (R / 2) + 2 * place_across + c % 2; }
  /// Returns which of a thread's elements is in column j, or in row j; -1 if none.
  __device__ int in_column(int j) const { return j % (R / 2) / 2 == place_across ? j / (R / 2) * 2 + j % 2 : -1; }
  __device__ int in_row(int j) const { return j / tile * tile == row ? j % tile : -1; }

  /// Copies the elements of a vector for the thread's columns, or for its rows.
  __device__ void load_columns(T (&to)[tile], const T* x) const {
    take(to[0], to[1], x + 2 * place_across);
    take(to[2], to[3], x + R / 2 + 2 * place_across);
  }
  __device__ void load_rows(T (&to)[tile], const T* x) const {
    take(to[0], to[1], x + row);
    take(to[2], to[3], x + row + 2);
  }

  /// Returns row i of a block times a vector; x has the vector's elements for the thread's columns.
  template <class AnyTile>
  __device__ T row_times(const AnyTile& a, const T (&x)[tile]) const {
    T sum[tile] = {};
#pragma unroll
    for (int r = 0; r < tile; ++r)
#pragma unroll
      for (int c = 0; c < tile; ++c) sum[r] = plus_product(sum[r], a[r][c], x[c]);
    halve<2>(sum, across / 2);
    halve<1>(sum, across / 4);
    for (int bit = across / 8; bit > 0; bit /= 2) sum[0] += shuffle_xor(sum[0], bit);
    return sum[0];
  }

  /// Returns the reflector of c, of which each thread has its row's element. All threads call it and get the same
  /// result; their earlier writes are visible to all afterwards.
  __device__ DeviceReflector<T> reflector(T c, int pivot) const {
    __syncwarp();  // the row's other threads may still read the old value
    if (q == 0) s.c[i] = c;
    const Real squares = squares_of(i == pivot ? T(0) : c);
    const T alpha = s.c[pivot];
    if (squares_are_safe(alpha, squares)) return reflector_of(alpha, squares);
    const Magnitude<T> m = Magnitude<T>::template of<R>(lane, pivot, s.c);
    if (m.bad != 0) return {m.bad, m.bad, m.bad, 0};
    if (m.largest_other == 0) return {real_part(alpha), T(0), T(0), 0};
    int exponent = 0;
    frexp(m.largest, &exponent);
    __syncthreads();  // before s.squares is written again
    DeviceReflector<T> scaled =
        reflector_of(times_two_to(alpha, -exponent), squares_of(i == pivot ? T(0) : times_two_to(c, -exponent)));
    scaled.beta = scalbn(scaled.beta, exponent);
    scaled.exponent = exponent;
    return scaled;
  }

  /// Computes E = (I - tau v v^H)^H (E - y x^H) if `left`, where y is s.y, and D = (I - tau v v^H)^H D (I - tau v v^H),
  /// both halves of D with the same bits. Earlier writes must be visible to all threads; `mine` is v's element of row
  /// i.
  template <class AnyTile>
  __device__ void reflect(Tile& e, AnyTile& d, bool left, const T* x, const T* v, T mine, T tau) const {
    T across_v[tile], down_v[tile], other[tile];
    load_columns(across_v, v);
    load_rows(down_v, v);
    if (left) {
      T y[tile];
      load_columns(other, x);
      load_rows(y, s.y);
      subtract<true>(e, y, other);
      column_sums(e, down_v);
    }
    const T w = row_times(d, across_v);
    const Real product = sum_of_rows(real_dot(mine, w));
    if (q == 0) s.w[i] = w;
    if (lane == 0) s.products[warp] = product;
    __syncthreads();
    if (thread < R) {
      T sum[warps];
#pragma unroll
      for (int k = 0; k < warps; ++k) sum[k] = s.dots[k][thread];
      s.u[thread] = device_times(conj(tau), sum_of_warps(sum));
    } else if (thread < 2 * R) {
      const int j = thread - R;
      const Real shift = Real(-0.5) * real_dot(tau, tau) * sum_of_warps(s.products);
      s.z[j] = plus_product(rounded_product(shift, v[j]), tau, s.w[j]);
    }
    __syncthreads();
    T z[tile];
    load_columns(other, s.z);
    load_rows(z, s.z);
#pragma unroll
    for (int r = 0; r < tile; ++r)
#pragma unroll
      for (int c = 0; c < tile; ++c)
        d[r][c] -= rounded_product(down_v[r], conj(other[c])) + conj(rounded_product(across_v[c], conj(z[r])));
    if (!left) return;
    load_columns(other, s.u);
    subtract<false>(e, down_v, other);
  }

  /// Computes E as reflect() does, D = (I - tau v v^H)^H D, the reflector of the adjoint of D's row `pivot`, whose
  /// vector u is stored, and D = D (I - tau_u u u^H). Returns the reflector of the row, and calls found(reflector,
  /// u(i)) before it applies it, since the next hop waits for it. The pivot's row of D is (beta, 0, …) except for
  /// rounding errors.
  template <class AnyTile, class Found>
  __device__ DeviceReflector<T> reflect_both(Tile& e, AnyTile& d, bool left, const T* x, const T* v, T tau, T* u,
                                             int pivot, int b, const Found& found) const {
    T down_v[tile], other[tile];
    load_rows(down_v, v);
    column_sums(d, down_v);
    if (const int mine = in_row(pivot); mine >= 0) {
#pragma unroll
      for (int r = 0; r < tile; ++r)
#pragma unroll
        for (int c = 0; c < tile; ++c)
          if (r == mine) s.w[column(c)] = d[r][c];
    }
    __syncthreads();
    T sum[warps];
#pragma unroll
    for (int k = 0; k < warps; ++k) sum[k] = s.dots[k][i];
    const T across = rounded_product(conj(tau), sum_of_warps(sum)), first = conj(s.w[i] - across);
    if (q == 0) s.u[i] = across;
    const DeviceReflector<T> reflector = this->reflector(first, pivot);
    const T mine = i == pivot ? T(1) : i < b ? reflector(first) : T(0);
    found(reflector, mine);
    if (q == 0) u[i] = mine;
    load_columns(other, s.u);
    subtract<false>(d, down_v, other);
    __syncthreads();
    T across_u[tile];
    load_columns(across_u, u);
    const T w = rounded_product(reflector.tau, row_times(d, across_u));
    if (q == 0) s.w[i] = w;
    if (left) {
      T y[tile];
      load_columns(other, x);
      load_rows(y, s.y);
      subtract<true>(e, y, other);
      column_sums(e, down_v);
    }
    __syncthreads();
    load_rows(other, s.w);
    subtract<true>(d, other, across_u);
    if (!left) return reflector;
    if (thread < R) {
#pragma unroll
      for (int k = 0; k < warps; ++k) sum[k] = s.dots[k][thread];
      s.u[thread] = device_times(conj(tau), sum_of_warps(sum));
    }
    __syncthreads();
    load_columns(other, s.u);
    subtract<false>(e, down_v, other);
    return reflector;
  }

 private:
  __device__ static void take(T& x, T& y, const T* from) {
    const Pair two = *reinterpret_cast<const Pair*>(from);
    x = two.x;
    y = two.y;
  }
  /// Computes a -= x y^H if `conjugate`, and a -= x y^T otherwise.
  template <bool conjugate, class AnyTile>
  __device__ static void subtract(AnyTile& a, const T (&x)[tile], const T (&y)[tile]) {
#pragma unroll
    for (int r = 0; r < tile; ++r)
#pragma unroll
      for (int c = 0; c < tile; ++c) a[r][c] = minus_product(a[r][c], x[r], conjugate ? conj(y[c]) : y[c]);
  }

  /// Keeps half of a lane's sums, and adds the sums of the lane `bit` away.
  template <int half>
  __device__ void halve(T (&sum)[tile], int bit) const {
    const bool upper = (lane & bit) != 0;
#pragma unroll
    for (int k = 0; k < half; ++k) {
      const T sent = upper ? sum[k] : sum[k + half], kept = upper ? sum[k + half] : sum[k];
      sum[k] = kept + shuffle_xor(sent, bit);
    }
  }

  /// Sets s.dots to the sums of each column of e times the conjugates of `factors` over the rows of each warp.
  template <class AnyTile>
  __device__ void column_sums(const AnyTile& e, const T (&factors)[tile]) const {
    T sum[tile] = {};
#pragma unroll
    for (int r = 0; r < tile; ++r)
#pragma unroll
      for (int c = 0; c < tile; ++c) sum[c] = plus_product(sum[c], e[r][c], conj(factors[r]));
    halve<2>(sum, 16);
    int first = (lane & 16) != 0 ? 2 : 0;
    if constexpr (across == 16) {
      s.dots[warp][column(first) + 1] = sum[1];
    } else {
      static_assert(across == 8);
      halve<1>(sum, 8);
      if ((lane & 8) != 0) ++first;
    }
    s.dots[warp][column(first)] = sum[0];
  }

  /// Returns the sum over the warp's rows of a value that the threads of each row share.
  __device__ Real sum_of_rows(Real value) const {
    for (int d = copies; d < 32; d *= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
    return value;
  }
  template <class Number>
  __device__ static Number sum_of_warps(const Number* part) {
    Number sum[warps];
#pragma unroll
    for (int k = 0; k < warps; ++k) sum[k] = part[k];
#pragma unroll
    for (int half = warps / 2; half > 0; half /= 2)
#pragma unroll
      for (int k = 0; k < half; ++k) sum[k] += sum[k + half];
    return sum[0];
  }
  __device__ Real squares_of(T c) const {
    const Real mine = sum_of_rows(real_dot(c, c));
    if (lane == 0) s.squares[warp] = mine;
    __syncthreads();
    return sum_of_warps(s.squares);
  }
};

}  // namespace tesela::kernels
