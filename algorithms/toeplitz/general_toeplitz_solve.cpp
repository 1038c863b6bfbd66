#include <tesela/algorithms/toeplitz/internal/dense_lu.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_attempt.hpp>
#include <tesela/algorithms/toeplitz/lookahead.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace tesela {

using namespace kernels;
namespace {

/// Least order for the Schur recursion by tiles; below it Durbin's is faster on two cores.
constexpr index_t least_for_tiles = 32768;

bool of_hermitian(ToeplitzMethod method) {
  return method == ToeplitzMethod::gohberg_semencul || method == ToeplitzMethod::schur;
}

template <class T>
bool is_hermitian(const HostMatrix<T>& c, const HostMatrix<T>& r) {
  if (c.rows() > 0 && c(0, 0) != conj(c(0, 0))) return false;
  for (index_t i = 1; i < c.rows(); ++i)
    if (r(i, 0) != conj(c(i, 0))) return false;
  return true;
}

/// One call of toeplitz_solve for a matrix that is not symmetric, or complex.
template <class T>
class GeneralSolver {
 public:
  GeneralSolver(Graph& g, const HostMatrix<T>& c, const HostMatrix<T>& r, T sigma, const TileMatrix<T>& X,
                const ToeplitzSolveOptions& options)
      : g_(g), c_(c.clone()), r_(r), X_(X), options_(options) {
    if (n() > 0) c_(0, 0) -= sigma;
  }

  ToeplitzSolution run() {
    constexpr auto eps = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
    solution_.taken.residual.bound = toeplitz_residual_bound<T>(n());
    solution_.rounding = eps / 2;
    if (n() == 0 || X_.n() == 0) return std::move(solution_);
    solution_.failure = not_finite();
    if (!solution_.failure.empty()) {
      solution_.taken.residual.error = std::numeric_limits<double>::quiet_NaN();
      return std::move(solution_);
    }
    right_.emplace(copy());
    const bool small = detail::dense_lu_bytes<T>(n()) <= 1e9;
    const auto wanted = [&](ToeplitzMethod method, bool suits) {
      const bool enough =
          !solution_.attempts.empty() && best_.attempt.usable() && best_.attempt.residual.error <= 4 * eps;
      return options_.method == method || (options_.method == ToeplitzMethod::automatic && suits && !enough);
    };
    if constexpr (is_complex<T>) {
      const bool tiles = n() >= least_for_tiles;
      if (wanted(ToeplitzMethod::gohberg_semencul, hermitian() && !tiles)) take(by_column(InverseRecursion::durbin));
      if (wanted(ToeplitzMethod::schur, hermitian() && tiles)) take(by_column(InverseRecursion::schur));
    }
    if (wanted(ToeplitzMethod::lookahead, true)) take(by_lookahead());
    if (wanted(ToeplitzMethod::dense, small)) take(by_dense());
    if (best_x_) g_.insert<Lacpy<T>>({}, (*best_x_)(0, 0), X_(0, 0));
    static_cast<void>(g_.wait());
    if (options_.verdict) {
      const auto start = std::chrono::steady_clock::now();
      solution_.condition = best_.condition();
      // The approximate inverse of an almost singular matrix may be too small, and a breakdown leaves none.
      if (small && best_.attempt.method != ToeplitzMethod::dense &&
          !(solution_.condition * std::numeric_limits<double>::epsilon() < 1e-4))
        solution_.condition = detail::DenseLu<T>(g_, c_, r_).condition(g_);
      solution_.verdict_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    solution_.failure = failure();
    return std::move(solution_);
  }

 private:
  index_t n() const { return c_.rows(); }

  /// Whether the eigenvalues of T have signs.
  bool hermitian() const { return is_hermitian(c_, r_); }

  std::string not_finite() const {
    for (index_t i = 0; i < n(); ++i) {
      if (!is_finite(c_(i, 0)))
        return "not finite: " + (i == 0 ? std::string("c(0) - sigma") : "c(" + std::to_string(i) + ")");
      if (i > 0 && !is_finite(r_(i, 0))) return "not finite: r(" + std::to_string(i) + ")";
    }
    const auto b = X_(0, 0).read();
    for (index_t j = 0; j < b.cols; ++j)
      for (index_t i = 0; i < b.rows; ++i)
        if (!is_finite(b(i, j))) return "not finite: b(" + std::to_string(i) + ", " + std::to_string(j) + ")";
    return {};
  }

  TileMatrix<T> copy() {
    TileMatrix<T> to(g_.runtime(), X_.m(), X_.n(), {X_.m(), X_.n()}, "B");
    g_.insert<Lacpy<T>>({}, X_(0, 0), to(0, 0));
    return to;
  }

  /// Solves by an inverse with up to eight steps of refinement.
  template <class Inverse>
  detail::ToeplitzAttempted by_inverse(ToeplitzMethod method, const Inverse& inverse) {
    detail::ToeplitzAttempted a{{}, [&runtime = g_.runtime(), inverse] { return inverse.condition(runtime); }};
    a.attempt.method = method;
    const TileMatrix<double> outcome(g_.runtime(), X_.n(), 4, {X_.n(), 4}, "outcome");
    restart();
    inverse.solve(g_, X_, outcome, {8});
    if (const Status status = g_.wait(); status.info <= n()) a.attempt.order = status.info;
    detail::read_outcome(outcome, a.attempt);
    return a;
  }

  detail::ToeplitzAttempted by_column(InverseRecursion by) {
    const HermitianInverse<T> inverse(g_, c_, by);
    detail::ToeplitzAttempted a =
        by_inverse(by == InverseRecursion::schur ? ToeplitzMethod::schur : ToeplitzMethod::gohberg_semencul, inverse);
    const auto recursion = inverse.recursion()(0, 0).read();
    a.attempt.growth = recursion(kernels::levinson_growth, 0);
    if (a.attempt.order == 0) a.attempt.negative = static_cast<index_t>(recursion(kernels::levinson_negative, 0));
    return a;
  }

  detail::ToeplitzAttempted by_lookahead() {
    const ToeplitzLookahead<T> inverse(g_, c_, r_);
    detail::ToeplitzAttempted a = by_inverse(ToeplitzMethod::lookahead, inverse);
    a.attempt.largest_step = inverse.largest_step();
    if (hermitian() && a.attempt.order == 0) a.attempt.negative = inverse.negative();
    return a;
  }

  /// Keeps the best X and restores B for a further attempt.
  void restart() {
    if (solution_.attempts.empty()) return;
    if (best_.attempt.usable() && !best_x_) best_x_.emplace(copy());
    g_.insert<Lacpy<T>>({}, (*right_)(0, 0), X_(0, 0));
  }

  detail::ToeplitzAttempted by_dense() {
    restart();
    const detail::DenseLu<T> lu(g_, c_, r_);
    detail::ToeplitzAttempted a{{}, [&g = g_, lu] { return lu.condition(g); }};
    a.attempt.method = ToeplitzMethod::dense;
    a.attempt.order = lu.solve(g_, X_);
    a.attempt.residual.error =
        a.attempt.order > 0 ? 1 : detail::measured_residual<T>(n(), c_.data(), r_.data(), 0, X_, *right_);
    return a;
  }

  /// Keeps an attempt if it is the best.
  void take(detail::ToeplitzAttempted attempted) {
    attempted.attempt.residual.bound = toeplitz_residual_bound<T>(n());
    solution_.attempts.push_back(attempted.attempt);
    const ToeplitzAttempt &now = attempted.attempt, &before = best_.attempt;
    if (solution_.attempts.size() == 1 || !before.usable() ||
        (now.usable() && now.residual.error < before.residual.error)) {
      best_ = std::move(attempted);
      best_x_.reset();
    }
    solution_.taken = best_.attempt;
  }

  std::string failure() const {
    const ToeplitzAttempt& a = solution_.taken;
    if (solution_.condition >= toeplitz_singular_condition<T>())
      return "singular to working precision: the condition is " +
             (std::isfinite(solution_.condition) ? detail::short_form(solution_.condition) + " or more" : "infinite");
    if (a.order > 0 && of_hermitian(a.method))
      return "breakdown: the leading minor of order " + std::to_string(a.order) + " vanishes or is not finite";
    if (a.order > 0)
      return "breakdown: " + (a.method == ToeplitzMethod::dense
                                  ? "pivot " + std::to_string(a.order) + " of LU is zero"
                                  : "no leading minor from order " + std::to_string(a.order) +
                                        " on that a step can reach is nonsingular");
    if (!std::isfinite(a.residual.error)) return "not finite: X";
    if (options_.verdict && std::isnan(solution_.condition))
      return "inaccurate: the condition is too large to estimate";
    return {};
  }

  Graph& g_;
  HostMatrix<T> c_;
  const HostMatrix<T>& r_;
  TileMatrix<T> X_;
  ToeplitzSolveOptions options_;
  std::optional<TileMatrix<T>> right_, best_x_;
  detail::ToeplitzAttempted best_;
  ToeplitzSolution solution_;
};

}  // namespace

template <class T>
ToeplitzSolution toeplitz_solve(Graph& g, const HostMatrix<T>& c, const HostMatrix<T>& r, T sigma,
                                const TileMatrix<T>& B, const ToeplitzSolveOptions& options) {
  require(c.cols() == 1 && r.cols() == 1 && r.rows() == c.rows(), "toeplitz_solve", "r", r.shape(), ", c is ",
          c.shape(), "; they must be columns of the same length");
  const index_t n = c.rows();
  if constexpr (!is_complex<T>)
    if (n <= 1 || std::equal(c.data() + 1, c.data() + n, r.data() + 1))
      return toeplitz_solve(g, Toeplitz<T>(g, c), sigma, B, options);
  const bool hermitian = is_complex<T> && of_hermitian(options.method);
  require(options.method == ToeplitzMethod::automatic || options.method == ToeplitzMethod::lookahead ||
              options.method == ToeplitzMethod::dense || (hermitian && sigma == conj(sigma) && is_hermitian(c, r)),
          "toeplitz_solve", "method", toeplitz_method_name(options.method),
          hermitian ? " needs a Hermitian matrix" : " needs a symmetric real matrix", "; use lookahead or dense");
  require_whole_columns("toeplitz_solve", "B", B, n);
  require(B.nt() <= 1, "toeplitz_solve", "B", B.nt(), " tiles; it must be one");
  return GeneralSolver<T>(g, c, r, sigma, B, options).run();
}

template <class T>
ToeplitzSolution toeplitz_solve(Runtime& runtime, const HostMatrix<T>& c, const HostMatrix<T>& r, T sigma,
                                MatrixView<T> b, const ToeplitzSolveOptions& options) {
  if (b.rows == 0 || b.cols == 0) return {};
  if (auto solved = detail::toeplitz_solve_here<T>(runtime, c, &r, sigma, b, options)) return std::move(*solved);
  const TileMatrix<T> X = b.in_one_tile(runtime, "X");
  Graph g(runtime);
  ToeplitzSolution solved = toeplitz_solve(g, c, r, sigma, X, options);
  X.bring_home();
  return solved;
}

#define TESELA_GENERAL_TOEPLITZ(T)                                                                                 \
  template ToeplitzSolution toeplitz_solve(Graph&, const HostMatrix<T>&, const HostMatrix<T>&, T,                  \
                                           const TileMatrix<T>&, const ToeplitzSolveOptions&);                     \
  template ToeplitzSolution toeplitz_solve(Runtime&, const HostMatrix<T>&, const HostMatrix<T>&, T, MatrixView<T>, \
                                           const ToeplitzSolveOptions&);
TESELA_FOR_NUMBERS(TESELA_GENERAL_TOEPLITZ)

}  // namespace tesela
