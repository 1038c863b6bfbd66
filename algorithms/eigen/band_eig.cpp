#include <tesela/algorithms/eigen/band_eig.hpp>
#include <tesela/algorithms/eigen/band_to_tridiagonal.hpp>
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

/// Returns the positions of the eigenvalues in [low, high) of the scaled tridiagonal matrix.
template <class T>
IndexRange positions_of(std::span<const T> d, std::span<const T> e, int exponent, const BandEigOptions& o) {
  const auto n = static_cast<index_t>(d.size());
  const auto below = [&](double x) {
    if (std::isinf(x)) return x > 0 ? n : index_t{0};
    const double scaled = std::clamp(std::ldexp(x, -exponent), -double{std::numeric_limits<T>::max()},
                                     double{std::numeric_limits<T>::max()});
    auto end = static_cast<T>(scaled);  // the smallest number of T that is not below x
    if (static_cast<double>(end) < scaled) end = std::nextafter(end, std::numeric_limits<T>::infinity());
    return tridiagonal_count_below<T>(d, e, end);
  };
  const index_t first = below(o.low);
  return {first, std::max(first, below(o.high))};
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
  const index_t half = std::clamp<index_t>(width, 1, std::max<index_t>(n - 1, 1));
  const SymmetricBand<T> band(runtime, n, half, band_window(runtime, n, half));
  band.copy_from(scaled.data(), scaled.ld(), width);
  Graph g(runtime);
  const BulgeChase<T> chase = band_to_tridiagonal(g, band, {.vectors = options.vectors});
  const std::vector<T> d = chase.diagonal(), e = chase.off_diagonal();
  IndexRange range = options.positions.value_or(IndexRange{0, n});
  if (by_value) range = positions_of<T>(d, e, exponent, options);
  TridiagonalEigResult<T> found;
  if (options.vectors) {
    result.vectors = HostMatrix<T>(n, range.size());
    const auto X =
        TileMatrix<T>::map(runtime, result.vectors.data(), n, range.size(), result.vectors.ld(), {n, 128}, "X");
    found = tridiagonal_eig<T>(runtime, d, e, X, {.range = range});
    if (found.status.ok()) chase.apply(g, Op::none, X);
    g.wait();
    X.bring_home();
  } else {
    found = tridiagonal_eigenvalues<T>(runtime, d, e, {.range = range});
    g.wait();
  }
  result.status = found.status;
  result.values = std::move(found.values);
  for (T& value : result.values) {
    value = std::ldexp(value, exponent);
    if (!std::isfinite(value) && result.status.ok()) result.status.verdict = TridiagonalEigStatus::Verdict::overflow;
  }
  return result;
}

template BandEigResult<float> band_eig(Runtime&, const HostMatrix<float>&, const BandEigOptions&);
template BandEigResult<double> band_eig(Runtime&, const HostMatrix<double>&, const BandEigOptions&);

}  // namespace tesela
