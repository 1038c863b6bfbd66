#pragma once

#include <tesela/codelets/toeplitz/internal/toeplitz_body.hpp>
#include <tesela/codelets/toeplitz/toeplitz.hpp>

#include <cmath>
#include <limits>

// Iterative refinement with Toeplitz products as steps that are common to a core and a GPU. Internal to codelets/.

namespace tesela::kernels::toeplitz {

/// Norms that a solve keeps of a column, in the columns of the outcome.
enum Outcome : std::uint8_t { residual_of, norm_b, norm_r, norm_new };

/// Copies the new x and residual if the new residual is smaller.
template <class T>
struct KeepBetter {
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
struct KeepBetterNorm {
  double* outcome;
  index_t k;
  TESELA_BOTH void operator()(index_t j, index_t) const {
    if (outcome[j + norm_new * k] < outcome[j + norm_r * k]) outcome[j + norm_r * k] = outcome[j + norm_new * k];
  }
};

/// Range of a solution's numbers when it is scaled back from size 1: column j is multiplied by 2^(right[j rows] -
/// matrix), and its largest magnitude has the exponent own[j rows] before.
template <class T>
struct Range {
  const T *own, *right;
  index_t rows;
  int matrix;
  int least = std::numeric_limits<T>::min_exponent, most = std::numeric_limits<T>::max_exponent;
  int digits = std::numeric_limits<T>::digits;
  /// Returns the resulting relative error: above 0 for denormal numbers, 1 if nothing is left, infinite above the
  /// range.
  TESELA_BOTH double loss(index_t j) const {
    const int e = static_cast<int>(own[j * rows]) + static_cast<int>(right[j * rows]) - matrix;
    if (e > most) return HUGE_VAL;
    return e >= least ? 0 : e <= least - digits ? 1 : ldexp(1.0, least - digits - e);
  }
};

/// Computes residuals from the norms of x, stored as norm_new, and the status, in one thread.
template <class T, class Broken>
struct Judge {
  double* outcome;
  Broken broken_at;
  Range<T> range;
  index_t k, n;
  double norm, tolerance;
  int* info;
  TESELA_BOTH void operator()(index_t, index_t) const {
    const auto broken = broken_at();
    index_t bad = broken;
    for (index_t j = 0; j < k; ++j) {
      const double size = norm * outcome[j + norm_new * k] + outcome[j + norm_b * k], r = outcome[j + norm_r * k];
      const double relative = r == 0 ? 0 : r / size, loss = outcome[j + norm_new * k] > 0 ? range.loss(j) : 0;
      outcome[j] = broken != 0 ? 1 : loss > relative ? loss : relative;
      if (bad == 0 && !(outcome[j] <= tolerance)) bad = n + 1 + j;
    }
    if (*info == 0) *info = static_cast<int>(bad < 2147483647 ? bad : 2147483647);
  }
};

/// Stores 1 as the first residual if no column improves by much, else 0.
struct StoreEnough {
  double* outcome;
  index_t k;
  TESELA_BOTH void operator()(index_t, index_t) const {
    bool enough = true;
    for (index_t j = 0; j < k; ++j) enough = enough && !(outcome[j + norm_new * k] < outcome[j + norm_r * k] / 2);
    outcome[0] = enough ? 1 : 0;
  }
};

template <class T, class Broken>
struct ZeroWhereBroken {
  Broken broken_at;
  T* x;
  index_t ld;
  TESELA_BOTH void operator()(index_t i, index_t j) const {
    if (broken_at() != 0) x[i + j * ld] = T(0);
  }
};

template <class T>
struct AddColumns {
  const T *x, *d;
  index_t ld_x, rows;
  T* to;
  TESELA_BOTH void operator()(index_t i, index_t j) const { to[i + j * rows] = x[i + j * ld_x] + d[i + j * rows]; }
};

/// The steps of a refined solve, see RefinedSolveArgs. An approximate inverse sets d to its product with `right` before
/// first(), and with r before improve(). All blocks have k columns, `rows` apart.
template <class Machine, class T>
struct Refinement {
  Machine& machine;
  const RefinedSolveArgs<T>& args;
  In<T> spectrum;
  InOut<T> b;
  double* outcome;
  T* work;  ///< four blocks, kept from begin to finish
  T* p;     ///< another block

  index_t rows() const { return 2 * spectrum.rows; }
  T* right() const { return work; }
  T* r() const { return work + rows() * b.cols; }
  T* new_x() const { return r() + rows() * b.cols; }
  T* d() const { return new_x() + rows() * b.cols; }

  void begin() const {
    const index_t n = b.rows, k = b.cols;
    machine.each(rows(), k, Pad<T>{b.data, n, b.ld, right(), rows()});
    machine.to_unit(n, k, right(), rows(), exponents(), rows());
    machine.norms(n, k, right(), rows(), outcome + norm_b * k);
  }

  void first() const {
    const index_t n = b.rows, k = b.cols;
    machine.each(n, k, Accumulate<T>{d(), rows(), T(1), T(0), b.data, b.ld});
    residual(b.data, b.ld, r());
    machine.norms(n, k, r(), rows(), outcome + norm_r * k);
  }

  /// Returns true if more steps are known not to help; then outcome[0] becomes 1, else 0, also on a GPU.
  bool improve() const {
    const index_t n = b.rows, k = b.cols;
    machine.each(n, k, AddColumns<T>{b.data, d(), b.ld, rows(), new_x()});
    residual(new_x(), rows(), d());  // after x + d is computed
    machine.norms(n, k, d(), rows(), outcome + norm_new * k);
    const bool enough = machine.known_not_better(k, outcome + norm_new * k, outcome + norm_r * k);
    machine.each(1, 1, StoreEnough{outcome, k});
    machine.each(n, k, KeepBetter<T>{outcome, k, new_x(), d(), rows(), b.data, b.ld, r()});
    machine.each(k, 1, KeepBetterNorm{outcome, k});
    return enough;
  }

  /// Scales back and judges; broken() is the order at which the inverse broke down, or 0.
  template <class Broken>
  void finish(const Broken& broken, int* info) const {
    const index_t n = b.rows, k = b.cols;
    machine.each(n, k, ZeroWhereBroken<T, Broken>{broken, b.data, b.ld});
    machine.norms(n, k, b.data, b.ld, outcome + norm_new * k);
    machine.each(rows(), k, Pad<T>{b.data, n, b.ld, d(), rows()});
    T* const own = d() + rows() - 1;
    machine.to_unit(n, k, d(), rows(), own, rows());
    machine.each(1, 1,
                 Judge<T, Broken>{outcome, broken, Range<T>{own, exponents(), rows(), args.exponent}, k, n, args.norm,
                                  args.tolerance, info});
    machine.times_powers(n, k, b.data, b.ld, exponents(), rows(), -args.exponent);
  }

 private:
  T* exponents() const { return right() + rows() - 1; }  // after each column's n numbers
  void residual(const T* x, index_t ld_x, T* to) const {
    machine.each(rows(), b.cols, Pad<T>{right(), b.rows, rows(), to, rows()});
    multiply(machine, spectrum.data, spectrum.rows, T(1), T(0), T(-1), x, ld_x, T(1), to, rows(), b.rows, b.cols, p);
  }
};

/// Solves B = T^-1 B, see RefinedSolveArgs. broken() is the order at which `apply` broke down, or 0, and apply(from,
/// to) sets `to` to the approximate inverse times `from`. Their columns are 2 spectrum.rows apart, and so are the
/// columns of the four blocks of k columns in `work`. p is another such block, which `apply` may use.
template <class Machine, class T, class Broken, class Apply>
void refined_solve(Machine& machine, const RefinedSolveArgs<T>& args, const In<T>& spectrum, const Broken& broken,
                   const InOut<T>& b, double* outcome, int* info, T* work, T* p, const Apply& apply) {
  const Refinement<Machine, T> refinement{machine, args, spectrum, b, outcome, work, p};
  refinement.begin();
  apply(refinement.right(), refinement.d());
  refinement.first();
  for (int step = 0; step < args.steps; ++step) {
    apply(refinement.r(), refinement.d());
    if (refinement.improve()) break;
  }
  refinement.finish(broken, info);
}

}  // namespace tesela::kernels::toeplitz
