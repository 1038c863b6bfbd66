#pragma once

#include <tesela/codelets/givens/rotation.hpp>
#include <tesela/codelets/mimo/internal/channel_body.hpp>
#include <tesela/codelets/mimo/internal/reflectors_body.hpp>
#include <tesela/codelets/mimo/small_qr.hpp>

// One of SmallQr's matrices by one thread: reflectors, or plane rotations. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// A rotation upper' = c upper + s lower, lower' = c lower - conj(s) upper, with c real, and not negative if s is
/// complex. One number rho represents it, in place of the annihilated one: for real numbers pack()'s rho; for complex
/// ones the rho of (c, |s|) times the phase of s.
template <class F>
struct PlaneRotation {
  using T = real_t<F>;
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
    if constexpr (is_complex<F>) {
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
    if constexpr (is_complex<F>) {
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

/// std::complex in the kernels' form.
template <class F>
struct NumberFor {
  using type = F;
};
template <class T>
struct NumberFor<std::complex<T>> {
  using type = Complex<T>;
};

/// One matrix; `work` holds it without gaps, independent of the leading dimension.
template <class F>
struct SmallQrMatrix {
  index_t m, n, right;
  ColumnOrder order;
  bool rotations;
  double n0;
  F* a;
  index_t lda;
  F* b;
  index_t ldb;
  F* tau;
  int* places;
  int* info;
  F* work;

  TESELA_BOTH static index_t work_size(index_t m, index_t n) { return 2 * m * n + m + order_work(m, n); }

  TESELA_BOTH void operator()() const {
    using T = real_t<F>;
    const bool mmse = order == ColumnOrder::mmse_sqrd || order == ColumnOrder::mmse_vblast;
    const index_t given = mmse ? m - n : m;
    T largest = 0;
    *info = 0;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < given; ++i) {
        const T size = size_of(a[i + j * lda]);
        largest = size > largest ? size : largest;
        if (*info == 0 && !(size - size == 0 && known(a[i + j * lda]))) *info = -static_cast<int>(1 + i + j * m);
      }
    const T alpha = static_cast<T>(std::sqrt(n0));
    if (mmse && alpha > largest) largest = alpha;
    const int exponent = *info == 0 ? exponent_of(largest) : 0;
    const Scale<T> down(exponent), up(-exponent);
    F *const q = work, *const copy = q + m * n, *const y = copy + m * n, *const more = y + m;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i)
        copy[i + j * m] = i < given ? down(a[i + j * lda]) : number<F>(i - given == j ? down(alpha) : T(0));
    const OrderOf columns{places, 1};
    const bool sorted = order == ColumnOrder::sqrd || order == ColumnOrder::mmse_sqrd;
    const bool vblast = order == ColumnOrder::vblast || order == ColumnOrder::mmse_vblast;
    order_columns(vblast                       ? ColumnOrder::vblast
                  : order == ColumnOrder::norm ? order
                                               : ColumnOrder::natural,
                  true, m, n, copy, T(0), more, columns);
    for (index_t k = 0; k < n; ++k)
      for (index_t i = 0; i < m; ++i) q[i + k * m] = copy[i + places[k] * m];
    if (rotations) {
      rotate_columns(m, n, q, places, sorted);
      for (index_t k = 0; k < m && k < n; ++k) tau[k] = number<F>(0);
    } else {
      reflect(m, n, q, tau, places, 1, sorted);
    }
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) a[i + j * lda] = i <= j ? up(q[i + j * m]) : q[i + j * m];
    for (index_t j = 0; j < right; ++j) {
      for (index_t i = 0; i < m; ++i) y[i] = i < given ? b[i + j * ldb] : number<F>(0);
      if (rotations)
        apply_rotations(m, n, q, y);
      else
        apply_adjoint(m, n, q, tau, y);
      for (index_t i = 0; i < m; ++i) b[i + j * ldb] = y[i];
    }
  }

 private:
  /// Returns whether neither part is NaN, which a comparison of sizes may hide.
  TESELA_BOTH static bool known(F x) { return real(x) == real(x) && imag(x) == imag(x); }
};

/// Returns the k-th of several matrices.
template <class F>
TESELA_BOTH SmallQrMatrix<typename NumberFor<F>::type> one_qr(const typename SmallQr<F>::Args& args, const Block<F>& a,
                                                              const Block<F>& b, const Block<F>& tau,
                                                              const Block<int>& order, const Block<int>& info, F* work,
                                                              index_t k) {
  using N = typename NumberFor<F>::type;
  return {a.rows,
          args.cols,
          args.right,
          args.order,
          args.rotations,
          args.n0,
          reinterpret_cast<N*>(a.data + k * args.cols * a.ld),
          a.ld,
          reinterpret_cast<N*>(b.data + k * args.right * b.ld),
          b.ld,
          reinterpret_cast<N*>(tau.data + k * tau.ld),
          order.data + k * order.ld,
          info.data + k * info.ld,
          reinterpret_cast<N*>(work)};
}

}  // namespace tesela::kernels::mimo
