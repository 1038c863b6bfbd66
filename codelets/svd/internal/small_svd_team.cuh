#pragma once

#include <tesela/runtime/types.hpp>

#include <cmath>
#include <limits>

// A small matrix decomposed by a team of threads: QR factorizations and one-sided Jacobi rotations. Internal to
// codelets/svd.

namespace tesela::kernels::small_svd {

/// Sums of squares at or below this number count as zero: their terms underflow.
template <class T>
inline constexpr T no_square = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();

template <class T>
inline constexpr T epsilon = std::numeric_limits<T>::epsilon();
template <class T>
inline constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

struct Larger {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};
struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// A warp, or a thread block of several warps, whose threads form groups of `lanes` neighbours. There are half as many
/// groups as columns, so that each group rotates a pair of columns.
template <class T, int all, int lanes_of_group>
struct Team {
  using Number = T;
  static constexpr int threads = all, lanes = lanes_of_group, groups = all / lanes, warps = all / 32;

  int rank, lane, group;
  T* partial;  // 2 numbers a warp
  int turn = 0;

  __device__ explicit Team(T* memory)
      : rank(static_cast<int>(threadIdx.x) % threads), lane(rank % lanes), group(rank / lanes), partial(memory) {}

  __device__ void sync() const {
    if constexpr (warps == 1)
      __syncwarp();
    else
      __syncthreads();
  }
  /// Returns whether any thread has `value`. Contains a barrier.
  __device__ bool any(bool value) const {
    if constexpr (warps == 1)
      return __any_sync(0xffffffffu, value);
    else
      return __syncthreads_or(value) != 0;
  }
  /// Reduces over the group; all its threads get the result.
  template <class Op>
  __device__ static T over_group(T value, Op op) {
#pragma unroll
    for (int far = lanes / 2; far > 0; far /= 2) value = op(value, __shfl_xor_sync(0xffffffffu, value, far));
    return value;
  }
  /// Reduces over the team. Contains a barrier if it has several warps.
  template <class Op>
  __device__ T over(T value, Op op) {
#pragma unroll
    for (int far = 16; far > 0; far /= 2) value = op(value, __shfl_xor_sync(0xffffffffu, value, far));
    if constexpr (warps > 1) {
      T* const mine = partial + turn * warps;
      turn ^= 1;  // late threads still read the other half
      if (rank % 32 == 0) mine[rank / 32] = value;
      __syncthreads();
      value = mine[0];
#pragma unroll
      for (int w = 1; w < warps; ++w) value = op(value, mine[w]);
    }
    return value;
  }
  /// Calls f(j) for all columns first … end - 1, one per group; f(-1) keeps groups without a column together.
  template <class F>
  __device__ void each_column(int first, int end, const F& f) const {
    for (int base = first; base < end; base += groups) f(base + group < end ? base + group : -1);
  }
};

/// Column-major numbers.
template <class T>
struct Numbers {
  T* data;
  index_t ld;
  __device__ T& operator()(int i, int j) const { return data[i + j * ld]; }
};

/// Columns whose row i is at data[order[i]], or at data[i] without an order.
template <class T>
struct OrderedRows {
  T* data;
  index_t ld;
  const int* order;
  __device__ T& operator()(int i, int j) const { return data[(order != nullptr ? order[i] : i) + j * ld]; }
};

/// Q R = A P of an m x n matrix, m >= n: R and the reflectors below it replace A.
template <class T, class Threads>
struct TeamQr {
  Threads& team;
  int m, n;
  Numbers<T> a;
  T *tau, *squares;  // n each

  /// With an order (n numbers from 0), pivots: column j of A P was column order[j] of A.
  __device__ void factor(int* order) const {
    team.each_column(0, n, [&](int j) {
      T sum = 0;
      for (int i = team.lane; j >= 0 && i < m; i += Threads::lanes) sum += a(i, j) * a(i, j);
      sum = team.over_group(sum, Plus());
      if (j >= 0 && team.lane == 0) squares[j] = sum;
    });
    team.sync();
    for (int k = 0; k < n; ++k) {
      if (order != nullptr) pivot(k, order);
      const T alpha = a(k, k), square = squares[k];
      const bool live = square > no_square<T>;
      const T beta = live ? -copysign(sqrt(square), alpha) : alpha, apart = alpha - beta,
              inverse = live ? 1 / apart : T(0), factor = live ? -apart / beta : T(0);
      team.sync();
      for (int i = k + 1 + team.rank; i < m; i += Threads::threads) a(i, k) *= inverse;
      if (team.rank == 0) a(k, k) = beta, tau[k] = factor;
      team.sync();
      apply(k, factor, a, k + 1, n, squares);
      team.sync();
    }
  }
  /// Multiplies the columns 0 … count - 1 of X by Q.
  template <class X>
  __device__ void multiply(const X& x, int count) const {
    for (int k = n; k-- > 0;) apply(k, tau[k], x, 0, count, nullptr);  // a group keeps its columns
    team.sync();
  }

 private:
  /// Moves the longest remaining column to place k.
  __device__ void pivot(int k, int* order) const {
    int longest = k;
    T most = squares[k];
    for (int j = k + 1; j < n; ++j)
      if (squares[j] > most) most = squares[j], longest = j;
    if (longest == k) return;
    team.sync();
    for (int i = team.rank; i < m; i += Threads::threads) {
      const T moved = a(i, k);
      a(i, k) = a(i, longest);
      a(i, longest) = moved;
    }
    if (team.rank == 0) {
      squares[longest] = squares[k];
      squares[k] = most;
      const int moved = order[k];
      order[k] = order[longest];
      order[longest] = moved;
    }
    team.sync();
  }

  /// Applies reflector k to columns of x; `sums` become their sums of squares below row k unless it is null.
  template <class X>
  __device__ void apply(int k, T factor, const X& x, int first, int end, T* sums) const {
    team.each_column(first, end, [&](int j) {
      T product = 0;
      for (int i = k + team.lane; j >= 0 && i < m; i += Threads::lanes) product += i == k ? x(i, j) : a(i, k) * x(i, j);
      product = factor * team.over_group(product, Plus());
      T sum = 0;
      for (int i = k + team.lane; j >= 0 && i < m; i += Threads::lanes) {
        const T changed = x(i, j) -= i == k ? product : a(i, k) * product;
        if (i > k) sum += changed * changed;
      }
      __syncwarp();  // with the next reflector other lanes have the rows
      if (sums == nullptr) return;
      sum = team.over_group(sum, Plus());
      if (j >= 0 && team.lane == 0) sums[j] = sum;
    });
  }
};

/// Rotates the columns of X (n x n) until they are orthogonal; with `vectors` also rotates the columns of J.
/// Returns whether they converged.
template <class T, class Threads>
__device__ bool orthogonalize(Threads& team, int n, const Numbers<T>& x, bool vectors, const Numbers<T>& turned) {
  constexpr int most_sweeps = 40;
  const T tolerance = epsilon<T> * sqrt(static_cast<T>(n));
  const int players = n + n % 2, rounds = players - 1;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool moved = false;
    for (int round = 0; round < rounds; ++round) {  // a tournament: each pair meets once
      const int g = team.group, first = g == 0 ? players - 1 : (round + g) % rounds,
                second = g == 0 ? round : (round - g + rounds) % rounds, p = first < second ? first : second,
                q = first < second ? second : first;
      const bool plays = 2 * g < players && q < n;
      T pp = 0, pq = 0, qq = 0;
      for (int i = team.lane; plays && i < n; i += Threads::lanes) {
        const T u = x(i, p), v = x(i, q);
        pp += u * u, pq += u * v, qq += v * v;
      }
      pp = team.over_group(pp, Plus()), pq = team.over_group(pq, Plus()), qq = team.over_group(qq, Plus());
      if (plays && fabs(pq) > tolerance * (sqrt(pp) * sqrt(qq)) && pp > no_square<T> && qq > no_square<T>) {
        moved = true;
        // t = sign(z) / (|z| + sqrt(1 + z^2)); z^2 may overflow.
        const T z = (qq - pp) / (2 * pq), size = fabs(z), some = fmin(size, 1 / epsilon<T>),
                t = copysign(1 / (size + fmax(sqrt(some * some + 1), size)), z), h = sqrt(t * t + 1), s = t / h,
                ratio = t / (h + 1);
        const auto rotate = [&](const Numbers<T>& y) {
          for (int i = team.lane; i < n; i += Threads::lanes) {
            const T u = y(i, p), v = y(i, q);
            y(i, p) = u - s * (v + ratio * u);
            y(i, q) = v + s * (u - ratio * v);
          }
        };
        rotate(x);
        if (vectors) rotate(turned);
      }
      team.sync();
    }
    if (!team.any(moved)) return true;
  }
  return false;
}

/// Replaces the columns of X (n x n) without `live` by unit vectors that are orthogonal to all others. `work` has n
/// numbers.
template <class T, class Threads>
__device__ void complete(Threads& team, int n, const Numbers<T>& x, bool* live, T* work) {
  for (int j = 0; j < n; ++j) {
    if (live[j]) continue;
    for (int i = team.rank; i < n; i += Threads::threads) {
      T left = 1;
      for (int k = 0; k < n; ++k)
        if (live[k]) left -= x(i, k) * x(i, k);
      work[i] = left;
    }
    team.sync();
    int axis = 0;  // the unit vector that the others span least
    for (int i = 1; i < n; ++i)
      if (work[i] > work[axis]) axis = i;
    for (int i = team.rank; i < n; i += Threads::threads) x(i, j) = i == axis ? T(1) : T(0);
    team.sync();
    for (int pass = 0; pass < 3; ++pass) {
      team.each_column(0, n, [&](int k) {
        T product = 0;
        for (int i = team.lane; k >= 0 && i < n; i += Threads::lanes) product += x(i, k) * x(i, j);
        product = team.over_group(product, Plus());
        if (k >= 0 && team.lane == 0) work[k] = live[k] ? product : T(0);
      });
      team.sync();
      T square = 0;
      for (int i = team.rank; i < n; i += Threads::threads) {
        T left = x(i, j);
        for (int k = 0; k < n; ++k) left -= work[k] * (live[k] ? x(i, k) : T(0));
        x(i, j) = left;
        square += left * left;
      }
      const T scale = 1 / sqrt(team.over(square, Plus()));
      for (int i = team.rank; i < n; i += Threads::threads) x(i, j) *= scale;
      team.sync();
    }
    if (team.rank == 0) live[j] = true;
    team.sync();
  }
}

}  // namespace tesela::kernels::small_svd
