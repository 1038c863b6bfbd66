#include <tesela/codelets/toeplitz/internal/lattice.hpp>

#define HWY_TARGET_INCLUDE "tesela/codelets/toeplitz/internal/lattice.cpp"
#include <tesela/codelets/support/internal/vectors_inl.hpp>

// The pairs are cut into as many chunks as a vector has lanes, one chunk a lane, so that moving u never crosses lanes
// inside a chunk: slot s holds the pairs s of all chunks. A pass runs several steps on one slot after the other with
// all intermediate numbers in registers. The numbers that enter the chunks leave others, so a pass first repeats the
// last slots.

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::HWY_NAMESPACE {
namespace {

constexpr int pass_steps = 8;

/// Runs pass_steps steps on these slots. moving[k] enters the first slot after step k and becomes what leaves the last.
template <bool stores, class T>
HWY_INLINE void pass(const T* rho, T* u, T* v, index_t slots, Vec<T> (&moving)[pass_steps]) {
  constexpr index_t w = lanes<T>;
  Vec<T> rhos[pass_steps];
  for (int k = 0; k < pass_steps; ++k) rhos[k] = all(rho[k]);
  for (index_t s = 0; s < slots; ++s) {
    Vec<T> a = load(u + s * w), b = load(v + s * w);
    HWY_UNROLL(8) for (int k = 0; k < pass_steps; ++k) {
      const Vec<T> next = hn::MulAdd(rhos[k], b, a);
      b = hn::MulAdd(rhos[k], a, b);
      a = moving[k];
      moving[k] = next;
    }
    if constexpr (stores) store(u + s * w, a), store(v + s * w, b);
  }
}

template <class T>
void lattice_apply(const Lattice<T>& l) {
  constexpr index_t w = lanes<T>;
  static_assert(lattice_grain % (w * pass_steps) == 0);
  const index_t slots = l.count / w;
  T *const u = l.work, *const v = u + l.count;
  for (index_t s = 0; s < slots; ++s)
    for (index_t i = 0; i < w; ++i) u[s * w + i] = l.u[i * slots + s], v[s * w + i] = l.v[i * slots + s];
  for (index_t step = 0; step < l.steps; step += pass_steps) {
    const T* const rho = l.rho + step;
    T* const edge = l.edge + step;
    Vec<T> moving[pass_steps];
    for (Vec<T>& x : moving) x = zeros<T>();
    const index_t last = (slots - pass_steps) * w;
    pass<false>(rho, u + last, v + last, pass_steps, moving);
    T chunks[pass_steps][w + 1];
    for (int k = 0; k < pass_steps; ++k) {
      chunks[k][0] = edge[k];
      store(&chunks[k][1], moving[k]);
      moving[k] = load(&chunks[k][0]);
      edge[k] = chunks[k][w];
    }
    pass<true>(rho, u, v, slots, moving);
  }
  for (index_t i = 0; i < w; ++i)
    for (index_t s = 0; s < slots; ++s) l.u[i * slots + s] = u[s * w + i], l.v[i * slots + s] = v[s * w + i];
}

/// A vector of complex numbers.
template <class Real>
struct Complex {
  Vec<Real> re, im;
};

/// Does the same as pass() for half as many steps on complex numbers: a slot has w real parts, then w imaginary parts.
constexpr int complex_steps = 4;
template <bool stores, class Real>
HWY_INLINE void pass(const std::complex<Real>* rho, Real* u, Real* v, index_t slots,
                     Complex<Real> (&moving)[complex_steps]) {
  constexpr index_t w = lanes<Real>;
  Complex<Real> rhos[complex_steps];
  for (int k = 0; k < complex_steps; ++k) rhos[k].re = all(rho[k].real()), rhos[k].im = all(rho[k].imag());
  for (index_t s = 0; s < 2 * slots; s += 2) {
    Vec<Real> ar = load(u + s * w), ai = load(u + (s + 1) * w), br = load(v + s * w), bi = load(v + (s + 1) * w);
    HWY_UNROLL(4) for (int k = 0; k < complex_steps; ++k) {
      const Vec<Real> re = rhos[k].re, im = rhos[k].im;
      const Vec<Real> next_re = hn::MulAdd(im, bi, hn::MulAdd(re, br, ar)),
                      next_im = hn::NegMulAdd(im, br, hn::MulAdd(re, bi, ai));
      br = hn::NegMulAdd(im, ai, hn::MulAdd(re, ar, br));
      bi = hn::MulAdd(im, ar, hn::MulAdd(re, ai, bi));
      ar = moving[k].re, ai = moving[k].im;
      moving[k].re = next_re, moving[k].im = next_im;
    }
    if constexpr (stores)
      store(u + s * w, ar), store(u + (s + 1) * w, ai), store(v + s * w, br), store(v + (s + 1) * w, bi);
  }
}

template <class Real>
void complex_lattice_apply(const Lattice<std::complex<Real>>& l) {
  constexpr index_t w = lanes<Real>;
  static_assert(lattice_grain % (w * complex_steps) == 0);
  const index_t slots = l.count / w;
  Real *const u = reinterpret_cast<Real*>(l.work), *const v = u + 2 * l.count;
  const auto at = [](index_t slot, index_t chunk) { return 2 * slot * w + chunk; };
  for (index_t s = 0; s < slots; ++s)
    for (index_t i = 0; i < w; ++i) {
      const std::complex<Real> x = l.u[i * slots + s], y = l.v[i * slots + s];
      u[at(s, i)] = x.real(), u[at(s, i) + w] = x.imag(), v[at(s, i)] = y.real(), v[at(s, i) + w] = y.imag();
    }
  for (index_t step = 0; step < l.steps; step += complex_steps) {
    const std::complex<Real>* const rho = l.rho + step;
    std::complex<Real>* const edge = l.edge + step;
    Complex<Real> moving[complex_steps];
    for (auto& x : moving) x.re = x.im = zeros<Real>();
    const index_t last = at(slots - complex_steps, 0);
    pass<false>(rho, u + last, v + last, complex_steps, moving);
    Real re[w + 1], im[w + 1];
    for (int k = 0; k < complex_steps; ++k) {
      re[0] = edge[k].real(), im[0] = edge[k].imag();
      store(re + 1, moving[k].re), store(im + 1, moving[k].im);
      moving[k].re = load(re), moving[k].im = load(im);
      edge[k] = {re[w], im[w]};
    }
    pass<true>(rho, u, v, slots, moving);
  }
  for (index_t i = 0; i < w; ++i)
    for (index_t s = 0; s < slots; ++s) {
      l.u[i * slots + s] = {u[at(s, i)], u[at(s, i) + w]};
      l.v[i * slots + s] = {v[at(s, i)], v[at(s, i) + w]};
    }
}

template <class Real>
void complex_lattice_step(index_t k, std::complex<Real> rho, std::complex<Real>* u, std::complex<Real>* v) {
  for (index_t p = 0; p < lattice_grain - k; ++p) {
    const std::complex<Real> a = u[p], b = v[p + k];
    u[p] = a + times(conj(rho), b);
    v[p + k] = b + times(rho, a);
  }
}

template <class T>
void lattice_step(index_t k, T rho, T* u, T* v) {
  constexpr index_t w = lanes<T>;
  static_assert(w <= lattice_padding);
  const Vec<T> rhos = all(rho);
  for (index_t p = 0; p < lattice_grain - k; p += w) {
    const Vec<T> a = load(u + p), b = load(v + p + k);
    store(u + p, hn::MulAdd(rhos, b, a));
    store(v + p + k, hn::MulAdd(rhos, a, b));
  }
  store(v + lattice_grain, zeros<T>());
}

}  // namespace
}  // namespace tesela::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {

template <class T>
void lattice_apply(const Lattice<T>& lattice) {
  if constexpr (is_complex<T>)
    TESELA_BEST_TARGET(complex_lattice_apply<real_t<T>>)(lattice);
  else
    TESELA_BEST_TARGET(lattice_apply<T>)(lattice);
}
template <class T>
void lattice_step(index_t k, T rho, T* u, T* v) {
  if constexpr (is_complex<T>)
    TESELA_BEST_TARGET(complex_lattice_step<real_t<T>>)(k, rho, u, v);
  else
    TESELA_BEST_TARGET(lattice_step<T>)(k, rho, u, v);
}

template void lattice_apply(const Lattice<float>&);
template void lattice_apply(const Lattice<double>&);
template void lattice_apply(const Lattice<std::complex<double>>&);
template void lattice_step(index_t, float, float*, float*);
template void lattice_step(index_t, double, double*, double*);
template void lattice_step(index_t, std::complex<double>, std::complex<double>*, std::complex<double>*);

}  // namespace tesela::kernels
#endif
