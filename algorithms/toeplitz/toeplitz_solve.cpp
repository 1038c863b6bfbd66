#include <tesela/algorithms/toeplitz/cauchy_factorization.hpp>
#include <tesela/algorithms/toeplitz/cauchy_inverse.hpp>
#include <tesela/algorithms/toeplitz/gohberg_semencul.hpp>
#include <tesela/algorithms/toeplitz/internal/dense_lu.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_attempt.hpp>
#include <tesela/algorithms/toeplitz/levinson.hpp>
#include <tesela/algorithms/toeplitz/lookahead.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_condition.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_gradients.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_superfast.hpp>
#include <tesela/codelets/support/lacpy.hpp>

#include <algorithm>
#include <array>
#include <chrono>

namespace tesela {

using namespace kernels;
namespace {

using Attempted = detail::ToeplitzAttempted;

/// One call of toeplitz_solve.
template <class T>
class Solver {
 public:
  Solver(Graph& g, const Toeplitz<T>& A, T sigma, const TileMatrix<T>& X, const ToeplitzSolveOptions& options)
      : g_(g), A_(A), sigma_(sigma), X_(X), options_(options) {}

  ToeplitzSolution run() {
    solution_.taken.residual.bound = toeplitz_residual_bound<T>(A_.n());
    solution_.rounding = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    if (A_.n() == 0 || X_.n() == 0) return std::move(solution_);
    solution_.failure = not_finite();
    if (!solution_.failure.empty()) {
      solution_.taken.residual.error = std::numeric_limits<double>::quiet_NaN();
      return std::move(solution_);
    }
    const bool recursion = A_.n() <= levinson_most;
    const double n = static_cast<double>(A_.n()), factors = n * n / 2 * sizeof(T);
    copy_right_hand_sides();
    if (options_.method == ToeplitzMethod::superfast) {
      superfast();
      restore_best();
    } else if (options_.method != ToeplitzMethod::automatic) {
      next(options_.method);
    } else {
      const bool gpus = g_.runtime().gpus() > 0;
      const bool trees = A_.n() >= least_for_superfast[gpus] && A_.n() <= most_for_superfast && g_.runtime().cpus() > 0;
      const bool first = A_.n() >= superfast_first[gpus];
      if (A_.n() >= least_for_gradients()) next(ToeplitzMethod::gradients);
      if (!enough() && trees && first) superfast();
      if (!enough() && (recursion || first_recursion() == ToeplitzMethod::schur)) next(first_recursion());
      if (!enough() && trees && !first) superfast();
      if (!enough()) next(ToeplitzMethod::cauchy_inverse);
      const bool broken = last_.attempt.order > 0;
      if (!enough() && A_.n() <= most_for_lookahead && g_.runtime().cpus() > 0) next(ToeplitzMethod::lookahead);
      if (!enough() && broken)
        next(ToeplitzMethod::cauchy_inverse, perturbation);
      else if (!enough() && factors <= most_factors)  // both eliminations break down for the same matrices
        next(ToeplitzMethod::cauchy);
      if (!enough() && recursion) next(ToeplitzMethod::levinson);
      restore_best();
    }
    if (options_.verdict) timed([&] { solution_.condition = condition(); });
    solution_.failure = failure();
    return std::move(solution_);
  }

 private:
  /// Measured on two cores; with GPUs n^2 operations are fast up to larger n.
  index_t least_for_gradients() const { return index_t{1} << (g_.runtime().gpus() > 0 ? 17 : 15); }
  /// Returns the faster recursion for the first column of the inverse; measured on one core and on one GPU.
  ToeplitzMethod first_recursion() const {
    return A_.n() >= (g_.runtime().gpus() > 0 ? 2048 : 8192) ? ToeplitzMethod::schur : ToeplitzMethod::gohberg_semencul;
  }
  /// Superfast is faster than the other eliminations from the first order on, than gohberg_semencul from the second.
  /// Measured on two cores; with GPUs the others are faster up to larger n.
  static constexpr std::array<index_t, 2> least_for_superfast{1 << 15, 1 << 18}, superfast_first{1 << 16, 1 << 18};
  static constexpr index_t most_for_superfast = index_t{1} << 21;  ///< 11 GB of factors with the tight tolerance
  static constexpr index_t most_for_lookahead = index_t{1} << 14;  ///< a second or less
  static constexpr index_t most_to_count = index_t{1} << 16;       ///< largest order for counts of eigenvalues, O(n^2)
  static constexpr double most_factors = 1e9;                      ///< bytes of the factors in the last resort
  /// Residual from which no other method is tried; refinement usually reaches one rounding.
  static constexpr double good_residual = 4 * static_cast<double>(std::numeric_limits<T>::epsilon());

  std::string not_finite() const {
    const HostMatrix<T> shifted = shifted_column(A_, sigma_);
    for (index_t i = 0; i < A_.n(); ++i)
      if (!std::isfinite(shifted(i, 0)))
        return i > 0 || !std::isfinite(A_.column()(0, 0)) ? "not finite: t(" + std::to_string(i) + ")"
                                                          : "not finite: t(0) - sigma";
    const auto b = X_(0, 0).read();
    for (index_t j = 0; j < b.cols; ++j)
      for (index_t i = 0; i < b.rows; ++i)
        if (!std::isfinite(b(i, j))) return "not finite: b(" + std::to_string(i) + ", " + std::to_string(j) + ")";
    return {};
  }

  /// The error of the elimination decreases with the perturbation, the convergence of refinement worsens with it.
  static inline const double perturbation = std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));

  bool enough() const {
    return !solution_.attempts.empty() && best_.attempt.usable() && best_.attempt.residual.error <= good_residual;
  }

  /// Keeps B if Levinson's residual or another method may need it.
  void copy_right_hand_sides() {
    if (options_.method != ToeplitzMethod::automatic && options_.method != ToeplitzMethod::superfast &&
        options_.method != ToeplitzMethod::dense && !(options_.method == ToeplitzMethod::levinson && options_.verdict))
      return;
    right_.emplace(copy_of(X_));
  }

  TileMatrix<T> copy_of(const TileMatrix<T>& from) {
    TileMatrix<T> copy(g_.runtime(), from.m(), from.n(), {from.m(), from.n()}, "B");
    g_.insert<Lacpy<T>>({}, from(0, 0), copy(0, 0));
    return copy;
  }

  /// Tries a method on B; X becomes its result.
  void next(ToeplitzMethod method, double perturbed = 0) {
    if (!solution_.attempts.empty()) {
      if (best_.attempt.usable() && !best_x_) best_x_.emplace(copy_of(X_));
      g_.insert<Lacpy<T>>({}, (*right_)(0, 0), X_(0, 0));
    }
    last_ = attempt(method, perturbed);
    last_.attempt.method = method;
    last_.perturbed = perturbed;
    last_.attempt.residual.bound = toeplitz_residual_bound<T>(A_.n());
    solution_.attempts.push_back(last_.attempt);
    const ToeplitzAttempt &now = last_.attempt, &before = best_.attempt;
    // If all methods fail, the message of an elimination is the best.
    const bool better = before.usable() ? now.usable() && now.residual.error < before.residual.error
                                        : now.usable() || method != ToeplitzMethod::levinson;
    if (solution_.attempts.size() == 1 || better) {
      best_ = last_;
      best_x_.reset();
    }
    solution_.taken = best_.attempt;
  }

  /// Tries superfast, and again with the tight tolerance if refinement does not converge.
  void superfast() {
    next(ToeplitzMethod::superfast);
    tight_ = !last_.attempt.residual.good();
    if (tight_) next(ToeplitzMethod::superfast);
  }

  void restore_best() {
    if (best_x_) g_.insert<Lacpy<T>>({}, (*best_x_)(0, 0), X_(0, 0));
    static_cast<void>(g_.wait());
  }

  Attempted attempt(ToeplitzMethod method, double perturbed) {
    switch (method) {
      case ToeplitzMethod::gohberg_semencul: return by_gohberg_semencul(InverseRecursion::durbin);
      case ToeplitzMethod::schur: return by_gohberg_semencul(InverseRecursion::schur);
      case ToeplitzMethod::gradients:
        // If two refinements of half the digits each do not suffice, gradients do not suit this matrix.
        return by_inverse(ToeplitzGradients<T>(g_, A_, sigma_), 2);
      case ToeplitzMethod::superfast:
        return by_inverse(ToeplitzSuperfast<T>(g_, A_, sigma_, superfast_tolerance<T>(tight_)));
      case ToeplitzMethod::lookahead: return by_lookahead();
      case ToeplitzMethod::dense: return by_dense();
      case ToeplitzMethod::cauchy_inverse: return by_elimination(CauchyInverse<T>(g_, A_, sigma_, perturbed));
      case ToeplitzMethod::cauchy: return by_elimination(CauchyFactorization<T>(g_, A_, sigma_));
      default: return by_levinson();
    }
  }

  static ToeplitzAttempt read_report(const TileMatrix<double>& report) {
    const auto said = report(0, 0).read();
    ToeplitzAttempt a;
    a.order = static_cast<index_t>(said(levinson_breakdown, 0));
    a.growth = said(levinson_growth, 0);
    a.residual.error = a.order > 0 ? 1 : std::numeric_limits<double>::quiet_NaN();
    if (a.order == 0) a.negative = static_cast<index_t>(said(levinson_negative, 0));
    return a;
  }

  Attempted by_levinson() {
    const Toeplitz<T> shifted(g_, shifted_column(A_, sigma_));
    const TileMatrix<T> zero(g_.runtime(), 1, 1, {1, 1}, "shift");
    const TileMatrix<double> report(g_.runtime(), levinson_report_rows, 1, {levinson_report_rows, 1}, "report");
    zero(0, 0).write()(0, 0) = 0;
    levinson(g_, shifted, zero, X_, report);
    static_cast<void>(g_.wait());
    Attempted a{read_report(report), {}};
    if (a.attempt.order == 0 && right_) timed([&] { a.attempt.residual.error = measured_residual(); });
    return a;
  }

  double measured_residual() const {
    return detail::measured_residual<T>(A_.n(), A_.column().data(), nullptr, static_cast<double>(sigma_), X_, *right_);
  }

  Attempted by_lookahead() {
    const ToeplitzLookahead<T> inverse(g_, A_, sigma_);
    Attempted a = by_inverse(inverse);
    a.attempt.largest_step = inverse.largest_step();
    if (a.attempt.order == 0) a.attempt.negative = inverse.negative();
    return a;
  }

  Attempted by_dense() {
    const detail::DenseLu<T> lu(g_, shifted_column(A_, sigma_), A_.column());
    Attempted a{{}, [&g = g_, lu] { return lu.condition(g); }};
    a.attempt.order = lu.solve(g_, X_);
    a.attempt.residual.error = a.attempt.order > 0 ? 1 : measured_residual();
    return a;
  }

  Attempted by_gohberg_semencul(InverseRecursion recursion) {
    const GohbergSemencul<T> inverse(g_, A_, sigma_, recursion);
    const TileMatrix<double> outcome = solve_by(inverse);
    Attempted a{read_report(inverse.report()), condition_of(inverse)};
    detail::read_outcome(outcome, a.attempt);
    return a;
  }

  template <class Inverse>
  Attempted by_inverse(const Inverse& inverse, int most_steps = 8) {
    Attempted a{{}, condition_of(inverse)};
    detail::read_outcome(solve_by(inverse, &a.attempt.order, most_steps), a.attempt);
    return a;
  }

  template <class Inverse>
  Attempted by_elimination(const Inverse& inverse) {
    Attempted a = by_inverse(inverse);
    std::array<double, 2 * CauchyReport::rows> said{};
    inverse.report().copy_to(said.data(), CauchyReport::rows);
    if (a.attempt.order == 0)
      a.attempt.negative =
          static_cast<index_t>(said[CauchyReport::negative] + said[CauchyReport::rows + CauchyReport::negative]);
    return a;
  }

  template <class Inverse>
  TileMatrix<double> solve_by(const Inverse& inverse, index_t* order = nullptr, int most_steps = 8) {
    TileMatrix<double> outcome(g_.runtime(), X_.n(), 4, {X_.n(), 4}, "outcome");
    // More refinement steps are cheaper than another method.
    inverse.solve(g_, X_, outcome,
                  {options_.method == ToeplitzMethod::automatic ? most_steps : ToeplitzRefinement().steps});
    const Status status = g_.wait();
    if (order != nullptr && status.info <= A_.n()) *order = status.info;
    return outcome;
  }

  template <class Inverse>
  std::function<double()> condition_of(const Inverse& inverse) {
    return [&runtime = g_.runtime(), inverse] { return inverse.condition(runtime); };
  }

  template <class F>
  void timed(const F& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    solution_.verdict_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  std::string failure() const {
    const ToeplitzAttempt& a = solution_.taken;
    const bool elimination = a.method == ToeplitzMethod::cauchy_inverse || a.method == ToeplitzMethod::cauchy;
    if (solution_.condition >= toeplitz_singular_condition<T>())
      return "singular to working precision: an eigenvalue of T - sigma I is 0 to rounding, the condition is " +
             (std::isfinite(solution_.condition) ? detail::short_form(solution_.condition) + " or more" : "infinite");
    if (a.order > 0 && a.method == ToeplitzMethod::gradients)
      return "not positive definite: gradients need all eigenvalues above sigma";
    if (a.order > 0 && a.method == ToeplitzMethod::superfast)
      return "breakdown: sigma is an eigenvalue to rounding, a pivot vanishes";
    if (a.order > 0 && a.method == ToeplitzMethod::lookahead)
      return "breakdown: no leading minor from order " + std::to_string(a.order) +
             " on that a step can reach is nonsingular";
    if (a.order > 0 && a.method == ToeplitzMethod::dense)
      return "breakdown: sigma is an eigenvalue to rounding, pivot " + std::to_string(a.order) + " of LU is zero";
    if (a.order > 0 && elimination)
      return "breakdown: sigma is an eigenvalue to rounding, or pivot " + std::to_string(a.order) +
             " (symmetric vectors first, then skew ones) vanishes";
    if (a.order > 0)
      return "breakdown: the leading minor of order " + std::to_string(a.order) + " vanishes or is not finite";
    if (options_.verdict && !std::isfinite(a.residual.error)) return "not finite: X";
    if (options_.verdict && a.method == ToeplitzMethod::superfast && std::isnan(solution_.condition))
      return "inaccurate: the condition is too large to estimate, an eigenvalue may be near sigma";
    return {};
  }

  /// Returns the condition from the inverse that solved this system accurately; otherwise from a method that can solve
  /// it with another right-hand side. If there is none, or if its error or its perturbation may hide an eigenvalue,
  /// counts eigenvalues.
  double condition() {
    const ToeplitzAttempt& a = solution_.taken;
    const bool trusted = best_.condition && a.order == 0 && a.residual.good();
    const double found = trusted ? best_.condition() : std::numeric_limits<double>::quiet_NaN();
    const double error = std::max(best_.perturbed, static_cast<double>(std::numeric_limits<T>::epsilon()));
    if (found * error < 1e-4) return found;
    if (a.method == ToeplitzMethod::superfast && A_.n() > most_to_count) return found;
    if (options_.method == ToeplitzMethod::automatic) {
      const double counted = toeplitz_condition_by_counting(g_, A_, sigma_, 1e4 * error);
      return !std::isnan(found) || counted > 0 ? std::fmax(found, counted)
                                               : CauchyInverse<T>(g_, A_, sigma_).condition(g_.runtime());
    }
    const TileMatrix<T> ones(g_.runtime(), A_.n(), 1, {A_.n(), 1}, "ones");
    {
      const auto home = ones(0, 0).write();
      std::fill_n(home.data, home.rows, T(1));
    }
    return Solver(g_, A_, sigma_, ones, {}).run().condition;
  }

  Graph& g_;
  const Toeplitz<T>& A_;
  T sigma_;
  TileMatrix<T> X_;
  ToeplitzSolveOptions options_;
  std::optional<TileMatrix<T>> right_, best_x_;
  Attempted best_, last_;
  bool tight_ = false;  ///< tolerance of superfast
  ToeplitzSolution solution_;
};

}  // namespace

template <class T>
ToeplitzSolution toeplitz_solve(Graph& g, const Toeplitz<T>& A, T sigma, const TileMatrix<T>& B,
                                const ToeplitzSolveOptions& options) {
  require_whole_columns("toeplitz_solve", "B", B, A.n());
  if (B.nt() > 1) throw ArgumentError("toeplitz_solve", "B", std::to_string(B.nt()) + " tiles; it must be one");
  return Solver<T>(g, A, sigma, B, options).run();
}

template <class T>
ToeplitzSolution toeplitz_solve(Runtime& runtime, const HostMatrix<T>& t, T sigma, MatrixView<T> b,
                                const ToeplitzSolveOptions& options) {
  if constexpr (is_complex<T>) {
    HostMatrix<T> row = t.clone();
    std::transform(t.data(), t.data() + t.size(), row.data(), [](T value) { return conj(value); });
    return toeplitz_solve(runtime, t, row, sigma, b, options);
  } else {
    if (b.rows == 0 || b.cols == 0) return {};
    if (auto solved = detail::toeplitz_solve_here<T>(runtime, t, nullptr, sigma, b, options)) return std::move(*solved);
    const TileMatrix<T> X = b.in_one_tile(runtime, "X");
    Graph g(runtime);
    ToeplitzSolution solved = toeplitz_solve(g, Toeplitz<T>(g, t), sigma, X, options);
    X.bring_home();
    return solved;
  }
}

template ToeplitzSolution toeplitz_solve(Graph&, const Toeplitz<float>&, float, const TileMatrix<float>&,
                                         const ToeplitzSolveOptions&);
template ToeplitzSolution toeplitz_solve(Graph&, const Toeplitz<double>&, double, const TileMatrix<double>&,
                                         const ToeplitzSolveOptions&);
#define TESELA_TOEPLITZ_SOLVE(T)                                                             \
  template ToeplitzSolution toeplitz_solve(Runtime&, const HostMatrix<T>&, T, MatrixView<T>, \
                                           const ToeplitzSolveOptions&);
TESELA_FOR_NUMBERS(TESELA_TOEPLITZ_SOLVE)

}  // namespace tesela
