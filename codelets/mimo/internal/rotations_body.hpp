#pragma once

#include <tesela/codelets/givens/rotation.hpp>
#include <tesela/codelets/mimo/internal/reflectors_body.hpp>

// QR factorizations of small matrices by plane rotations instead of the reflectors of reflectors_body.hpp, one matrix
// per thread, without gaps between columns. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// A rotation upper' = c upper + s lower, lower' = c lower - conj(s) upper, with c real, and not negative if s is
/// complex. One number rho represents it, in place of the annihilated one: for real numbers pack()'s rho; for complex
/// ones the rho of (c, |s|) times the phase of s.
template <class F>
struct PlaneRotation {
  using T = RealOf<F>;
  T c = 1;
  F s{};

  TESELA_BOTH void operator()(F& upper, F& lower) const {
    const F above = c * upper + s * lower;
    lower = c * lower - conj(s) * upper;
    upper = above;
  }

  /// Returns the rotation that makes `lower` zero and `upper` r. Not inlined, and neither is of(): a GPU's registers
  /// are for columns.
  struct Annihilation;
  TESELA_BOTH __attribute__((noinline)) static Annihilation annihilate(F upper, F lower) {
    if constexpr (NumberOf<F>::complex) {
      if (size_of(lower) == 0) return {{}, upper, F{}};
      const Polar a(upper), b(lower);
      const kernels::Annihilation<T> of_sizes = givens(a.size, b.size);
      const F phase = a.phase * conj(b.phase);
      const PlaneRotation turn{of_sizes.rotation.c, of_sizes.rotation.s * phase};
      // r from sizes and phases would drift by one rounding each time.
      return {turn, turn.c * upper + turn.s * lower, of_sizes.rho * phase};
    } else {
      const kernels::Annihilation<F> x = givens(upper, lower);
      return {{x.rotation.c, x.rotation.s}, x.r, x.rho};
    }
  }

  TESELA_BOTH __attribute__((noinline)) static PlaneRotation of(F rho) {
    if constexpr (NumberOf<F>::complex) {
      const Polar x(rho);
      // No stored size lies between these, except 1 for (0, 1), which rounding of the phase may have changed.
      const Rotation<T> sizes = unpack(x.size > T(0.5) && x.size < T(2) ? T(1) : x.size);
      return {sizes.c, sizes.s * x.phase};
    } else {
      const Rotation<F> x = unpack(rho);
      return {x.c, x.s};
    }
  }

 private:
  /// Size and phase of a number of any size: no square can vanish. Zero has the phase 1.
  struct Polar {
    T size = 0;
    F phase{1, 0};
    TESELA_BOTH explicit Polar(F x) {
      const T largest = size_of(x);
      if (largest == 0) return;
      const F part = x / largest;
      const T length = std::sqrt(norm(part));
      size = largest * length;
      phase = part / length;
    }
  };
};

template <class F>
struct PlaneRotation<F>::Annihilation {
  PlaneRotation turn;
  F r, rho;
};

/// Factors A P = Q R in a, m x n: R above and on the diagonal, below it the rotations of Q^H, column by column, row k
/// with the rows below it in turn. `order` and `sorted` as for reflect().
template <class F>
TESELA_BOTH __attribute__((noinline)) void rotate_columns(index_t m, index_t n, F* a, int* order, bool sorted) {
  for (index_t k = 0; k < (m < n ? m : n); ++k) {
    if (sorted) move_least_residual(m, n, k, a, order, 1);
    for (index_t i = k + 1; i < m; ++i) {
      const auto x = PlaneRotation<F>::annihilate(a[k + k * m], a[i + k * m]);
      a[k + k * m] = x.r, a[i + k * m] = x.rho;
      for (index_t j = k + 1; j < n; ++j) x.turn(a[k + j * m], a[i + j * m]);
    }
  }
}

/// Replaces y by Q^H y.
template <class F>
TESELA_BOTH void apply_rotations(index_t m, index_t n, const F* a, F* y) {
  for (index_t k = 0; k < (m < n ? m : n); ++k)
    for (index_t i = k + 1; i < m; ++i) PlaneRotation<F>::of(a[i + k * m])(y[k], y[i]);
}

}  // namespace tesela::kernels::mimo
