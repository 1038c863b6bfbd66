#include <tesela/algorithms/eigen/band_eig.hpp>
#include <tesela/algorithms/eigen/band_to_tridiagonal.hpp>
#include <tesela/algorithms/eigen/internal/real_tridiagonal.hpp>
#include <tesela/algorithms/eigen/internal/selection.hpp>
#include <tesela/algorithms/support/internal/real_diagonal.hpp>
#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/codelets/eigen/symmetric_scan.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela {
namespace {

/// Returns the exponent of the largest element of the band; sets the status if an element is not finite.
template <class T>
int scan(const HostMatrix<T>& ab, TridiagonalEigStatus& status) {
  real_t<T> largest = 0;
  for (index_t j = 0; j < ab.cols(); ++j)
    for (index_t k = 0; k < std::min(ab.rows(), ab.cols() - j); ++k) {
      if (!is_finite(ab(k, j))) {
        status = {TridiagonalEigStatus::Verdict::not_finite, j, k > 0};
        return 0;
      }
      largest = std::max(largest, largest_part(ab(k, j)));
    }
  return largest > 0 ? std::ilogb(largest) : 0;
}

/// B 2^-exponent = Q T Q^H; a tridiagonal B has no Q.
template <class T>
struct Reduced {
  std::optional<BulgeChase<T>> chase;
  detail::RealTridiagonal<T> tridiagonal;
};

template <class T>
Reduced<T> reduce(Graph& g, const HostMatrix<T>& ab, index_t width, int exponent, bool vectors) {
  const index_t n = ab.cols();
  HostMatrix<T> scaled = ab.clone();
  for (index_t i = 0; i < scaled.size(); ++i) scaled.data()[i] = times_power_of_two(scaled.data()[i], -exponent);
  for (index_t j = 0; j < n; ++j) scaled(0, j) = real_part(scaled(0, j));
  if (width <= 1) {
    std::vector<T> diagonal, below;
    for (index_t j = 0; j < n; ++j) {
      diagonal.push_back(scaled(0, j));
      if (j + 1 < n) below.push_back(width == 1 ? scaled(1, j) : T(0));
    }
    return {std::nullopt, {std::move(diagonal), std::move(below)}};
  }
  const SymmetricBand<T> band(g.runtime(), n, width, band_window(workers_for<T>(g.runtime()), n, width));
  band.copy_from(scaled.data(), scaled.ld(), width);
  const BulgeChase<T> chase = band_to_tridiagonal(g, band, {.vectors = vectors});
  return {chase, {chase.diagonal(), chase.off_diagonal()}};
}

/// Throws ArgumentError for an imaginary part on the diagonal that is no rounding error.
template <class T>
void require_hermitian(const HostMatrix<T>& ab) {
  std::vector<T> diagonal;
  for (index_t j = 0; j < ab.cols(); ++j) diagonal.push_back(ab(0, j));
  detail::require_real("band_eig", diagonal, "ab");
}

}  // namespace

template <class T>
BandEigResult<T> band_eig(Runtime& runtime, const HostMatrix<T>& ab, const BandEigOptions& options) {
  const index_t n = ab.cols(), width = std::max<index_t>(std::min(ab.rows(), n) - 1, 0);
  const bool by_value =
      options.low > -std::numeric_limits<double>::infinity() || options.high < std::numeric_limits<double>::infinity();
  require(!options.positions || !by_value, "band_eig", "positions", "exclude low and high");
  BandEigResult<T> result;
  if (n == 0) return result;
  require(ab.rows() > 0, "band_eig", "ab", ab.shape(), "; it must have a row");
  const int exponent = scan(ab, result.status);
  if (!result.status.ok()) return result;
  require_hermitian(ab);
  Graph g(runtime);
  const Reduced<T> reduced = reduce(g, ab, width, exponent, options.vectors);
  const std::vector<real_t<T>>&d = reduced.tridiagonal.d, &e = reduced.tridiagonal.e;
  const TridiagonalEigOptions part = detail::scaled_selection(options, exponent);
  TridiagonalEigResult<real_t<T>> found;
  if (options.vectors) {
    const index_t found_values = tridiagonal_positions<real_t<T>>(d, e, part).size();
    result.vectors = HostMatrix<T>(n, found_values);
    const auto X =
        TileMatrix<T>::map(runtime, result.vectors.data(), n, found_values, result.vectors.ld(), {n, 128}, "X");
    found = reduced.tridiagonal.eigenvectors(g, X, part);
    if (found.status.ok()) {
      if (reduced.chase) reduced.chase->apply(g, Op::none, X);
      X.for_each_tile(
          [&](const Tile<T>& tile, index_t, index_t) { g.insert<kernels::TurnColumns<T>>(on_gpu, {}, tile); });
    }
    g.wait();
    X.bring_home();
  } else {
    found = tridiagonal_eigenvalues<real_t<T>>(runtime, d, e, part);
    g.wait();
  }
  result.status = found.status;
  result.values = std::move(found.values);
  for (real_t<T>& value : result.values) value = std::ldexp(value, exponent);
  detail::move_inside(result.values, options.low, options.high);
  if (result.status.ok() &&
      !std::all_of(result.values.begin(), result.values.end(), [](real_t<T> x) { return std::isfinite(x); }))
    result.status.verdict = TridiagonalEigStatus::Verdict::overflow;
  return result;
}

TESELA_FUNCTIONS_FOR_NUMBERS(band_eig)

}  // namespace tesela
