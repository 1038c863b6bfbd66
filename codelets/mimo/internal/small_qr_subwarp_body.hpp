#pragma once

#include <tesela/codelets/mimo/internal/reflectors_subwarp_body.hpp>
#include <tesela/codelets/mimo/internal/small_qr_body.hpp>

// SmallQr's matrices of up to 16 x 16 by groups of lanes: reflectors, or plane rotations. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// Annihilates column k by rotations of row k with the m - 1 - k rows below it in turn: column k becomes r and the
/// rotations, which are applied to all later columns. All lanes compute the same rotation, so that none waits for
/// another's.
template <class F, int S, class Warp>
TESELA_INLINE void rotate_column(SubwarpColumns<F, S, Warp>& own, int k, int m) {
  const bool mine = own.group.j == k, behind = own.group.j > k;
  TESELA_FLAT
  for (int i = 1; i < S; ++i) {
    if (i <= k || i >= m) continue;
    const auto found = PlaneRotation<F>::annihilate(own.group.from(own.x[k], k), own.group.from(own.x[i], k));
    F upper = own.x[k], lower = own.x[i];
    found.turn(upper, lower);
    own.x[k] = mine ? found.r : behind ? upper : own.x[k];
    own.x[i] = mine ? found.rho : behind ? lower : own.x[i];
  }
}

/// Replaces y by Q^H y, one column y per lane.
template <class F, int S, class Warp>
TESELA_INLINE void apply_lane_rotations(const SubwarpColumns<F, S, Warp>& own, int steps, int m, F* y) {
  TESELA_FLAT
  for (int k = 0; k < S; ++k) {
    if (k >= steps) break;
    TESELA_FLAT
    for (int i = k + 1; i < S; ++i)
      if (i < m) PlaneRotation<F>::of(own.group.from(own.x[i], k))(y[k], y[i]);
  }
}

inline constexpr index_t most_lane_size = 16;

TESELA_BOTH inline bool lanes_factor(ColumnOrder order, index_t m, index_t n) {
  return m <= most_lane_size && n <= most_lane_size &&
         (order == ColumnOrder::natural || order == ColumnOrder::sqrd || order == ColumnOrder::mmse_sqrd);
}

/// Numbers of shared memory per warp.
template <int S>
inline constexpr int shared_numbers_per_warp = warp_lanes*(S + 1);

/// Columns of a warp's lanes: lane l's is column l % S of matrix l / S, `given` rows of it.
template <int S, class F>
struct WarpColumns {
  F* first;
  index_t ld;
  int rows, cols, matrices;  ///< matrices are `each` columns apart
  index_t each;

  /// Returns the position of number `lane` of the i-th read of a warp; the part that depends only on i is the same for
  /// all lanes.
  TESELA_INLINE index_t place(int i, int lane) const {
    constexpr int step = warp_lanes / S;
    return (i * step / S * each + i * step % S) * ld + (lane / (S * S) * each + lane / S % S) * ld + lane % S;
  }
  TESELA_INLINE bool there(int i, int lane) const {
    constexpr int step = warp_lanes / S;
    return lane % S < rows && i * step % S + lane / S % S < cols && i * step / S + lane / (S * S) < matrices;
  }

  TESELA_INLINE bool dense() const {
    return rows == S && cols == S && ld == S && each == S && matrices == warp_lanes / S;
  }
  TESELA_INLINE static int in_room(int i, int lane) {
    return i * (warp_lanes / S) * (S + 1) + lane / S * (S + 1) + lane % S;
  }

  /// Copies through `room`, so that neighbouring lanes read neighbouring numbers.
  template <class Warp>
  TESELA_INLINE void read(Warp& warp, F* room, F* x) const {
    const int lane = warp.reread_lane();
    if (dense()) {
      TESELA_FLAT
      for (int i = 0; i < S; ++i) x[i] = first[i * warp_lanes + lane];
    } else {
      TESELA_FLAT
      for (int i = 0; i < S; ++i) x[i] = there(i, lane) ? first[place(i, lane)] : F{};
    }
    TESELA_FLAT
    for (int i = 0; i < S; ++i) room[in_room(i, lane)] = x[i];
    warp.sync();
    TESELA_FLAT
    for (int i = 0; i < S; ++i) x[i] = room[lane * (S + 1) + i];
    warp.sync();
  }
  template <class Warp>
  TESELA_INLINE void write(Warp& warp, F* room, const F* x) const {
    const int lane = warp.reread_lane();
    TESELA_FLAT
    for (int i = 0; i < S; ++i) room[lane * (S + 1) + i] = x[i];
    warp.sync();
    if (dense()) {
      TESELA_FLAT
      for (int i = 0; i < S; ++i) first[i * warp_lanes + lane] = room[in_room(i, lane)];
    } else {
      TESELA_FLAT
      for (int i = 0; i < S; ++i)
        if (there(i, lane)) first[place(i, lane)] = room[in_room(i, lane)];
    }
    warp.sync();
  }
};

/// Does SmallQrMatrix's work for matrices first … of a warp; `room` belongs to the warp and has
/// shared_numbers_per_warp<S> numbers.
template <int S, class F, bool rotations, class Warp>
TESELA_INLINE void lane_qr(Warp& warp, const typename SmallQr<F>::Args& args, const Block<F>& a, const Block<F>& b,
                           const Block<F>& tau, const Block<int>& order, const Block<int>& info, index_t first,
                           typename NumberFor<F>::type* room) {
  using N = typename NumberFor<F>::type;
  using T = real_t<N>;
  constexpr int together = warp_lanes / S;
  const int m = static_cast<int>(a.rows), n = static_cast<int>(args.cols), steps = m < n ? m : n;
  const bool mmse = args.order == ColumnOrder::mmse_sqrd;
  const int given = mmse ? m - n : m;
  const int matrices = info.cols - first < together ? static_cast<int>(info.cols - first) : together;
  SubwarpColumns<N, S, Warp> own(warp);
  const int j = own.group.j;
  const index_t k = first + warp.lane() / S;
  const bool there = warp.lane() / S < matrices;
  WarpColumns<S, N> columns{
      reinterpret_cast<N*>(a.data + first * n * a.ld), a.ld, given, n, matrices, static_cast<index_t>(n)};
  columns.read(warp, room, own.x);

  T largest = 0, poison = 0;
  TESELA_FLAT
  for (int i = 0; i < S; ++i) {
    const T size = size_of(own.x[i]);
    largest = size > largest ? size : largest;
    poison += real(own.x[i]) * 0 + imag(own.x[i]) * 0;
  }
  int bad = 0;  // larger is earlier
  if (warp.any(!(poison == 0))) {
    TESELA_FLAT
    for (int i = S - 1; i >= 0; --i)
      if (!(real(own.x[i]) * 0 + imag(own.x[i]) * 0 == 0)) bad = S * S - (i + j * S);
    bad = own.group.largest(bad);
  }
  const T alpha = mmse ? static_cast<T>(std::sqrt(args.n0)) : T(0);
  largest = own.group.largest(alpha > largest ? alpha : largest);
  constexpr T high = sizeof(T) == 4 ? T(1e6) : T(1e60);
  const bool scaled = warp.any(!(largest < high && largest > 1 / high));
  const int exponent = scaled && bad == 0 ? exponent_of(largest) : 0;
  if (scaled) {
    const Scale<T> down(exponent);
    TESELA_FLAT
    for (int i = 0; i < S; ++i) own.x[i] = down(own.x[i]);
  }
  if (mmse) {
    const T below = Scale<T>(exponent)(alpha);
    TESELA_FLAT
    for (int i = 0; i < S; ++i)
      if (i >= given) own.x[i] = number<N>(i - given == j ? below : T(0));
  }

  TESELA_FLAT
  for (int s = 0; s < S; ++s)
    if (s < steps) {
      if (args.order != ColumnOrder::natural) own.sort(s, n);
      if constexpr (rotations)
        rotate_column(own, s, m);
      else
        own.reflect(s);
    }
  if constexpr (!rotations) own.finish();

  for (index_t next = 0; next < args.right; next += S) {
    const index_t left = args.right - next;
    WarpColumns<S, N> sides{reinterpret_cast<N*>(b.data + (first * args.right + next) * b.ld),
                            b.ld,
                            given,
                            left < S ? static_cast<int>(left) : S,
                            matrices,
                            args.right};
    N y[S];
    sides.read(warp, room, y);
    if constexpr (rotations)
      apply_lane_rotations(own, steps, m, y);
    else
      own.adjoint(steps, y);
    sides.rows = m;
    sides.write(warp, room, y);
  }
  if (scaled) {
    const Scale<T> up(-exponent);
    TESELA_FLAT
    for (int i = 0; i < S; ++i)
      if (i <= j) own.x[i] = up(own.x[i]);
  }
  columns.rows = m;
  columns.write(warp, room, own.x);
  if (!there) return;
  if (j < n) order.data[k * order.ld + j] = own.from;
  if (j < steps) reinterpret_cast<N*>(tau.data)[k * tau.ld + j] = own.tau;
  if (j == 0) info.data[k * info.ld] = bad == 0 ? 0 : -(1 + (S * S - bad) % S + (S * S - bad) / S * m);
}

}  // namespace tesela::kernels::mimo
