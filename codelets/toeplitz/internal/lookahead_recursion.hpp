#pragma once

#include <tesela/runtime/scalar.hpp>

#include <vector>

namespace tesela::kernels {

// One step of a general Levinson recursion without look-ahead. T is double or std::complex<double>. Internal to
// codelets/toeplitz.

/// Computes f(j) += alpha q(j), then z(j) = q(j - 1) - delta f(j), for j < k, and the sums of back(j) f(j) and of
/// row(j) z(j). z(j) is stored at q(j - 1), so q(-1) must be 0 before.
template <class T>
struct LookaheadPass {
  index_t k;
  T *f, *q;
  T alpha, delta;
  const T *back, *row;
  T sum_f = 0, sum_z = 0;
};

template <class T>
void update(LookaheadPass<T>& pass);

/// Levinson's recursion with look-ahead for a general Toeplitz matrix T(i, j) = t(i - j) of size 1. Products of rows
/// and vectors have no conjugates.
///
/// State    of order k, whose leading matrix T_k has an inverse: f with T_k f = e_0, and q, k + 1 numbers, the last of
///          them 1, with T_{k+1} q = pivot e_k. For k = n the number t(-n) that T does not have is chosen so that q is
///          small.
/// Step     from order k to k + p. q_0 = q and q_{j+1} = (0, q_j) - delta_j (f, 0, ...) have zero products with the
///          first k rows. Their products G with the next p rows, and the products of f and q_p with these rows, give
///          the new f and q by two systems with G, p x p. S = G U^-1, U the last p rows of (q_0, ..., q_{p-1}), is the
///          Schur complement of T_k in T_{k+p}.
/// Choice   p is the first size whose S has ||S^-1||_1 at most `worst`, or at most 8 times the largest number of f,
///          which estimates ||T_k^-1||. If there is none up to largest_block, p is the first size whose ||S^-1||_1 is
///          at most four times the smallest of all.
/// Source   T. Chan, P. Hansen, SIAM J. Matrix Anal. Appl. 13, 1992; R. Freund, H. Zha, Linear Algebra Appl. 188, 1993.
template <class T>
class LookaheadRecursion {
 public:
  LookaheadRecursion(index_t n, const T* c, const T* r, index_t largest_block);

  /// Runs all steps. Returns the order k + 1 if no leading matrix of the orders k + 1, ..., k + largest_block has an
  /// inverse to working precision; otherwise 0.
  index_t run();

  /// Return f, n numbers, and q, n + 1 numbers, after run().
  const T* f() const { return f_.data(); }
  const T* q() const { return q_; }
  index_t largest_step() const { return largest_step_; }
  index_t steps() const { return steps_; }
  /// Returns the number of negative eigenvalues of a symmetric or Hermitian T, the sum over all S (Sylvester).
  index_t negative() const { return negative_; }

 private:
  bool acceptable(double inverse);
  void short_step();
  /// Runs a step with p > 1, or with p = 1 if no other size is better. Returns false if S is singular for all sizes.
  bool long_step();
  void add_candidate();
  /// Appends q_{m+1} for the last column q_m.
  void append();
  /// Returns S, p x p.
  std::vector<T> schur_complement(index_t p) const;
  double inverse_norm(index_t p) const;
  void take(index_t p);
  /// Computes rho_, delta_ and pivot_ of the order k_ < n.
  void start_order();

  index_t n_, largest_, k_ = 0, steps_ = 0, largest_step_ = 0, negative_ = 0;
  std::vector<T> back_, row_, f_, storage_;  // back_[i] = t(n - i), row_[i] = t(-i)
  T* q_;
  double largest_of_f_ = -1;  // negative: not computed for this order
  /// Candidates of a step: q_0, ..., q_m in columns, delta, the products of rows k, k + 1, ... with f (rho) and G.
  struct {
    index_t ld = 0, ld_g = 0;
    std::vector<T> q, delta, rho, g;
    const T* column(index_t j) const { return q.data() + j * ld; }
  } block_;
  T rho_ = -1, delta_, pivot_;  // products of row k with f, of row -1 with q, of row k with q
};

}  // namespace tesela::kernels
