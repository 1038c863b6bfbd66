#pragma once

#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/least_squares/extended_qr.hpp>
#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/host/rank_revealing.hpp>
#include <tesela/host/row_space.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace tesela::detail {

/// The u of least norm with B2 u = c2, for each column c2.
template <class T>
struct LeastNorm {
  HostMatrix<T> U;                ///< p x r, in units of 2^-exponent
  HostMatrix<T> L;                ///< q x r with B2^H l = u, in units of 2^(-2 exponent); empty unless requested
  HostMatrix<T> BU;               ///< Q^H B U, m x r, if it is known; otherwise empty
  HostMatrix<T> complement;       ///< for RowSystem::beyond(); empty if the rank of B2 is its smaller dimension
  int exponent = 0;               ///< exponent of the size of B2
  double norm = 0;                ///< ||B2||_F in units of 2^exponent
  std::vector<double> distances;  ///< min ||B2 u - c2||
  index_t rank = 0;
  double condition = 1;
  double cut = 0;              ///< largest change of a row of B2, relative to its norm
  bool original_units = true;  ///< whether u has the least norm; if not, it has the least norm in other units
  bool finite = true;          ///< if false, the other members are undefined
};

/// Returns rcond ||B|| / ||B2||, at most 1 and at least rcond.
template <class T>
double relative_rcond(const LeastNorm<T>& s, double rcond, double norm_b) {
  const double larger = std::ldexp(norm_b, -s.exponent) / s.norm;
  return std::min(1.0, rcond * (larger > 1 ? larger : 1.0));
}

/// The q x p system of the rows of B from `first` on. `factor` factors a copy: the adjoint if p >= q, otherwise the
/// system itself. The constructor inserts tasks, solve() waits.
template <class T, class Factor>
class RowSystem {
  using Factors = decltype(std::declval<const Factor&>()(std::declval<const TileMatrix<T>&>()));

 public:
  RowSystem(Graph& g, const TileMatrix<T>& B, index_t first, TileShape tile, const Factor& factor)
      : q_(B.m() - first),
        p_(B.n()),
        wide_(p_ >= q_),
        work_(g.runtime(), wide_ ? p_ : q_, wide_ ? q_ : p_, tile, "B2"),
        factors_(copied(g, B, first, factor)) {}

  /// Solves B2 u = c2 for the columns of C2, q x r, of size 1. Singular values of B2 below rcond norm_b (the norm of B)
  /// count as zero: they may be rounding errors.
  LeastNorm<T> solve(Graph& g, HostMatrix<T> C2, double rcond, double norm_b, bool multipliers) const {
    const TileMatrix<T> nothing(g.runtime(), work_.m(), 0, work_.tile_shape());
    HostMatrix<T> R = extended_qr(g, factors_, work_.tile_shape(), nothing).R;
    LeastNorm<T> s;
    s.finite = kernels::all_finite(R);
    if (!s.finite) return s;
    s.exponent = largest_exponent(R.size(), R.data());
    scale_by_power_of_two(std::span(R.data(), static_cast<std::size_t>(R.size())), -s.exponent);
    s.norm = static_cast<double>(kernels::euclidean_norm(R.size(), R.data()));
    if (R.size() > 0) s.condition = kernels::triangle_condition(R, false);
    rcond = relative_rcond(s, rcond, norm_b);
    bool regular = clearly_regular(s.condition, rcond);
    if (!regular && std::isfinite(s.condition)) {
      // The 1-norm condition number may exceed the 2-norm's by a factor n, too much in single precision.
      const double condition = kernels::spectral_condition(R);
      regular = regular_by_spectrum(condition, rcond);
      if (regular) s.condition = condition;
    }
    s.rank = R.cols();
    s.distances.assign(static_cast<std::size_t>(C2.cols()), 0.0);
    if (wide_)
      solve_wide(g, s, std::move(R), std::move(C2), regular, rcond, multipliers);
    else
      solve_tall(g, s, std::move(R), std::move(C2), regular, rcond, multipliers);
    return s;
  }

  /// Returns B1 Q', first x (p - rank): B1 holds the first rows of the constructor's B, and the orthonormal columns of
  /// Q' span the null space of B2. `s` is the solution of the system.
  HostMatrix<T> beyond(Graph& g, const TileMatrix<T>& B, index_t first, const LeastNorm<T>& s) const {
    const HostMatrix<T> above = first_rows(B, first).rows;
    const HostMatrix<T>& complement = s.complement;
    const index_t kept = complement.cols(), others = wide_ ? p_ - q_ : 0;
    HostMatrix<T> turned(p_, first), result = HostMatrix<T>::zeros(first, kept + others);
    for (index_t j = 0; j < p_; ++j)
      for (index_t i = 0; i < first; ++i) turned(j, i) = conj(above(i, j));
    if (wide_) apply(g, adjoint<T>, turned);
    if (kept > 0 && first > 0)
      blas::gemm(adjoint<T>, Op::none, first, kept, complement.rows(), T(1), turned.data(), turned.ld(),
                 complement.data(), complement.ld(), T(0), result.data(), result.ld());
    for (index_t j = 0; j < others; ++j)
      for (index_t i = 0; i < first; ++i) result(i, kept + j) = conj(turned(q_ + j, i));
    return result;
  }

 private:
  Factors copied(Graph& g, const TileMatrix<T>& B, index_t first, const Factor& factor) {
    rearrange(g, B, {.row = first, .op = wide_ ? adjoint<T> : Op::none}, work_);
    return factor(work_);
  }

  /// Computes op(Q) X for an X with as many rows as Q.
  void apply(Graph& g, Op op, HostMatrix<T>& X) const {
    if (X.size() == 0) return;
    const auto x = TileMatrix<T>::map(g.runtime(), X.data(), X.rows(), X.cols(), X.ld(),
                                      {work_.tile_shape().mb, std::min<index_t>(X.cols(), 256)}, "X");
    factors_.apply(g, Side::left, op, x);
    g.wait();
    x.bring_home();
  }

  static HostMatrix<T> extended(const HostMatrix<T>& top, index_t rows) {
    HostMatrix<T> result = HostMatrix<T>::zeros(rows, top.cols());
    for (index_t j = 0; j < top.cols() && top.rows() > 0; ++j) std::copy_n(&top(0, j), top.rows(), &result(0, j));
    return result;
  }

  /// Solves with B2^H = Q R: u = Q [R^-H c2; 0], l = R^-1 R^-H c2.
  void solve_wide(Graph& g, LeastNorm<T>& s, HostMatrix<T> R, HostMatrix<T> C2, bool regular, double rcond,
                  bool multipliers) const {
    if (regular) {
      triangular_solve(g, adjoint<T>, R, C2);
      s.U = extended(C2, p_);
      if (multipliers) {
        triangular_solve(g, Op::none, R, C2);
        s.L = std::move(C2);
      }
    } else {
      kernels::RowSolution<T> found = kernels::solve_rows(std::move(R), C2, rcond);
      take(s, found);
      s.complement = std::move(found.complement);
      s.U = extended(found.W, p_);
      s.L = std::move(found.L);
    }
    apply(g, Op::none, s.U);
  }

  /// Solves with B2 = Q [R; 0], Q^H c2 = [d1; d2]: u = R^-1 d1 if R is regular; ||d2|| is the distance.
  void solve_tall(Graph& g, LeastNorm<T>& s, HostMatrix<T> R, HostMatrix<T> C2, bool regular, double rcond,
                  bool multipliers) const {
    apply(g, adjoint<T>, C2);
    HostMatrix<T> d(p_, C2.cols()), l(p_, C2.cols());
    for (index_t j = 0; j < C2.cols(); ++j) {
      if (p_ > 0) std::copy_n(&C2(0, j), p_, &d(0, j));
      s.distances[static_cast<std::size_t>(j)] =
          static_cast<double>(kernels::euclidean_norm(q_ - p_, C2.data() + j * C2.ld() + p_));
    }
    if (regular) {
      triangular_solve(g, Op::none, R, d);
      s.U = std::move(d);
      l = s.U.clone();
      triangular_solve(g, adjoint<T>, R, l);
    } else {
      // R^H = Q' R' in host memory.
      HostMatrix<T> lower(p_, p_);
      for (index_t j = 0; j < p_; ++j)
        for (index_t i = 0; i < p_; ++i) lower(i, j) = i >= j ? conj(R(j, i)) : T(0);
      std::vector<T> tau(static_cast<std::size_t>(p_));
      lapack::geqrf(p_, p_, lower.data(), lower.ld(), tau.data());
      kernels::RowSolution<T> found = kernels::solve_rows(lower.clone(), d, rcond);
      take(s, found);
      for (HostMatrix<T>* const X : {&found.W, &found.complement})
        lapack::ormqr(Op::none, p_, X->cols(), p_, lower.data(), lower.ld(), tau.data(), X->data(), X->ld());
      s.U = std::move(found.W);
      s.complement = std::move(found.complement);
      l = std::move(found.L);
    }
    if (!multipliers) return;
    s.L = extended(l, q_);
    apply(g, Op::none, s.L);
  }

  static void take(LeastNorm<T>& s, const kernels::RowSolution<T>& found) {
    s.rank = found.rank;
    s.condition = found.condition;
    s.cut = found.cut;
    for (std::size_t j = 0; j < s.distances.size(); ++j)
      s.distances[j] = std::hypot(s.distances[j], static_cast<double>(found.distances[j]));
  }

  index_t q_, p_;
  bool wide_;
  TileMatrix<T> work_;
  Factors factors_;
};

}  // namespace tesela::detail
