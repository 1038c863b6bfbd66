#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

// Steps of the Schur recursion on a core. A step with the coefficient rho updates all pairs,
//   (u(i), v(i)) <- (u(i) + conj(rho) v(i), v(i) + rho u(i)),
// and moves u by one place: the last u leaves, and another one enters at the front. Internal to codelets/toeplitz.

namespace tesela::kernels {

/// Numbers of pairs and of steps are multiples of this number.
inline constexpr index_t lattice_grain = 128;

/// Runs the steps on `count` pairs. edge(k) enters after step k and becomes the u that leaves after step k. work has
/// 2 count numbers.
template <class T>
struct Lattice {
  const T* rho;
  index_t steps;
  T *u, *v;
  index_t count;
  T* edge;
  T* work;
};
template <class T>
void lattice_apply(const Lattice<T>& lattice);

/// Computes (u(p), v(p + k)) <- (u(p) + conj(rho) v(p + k), v(p + k) + rho u(p)) for all p < lattice_grain - k: step k
/// in place, without moving u. Behind its lattice_grain numbers v has lattice_padding zeros and u any numbers.
inline constexpr index_t lattice_padding = 16;
template <class T>
void lattice_step(index_t k, T rho, T* u, T* v);

}  // namespace tesela::kernels
