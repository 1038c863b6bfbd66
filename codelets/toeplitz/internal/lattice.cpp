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
  TESELA_BEST_TARGET(lattice_apply<T>)(lattice);
}
template <class T>
void lattice_step(index_t k, T rho, T* u, T* v) {
  TESELA_BEST_TARGET(lattice_step<T>)(k, rho, u, v);
}

template void lattice_apply(const Lattice<float>&);
template void lattice_apply(const Lattice<double>&);
template void lattice_step(index_t, float, float*, float*);
template void lattice_step(index_t, double, double*, double*);

}  // namespace tesela::kernels
#endif
