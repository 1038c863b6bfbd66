#include <tesela/algorithms/eigen/band_eig.hpp>
#include <tesela/algorithms/eigen/band_to_tridiagonal.hpp>
#include <tesela/algorithms/eigen/internal/selection.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {
namespace {

/// Returns the exponent of the largest element of the band; sets the status if an element is not finite.
template <class T>
int scan(const HostMatrix<T>& ab, TridiagonalEigStatus& status) {
  T largest = 0;
  for (index_t j = 0; j < ab.cols(); ++j)
    for (index_t k = 0; k < std::min(ab.rows(), ab.cols() - j); ++k) {
      if (!std::isfinite(ab(k, j))) {
        status = {TridiagonalEigStatus::Verdict::not_finite, j, k > 0};
        return 0;
      }
      largest = std::max(largest, std::abs(ab(k, j)));
    }
  return largest > 0 ? std::ilogb(largest) : 0;
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
  const int exponent = scan(ab, result.status);
  if (!result.status.ok()) return result;
  HostMatrix<T> scaled = ab.clone();
  for (index_t i = 0; i < scaled.size(); ++i) scaled.data()[i] = std::ldexp(scaled.data()[i], -exponent);
  Graph g(runtime);
  std::optional<BulgeChase<T>> chase;
  std::vector<T> d, e;
  if (width <= 1) {
    for (index_t j = 0; j < n; ++j) {
      d.push_back(scaled(0, j));
      if (j + 1 < n) e.push_back(width == 1 ? scaled(1, j) : T(0));
    }
  } else {
    const SymmetricBand<T> band(runtime, n, width, band_window(runtime, n, width));
    band.copy_from(scaled.data(), scaled.ld(), width);
    chase.emplace(band_to_tridiagonal(g, band, {.vectors = options.vectors}));
    d = chase->diagonal(), e = chase->off_diagonal();
  }
  const TridiagonalEigOptions part = detail::scaled_selection(options, exponent);
  TridiagonalEigResult<T> found;
  if (options.vectors) {
    const index_t found_values = tridiagonal_positions<T>(d, e, part).size();
    result.vectors = HostMatrix<T>(n, found_values);
    const auto X =
        TileMatrix<T>::map(runtime, result.vectors.data(), n, found_values, result.vectors.ld(), {n, 128}, "X");
    found = tridiagonal_eig<T>(runtime, d, e, X, part);
    if (found.status.ok() && chase) chase->apply(g, Op::none, X);
    g.wait();
    X.bring_home();
  } else {
    found = tridiagonal_eigenvalues<T>(runtime, d, e, part);
    g.wait();
  }
  result.status = found.status;
  result.values = std::move(found.values);
  for (T& value : result.values) value = std::ldexp(value, exponent);
  detail::move_inside(result.values, options.low, options.high);
  if (result.status.ok() &&
      !std::all_of(result.values.begin(), result.values.end(), [](T x) { return std::isfinite(x); }))
    result.status.verdict = TridiagonalEigStatus::Verdict::overflow;
  return result;
}

template BandEigResult<float> band_eig(Runtime&, const HostMatrix<float>&, const BandEigOptions&);
template BandEigResult<double> band_eig(Runtime&, const HostMatrix<double>&, const BandEigOptions&);

}  // namespace tesela
