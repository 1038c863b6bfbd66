#pragma once

#include "codelets/gohberg_semencul.hpp"
#include "codelets/levinson.hpp"
#include "codelets/toeplitz_steps.hpp"

// Gohberg and Semencul's formula as steps that a core and a GPU take alike. Internal to codelets/.

namespace tesela::toeplitz {

/// x and w, padded.
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

/// p(2j) = scale conj(x) b(j) and p(2j + 1) = scale conj(w) b(j), all of them transforms.
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

/// Zeros from row `first` on.
template <class T>
struct Zero {
  T* p;
  index_t first, ld;
  TESELA_BOTH void operator()(index_t i, index_t j) const { p[first + i + j * ld] = T(0); }
};

/// a(j) = scale / x(0) (x p(2j) - w p(2j + 1)).
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

/// What a solve keeps of a column besides its residual, in the columns of the outcome.
enum Outcome : std::uint8_t { residual_of, norm_b, norm_r, norm_new };

/// Takes the new x and residual where that is smaller than the old.
template <class T>
struct TakeBetter {
  const double* outcome;
  index_t k;
  const T *new_x, *new_r;
  index_t rows;
  T* x;
  index_t ld;
  T* r;
  TESELA_BOTH void operator()(index_t i, index_t j) const {
    if (!(outcome[j + norm_new * k] < outcome[j + norm_r * k])) return;
    x[i + j * ld] = new_x[i + j * rows];
    r[i + j * rows] = new_r[i + j * rows];
  }
};
struct TakeBetterNorm {
  double* outcome;
  index_t k;
  TESELA_BOTH void operator()(index_t j, index_t) const {
    if (outcome[j + norm_new * k] < outcome[j + norm_r * k]) outcome[j + norm_r * k] = outcome[j + norm_new * k];
  }
};

/// Residuals from norms of x in norm_new's place, and the status, by one thread.
struct Judge {
  double* outcome;
  const double* report;
  index_t k, n;
  double norm, tolerance;
  int* info;
  TESELA_BOTH void operator()(index_t, index_t) const {
    const auto broken = static_cast<index_t>(report[levinson_breakdown]);
    index_t bad = broken;
    for (index_t j = 0; j < k; ++j) {
      const double size = norm * outcome[j + norm_new * k] + outcome[j + norm_b * k], r = outcome[j + norm_r * k];
      outcome[j] = broken != 0 ? 1 : r == 0 ? 0 : r / size;
      if (bad == 0 && !(outcome[j] <= tolerance)) bad = n + 1 + j;
    }
    if (*info == 0) *info = static_cast<int>(bad < 2147483647 ? bad : 2147483647);
  }
};

template <class T>
struct ZeroWhereBroken {
  const double* report;
  T* x;
  index_t ld;
  TESELA_BOTH void operator()(index_t i, index_t j) const {
    if (report[levinson_breakdown] != 0) x[i + j * ld] = T(0);
  }
};

template <class T>
struct AddColumns {
  const T *x, *d;
  index_t ld_x, rows;
  T* to;
  TESELA_BOTH void operator()(index_t i, index_t j) const { to[i + j * rows] = x[i + j * ld_x] + d[i + j * rows]; }
};

template <class Machine, class T>
void generator(Machine& machine, const T* x, index_t n, T* to, index_t rows) {
  machine.each(rows, 2, GeneratorColumns<T>{x, n, rows, to});
  machine.real_to_complex(rows - 2, 2, to, rows);
}

/// Columns of `a` = the formula's inverse times k columns of B; `a` is rows x k, p rows x 2 k, with room.
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

/// GohbergSemenculSolve.
template <class Machine, class T>
void refined_solve(Machine& machine, const typename GohbergSemenculSolve<T>::Args& args, const In<T>& spectrum,
                   const T* first, const In<T>& generator, const double* report, const InOut<T>& b, double* outcome,
                   int* info, T* work) {
  const index_t n = b.rows, k = b.cols, rows = generator.rows, part = rows * k;
  T *const right = work, *const r = right + part, *const new_x = r + part, *const d = new_x + part, *const p = d + part;
  // d becomes new_r once x + d is there.
  const auto residual = [&](const T* x, index_t ld_x, T* to) {
    machine.each(rows, k, Pad<T>{right, n, rows, to, rows});
    multiply(machine, spectrum.data, spectrum.rows, args.sigma, T(-1), x, ld_x, T(1), to, rows, n, k, p);
  };
  machine.each(rows, k, Pad<T>{b.data, n, b.ld, right, rows});
  machine.norms(n, k, right, rows, outcome + norm_b * k);
  apply_inverse(machine, generator.data, first, rows, right, rows, n, k, d, p);
  machine.each(n, k, Accumulate<T>{d, rows, T(0), b.data, b.ld});
  residual(b.data, b.ld, r);
  machine.norms(n, k, r, rows, outcome + norm_r * k);
  for (int step = 0; step < args.steps; ++step) {
    apply_inverse(machine, generator.data, first, rows, r, rows, n, k, d, p);
    machine.each(n, k, AddColumns<T>{b.data, d, b.ld, rows, new_x});
    residual(new_x, rows, d);
    machine.norms(n, k, d, rows, outcome + norm_new * k);
    const bool enough = machine.none_better(k, outcome + norm_new * k, outcome + norm_r * k);
    machine.each(n, k, TakeBetter<T>{outcome, k, new_x, d, rows, b.data, b.ld, r});
    machine.each(k, 1, TakeBetterNorm{outcome, k});
    if (enough) break;
  }
  machine.each(n, k, ZeroWhereBroken<T>{report, b.data, b.ld});
  machine.norms(n, k, b.data, b.ld, outcome + norm_new * k);
  machine.each(1, 1, Judge{outcome, report, k, n, args.norm, args.tolerance, info});
}

}  // namespace tesela::toeplitz
