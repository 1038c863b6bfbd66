#include <tesela/algorithms/eigen/internal/scaled_tridiagonal.hpp>
#include <tesela/algorithms/eigen/internal/selection.hpp>
#include <tesela/codelets/eigen/tridiagonal/sturm.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::detail {

template <class T>
ScaledTridiagonal<T>::ScaledTridiagonal(const char* routine, std::span<const T> diagonal,
                                        std::span<const T> off_diagonal)
    : d(diagonal.begin(), diagonal.end()), e(off_diagonal.begin(), off_diagonal.end()) {
  require(e.size() == (d.empty() ? 0 : d.size() - 1), routine, "e", e.size(), " off-diagonal entries for ", d.size(),
          " diagonal entries; n diagonal entries need n - 1");
  for (const bool off : {false, true}) {
    const std::vector<T>& entries = off ? e : d;
    const auto strange = std::find_if(entries.begin(), entries.end(), [](T x) { return !std::isfinite(x); });
    if (strange == entries.end()) continue;
    status = {TridiagonalEigStatus::Verdict::not_finite, strange - entries.begin(), off};
    return;
  }
  const auto is_zero = [](T x) { return x == T(0); };
  zero_ = std::all_of(d.begin(), d.end(), is_zero) && std::all_of(e.begin(), e.end(), is_zero);
  if (zero_) return;
  const int of_d = exponent_of_largest(diagonal), of_e = exponent_of_largest(off_diagonal);
  const bool only_d = std::all_of(e.begin(), e.end(), is_zero), only_e = std::all_of(d.begin(), d.end(), is_zero);
  exponent = only_d ? of_d : only_e ? of_e : std::max(of_d, of_e);
  scale_by_power_of_two(std::span<T>(d), -exponent);
  scale_by_power_of_two(std::span<T>(e), -exponent);
}

template <class T>
void ScaledTridiagonal<T>::scale_back(std::vector<T>& values, double low, double high) const {
  scale_by_power_of_two(std::span<T>(values), exponent);
  move_inside(values, low, high);
}

template <class T>
index_t ScaledTridiagonal<T>::count_below(double x) const {
  if (n() == 0 || std::isinf(x)) return x > 0 ? n() : 0;
  std::vector<T> diagonal(d.size()), squares(d.size());
  kernels::sturm::prepare(n(), d.data(), e.data(), diagonal.data(), squares.data());
  const T at = scaled_up<T>(x, -exponent);
  index_t below = 0;
  kernels::sturm::count(n(), diagonal.data(), squares.data(), 1, &at, &below);
  return below;
}

TESELA_STRUCTS_FOR_REALS(ScaledTridiagonal)

template <class T>
IndexRange selected_positions(const char* routine, const ScaledTridiagonal<T>& t,
                              const TridiagonalEigOptions& options) {
  const index_t n = t.n();
  IndexRange range = options.range.value_or(IndexRange{0, n});
  require(range.begin >= 0 && range.begin <= range.end && range.end <= n, routine, "range", "[", range.begin, ", ",
          range.end, ") of ", n, " eigenvalues");
  require_limits(routine, options);
  if (!t.status.ok()) return range;
  range.begin = std::max(range.begin, t.count_below(options.low));
  range.end = std::max(range.begin, std::min(range.end, t.count_below(options.high)));
  return range;
}
TESELA_FUNCTIONS_FOR_REALS(selected_positions)

index_t gpus_from(const WorkerCounts& workers, const TridiagonalEigOptions& options) {
  constexpr index_t suitable = 384;  // for smaller orders a GPU's launches take longer than the cores' work
  if (workers.gpus == 0) return std::numeric_limits<index_t>::max();
  if (workers.cpus == 0) return 0;
  return options.gpus_from > 0 ? options.gpus_from : suitable;
}

TridiagonalEigMethod tridiagonal_method(const WorkerCounts& workers, index_t n, index_t wanted,
                                        const TridiagonalEigOptions& options, bool vectors) {
  if (options.method != TridiagonalEigMethod::automatic) return options.method;
  // On cores one value by bisection costs as much as eight values of the complete spectrum otherwise; a GPU counts for
  // all values at once, but merges for vectors are fast there.
  const bool on_gpus = n >= gpus_from(workers, options);
  const bool few =
      vectors ? workers.cpus > 0 && n > 64 && wanted <= (on_gpus ? n / 64 : n / 8) : on_gpus || wanted < n / 8;
  return few ? TridiagonalEigMethod::bisection : TridiagonalEigMethod::divide_and_conquer;
}

}  // namespace tesela::detail
