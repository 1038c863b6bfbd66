#pragma once

#include <tesela/codelets/toeplitz/cauchy_solve.hpp>
#include <tesela/codelets/toeplitz/internal/refined_solve_body.hpp>
#include <tesela/codelets/toeplitz/internal/sine_transform_body.hpp>

// Solves in the sine basis as steps that are common to a core and a GPU. Internal to codelets/.

namespace tesela::kernels::toeplitz {

/// Order at which the elimination broke down, as CauchyInverseSolve reports it.
struct CauchyBroken {
  const double* report[2];
  index_t n;
  double least;
  TESELA_BOTH index_t operator()() const {
    for (int part = 0; part < 2; ++part) {
      const index_t first = part * cauchy_rows(n, 0), rows = cauchy_rows(n, part);
      const double* const said = report[part];
      if (rows == 0) continue;
      if (said[CauchyReport::breakdown] != 0) return first + static_cast<index_t>(said[CauchyReport::breakdown]);
      if (!(said[CauchyReport::smallest_pivot] > least)) return first + rows;
    }
    return 0;
  }
};

/// A matrix of cauchy.hpp, its tables, and vectors to multiply: lane 2 j + part is one block's part of vector j.
template <class T>
struct CauchyLanes {
  index_t n, length;
  const T* tables;
  index_t ld_tables;
  const T* c;
  index_t ldc;
  T* x;
  index_t ld_x;
  T* z;
};

template <class T>
struct CauchyBegin {
  CauchyLanes<T> m;
  TESELA_BOTH void operator()(index_t a, index_t lane) const {
    const index_t part = lane % 2, i = part * cauchy_rows(m.n, 0) + a;
    T* const z = m.z + 2 * (m.length * lane + a);
    const bool inside = a < cauchy_rows(m.n, static_cast<int>(part));
    const T x = inside ? m.x[i + lane / 2 * m.ld_x] : T(0);
    z[0] = inside ? m.c[i + m.ldc] * m.tables[i + 4 * m.ld_tables] * x : T(0);
    z[1] = inside ? m.c[i] * x : T(0);
  }
};

template <class T>
struct CauchyMiddle {
  CauchyLanes<T> m;
  TESELA_BOTH void operator()(index_t k, index_t lane) const {
    const T *const t = m.tables + 2 * (lane % 2) * m.ld_tables + 2 * k, *const h = t + m.ld_tables;
    T* const z = m.z + 2 * (m.length * lane + k);
    const T re = z[0], im = z[1];
    z[0] = t[0] * re - t[1] * im - (h[0] * re + h[1] * im);
    z[1] = t[0] * im + t[1] * re - (h[1] * re - h[0] * im);
  }
};

template <class T>
struct CauchyEnd {
  CauchyLanes<T> m;
  TESELA_BOTH void operator()(index_t i, index_t j) const {
    const index_t half = cauchy_rows(m.n, 0), part = i < half ? 0 : 1;
    const T* const z = m.z + 2 * (m.length * (2 * j + part) + i - part * half);
    const T g = m.c[i], h = m.c[i + m.ldc] * m.tables[i + 4 * m.ld_tables];
    T& x = m.x[i + j * m.ld_x];
    x = g * z[0] - h * z[1] + (m.c[i + 2 * m.ldc] + g * h * m.tables[i + 5 * m.ld_tables]) * x;
  }
};

/// Computes X <- C X for k columns, as cauchy::multiply.
template <class Machine, class T>
void cauchy_multiply(const Machine& machine, const CauchyLanes<T>& lanes, index_t k) {
  const index_t length = lanes.length;
  machine.each(length, 2 * k, CauchyBegin<T>{lanes});
  machine.transform(fft::Direction::forward, length, 2 * k, lanes.z, length);
  machine.each(length, 2 * k, CauchyMiddle<T>{lanes});
  machine.transform(fft::Direction::backward, length, 2 * k, lanes.z, length);
  machine.each(lanes.n, k, CauchyEnd<T>{lanes});
}

/// Applies an inverse in the sine basis, middle(x, ld, p): X <- the inverse times X, k columns `ld` apart. p is work
/// space: the part of cauchy_solve_work after the refinement's four blocks.
template <class Machine, class T, class Middle>
void sine_solve(Machine& machine, const CauchySolveArgs<T>& args, const In<T>& spectrum, const double* report_0,
                const double* report_1, const InOut<T>& b, double* outcome, int* info, T* work, const Middle& middle) {
  const index_t n = b.rows, k = b.cols, rows = 2 * spectrum.rows;
  T* const p = work + 4 * rows * k;
  refined_solve(machine, args, spectrum, CauchyBroken{{report_0, report_1}, n, args.least}, b, outcome, info, work, p,
                [&](const T* from, T* to) {
                  sine_transform(machine, false, n, k, from, rows, to, rows, p);
                  middle(to, rows, p);
                  sine_transform(machine, true, n, k, to, rows, to, rows, p);
                });
}

template <class Machine, class T>
void cauchy_inverse_solve(Machine& machine, const CauchySolveArgs<T>& args, const In<T>& spectrum, const In<T>& tables,
                          const In<T>& inverse, const In<double>& report, const InOut<T>& b, double* outcome, int* info,
                          T* work) {
  sine_solve(
      machine, args, spectrum, &report(0, 0), &report(0, 1), b, outcome, info, work, [&](T* x, index_t ld, T* p) {
        cauchy_multiply(
            machine,
            CauchyLanes<T>{b.rows, cauchy_length(b.rows), tables.data, tables.ld, inverse.data, inverse.ld, x, ld, p},
            b.cols);
      });
}

}  // namespace tesela::kernels::toeplitz
