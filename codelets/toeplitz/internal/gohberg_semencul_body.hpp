#pragma once

#include <tesela/codelets/toeplitz/internal/refined_solve_body.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>
#include <tesela/codelets/toeplitz/transform_solves.hpp>

// The formula of Gohberg and Semencul as steps that are common to a core and a GPU. Internal to codelets/.

namespace tesela::kernels::toeplitz {

/// Copies x and w with padding.
template <class T>
struct GeneratorColumns {
  const T* x;
  index_t n, rows;
  T* to;
  TESELA_BOTH void operator()(index_t i, index_t j) const {
    const bool second = j > 0;
    to[i + j * rows] = i >= n || (second && i == 0) ? T(0) : x[second ? n - i : i];
  }
};

/// Computes p(2j) = scale conj(x) b(j) and p(2j + 1) = scale conj(w) b(j), all of them transforms.
template <class T>
struct TimesConjugates {
  const T* generator;
  const T* b;
  T scale;
  index_t half;
  T* p;
  TESELA_BOTH void operator()(index_t k, index_t j) const {
    const T re = b[2 * (k + j * half)], im = b[2 * (k + j * half) + 1];
    for (int s = 0; s < 2; ++s) {
      const T a = scale * generator[2 * (k + s * half)], c = scale * generator[2 * (k + s * half) + 1];
      T* const to = p + 2 * (k + (2 * j + s) * half);
      to[0] = a * re + c * im;
      to[1] = a * im - c * re;
    }
  }
};

/// Sets rows from `first` on to zero.
template <class T>
struct Zero {
  T* p;
  index_t first, ld;
  TESELA_BOTH void operator()(index_t i, index_t j) const { p[first + i + j * ld] = T(0); }
};

/// Computes a(j) = scale / x(0) (x p(2j) - w p(2j + 1)).
template <class T>
struct Difference {
  const T* generator;
  const T* p;
  const T* first;
  T scale;
  index_t half;
  T* a;
  TESELA_BOTH void operator()(index_t k, index_t j) const {
    const T factor = scale / *first;
    const T *const x = generator + 2 * k, *const w = x + 2 * half;
    const T *const q = p + 2 * (k + 2 * j * half), *const r = q + 2 * half;
    T* const to = a + 2 * (k + j * half);
    to[0] = factor * ((x[0] * q[0] - x[1] * q[1]) - (w[0] * r[0] - w[1] * r[1]));
    to[1] = factor * ((x[0] * q[1] + x[1] * q[0]) - (w[0] * r[1] + w[1] * r[0]));
  }
};

struct LevinsonBroken {
  const double* report;
  TESELA_BOTH index_t operator()() const { return static_cast<index_t>(report[levinson_breakdown]); }
};

template <class Machine, class T>
void generator(Machine& machine, const T* x, index_t n, T* to, index_t rows) {
  machine.each(rows, 2, GeneratorColumns<T>{x, n, rows, to});
  machine.real_to_complex(rows - 2, 2, to, rows);
}

/// Computes columns of `a` = the formula's inverse times k columns of B; `a` is rows x k, p is rows x 2 k work space.
template <class Machine, class T>
void apply_inverse(Machine& machine, const T* generator, const T* first, index_t rows, const T* b, index_t ld_b,
                   index_t n, index_t k, T* a, T* p) {
  const index_t length = rows - 2, half = rows / 2;
  const T scale = 1 / static_cast<T>(length);
  machine.each(rows, k, Pad<T>{b, n, ld_b, a, rows});
  machine.real_to_complex(length, k, a, rows);
  machine.each(half, k, TimesConjugates<T>{generator, a, scale, half, p});
  machine.complex_to_real(length, 2 * k, p, rows);
  machine.each(rows - n, 2 * k, Zero<T>{p, n, rows});
  machine.real_to_complex(length, 2 * k, p, rows);
  machine.each(half, k, Difference<T>{generator, p, first, scale, half, a});
  machine.complex_to_real(length, k, a, rows);
}

/// Runs GohbergSemenculSolve.
template <class Machine, class T>
void gohberg_semencul_solve(Machine& machine, const RefinedSolveArgs<T>& args, const In<T>& spectrum, const T* first,
                            const In<T>& generator, const double* report, const InOut<T>& b, double* outcome, int* info,
                            T* work) {
  const index_t n = b.rows, k = b.cols, rows = generator.rows;
  T* const p = work + 4 * rows * k;
  refined_solve(machine, args, spectrum, LevinsonBroken{report}, b, outcome, info, work, p, [&](const T* from, T* to) {
    apply_inverse(machine, generator.data, first, rows, from, rows, n, k, to, p);
  });
}

}  // namespace tesela::kernels::toeplitz
