#pragma once

#include <tesela/codelets/toeplitz/internal/refined_solve_body.hpp>
#include <tesela/codelets/toeplitz/transform_solves.hpp>

// Conjugate gradients as steps that are common to a core and a GPU. In addition to the operations of toeplitz_body.hpp,
// a Machine has
//   dot(n, x, y, to, partial)   *to = the sum of x y in double; `partial` has room for dot_parts numbers
//   knows(flag)                 whether *flag is known to be nonzero: a GPU would have to wait, and continues
//                               without effect
// Internal to codelets/.

namespace tesela::kernels::toeplitz {

/// The first column of T. Chan's circulant matrix.
template <class T>
struct Chan {
  const T* t;
  index_t n;
  T* to;
  TESELA_BOTH void operator()(index_t k, index_t) const {
    const T part = static_cast<T>(k) / static_cast<T>(n);
    to[k] = k == 0 ? t[0] : (1 - part) * t[k] + part * t[n - k];
  }
};
/// Sets `broken` unless all eigenvalues are positive; concurrent writers write the same value.
template <class T>
struct MarkNotPositive {
  const T* eigenvalues;
  index_t n;
  double* broken;
  TESELA_BOTH void operator()(index_t k, index_t) const {
    if (!(eigenvalues[k] > 0)) *broken = static_cast<double>(n);
  }
};

/// State of a column's steps, on the machine that runs them.
struct GradientState {
  double broken;  ///< the order, if T is found not to be positive definite
  double stopped, energy, before, now, square, left, enough;
  double alpha, beta;
};
constexpr index_t state_rows = sizeof(GradientState) / sizeof(double);

/// Clears the state before the first column.
struct ClearState {
  const double* broken;
  GradientState* s;
  TESELA_BOTH void operator()(index_t, index_t) const { s->broken = *broken; }
};
/// Starts a column; `square` holds ||b||^2.
struct Begin {
  double inner;
  GradientState* s;
  TESELA_BOTH void operator()(index_t, index_t) const {
    s->left = sqrt(s->square);
    s->enough = inner * s->left;
    s->before = 0;
    s->stopped = s->broken != 0 || !(s->left > s->enough) ? 1 : 0;
  }
};
/// Computes beta; `now` holds r^T C^-1 r.
struct Turn {
  bool first;
  GradientState* s;
  TESELA_BOTH void operator()(index_t, index_t) const { s->beta = first ? 0 : s->now / s->before; }
};
/// Computes alpha; `energy` holds d^T T d.
struct Advance {
  double n;
  GradientState* s;
  TESELA_BOTH void operator()(index_t, index_t) const {
    if (s->stopped != 0) return;
    if (!(s->energy > 0)) {
      if (s->energy <= 0) s->broken = n;  // otherwise b is not finite
      s->stopped = 1;
      return;
    }
    s->alpha = s->now / s->energy;
    s->before = s->now;
  }
};
/// Tests for the end; `square` holds ||r||^2.
struct Stop {
  GradientState* s;
  TESELA_BOTH void operator()(index_t, index_t) const {
    if (s->stopped != 0) return;
    s->left = sqrt(s->square);
    if (!(s->left > s->enough)) s->stopped = 1;
  }
};

/// Multiplies the transform of r by 1 / (n C's eigenvalues).
template <class T>
struct DivideSpectrum {
  const T* eigenvalues;
  index_t n;
  T* x;
  TESELA_BOTH void operator()(index_t k, index_t) const {
    const T factor = 1 / (static_cast<T>(n) * eigenvalues[k]);
    x[2 * k] *= factor;
    x[2 * k + 1] *= factor;
  }
};
template <class T>
struct NewDirection {
  const GradientState* s;
  const T* transformed;
  bool first;
  T* direction;
  TESELA_BOTH void operator()(index_t i, index_t) const {
    if (s->stopped != 0) return;
    direction[i] = transformed[i] + (first ? T(0) : static_cast<T>(s->beta) * direction[i]);
  }
};
template <class T>
struct UpdateIterate {
  const GradientState* s;
  const T *direction, *image;
  T *x, *residual;
  TESELA_BOTH void operator()(index_t i, index_t) const {
    if (s->stopped != 0) return;
    const T alpha = static_cast<T>(s->alpha);
    x[i] += alpha * direction[i];
    residual[i] -= alpha * image[i];
  }
};
template <class T>
struct NoEarlyStop {
  const GradientState* s;
  T* x;
  TESELA_BOTH void operator()(index_t i, index_t) const {
    if (!(s->left < HUGE_VAL)) x[i] = static_cast<T>(NAN);
  }
};

struct BrokenAt {
  const GradientState* s;
  TESELA_BOTH index_t operator()() const { return static_cast<index_t>(s->broken); }
};

template <class Machine, class T>
void chan(Machine& machine, const In<T>& t, T* eigenvalues, index_t half, double* broken, T* work) {
  const index_t n = t.rows;
  machine.each(n, 1, Chan<T>{t.data, n, work});
  machine.real_to_complex(n, 1, work, toeplitz_rows(n));
  machine.each(half, 1, RealParts<T>{work, eigenvalues});
  machine.each(1, 1, Pad<double>{broken, 0, 1, broken, 1});
  machine.each(half, 1, MarkNotPositive<T>{eigenvalues, n, broken});
}

/// Computes x = T^-1 b, approximately, of one column, in memory of four columns; 0 if s reports that T is not positive
/// definite.
template <class Machine, class T>
void gradients(Machine& machine, const ToeplitzGradientsArgs<T>& args, const In<T>& spectrum, const In<T>& eigenvalues,
               index_t n, const T* b, T* x, T* work, GradientState* s, double* partial) {
  const index_t rows = 2 * spectrum.rows;
  T *const transformed = work, *const residual = work + rows, *const direction = residual + rows,
           *const image = direction + rows;
  machine.each(n, 1, Accumulate<T>{b, n, T(1), T(0), residual, n});
  machine.each(n, 1, Pad<T>{b, 0, n, x, n});
  machine.dot(n, residual, residual, &s->square, partial);
  machine.each(1, 1, Begin{args.inner, s});
  for (int step = 0; step < args.iterations && !machine.knows(&s->stopped); ++step) {
    machine.each(n, 1, Accumulate<T>{residual, n, T(1), T(0), transformed, n});
    machine.real_to_complex(n, 1, transformed, rows);
    machine.each(eigenvalues.rows, 1, DivideSpectrum<T>{eigenvalues.data, n, transformed});
    machine.complex_to_real(n, 1, transformed, rows);
    machine.dot(n, residual, transformed, &s->now, partial);
    machine.each(1, 1, Turn{step == 0, s});
    machine.each(n, 1, NewDirection<T>{s, transformed, step == 0, direction});
    multiply(machine, spectrum.data, spectrum.rows, T(1), T(0), T(1), direction, rows, T(0), image, rows, n, 1,
             transformed);
    machine.dot(n, direction, image, &s->energy, partial);
    machine.each(1, 1, Advance{static_cast<double>(n), s});
    machine.each(n, 1, UpdateIterate<T>{s, direction, image, x, residual});
    machine.dot(n, residual, residual, &s->square, partial);
    machine.each(1, 1, Stop{s});
  }
  machine.each(n, 1, NoEarlyStop<T>{s, x});
}

/// Solves by gradients in refinement. own: four columns for gradients; the refinement uses as many as b has.
template <class Machine, class T>
void gradients_solve(Machine& machine, const ToeplitzGradientsArgs<T>& args, const In<T>& spectrum,
                     const In<T>& eigenvalues, const In<double>& broken, const InOut<T>& b, double* outcome, int* info,
                     T* work, double* numbers) {
  const index_t n = b.rows, k = b.cols, rows = 2 * spectrum.rows;
  T* const own = work + 4 * rows * k;
  auto* const state = reinterpret_cast<GradientState*>(numbers);
  machine.each(1, 1, ClearState{broken.data, state});
  refined_solve(machine, args, spectrum, BrokenAt{state}, b, outcome, info, work, own, [&](const T* from, T* to) {
    for (index_t j = 0; j < k; ++j)
      gradients(machine, args, spectrum, eigenvalues, n, from + j * rows, to + j * rows, own, state,
                numbers + state_rows);
  });
}

}  // namespace tesela::kernels::toeplitz
