#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>
#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/algorithms/least_squares/nonnegative_least_squares.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/host/row_space.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace tesela {

using namespace kernels;
namespace {

/// min ||R x - c||_2 subject to x >= 0. E = Q^T R and f = Q^T c for an orthogonal Q that makes the columns of the
/// passive unknowns, x_j > 0, an upper triangle.
template <class T>
class ActiveSet {
 public:
  ActiveSet(const HostMatrix<T>& R, const T* c, double rcond)
      : e_(R.clone()),
        f_(c, c + R.rows()),
        norms_(column_norms(R)),
        x_(at(R.cols())),
        gradient_(x_.size()),
        is_passive_(x_.size()),
        rcond_(rcond),
        rounding_(10 * std::numeric_limits<T>::epsilon() * euclidean_norm(R.rows(), c)) {}

  void solve() {
    for (std::size_t step = 0; step < 10 * x_.size() && enter(); ++step)
      while (!descend()) continue;
  }

  const std::vector<T>& x() const { return x_; }
  T residual_norm() const { return euclidean_norm(e_.rows() - passive(), f_.data() + passive()); }
  /// Returns the largest distance of a skipped column from the span of the passive ones, relative to its norm.
  double cut() const { return cut_; }

 private:
  index_t passive() const { return static_cast<index_t>(passive_.size()); }

  /// Makes the unknown with the largest gradient passive. Returns false if none is above rounding.
  bool enter() {
    const index_t p = passive(), rows = e_.rows() - p, n = e_.cols();
    cut_ = 0;
    if (rows == 0) return false;
    blas::gemv(Op::transpose, rows, n, T(1), &e_(p, 0), e_.ld(), f_.data() + p, T(0), gradient_.data());
    for (;;) {
      index_t best = -1;
      T most = rounding_;
      for (index_t j = 0; j < n; ++j)
        if (!is_passive_[at(j)] && gradient_[at(j)] > most * norms_[at(j)])
          most = gradient_[at(j)] / norms_[at(j)], best = j;
      if (best < 0) return false;
      const T distance = blas::nrm2(rows, &e_(p, best));
      if (static_cast<double>(distance) > rcond_ * static_cast<double>(norms_[at(best)])) {
        reflect(best, distance);
        return true;
      }
      cut_ = std::max(cut_, static_cast<double>(distance / norms_[at(best)]));
      gradient_[at(best)] = 0;
    }
  }

  /// Appends column j, of this norm in the rows below the triangle, to the triangle.
  void reflect(index_t j, T norm) {
    const index_t p = passive(), rows = e_.rows() - p;
    std::vector<T> v(&e_(p, j), &e_(p, j) + rows), products(x_.size());
    const T diagonal = v[0] < 0 ? norm : -norm;
    v[0] -= diagonal;
    const T factor = -1 / (diagonal * v[0]);  // the reflector is I - factor v v^T
    blas::gemv(Op::transpose, rows, e_.cols(), factor, &e_(p, 0), e_.ld(), v.data(), T(0), products.data());
    blas::gemm(Op::none, Op::none, rows, e_.cols(), 1, T(-1), v.data(), rows, products.data(), 1, T(1), &e_(p, 0),
               e_.ld());
    T product = 0;
    for (index_t i = 0; i < rows; ++i) product += v[at(i)] * f_[at(p + i)];
    for (index_t i = 0; i < rows; ++i) f_[at(p + i)] -= factor * product * v[at(i)];
    e_(p, j) = diagonal;
    std::fill_n(&e_(p, j) + 1, rows - 1, T(0));
    passive_.push_back(j);
    is_passive_[at(j)] = 1;
  }

  /// Moves x to the minimum over the passive unknowns, or towards it until unknowns become 0, which leave. Returns
  /// whether x is the minimum.
  bool descend() {
    std::vector<T> z(f_.begin(), f_.begin() + passive());
    for (index_t q = passive() - 1; q >= 0; --q) {
      const T* const column = &e_(0, passive_[at(q)]);
      z[at(q)] /= column[q];
      for (index_t i = 0; i < q; ++i) z[at(i)] -= z[at(q)] * column[i];
    }
    T step = 1;
    index_t first = -1;  // the first unknown to become 0
    for (index_t q = 0; q < passive(); ++q)
      if (const T x = x_[at(passive_[at(q)])]; z[at(q)] <= 0)
        if (const T ratio = x > 0 ? x / (x - z[at(q)]) : T(0); first < 0 || ratio < step) step = ratio, first = q;
    for (index_t q = passive() - 1; q >= 0; --q) {
      T& x = x_[at(passive_[at(q)])];
      x = first < 0 ? z[at(q)] : x + step * (z[at(q)] - x);
      if (q != first && (first < 0 || x > 0)) continue;
      x = 0;
      leave(q);
    }
    return first < 0;
  }

  /// Removes column q of the triangle.
  void leave(index_t q) {
    is_passive_[at(passive_[at(q)])] = 0;
    passive_.erase(passive_.begin() + q);
    std::vector<std::pair<T, T>> rotations;  // of rows q and q + 1, q + 1 and q + 2, …
    const auto rotate = [&](T* rows) {
      for (const auto& [cosine, sine] : rotations) {
        const T above = rows[0];
        rows[0] = cosine * above + sine * rows[1];
        rows[1] = cosine * rows[1] - sine * above;
        ++rows;
      }
    };
    for (index_t i = q; i < passive(); ++i) {
      T* const column = &e_(0, passive_[at(i)]);
      rotate(column + q);
      const T size = std::hypot(column[i], column[i + 1]);
      rotations.emplace_back(column[i] / size, column[i + 1] / size);
      column[i] = size;
      column[i + 1] = 0;
    }
    for (index_t j = 0; j < e_.cols(); ++j)
      if (!is_passive_[at(j)]) rotate(&e_(0, j) + q);
    rotate(f_.data() + q);
  }

  HostMatrix<T> e_;
  std::vector<T> f_, norms_, x_, gradient_;
  std::vector<char> is_passive_;
  std::vector<index_t> passive_;  // the unknowns of the triangle's columns
  double rcond_, cut_ = 0;
  T rounding_;
};

/// Solves the problem that is reduced to its triangle; `a` is A's shape.
template <class T>
LeastSquares<T> solve(ExtendedQr<T> e, Shape a, double rcond) {
  const index_t k = e.R.rows(), n = a.cols, r = e.C.cols(), full_rank = std::min(a.rows, n);
  if (!all_finite(e)) return detail::not_finite<T>(r);
  LeastSquares<T> answer;
  answer.rank = full_rank;
  if (k == n && n > 0) answer.condition = triangle_condition(e.R, true);
  if (full_rank > 0 && (k < n || !detail::regular(e.R, answer.condition, rcond))) {
    const RankRows<T> rows = rows_of_rank(e.R.clone(), rcond);
    answer.rank = rows.rank;
    answer.condition = rows.condition;
  }
  answer.degrees_of_freedom = a.rows - answer.rank;
  const std::vector<int> of_r = scale_columns(e.R), of_c = scale_columns(e.C);
  answer.X = HostMatrix<T>::zeros(n, r);
  answer.residual_norms = std::move(e.residual_norms);
  std::vector<double> cuts(static_cast<std::size_t>(r));
  if (full_rank > 0)
    parallel_for(r, [&](index_t j) {
      const auto at = static_cast<std::size_t>(j);
      ActiveSet<T> problem(e.R, e.C.data() + j * k, rcond);
      problem.solve();
      std::copy(problem.x().begin(), problem.x().end(), answer.X.data() + j * n);
      T& norm = answer.residual_norms[at];
      norm = std::hypot(norm, std::ldexp(problem.residual_norm(), of_c[at]));
      cuts[at] = problem.cut();
    });
  for (const double cut : cuts) answer.cut = std::max(answer.cut, cut);
  NormalResidual<T> sums(answer.X);
  sums.add(k, e.R.data(), e.R.ld(), e.C.data(), e.C.ld());
  answer.backward_error = {sums.result().nonnegative_error, rounding_bound<T>(std::max(a.rows, n)), answer.cut};
  if (answer.rank < full_rank) answer.status = SolveStatus::rank_deficient;
  if (!answer.backward_error.good()) answer.status = SolveStatus::inaccurate;
  detail::unscale(answer.X, of_c, [&](index_t j) { return of_r[static_cast<std::size_t>(j)]; });
  return all_finite(answer.X) ? std::move(answer) : detail::not_finite<T>(r);
}

}  // namespace

template <class T>
LeastSquares<T> nnls(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const OlsOptions& options) {
  const double rcond = detail::default_rcond<T>("nnls", options, A.m(), A.n());
  detail::require_conforming("nnls", A, B);
  return solve(triangle_of(g, A, B, options), {A.m(), A.n()}, rcond);
}

template <class T>
LeastSquares<T> nnls(Runtime& runtime, MatrixView<T> a, MatrixView<T> b, const OlsOptions& options) {
  return detail::solve_in_tiles(runtime, a, b, options,
                                [](Graph& g, const auto& A, const auto& B, const auto& o) { return nnls(g, A, B, o); });
}

template <class T>
LeastSquares<T> nnls(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B, const OlsOptions& options) {
  const double rcond = detail::default_rcond<T>("nnls", options, A.m(), A.n());
  return solve(triangle_of(g, A, B, options), {A.m(), A.n()}, rcond);
}

#define TESELA_INSTANTIATE(T)                                                                           \
  template LeastSquares<T> nnls(Graph&, const TileMatrix<T>&, const TileMatrix<T>&, const OlsOptions&); \
  template LeastSquares<T> nnls(Runtime&, MatrixView<T>, MatrixView<T>, const OlsOptions&);             \
  template LeastSquares<T> nnls(Graph&, const MatrixRows<T>&, const HostMatrix<T>&, const OlsOptions&);
TESELA_FOR_REALS(TESELA_INSTANTIATE)

}  // namespace tesela
