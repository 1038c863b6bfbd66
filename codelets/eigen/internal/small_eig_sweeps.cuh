#pragma once

#include <tesela/codelets/eigen/internal/small_eig_team.cuh>

namespace tesela::kernels::small_eig {

/// Implicit QL sweeps with Wilkinson's shifts (as ql::sweep) of a team's tridiagonal matrix. Every thread computes the
/// whole chain of rotations and applies it to its own rows of the vectors, so that warps do not wait for each other.
/// The teams of a warp make one rotation each at a time, whatever their positions.
template <class Team, bool vectors>
class Sweeps {
  using T = typename Team::Number;
  static constexpr int rows = Team::rows;

 public:
  __device__ explicit Sweeps(const Team& team)
      : team_(team), lane_(team.rank % 32), mask_(mask()), d_(team.d), e_(team.e) {}

  /// Runs until all teams of the warp are done. Returns 0, or 1 + the row where this team's matrix did not converge.
  __device__ int run() {
    constexpr unsigned all = 0xffffffffu;
    for (;;) {
      if (__any_sync(all, active_ && at_ < low_)) {
        if (active_ && at_ < low_) begin();
        __syncwarp();
        if (!__any_sync(all, active_)) return broken_;
      }
      if (active_) step();
      __syncwarp();
    }
  }

  __device__ int count() const { return count_; }

 private:
  static constexpr int lanes = Team::threads < 32 ? Team::threads : 32;

  __device__ static unsigned mask() {
    if constexpr (lanes == 32)
      return 0xffffffffu;
    else
      return ((1u << lanes) - 1) << (threadIdx.x % 32 / lanes * lanes);
  }

  __device__ static bool negligible(T e, T d, T next) {
    return fabs(e) <= ql::negligible<T> || fabs(e) <= ql::rounding<T> * (fabs(d) + fabs(next));
  }

  /// Returns the first row from `from` on whose off-diagonal is negligible, or n - 1.
  __device__ int first_negligible(int from) const {
    for (; from < team_.n - 1; from += lanes) {
      const int i = from + lane_ % lanes;
      const unsigned hits = __ballot_sync(mask_, i >= team_.n - 1 || negligible(e_[i], d_[i], d_[i + 1])) & mask_;
      if (hits != 0) return from + (__ffs(static_cast<int>(hits)) - __ffs(static_cast<int>(mask_)));
    }
    return team_.n - 1;
  }

  /// Sets the next sweep's rows low … high and its shift, or ends if all is diagonal.
  __device__ void begin() {
    const int n = team_.n;
    for (; low_ < n - 1 && negligible(e_[low_], d_[low_], d_[low_ + 1]); ++low_) tried_ = 0;
    active_ = low_ < n - 1;
    if (!active_) return;
    if (tried_++ == ql::most_sweeps) {
      broken_ = low_ + 1;
      active_ = false;
      return;
    }
    ++count_;
    if (split_ <= low_) split_ = first_negligible(low_);
    high_ = split_;
    const T first = d_[low_], off = e_[low_], half = (d_[low_ + 1] - first) / 2, square = half * half + off * off,
            shift = off * off / (half + copysign(square * inverse_root(square), half));
    above_ = d_[high_];
    two_above_ = 0;
    g_ = above_ - first + shift;
    s_ = c_ = 1;
    p_ = 0;
    at_ = high_ - 1;
    next_d_ = d_[at_];
    next_e_ = e_[at_];
    if constexpr (vectors) each_row([&](int r, const T* x) { y_[r] = x[high_ * team_.ld]; });
  }

  /// Rotates rows at and at + 1.
  __device__ void step() {
    const T here = next_d_, f = s_ * next_e_, b = c_ * next_e_, size = fabs(f) + fabs(g_);
    if (size == 0) return end(at_ + 1);  // T splits here
    if (at_ > low_) next_d_ = d_[at_ - 1], next_e_ = e_[at_ - 1];
    T old[rows];
    if constexpr (vectors) each_row([&](int r, const T* x) { old[r] = x[at_ * team_.ld]; });
    T off;
    if (size < ql::tiny<T>) {
      constexpr T up = 1 / ql::tiny<T>;
      off = rotation(f * up, g_ * up) * ql::tiny<T>;
    } else {
      off = rotation(f, g_);
    }
    const T over = above_ - p_, next = (here - over) * s_ + 2 * c_ * b;
    p_ = s_ * next;
    g_ = c_ * next - b;
    const T value = over + p_;
    if (negligible(off, value, two_above_)) split_ = at_ + 1;
    if (lane_ % lanes == 0) d_[at_ + 1] = value, e_[at_ + 1] = off;
    two_above_ = value;
    above_ = here;
    if constexpr (vectors)
      each_row([&](int r, T* x) {
        x[(at_ + 1) * team_.ld] = s_ * old[r] + c_ * y_[r];
        y_[r] = c_ * old[r] - s_ * y_[r];
      });
    if (--at_ < low_) end(low_);
  }

  /// Computes c and s: c g + s f = r, c f - s g = 0.
  __device__ T rotation(T f, T g) {
    const T square = f * f + g * g, inverse = inverse_root(square);
    s_ = f * inverse;
    c_ = g * inverse;
    return square * inverse;
  }

  /// Ends the sweep; its last row is `row`.
  __device__ void end(int row) {
    if (lane_ % lanes == 0) {
      d_[row] = above_ - p_;
      e_[row] = g_;
      e_[high_] = 0;
    }
    if constexpr (vectors) each_row([&](int r, T* x) { x[row * team_.ld] = y_[r]; });
    if (row > low_) split_ = row;
    at_ = low_ - 1;
  }

  /// Calls f(r, first column) for each row of the thread.
  template <class F>
  __device__ void each_row(const F& f) const {
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (const int i = team_.row(r); i < team_.n) f(r, team_.x + i);
  }

  const Team& team_;
  const int lane_;
  const unsigned mask_;
  T *const d_, *const e_;
  bool active_ = true;
  int low_ = 0, high_ = 0, at_ = -1, split_ = -1, tried_ = 0, broken_ = 0, count_ = 0;
  T g_ = 0, p_ = 0, c_ = 1, s_ = 1;
  T above_ = 0, two_above_ = 0, next_d_ = 0, next_e_ = 0;  // of T: rows at + 1 and at + 2, and of the next step
  T y_[rows] = {};                                         // column at + 1 of the vectors
};

}  // namespace tesela::kernels::small_eig
