#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/tridiagonal/internal/small_tridiagonal.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_checked.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_equilibration.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_methods.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_residuals.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>
#include <tesela/runtime/require.hpp>

#include <cmath>
#include <sstream>

namespace tesela {

using namespace kernels;
namespace {

using tridiagonal::SystemResidual;
using tridiagonal::Verdict;

constexpr const char* routine = "tridiagonal_solve_checked";
constexpr int corrections = 6;

template <class T>
void require_alike(const char* name, const TileMatrix<T>& B, const TileMatrix<T>& X) {
  require(X.m() == B.m() && X.n() == B.n() && X.mt() == B.mt() && X.nt() == B.nt(), name, "X",
          "its shape or its tiles differ from B's");
  require(!X.shares_tiles(B), name, "X", "shares tiles with B");
}

/// Estimates the condition by two solves for probes.
template <class T>
TridiagonalCondition probed_condition(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& X,
                                      const TridiagonalOptions& options, const TridiagonalResiduals<T>& probe) {
  TridiagonalCondition result;
  const auto r = alike<T>(g.runtime(), X, "r"), y = alike<T>(g.runtime(), X, "y");
  const TridiagonalResiduals<T> found(g.runtime(), X, options.systems, options.periodic);
  const Tridiagonal<T> rows = probe.template scaled<T>(g, A);
  for (const std::uint64_t seed : {1, 2}) {
    probe.measure(g, A, X, B, &r, {}, seed);
    probe.solve(g, rows, r, y, options.equilibrate);
    const bool solved = g.wait().ok();
    found.measure(g, rows, y, y, nullptr, {});
    const std::vector<SystemResidual<real_t<T>>> of_x = probe.all(), of_y = found.all();
    detail::raise_condition(result, solved, of_x, of_y);
  }
  return result;
}

/// Returns 2^exponent A.
template <class T>
TileMatrix<T> scaled_copy(Graph& g, const TileMatrix<T>& A, int exponent, const char* name) {
  const auto copy = alike<T>(g.runtime(), A, name);
  for (index_t j = 0; j < A.nt(); ++j)
    for (index_t i = 0; i < A.mt(); ++i) {
      g.insert<Lacpy<T>>({}, A(i, j), copy(i, j));
      g.insert<ScalePowerOfTwo<T>>({exponent}, copy(i, j));
    }
  return copy;
}

/// Returns the condition of a solve whose misfits have been measured.
template <class T>
TridiagonalCondition condition_of(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& X,
                                  const TridiagonalOptions& options, const TridiagonalResiduals<T>& misfits) {
  if (const auto bound = detail::dominant_condition(misfits.all())) return *bound;
  // The terms of a row are up to 32 times as large as X or B, and would overflow.
  constexpr int room = 8;
  const auto near_largest = [](const SystemResidual<real_t<T>>& m) {
    return !(std::max(m.solution, m.right) < std::ldexp(std::numeric_limits<real_t<T>>::max(), -room));
  };
  if (std::ranges::none_of(misfits.all(), near_largest)) return probed_condition(g, A, B, X, options, misfits);
  const auto b = scaled_copy(g, B, -room, "b"), x = scaled_copy(g, X, -room, "x");
  const TridiagonalResiduals<T> smaller(g.runtime(), X, options.systems, options.periodic);
  smaller.measure(g, A, x, b, nullptr, {});
  if (const auto bound = detail::dominant_condition(smaller.all())) return *bound;
  return probed_condition(g, A, b, x, options, smaller);
}

template <class T>
class Check {
 public:
  Check(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& X,
        const TridiagonalOptions& options)
      : g_(g), a_(A), b_(B), x_(X), options_(options), misfits_(g.runtime(), X, options.systems, options.periodic) {}

  CheckedSolve run(Status status) {
    CheckedSolve result;
    result.status = status;
    verdict_ = measure(x_, misfits_, nullptr);
    if (!(status.ok() && done())) {
      if (const index_t row = place_not_finite(); row > 0) {
        result.status.info = row;
        result.input_finite = false;
      } else {
        mend(result);
      }
    }
    judge(result);
    if (!result.status.ok()) return result;
    TridiagonalOptions options = options_;
    options.equilibrate = options_.equilibrate != (result.other_scaling > 0);
    result.condition = condition_of(g_, a_, b_, x_, options, misfits_);
    return result;
  }

 private:
  bool finite() const { return std::isfinite(verdict_.backward_error) && std::isfinite(verdict_.componentwise); }
  bool done() const { return finite() && verdict_.open == 0; }

  Verdict<real_t<T>> measure(const TileMatrix<T>& X, const TridiagonalResiduals<T>& to, const TileMatrix<T>* r) {
    return to.measure(g_, a_, X, b_, r,
                      {.tolerance = static_cast<real_t<T>>(tridiagonal_residual_bound<T>),
                       .componentwise = static_cast<real_t<T>>(tridiagonal_equilibrated_bound<T>)});
  }
  void copy(const TileMatrix<T>& from, const TileMatrix<T>& to) {
    misfits_.for_each_tile(
        [&](index_t t, index_t s) { g_.insert<Lacpy<T>>({}, misfits_.tile(from, t, s), misfits_.tile(to, t, s)); });
  }

  /// Returns the place where A or B is not finite, numbered as a status, or 0.
  index_t place_not_finite() const {
    const bool columns = options_.systems == SystemsIn::columns;
    const index_t n = misfits_.n();
    index_t found = 0;
    for (const TileMatrix<T>* matrix : {&a_.dl, &a_.d, &a_.du, &b_}) {
      std::vector<T> all(static_cast<std::size_t>(matrix->m() * matrix->n()));
      matrix->copy_to(all.data(), matrix->m());
      for (index_t j = 0; j < matrix->n(); ++j)
        for (index_t i = 0; i < matrix->m(); ++i) {
          const index_t e = columns ? i : j, s = columns ? j : i, place = e + 1 + n * s;
          const bool outside = !options_.periodic && (matrix == &a_.dl ? e == 0 : matrix == &a_.du && e == n - 1);
          const bool strange = !is_finite(all[static_cast<std::size_t>(i + j * matrix->m())]);
          if (strange && !outside && (found == 0 || place < found)) found = place;
        }
    }
    return found;
  }

  void mend(CheckedSolve& result) {
    const auto candidate = alike<T>(g_.runtime(), x_, "candidate");
    const TridiagonalResiduals<T> misfits(g_.runtime(), x_, options_.systems, options_.periodic);
    const bool cores = g_.runtime().cpus() > 0;  // equilibration runs on cores only
    if (cores) try_other_scaling(result, candidate, misfits);
    if (!result.status.ok() || done()) return;

    const auto r = alike<T>(g_.runtime(), x_, "r"), y = alike<T>(g_.runtime(), x_, "y");
    const Tridiagonal<T> rows = misfits_.template scaled<T>(g_, a_);
    bool equilibrate = false;
    for (int k = 0, without_progress = 0; k < corrections && without_progress < 2 && !done();
         ++k, equilibrate = cores && !equilibrate) {
      verdict_ = measure(x_, misfits_, &r);
      if (verdict_.open == 0) break;  // the other systems cannot be corrected
      const real_t<T> before = verdict_.componentwise;
      copy(x_, candidate);
      misfits_.correct(g_, rows, r, y, candidate, equilibrate);
      ++result.attempts;
      g_.wait();  // a candidate after a breakdown is never better
      measure(candidate, misfits, nullptr);
      result.corrected = std::max(result.corrected, copy_better_systems(candidate, misfits));
      without_progress = verdict_.componentwise <= before / 2 ? 0 : without_progress + 1;
    }
  }

  void try_other_scaling(CheckedSolve& result, const TileMatrix<T>& candidate, const TridiagonalResiduals<T>& misfits) {
    copy(b_, candidate);
    TridiagonalOptions other = options_;
    other.equilibrate = !options_.equilibrate;
    tridiagonal_solve(g_, a_, candidate, other);
    ++result.attempts;
    const Status status = g_.wait();
    if (!result.status.ok()) {
      // Only one of the systems that broke down in the first solve is known; therefore the second solution replaces all
      // systems or none.
      if (!status.ok()) return;
      result.status = {};
      copy(candidate, x_);
      verdict_ = measure(x_, misfits_, nullptr);
      result.other_scaling = static_cast<index_t>(misfits_.all().size());
    } else {
      measure(candidate, misfits, nullptr);
      result.other_scaling = copy_better_systems(candidate, misfits);
    }
  }

  /// Copies the systems of a candidate that are better, and returns their number.
  index_t copy_better_systems(const TileMatrix<T>& candidate, const TridiagonalResiduals<T>& misfits) {
    const auto own = misfits_.all(), others = misfits.all();
    index_t count = 0;
    for (std::size_t s = 0; s < own.size(); ++s) count += better(others[s], own[s]) ? 1 : 0;
    if (count == 0) return 0;
    misfits_.for_each_tile([&](index_t t, index_t s) {
      g_.insert<TridiagonalSelectBetter<T>>({options_.systems}, misfits_.tile(x_, t, s), misfits_.tile(candidate, t, s),
                                            misfits_.misfit(s), misfits.misfit(s));
    });
    verdict_ = measure(x_, misfits_, nullptr);
    return count;
  }

  /// Returns the misfits of the equilibrated system.
  std::vector<SystemResidual<real_t<T>>> equilibrated() {
    const TridiagonalEquilibration<T> equilibration(g_, a_, b_, options_.systems, options_.periodic);
    const auto b = alike<T>(g_.runtime(), b_, "b"), x = alike<T>(g_.runtime(), x_, "x");
    copy(b_, b);
    copy(x_, x);
    equilibration.scale_rows(g_, b);
    equilibration.scale_columns(g_, x, true);
    const TridiagonalResiduals<T> misfits(g_.runtime(), x_, options_.systems, options_.periodic);
    misfits.measure(g_, equilibration.scaled(), x, b, nullptr, {});
    g_.wait();  // overflow and underflow show in the misfits
    return misfits.all();
  }

  void judge(CheckedSolve& result) {
    constexpr double bound = tridiagonal_equilibrated_bound<T>;
    result.residual = {static_cast<double>(verdict_.backward_error), tridiagonal_residual_bound<T>};
    result.residual_componentwise = static_cast<double>(verdict_.componentwise);
    result.residual_equilibrated = {result.residual_componentwise, bound};
    if (result.residual_componentwise <= bound) return;
    const std::vector<SystemResidual<real_t<T>>> own = misfits_.all();
    std::vector<SystemResidual<real_t<T>>> scaled;
    if (result.status.ok() && finite() && g_.runtime().cpus() > 0) scaled = equilibrated();
    double worst = 0, worst_equilibrated = 0;
    for (std::size_t s = 0; s < own.size(); ++s) {
      const auto error = static_cast<double>(own[s].componentwise);
      if (!(error <= worst) && worst == worst) worst = error, result.system = static_cast<index_t>(s);
      const double least = error <= bound || scaled.empty() ? error : static_cast<double>(scaled[s].backward_error());
      if (!(least <= worst_equilibrated) && worst_equilibrated == worst_equilibrated) worst_equilibrated = least;
    }
    result.residual_equilibrated.error = worst_equilibrated;
  }

  Graph& g_;
  const Tridiagonal<T>& a_;
  const TileMatrix<T>&b_, &x_;
  const TridiagonalOptions options_;
  const TridiagonalResiduals<T> misfits_;
  Verdict<real_t<T>> verdict_;
};

template <class T>
void insert_copy(Graph& g, const TileMatrix<T>& from, const TileMatrix<T>& to) {
  for (index_t j = 0; j < from.nt(); ++j)
    for (index_t i = 0; i < from.mt(); ++i) g.insert<Lacpy<T>>({}, from(i, j), to(i, j));
}

}  // namespace

template <class T>
TridiagonalCondition tridiagonal_condition(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                                           const TileMatrix<T>& X, const TridiagonalOptions& options) {
  require_fit("tridiagonal_condition", A, B, options.systems == SystemsIn::columns);
  require_alike("tridiagonal_condition", B, X);
  if (B.m() == 0 || B.n() == 0) return {};
  const TridiagonalResiduals<T> misfits(g.runtime(), X, options.systems, options.periodic);
  misfits.measure(g, A, X, B, nullptr, {});
  return condition_of(g, A, B, X, options, misfits);
}

template <class T>
CheckedSolve tridiagonal_check(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& X,
                               const TridiagonalOptions& options, Status status) {
  require_fit(routine, A, B, options.systems == SystemsIn::columns);
  require_alike(routine, B, X);
  if (B.m() == 0 || B.n() == 0) return CheckedSolve{.status = status};
  return Check<T>(g, A, B, X, options).run(status);
}

template <class T>
CheckedSolve tridiagonal_solve_checked(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                                       const TileMatrix<T>& X, const TridiagonalOptions& options) {
  require_fit(routine, A, B, options.systems == SystemsIn::columns);
  require_alike(routine, B, X);
  const Status before = g.wait();
  if (!before.ok() || B.m() == 0 || B.n() == 0) return CheckedSolve{.status = before};
  insert_copy(g, B, X);
  tridiagonal_solve(g, A, X, options);
  return tridiagonal_check(g, A, B, X, options, g.wait());
}

template <class T>
CheckedSolve tridiagonal_solve(Runtime& runtime, MatrixView<const T> dl, MatrixView<const T> d, MatrixView<const T> du,
                               MatrixView<T> b, const TridiagonalOptions& options) {
  const bool in_columns = options.systems == SystemsIn::columns;
  if (auto solved = detail::tridiagonal_solve_here<T>(runtime, dl, d, du, b, options)) return std::move(*solved);
  const auto plan = plan_tridiagonal(runtime, {}, in_columns ? b.rows : b.cols, in_columns ? b.cols : b.rows);
  const auto tiles = [&](const auto& array, const char* name) {
    const index_t across = std::clamp<index_t>(in_columns ? array.cols : array.rows, 1, plan.across);
    return array.in_tiles(runtime, in_columns ? TileShape{plan.along, across} : TileShape{across, plan.along}, name);
  };
  const Tridiagonal<T> A{tiles(dl, "dl"), tiles(d, "d"), tiles(du, "du")};
  const TileMatrix<T> X = tiles(b, "X");
  require_fit(routine, A, X, in_columns);
  if (b.rows == 0 || b.cols == 0) return {};
  const auto B = alike<T>(runtime, X, "B");
  Graph g(runtime);
  insert_copy(g, X, B);
  tridiagonal_solve(g, A, X, options);
  const CheckedSolve solved = tridiagonal_check(g, A, B, X, options, g.wait());
  X.bring_home();
  return solved;
}

std::string description(const CheckedSolve& solve) {
  std::ostringstream text;
  text.precision(2);
  if (!solve.residual.good())
    text << "inaccurate: the residual is " << solve.residual.error << ", at most " << solve.residual.bound;
  else if (!solve.residual_equilibrated.good())
    text << "inaccurate: the residual of the equilibrated system is " << solve.residual_equilibrated.error
         << ", at most " << solve.residual_equilibrated.bound;
  else
    text << "ill-conditioned: the reciprocal condition number is about " << 1 / solve.condition.value;
  return text.str();
}

TESELA_FUNCTIONS_FOR_NUMBERS(tridiagonal_condition, tridiagonal_check, tridiagonal_solve_checked)
#define TESELA_INSTANTIATE(T)                                                                                      \
  template CheckedSolve tridiagonal_solve(Runtime&, MatrixView<const T>, MatrixView<const T>, MatrixView<const T>, \
                                          MatrixView<T>, const TridiagonalOptions&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
