#include <tesela/codelets/toeplitz/internal/levinson_pass.hpp>

#define HWY_TARGET_INCLUDE "tesela/codelets/toeplitz/internal/levinson_pass.cpp"
#include <tesela/codelets/support/internal/vectors_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::HWY_NAMESPACE {
namespace {

/// Returns a vector of the numbers at `from` in reverse. Loads swap the halves of 32 bytes, because a permutation
/// across them needs several cycles.
template <class T>
HWY_INLINE Vec<T> load_reversed(const T* from) {
#if HWY_MAX_BYTES == 32
  constexpr hn::Half<Tag<T>> half;
  const Vec<T> swapped = hn::Combine(Tag<T>(), hn::LoadU(half, from), hn::LoadU(half, from + lanes<T> / 2));
  if constexpr (lanes<T> == 4)
    return hn::Reverse2(Tag<T>(), swapped);
  else
    return hn::Reverse4(Tag<T>(), swapped);
#else
  return hn::Reverse(Tag<T>(), load(from));
#endif
}

/// Complex numbers in memory, or two vectors of their sums: of products of equal parts and of products of different
/// ones.
template <class Real>
struct ComplexNumbers {
  static constexpr Tag<Real> tag{};

  /// Returns a + c conj(b), b with its numbers in reverse, for the c whose parts are re (signs +, -) and im.
  static HWY_INLINE Vec<Real> add_conjugate(Vec<Real> re, Vec<Real> im, Vec<Real> b, Vec<Real> a) {
    const Vec<Real> exchanged = hn::Reverse(tag, b);  // imaginary parts first
    return hn::MulAdd(im, exchanged, hn::MulAdd(re, hn::Reverse2(tag, exchanged), a));
  }
  static HWY_INLINE void add_products(Vec<Real> a, Vec<Real> b, Vec<Real>& same, Vec<Real>& other) {
    same = hn::MulAdd(a, b, same);
    other = hn::MulAdd(a, hn::Reverse2(tag, b), other);
  }
};

/// Updates vectors of complex numbers, except the numbers j ... k - 1 - j; returns j.
template <bool has_x, bool has_y, class Real>
index_t update_vectors(LevinsonPass<std::complex<Real>>& pass) {
  constexpr index_t w = lanes<Real>;
  index_t j = 0;
  if constexpr (w > 1) {
    using Numbers = ComplexNumbers<Real>;
    const auto parts = [](auto* numbers) { return reinterpret_cast<Real*>(numbers); };
    const index_t n = 2 * pass.k;
    const auto* const back = reinterpret_cast<const Real*>(pass.back);
    Real *const x = parts(pass.x), *const y = parts(pass.y);
    const Vec<Real> signs = hn::OddEven(all(Real(-1)), all(Real(1)));
    const Vec<Real> alpha_re = hn::Mul(signs, all(pass.alpha.real())), alpha_im = all(pass.alpha.imag());
    const Vec<Real> mu_re = hn::Mul(signs, all(pass.mu.real())), mu_im = all(pass.mu.imag());
    Vec<Real> same_x = zeros<Real>(), other_x = zeros<Real>(), same_y = zeros<Real>(), other_y = zeros<Real>();
    for (; 2 * (j + w) <= n; j += w) {
      const index_t m = n - w - j;
      const Vec<Real> y0 = load(y + j), y1 = load(y + m), r0 = load(back + j), r1 = load(back + m);
      if constexpr (has_x) {
        const Vec<Real> x0 = Numbers::add_conjugate(mu_re, mu_im, y1, load(x + j)),
                        x1 = Numbers::add_conjugate(mu_re, mu_im, y0, load(x + m));
        store(x + j, x0), store(x + m, x1);
        Numbers::add_products(r0, x0, same_x, other_x), Numbers::add_products(r1, x1, same_x, other_x);
      }
      if constexpr (has_y) {
        const Vec<Real> a = Numbers::add_conjugate(alpha_re, alpha_im, y1, y0),
                        b = Numbers::add_conjugate(alpha_re, alpha_im, y0, y1);
        store(y + j, a), store(y + m, b);
        Numbers::add_products(r0, a, same_y, other_y), Numbers::add_products(r1, b, same_y, other_y);
      }
    }
    pass.sum_x = {sum<Real>(hn::Mul(signs, same_x)), sum<Real>(other_x)};
    pass.sum_y = {sum<Real>(hn::Mul(signs, same_y)), sum<Real>(other_y)};
  }
  return j / 2;
}

// y is updated by its own reverse: a pass runs inwards from both ends and keeps a vector of each end in registers.
template <bool has_x, bool has_y, class T>
index_t update_vectors(LevinsonPass<T>& pass) {
  constexpr index_t w = lanes<T>;
  const index_t k = pass.k;
  const T* const back = pass.back;
  T *const x = pass.x, *const y = pass.y;
  const T alpha = pass.alpha, mu = pass.mu;
  const Vec<T> alphas = all(alpha), mus = all(mu);
  Vec<T> sx0 = zeros<T>(), sx1 = zeros<T>(), sy0 = zeros<T>(), sy1 = zeros<T>();
  index_t j = 0;
  for (; 2 * (j + w) <= k; j += w) {
    const index_t m = k - w - j;
    const Vec<T> y0 = load(y + j), y1 = load(y + m), r0 = load(back + j), r1 = load(back + m);
    const Vec<T> turned0 = load_reversed(y + j), turned1 = load_reversed(y + m);
    if constexpr (has_x) {
      const Vec<T> x0 = hn::MulAdd(mus, turned1, load(x + j)), x1 = hn::MulAdd(mus, turned0, load(x + m));
      store(x + j, x0), store(x + m, x1);
      sx0 = hn::MulAdd(r0, x0, sx0), sx1 = hn::MulAdd(r1, x1, sx1);
    }
    if constexpr (has_y) {
      const Vec<T> a = hn::MulAdd(alphas, turned1, y0), b = hn::MulAdd(alphas, turned0, y1);
      store(y + j, a), store(y + m, b);
      sy0 = hn::MulAdd(r0, a, sy0), sy1 = hn::MulAdd(r1, b, sy1);
    }
  }
  if constexpr (has_x) pass.sum_x = sum<T>(hn::Add(sx0, sx1));
  if constexpr (has_y) pass.sum_y = sum<T>(hn::Add(sy0, sy1));
  return j;
}

template <bool has_x, bool has_y, class T>
void update(LevinsonPass<T>& pass) {
  const index_t k = pass.k;
  const T* const back = pass.back;
  T *const x = pass.x, *const y = pass.y;
  T sx = 0, sy = 0;
  for (index_t j = update_vectors<has_x, has_y>(pass); 2 * j < k; ++j) {
    const index_t m = k - 1 - j;
    const T y0 = y[j], y1 = y[m];
    if constexpr (has_x) {
      x[j] += times(pass.mu, conj(y1));
      sx += times(back[j], x[j]);
      if (m != j) x[m] += times(pass.mu, conj(y0)), sx += times(back[m], x[m]);
    }
    if constexpr (has_y) {
      y[j] = y0 + times(pass.alpha, conj(y1));
      sy += times(back[j], y[j]);
      if (m != j) y[m] = y1 + times(pass.alpha, conj(y0)), sy += times(back[m], y[m]);
    }
  }
  pass.sum_x += sx;
  pass.sum_y += sy;
}

template <class T>
void update_x(LevinsonPass<T>& pass) {
  update<true, false>(pass);
}
template <class T>
void update_y(LevinsonPass<T>& pass) {
  update<false, true>(pass);
}
template <class T>
void update_both(LevinsonPass<T>& pass) {
  update<true, true>(pass);
}

}  // namespace
}  // namespace tesela::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {

template <class T>
void update_x(LevinsonPass<T>& pass) {
  TESELA_BEST_TARGET(update_x<T>)(pass);
}
template <class T>
void update_y(LevinsonPass<T>& pass) {
  TESELA_BEST_TARGET(update_y<T>)(pass);
}
template <class T>
void update_both(LevinsonPass<T>& pass) {
  TESELA_BEST_TARGET(update_both<T>)(pass);
}

template void update_x(LevinsonPass<float>&);
template void update_x(LevinsonPass<double>&);
template void update_y(LevinsonPass<float>&);
template void update_y(LevinsonPass<double>&);
template void update_both(LevinsonPass<float>&);
template void update_both(LevinsonPass<double>&);
template void update_x(LevinsonPass<std::complex<double>>&);
template void update_y(LevinsonPass<std::complex<double>>&);
template void update_both(LevinsonPass<std::complex<double>>&);

}  // namespace tesela::kernels
#endif
