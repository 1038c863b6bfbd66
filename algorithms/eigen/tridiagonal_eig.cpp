#include <tesela/algorithms/eigen/internal/scaled_tridiagonal.hpp>
#include <tesela/algorithms/eigen/internal/selection.hpp>
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {

using detail::ScaledTridiagonal;

namespace {

template <class T>
void scale_back(const ScaledTridiagonal<T>& t, const TridiagonalEigOptions& o, TridiagonalEigResult<T>& result) {
  t.scale_back(result.values, o.low, o.high);
  if (result.status.ok() && std::any_of(result.values.begin(), result.values.end(), [](T x) { return std::isinf(x); }))
    result.status.verdict = TridiagonalEigStatus::Verdict::overflow;
}

}  // namespace

std::span<const Named<TridiagonalEigMethod>> tridiagonal_eig_methods() {
  using enum TridiagonalEigMethod;
  static constexpr Named<TridiagonalEigMethod> all[]{
      {automatic, "auto", "the faster method by measurements"},
      {divide_and_conquer, "divide-and-conquer", "halves, joined by secular equations; merges are products"},
      {bisection, "bisection", "Sturm counts, and vectors by inverse iteration"},
      {ql, "ql", "implicit QL steps"}};
  return all;
}

std::string to_string(const TridiagonalEigStatus& status) {
  using enum TridiagonalEigStatus::Verdict;
  if (status.verdict == not_finite)
    return std::string(status.off_diagonal ? "e(" : "d(") + std::to_string(status.where) + ") is not finite";
  if (status.verdict == not_converged) return "no convergence at eigenvalue " + std::to_string(status.where);
  if (status.verdict == overflow) return detail::overflow;
  return "ok";
}

template <class T>
TridiagonalEigResult<T> tridiagonal_eigenvalues(Runtime& runtime, std::span<const T> d, std::span<const T> e,
                                                const TridiagonalEigOptions& options) {
  const char* const routine = "tridiagonal_eigenvalues";
  const ScaledTridiagonal<T> t(routine, d, e);
  const IndexRange range = detail::selected_positions(routine, t, options);
  TridiagonalEigResult<T> result;
  result.status = t.status;
  if (!t.status.ok()) return result;
  result.method = detail::tridiagonal_method(runtime, t.n(), range.size(), options, false);
  switch (result.method) {
    case TridiagonalEigMethod::bisection: detail::bisect(runtime, t, range, options, result); break;
    case TridiagonalEigMethod::ql: detail::ql<T>(runtime, t, range, nullptr, options, result); break;
    default: detail::divide_and_conquer<T>(runtime, t, range, nullptr, options, result);
  }
  scale_back(t, options, result);
  return result;
}

template <class T>
TridiagonalEigResult<T> tridiagonal_eig(Runtime& runtime, std::span<const T> d, std::span<const T> e,
                                        const TileMatrix<T>& X, const TridiagonalEigOptions& options) {
  const char* const routine = "tridiagonal_eig";
  const ScaledTridiagonal<T> t(routine, d, e);
  const IndexRange range = detail::selected_positions(routine, t, options);
  require(X.m() == t.n() && X.n() == range.size(), routine, "X", X.m(), " x ", X.n(), " for ", range.size(),
          " vectors of ", t.n(), " components");
  TridiagonalEigResult<T> result;
  result.status = t.status;
  if (!t.status.ok()) return result;
  result.method = detail::tridiagonal_method(runtime, t.n(), range.size(), options, true);
  switch (result.method) {
    case TridiagonalEigMethod::bisection: detail::bisect_and_iterate(runtime, t, range, X, options, result); break;
    case TridiagonalEigMethod::ql: detail::ql(runtime, t, range, &X, options, result); break;
    default: detail::divide_and_conquer(runtime, t, range, &X, options, result);
  }
  scale_back(t, options, result);
  return result;
}

template <class T>
IndexRange tridiagonal_positions(std::span<const T> d, std::span<const T> e, const TridiagonalEigOptions& options) {
  const char* const routine = "tridiagonal_positions";
  return detail::selected_positions(routine, ScaledTridiagonal<T>(routine, d, e), options);
}

template <class T>
index_t tridiagonal_count_below(std::span<const T> d, std::span<const T> e, T x) {
  const char* const routine = "tridiagonal_count_below";
  const ScaledTridiagonal<T> t(routine, d, e);
  require(t.status.ok(), routine, "T", to_string(t.status));
  require(!std::isnan(x), routine, "x", "NaN");
  return t.count_below(static_cast<double>(x));
}

TESELA_FUNCTIONS_FOR_REALS(tridiagonal_eigenvalues, tridiagonal_eig, tridiagonal_positions, tridiagonal_count_below)

}  // namespace tesela
