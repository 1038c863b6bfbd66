#pragma once

#include <tesela/codelets/eigen/internal/bulge_hop.cuh>
#include <tesela/codelets/eigen/internal/chase_launch.cuh>

#include <type_traits>

// Bulges chased by thread blocks that each stay at one hop. Internal to codelets/eigen.

namespace tesela::kernels {

/// A number and its turn, read and written together.
template <class T>
struct Message;

template <>
struct Message<double> {
  long long bits, of;
  __device__ void send(double value, int now) {
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(this), "l"(__double_as_longlong(value)),
                 "l"(static_cast<long long>(now))
                 : "memory");
  }
  __device__ Message look() const {
    Message m;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(m.bits), "=l"(m.of) : "l"(this) : "memory");
    return m;
  }
  __device__ bool is_of(int turn) const { return of == turn; }
  __device__ double value() const { return __longlong_as_double(bits); }
};

template <>
struct Message<float> {
  unsigned long long both;
  __device__ void send(float value, int now) {
    const auto bits = static_cast<unsigned long long>(__float_as_uint(value)) << 32 | static_cast<unsigned>(now);
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(this), "l"(bits) : "memory");
  }
  __device__ Message look() const {
    Message m;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(m.both) : "l"(this) : "memory");
    return m;
  }
  __device__ bool is_of(int turn) const { return static_cast<int>(both) == turn; }
  __device__ float value() const { return __uint_as_float(static_cast<unsigned>(both >> 32)); }
};

/// The parts are two messages.
template <class R>
struct Message<DeviceComplex<R>> {
  Message<R> re, im;
  __device__ void send(DeviceComplex<R> value, int now) {
    re.send(value.re, now);
    im.send(value.im, now);
  }
  __device__ Message look() const { return {re.look(), im.look()}; }
  __device__ bool is_of(int turn) const { return re.is_of(turn) && im.is_of(turn); }
  __device__ DeviceComplex<R> value() const { return {re.value(), im.value()}; }
};

/// Waits for the number of this turn and returns it; `seen` is an earlier look at the message.
template <class T>
__device__ T receive(const Message<T>* m, int turn, Message<T> seen) {
  while (!seen.is_of(turn)) seen = m->look();
  return seen.value();
}
template <class T>
__device__ T receive(const Message<T>* m, int turn) {
  return receive(m, turn, m->look());
}

/// Messages between the thread blocks at positions k and k - 1, for two turns in a row.
template <class T, int R>
struct Letters {
  Message<T> reflector[2][R];  ///< to k: v, with tau in the pivot's place
  Message<T> row[2][R];        ///< to k - 1: the pivot's row of E and one element of D, which leave block k
  Message<real_t<T>> beta[2];  ///< to k - 1: E's element in the pivot's row and column
};

/// Chases with thread block k at hop k of all sweeps of a group; it keeps E in registers, and D in registers or in
/// shared memory. A sweep is a turn. The reflector comes from block k - 1. Elements that leave D enter E, and the row
/// that enters both comes from block k + 1; the column that enters D is that row's adjoint or, for an upper band, zero.
template <class T, int R, bool in_registers, BandKind kind>
struct ChaseByPlaces {
  using Hop = BulgeHop<T, R>;
  using Real = real_t<T>;
  using Tile = typename Hop::Tile;
  using Diagonal = std::conditional_t<in_registers, Tile, typename Hop::SharedTile>;
  static constexpr int tile = Hop::tile, threads = Hop::threads;
  static constexpr bool upper = kind == BandKind::upper;

  /// The leading elements of the reflected column of E and, for an upper band, of the reflected row of D.
  struct Betas {
    Real of_e = 0, of_d = 0;
  };

  struct alignas(16) Shared {
    typename Hop::Shared hop;
    T x[R], v[R], u[R], row[R], pivot[R];
    T tau;
    Real beta;
    T d[in_registers ? 1 : R * R];
  };

  const ChaseLaunch<T>& run;
  Shared& s;
  const Hop core;
  const index_t k, first_sweep;
  const int thread = core.thread, i = core.i, q = core.q, b, turns_of_group;
  Letters<T, R>* const letters;
  T *const reflectors, *const others;  // of the first turn
  const index_t reflectors_of_turn, others_of_turn;

  __device__ ChaseByPlaces(const ChaseLaunch<T>& launch, Shared& shared)
      : run(launch),
        s(shared),
        core(shared.hop),
        k(blockIdx.x),
        first_sweep(launch.plan.first_sweep(launch.group)),
        b(static_cast<int>(launch.plan.b)),
        turns_of_group(static_cast<int>(launch.plan.size(launch.group))),
        letters(static_cast<Letters<T, R>*>(launch.messages) + k),
        reflectors(launch.reflectors + slot(0) * launch.reflectors_ld),
        others(launch.others + slot(0) * launch.others_ld),
        reflectors_of_turn((slot(1) - slot(0)) * launch.reflectors_ld),
        others_of_turn((slot(1) - slot(0)) * launch.others_ld) {}

  __device__ index_t slot(index_t t) const { return run.plan.slot(run.group, run.window, t, k + t); }
  /// Returns how many of the group's sweeps have a hop `at`.
  __device__ int turns(index_t at) const {
    const index_t fitting = run.plan.n - 1 - first_sweep - at * b;
    return fitting < 0 ? 0 : fitting < turns_of_group ? static_cast<int>(fitting) : turns_of_group;
  }
  __device__ T* band(index_t row, index_t column) const { return run.band.template at<true, kind>(row, column); }
  __device__ static T adjoint_if_upper(T x) { return upper ? conj(x) : x; }
  __device__ int offset(int place, int pivot) const { return place >= pivot ? place - pivot : place - pivot + b; }

  __device__ void chase() const {
    Tile e;
    Diagonal d;
    if constexpr (!in_registers) d.first = s.d + thread;
    const int mine = turns(k), below = turns(k + 1);
    int pivot = static_cast<int>(first_sweep % b), last = b - 1;
    Betas beta;
    load(e, d, pivot);
    for (int t = 0; t < mine; ++t) {
      beta = turn(e, d, t, pivot, last, t > 0 && t <= below, t < below);
      last = pivot;
      pivot = pivot + 1 < b ? pivot + 1 : 0;
      if (t + 1 < turns_of_group) send_pivot_row(e, d, t, last, pivot, beta);
    }
    if (mine == turns_of_group) store(e, d, last, beta);
  }

  /// Loads the rows and columns of the first sweep.
  __device__ void load(Tile& e, Diagonal& d, int pivot) const {
    const HopPosition p(run.plan, first_sweep, k);
    if (thread < R) s.x[thread] = s.row[thread] = T(0);
#pragma unroll
    for (int r = 0; r < tile; ++r) {
      const int row = offset(core.row + r, pivot);
#pragma unroll
      for (int c = 0; c < tile; ++c) {
        const int j = core.column(c), column = offset(j, pivot);
        const bool inside = core.row + r < b && j < b && row < p.rows;
        e[r][c] = inside && !p.is_zero(row, column, b, first_sweep == 0)
                      ? adjoint_if_upper(*band(p.row + row, p.left + column))
                      : T(0);
        if constexpr (upper) {
          d[r][c] = inside && column < p.rows && !p.is_zero_of_d(row, column, b, first_sweep == 0)
                        ? conj(*band(p.row + row, p.row + column))
                        : T(0);
        } else {
          const T x = inside && column < p.rows ? *band(p.row + max(row, column), p.row + min(row, column)) : T(0);
          d[r][c] = row < column ? conj(x) : x;
        }
        if (column == 0 && j < b) s.pivot[core.row + r] = e[r][c];
      }
    }
  }

  /// Performs sweep t's hop. `fed`: a row enters from below; `followed`: there is a hop k + 1.
  __device__ Betas turn(Tile& e, Diagonal& d, int t, int pivot, int last, bool fed, bool followed) const {
    Letters<T, R>&mine = letters[0], &next = letters[1];
    if (k > 0 && thread < b) {
      const T number = receive(&mine.reflector[t % 2][thread], t + 1);
      s.x[thread] = thread == pivot ? T(1) : number;
      if (thread == pivot) s.tau = number;
    }
    if (thread == R) s.beta = fed ? receive(&next.beta[(t + 1) % 2], t) : Real(0);
    __syncthreads();
    const int in_row = thread - (threads - R);  // these threads receive the row
    const bool receives = fed && in_row >= 0 && in_row < b;
    const Message<T>* const entering = &next.row[(t + 1) % 2][receives ? in_row : 0];
    Message<T> seen{};
    if (receives) seen = entering->look();  // arrives while the reflector is computed
    const T first = first_column(e, t > 0 && i == last, last);
    const DeviceReflector<T> reflector = core.reflector(first, pivot);
    const T v = i == pivot ? T(1) : i < b ? reflector(first) : T(0);
    const auto send_reflector = [&](const DeviceReflector<T>& sent, T element) {
      if (q == 0 && followed && i < b) next.reflector[t % 2][i].send(i == pivot ? sent.tau : element, t + 1);
    };
    if constexpr (!upper) send_reflector(reflector, v);
    if (q == 0) {
      if (k > 0 && i == pivot) mine.beta[t % 2].send(reflector.beta, t + 1);
      s.v[i] = v;
    }
    if (t > 0 && in_row >= 0) s.row[in_row] = receives ? receive(entering, t, seen) : T(0);
    __syncthreads();
    if (t > 0) enter(e, d, last);
    if constexpr (upper) {
      write_reflector(others + t * others_of_turn, pivot, v, reflector.tau);
      const DeviceReflector<T> of_d =
          core.reflect_both(e, d, k > 0, s.x, s.v, reflector.tau, s.u, pivot, b, send_reflector);
      write_reflector(reflectors + t * reflectors_of_turn, pivot, q == 0 ? s.u[i] : T(0), of_d.tau);
      return {reflector.beta, of_d.beta};
    } else {
      write_reflector(reflectors + t * reflectors_of_turn, pivot, v, reflector.tau);
      core.reflect(e, d, k > 0, s.x, s.v, v, reflector.tau);
      return {reflector.beta, Real(0)};
    }
  }

  /// Returns row i of E's first column after the reflector from above is applied. `entered`: the row is new and zero
  /// except for its last element.
  __device__ T first_column(const Tile& e, bool entered, int last) const {
    if (k == 0) return entered ? T(s.beta) : s.pivot[i];
    T x[tile];
    core.load_columns(x, s.x);
    T y = core.row_times(e, x);
    if (entered) y = rounded_product(s.beta, s.x[last]);
    y = rounded_product(s.tau, y);
    if (q == 0) core.s.y[i] = y;
    return s.pivot[i] - y;
  }

  /// Stores the row from below in place `last`.
  __device__ void enter(Tile& e, Diagonal& d, int last) const {
    const int row = core.in_row(last), column = core.in_column(last);
    if (row >= 0) {
      T entering[tile];
      core.load_columns(entering, s.row);
#pragma unroll
      for (int r = 0; r < tile; ++r)
#pragma unroll
        for (int c = 0; c < tile; ++c)
          if (r == row) {
            e[r][c] = c == column && k > 0 ? T(s.beta) : T(0);
            d[r][c] = entering[c];
          }
    }
    if (column < 0) return;
    T entering[tile];
    core.load_rows(entering, s.row);
#pragma unroll
    for (int r = 0; r < tile; ++r)
#pragma unroll
      for (int c = 0; c < tile; ++c)
        if (c == column && (!upper || r != row)) d[r][c] = upper ? T(0) : conj(entering[r]);
  }

  /// Sends the pivot's row up, moves its column of D to E, and makes the next pivot's column E's first.
  __device__ void send_pivot_row(Tile& e, Diagonal& d, int t, int pivot, int next, const Betas& beta) const {
    const int row = core.in_row(pivot), leaving = core.in_column(pivot), first = core.in_column(next);
    if (row >= 0) send_row(e, d, t, row, leaving, beta);
    if (leaving >= 0) {
#pragma unroll
      for (int r = 0; r < tile; ++r)
#pragma unroll
        for (int c = 0; c < tile; ++c)
          if (c == leaving) {
            if (k > 0)
              e[r][c] = d[r][c];
            else
              s.pivot[core.row + r] = d[r][c];
          }
    }
    if (k > 0 && first >= 0) {
#pragma unroll
      for (int r = 0; r < tile; ++r)
#pragma unroll
        for (int c = 0; c < tile; ++c)
          if (c == first) s.pivot[core.row + r] = r == row ? T(0) : e[r][c];  // the row that will enter
    }
  }
  __device__ void send_row(const Tile& e, const Diagonal& d, int t, int row, int leaving, const Betas& beta) const {
#pragma unroll
    for (int r = 0; r < tile; ++r)
#pragma unroll
      for (int c = 0; c < tile; ++c) {
        if (r != row) continue;
        const T of_d = upper ? T(beta.of_d) : d[r][c];
        if (k > 0)
          letters[0].row[t % 2][core.column(c)].send(c == leaving ? of_d : e[r][c], t + 1);
        else if (c == leaving)
          write_diagonal(t, beta.of_e, of_d);
      }
  }

  /// Writes the final elements of T, or of the bidiagonal matrix.
  __device__ void write_diagonal(int t, Real beta, T diagonal) const {
    const index_t sweep = first_sweep + t;
    *band(sweep + 1, sweep) = T(beta);
    *band(sweep + 1, sweep + 1) = diagonal;
  }

  __device__ void write_reflector(T* to, int pivot, T element, T tau) const {
    if (q != 0 || i >= b) return;
    to[offset(i, pivot)] = element;
    if (i == pivot) to[b] = tau;
  }

  /// Stores the rows and columns of the last sweep.
  __device__ void store(const Tile& e, const Diagonal& d, int pivot, const Betas& beta) const {
    const HopPosition p(run.plan, first_sweep + turns_of_group - 1, k);
#pragma unroll
    for (int r = 0; r < tile; ++r) {
      const int row = offset(core.row + r, pivot);
#pragma unroll
      for (int c = 0; c < tile; ++c) {
        const int j = core.column(c), column = offset(j, pivot);
        if (core.row + r >= b || j >= b || row >= p.rows) continue;
        if (column == 0 ? row == 0 : !p.first)
          *band(p.row + row, p.left + column) = column == 0 ? T(beta.of_e) : adjoint_if_upper(e[r][c]);
        if constexpr (upper) {
          if (column < p.rows && (row > 0 || column == 0))
            *band(p.row + row, p.row + column) = row == 0 ? T(beta.of_d) : conj(d[r][c]);
        } else if (column <= row) {
          *band(p.row + row, p.row + column) = d[r][c];
        }
      }
    }
  }
};

}  // namespace tesela::kernels
