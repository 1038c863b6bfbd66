#pragma once

#include <tesela/codelets/toeplitz/cauchy_solve.hpp>
#include <tesela/codelets/toeplitz/internal/cauchy_body.hpp>

// Solves by a block's factors as steps that are common to a core and a GPU. Internal to codelets/.

namespace tesela::kernels::toeplitz {

/// Computes q = P x, or x = P^T q.
template <class T>
struct PermuteRows {
  const T* order;
  T *x, *q;
  index_t ld_x, ld_q;
  bool back;
  TESELA_BOTH void operator()(index_t i, index_t j) const {
    T& at = x[static_cast<index_t>(order[i]) + j * ld_x];
    T& to = q[i + j * ld_q];
    if (back)
      at = to;
    else
      to = at;
  }
};

template <class T>
struct DivideRows {
  const T* d;
  T* q;
  index_t ld;
  TESELA_BOTH void operator()(index_t i, index_t j) const { q[i + j * ld] /= d[i]; }
};

/// Solves with a block's factors; solve(op, m, n, l, ldl, x, ldx) is X <- op(L)^-1 X, L unit lower triangular.
template <class Machine, class T, class Solve>
void cauchy_factored_solve(Machine& machine, const CauchySolveArgs<T>& args, const In<T>& spectrum, const In<T>& first,
                           const In<T>& second, const double* report_0, const double* report_1, const InOut<T>& b,
                           double* outcome, int* info, T* work, const Solve& solve) {
  const index_t n = b.rows, k = b.cols;
  sine_solve(machine, args, spectrum, report_0, report_1, b, outcome, info, work, [&](T* x, index_t ld, T* p) {
    for (int part = 0; part < 2; ++part) {
      const index_t rows = cauchy_rows(n, part);
      if (rows == 0) continue;
      const In<T>& l = part == 0 ? first : second;
      const T *const pivots = &l(0, rows), *const order = &l(0, rows + 1);
      T* const at = x + part * cauchy_rows(n, 0);
      machine.each(rows, k, PermuteRows<T>{order, at, p, ld, rows, false});
      solve(Op::none, rows, k, l.data, l.ld, p, rows);
      machine.each(rows, k, DivideRows<T>{pivots, p, rows});
      solve(Op::transpose, rows, k, l.data, l.ld, p, rows);
      machine.each(rows, k, PermuteRows<T>{order, at, p, ld, rows, true});
    }
  });
}

}  // namespace tesela::kernels::toeplitz
