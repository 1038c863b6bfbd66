#include <tesela/codelets/toeplitz/internal/lookahead_recursion.hpp>

#define HWY_TARGET_INCLUDE "tesela/codelets/toeplitz/internal/lookahead_pass.cpp"
#include <tesela/codelets/support/internal/vectors_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::HWY_NAMESPACE {
namespace {

/// Updates the first numbers in vectors; returns their count. Adds their sums to the pass.
index_t update_vectors(LookaheadPass<double>& pass) {
  constexpr index_t w = lanes<double>;
  const index_t k = pass.k;
  double *const f = pass.f, *const q = pass.q;
  const auto alphas = all(pass.alpha), deltas = all(pass.delta);
  auto f0 = zeros<double>(), f1 = zeros<double>(), z0 = zeros<double>(), z1 = zeros<double>();
  index_t j = 0;
  for (; j + 2 * w <= k; j += 2 * w) {
    const auto a = hn::MulAdd(alphas, load(q + j), load(f + j));
    const auto b = hn::MulAdd(alphas, load(q + j + w), load(f + j + w));
    const auto c = hn::NegMulAdd(deltas, a, load(q + j - 1)), d = hn::NegMulAdd(deltas, b, load(q + j + w - 1));
    store(f + j, a), store(f + j + w, b);
    store(q + j - 1, c), store(q + j + w - 1, d);
    f0 = hn::MulAdd(load(pass.back + j), a, f0), f1 = hn::MulAdd(load(pass.back + j + w), b, f1);
    z0 = hn::MulAdd(load(pass.row + j), c, z0), z1 = hn::MulAdd(load(pass.row + j + w), d, z1);
  }
  pass.sum_f = sum<double>(hn::Add(f0, f1));
  pass.sum_z = sum<double>(hn::Add(z0, z1));
  return j;
}

/// Returns the parts of complex numbers.
template <class Real>
Real* parts(std::complex<Real>* x) {
  return reinterpret_cast<Real*>(x);
}
template <class Real>
const Real* parts(const std::complex<Real>* x) {
  return reinterpret_cast<const Real*>(x);
}

/// Does the same for complex numbers: the parts of a number are neighbours in a vector. c x is re(c) x + im(c) (-im(x),
/// re(x)). The real part of a sum of products x y is the sum of even lanes minus odd ones; with the parts of y
/// exchanged the sum of all lanes is the imaginary part.
template <class T>
index_t update_vectors(LookaheadPass<T>& pass) {
  using Real = real_t<T>;
  constexpr index_t w = lanes<Real>;
  if constexpr (w == 1) {
    return 0;
  } else {
    constexpr Tag<Real> tag;
    const auto signs = hn::OddEven(all(Real(1)), all(Real(-1)));
    const auto alpha_re = all(pass.alpha.real()), alpha_im = hn::Mul(signs, all(pass.alpha.imag()));
    const auto delta_re = all(pass.delta.real()), delta_im = hn::Mul(signs, all(pass.delta.imag()));
    Real *const f = parts(pass.f), *const q = parts(pass.q);
    const Real *const back = parts(pass.back), *const row = parts(pass.row);
    auto f0 = zeros<Real>(), f1 = zeros<Real>(), z0 = zeros<Real>(), z1 = zeros<Real>();
    index_t j = 0;
    for (; j + w <= 2 * pass.k; j += w) {
      const auto from = load(q + j), r = load(back + j), s = load(row + j);
      const auto a = hn::MulAdd(alpha_im, hn::Reverse2(tag, from), hn::MulAdd(alpha_re, from, load(f + j)));
      const auto turned = hn::Reverse2(tag, a);
      const auto c = hn::NegMulAdd(delta_im, turned, hn::NegMulAdd(delta_re, a, load(q + j - 2)));
      store(f + j, a), store(q + j - 2, c);
      f0 = hn::MulAdd(r, a, f0), f1 = hn::MulAdd(r, turned, f1);
      z0 = hn::MulAdd(s, c, z0), z1 = hn::MulAdd(s, hn::Reverse2(tag, c), z1);
    }
    pass.sum_f = T(-sum<Real>(hn::Mul(signs, f0)), sum<Real>(f1));
    pass.sum_z = T(-sum<Real>(hn::Mul(signs, z0)), sum<Real>(z1));
    return j / 2;
  }
}

template <class T>
void update_all(LookaheadPass<T>& pass) {
  T *const f = pass.f, *const q = pass.q;
  for (index_t j = update_vectors(pass); j < pass.k; ++j) {
    f[j] += times(pass.alpha, q[j]);
    q[j - 1] -= times(pass.delta, f[j]);
    pass.sum_f += times(pass.back[j], f[j]);
    pass.sum_z += times(pass.row[j], q[j - 1]);
  }
}

}  // namespace
}  // namespace tesela::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {

template <class T>
void update(LookaheadPass<T>& pass) {
  TESELA_BEST_TARGET(update_all<T>)(pass);
}

template void update(LookaheadPass<double>&);
template void update(LookaheadPass<std::complex<double>>&);

}  // namespace tesela::kernels
#endif
