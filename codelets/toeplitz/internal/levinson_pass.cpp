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

// y is updated by its own reverse: a pass runs inwards from both ends and keeps a vector of each end in registers.
template <bool has_x, bool has_y, class T>
void update(LevinsonPass<T>& pass) {
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
  T sx = 0, sy = 0;
  for (; 2 * j < k; ++j) {
    const index_t m = k - 1 - j;
    const T y0 = y[j], y1 = y[m];
    if constexpr (has_x) {
      x[j] += mu * y1;
      sx += back[j] * x[j];
      if (m != j) x[m] += mu * y0, sx += back[m] * x[m];
    }
    if constexpr (has_y) {
      y[j] = y0 + alpha * y1;
      sy += back[j] * y[j];
      if (m != j) y[m] = y1 + alpha * y0, sy += back[m] * y[m];
    }
  }
  if constexpr (has_x) pass.sum_x = sum<T>(hn::Add(sx0, sx1)) + sx;
  if constexpr (has_y) pass.sum_y = sum<T>(hn::Add(sy0, sy1)) + sy;
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

}  // namespace tesela::kernels
#endif
