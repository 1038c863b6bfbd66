#include <tesela/algorithms/eigen/internal/count_pivots.hpp>
#include <tesela/algorithms/eigen/symmetric_inertia.hpp>
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>
#include <tesela/algorithms/support/internal/real_diagonal.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tesela {

index_t inertia_tile(const Runtime& runtime) { return runtime.gpus() > 0 ? 2048 : 256; }

template <class T>
SymmetricInertia symmetric_inertia(Graph& g, const TileMatrix<T>& A, double sigma) {
  const index_t n = A.n(), nb = A.tile_shape().nb;
  require(A.m() == n && (A.nt() <= 1 || A.tile_shape().mb == nb), "symmetric_inertia", "A", Shape{A.m(), n},
          "; it must be square, in square tiles");
  require(std::isfinite(sigma), "symmetric_inertia", "sigma", shortest(sigma));
  return detail::count_pivots<T>(g, n, nb, [&](const TileMatrix<T>& S, index_t i, index_t j, const Priority& priority) {
    g.insert<kernels::ShiftedCopy<T>>(priority, {i == j ? static_cast<real_t<T>>(sigma) : real_t<T>(0)}, A(i, j),
                                      S(i, j));
  });
}

template <class T>
SymmetricInertia symmetric_inertia(Runtime& runtime, MatrixView<const T> a, double sigma) {
  if constexpr (is_complex<T>) {
    const MatrixView<T> whole(const_cast<T*>(a.data), a.shape(), a.ld, a.device);  // which is only read
    detail::require_real("symmetric_inertia", detail::diagonal_of(whole));
  }
  const index_t edge = inertia_tile(runtime);
  const auto A = a.in_tiles(runtime, {edge, edge});
  Graph g(runtime);
  report_not_finite(g, A, FinitePart::lower);
  if (const Status status = g.wait(); !status.ok()) return {.status = status};
  return symmetric_inertia(g, A, sigma);
}

template <class T>
Certificate certify_spectrum(Graph& g, const TileMatrix<T>& A, std::span<const double> values, double accuracy,
                             index_t shifts, std::uint64_t seed) {
  return detail::certify<T>(values, accuracy, shifts, seed,
                            [&](double sigma) { return symmetric_inertia(g, A, sigma); });
}

Certificate certify_spectrum(std::span<const double> d, std::span<const double> e, std::span<const double> values,
                             double accuracy, index_t shifts, std::uint64_t seed) {
  double largest = 0;
  for (const std::span<const double> band : {d, e})
    for (const double x : band) largest = std::max(largest, std::abs(x));
  const double uncertainty = 8 * std::numeric_limits<double>::epsilon() * largest;  // of the pivots' roundings
  return detail::certify<double>(values, accuracy, shifts, seed, [&](double sigma) -> SymmetricInertia {
    return {tridiagonal_count_below<double>(d, e, sigma), uncertainty};
  });
}

InertiaCount count_below(std::span<const double> values, double end, double accuracy,
                         const std::function<SymmetricInertia(double)>& inertia) {
  const SymmetricInertia counted = inertia(end);
  const bool near = std::any_of(values.begin(), values.end(), [&](double value) {
    return !(std::abs(value - end) > counted.uncertainty + accuracy);
  });
  if (!near) return {counted.below, counted.below};
  constexpr double tiny = std::numeric_limits<double>::min(), huge = std::numeric_limits<double>::max() / 16;
  const double norm = std::max(std::abs(values.front()), std::abs(values.back())),
               farthest = std::min(8 * (norm + std::abs(end)) + tiny, huge);
  const auto beside = [&](double side) -> std::optional<index_t> {
    for (double step = std::max(4 * accuracy, tiny); step <= farthest; step *= 8)
      if (const SymmetricInertia moved = inertia(end + side * step); moved.uncertainty <= step) return moved.below;
    return std::nullopt;
  };
  const std::optional<index_t> least = beside(-1), most = least ? beside(1) : std::nullopt;
  return {least.value_or(0), most.value_or(std::ssize(values)), most.has_value()};
}

TESELA_FUNCTIONS_FOR_NUMBERS(certify_spectrum)
#define TESELA_INSTANTIATE(T)                                                        \
  template SymmetricInertia symmetric_inertia(Graph&, const TileMatrix<T>&, double); \
  template SymmetricInertia symmetric_inertia(Runtime&, MatrixView<const T>, double);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
