#include <tesela/algorithms/dense/band_solve.hpp>
#include <tesela/algorithms/dense/range_scaling.hpp>
#include <tesela/host/lapack_band.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tesela {
namespace {

/// Calls f(i, j, element) for each element of the band in rows `first` … of ab, with element (i, j) of A in row
/// above + i - j.
template <class T, class F>
void for_each(HostMatrix<T>& ab, index_t first, index_t above, F f) {
  const index_t n = ab.cols();
  for (index_t j = 0; j < n; ++j)
    for (index_t k = std::max(first, above - j); k < std::min(ab.rows(), above + n - j); ++k)
      f(k - above + j, j, ab(k, j));
}

/// Returns the exponent of a size; 0 for zero, NaN and infinity.
template <class T>
int exponent(T size) {
  return size > 0 && std::isfinite(size) ? std::ilogb(size) : 0;
}

/// Multiplies row i of B by 2^-exponents(i).
template <class T>
void scale_rows(HostMatrix<T>& b, const std::vector<int>& exponents) {
  for (index_t j = 0; j < b.cols(); ++j)
    for (index_t i = 0; i < b.rows(); ++i) b(i, j) = std::ldexp(b(i, j), -exponents[static_cast<std::size_t>(i)]);
}

/// Scales A to 2^-rows A 2^-columns.
template <class T>
void scale_band(HostMatrix<T>& ab, index_t first, index_t above, const Units& units) {
  for_each(ab, first, above, [&](index_t i, index_t j, T& x) {
    x = std::ldexp(x, -units.rows[static_cast<std::size_t>(i)] - units.columns[static_cast<std::size_t>(j)]);
  });
}

/// Sets status and condition from the reciprocal condition and X.
template <class T>
void judge(DirectSolve& result, double reciprocal, const HostMatrix<T>& x) {
  for (index_t j = 0; j < x.cols(); ++j)
    if (!std::all_of(x.data() + j * x.ld(), x.data() + j * x.ld() + x.rows(), [](T e) { return std::isfinite(e); })) {
      result.status = DirectStatus::not_finite;
      result.place = j + 1;
      return;
    }
  result.condition = reciprocal > 0 ? 1 / reciprocal : std::numeric_limits<double>::infinity();
  const double loss = result.condition * static_cast<double>(std::numeric_limits<T>::epsilon());
  result.status = loss <= 0.01 ? DirectStatus::ok : loss <= 1 ? DirectStatus::doubtful : DirectStatus::singular;
}

template <class T>
T norm1(HostMatrix<T>& ab, index_t first, index_t above, bool symmetric) {
  std::vector<T> sums(static_cast<std::size_t>(ab.cols()));
  for_each(ab, first, above, [&](index_t i, index_t j, T x) {
    sums[static_cast<std::size_t>(j)] += std::abs(x);
    if (symmetric && i != j) sums[static_cast<std::size_t>(i)] += std::abs(x);
  });
  return sums.empty() ? T(0) : *std::max_element(sums.begin(), sums.end());
}

}  // namespace

template <class T>
DirectSolve band_solve(index_t kl, index_t ku, HostMatrix<T>& ab, HostMatrix<T>& B) {
  const index_t n = ab.cols(), above = kl + ku;
  require(kl >= 0 && ku >= 0 && ab.rows() == 2 * kl + ku + 1, "band_solve", "ab", ab.shape(), "; it must have ",
          2 * kl + ku + 1, " rows");
  require(B.rows() == n, "band_solve", "B", B.shape(), "; it must have ", n, " rows");
  DirectSolve result;
  if (n == 0) return result;
  const Units units =
      units_of(n, n, [&](const auto& f) { for_each(ab, kl, above, [&](index_t i, index_t j, T x) { f(i, j, x); }); });
  scale_band(ab, kl, above, units);
  const T norm = norm1(ab, kl, above, false);
  scale_rows(B, units.rows);
  std::vector<int> swaps(static_cast<std::size_t>(n));
  const int info = lapack::gbtrf(n, kl, ku, ab.data(), ab.ld(), swaps.data());
  if (info > 0) {
    result.status = DirectStatus::zero_pivot;
    result.place = info;
    return result;
  }
  lapack::gbtrs(Op::none, n, kl, ku, B.cols(), ab.data(), ab.ld(), swaps.data(), B.data(), B.ld());
  scale_rows(B, units.columns);
  judge(result, lapack::gbcon(n, kl, ku, ab.data(), ab.ld(), swaps.data(), norm), B);
  return result;
}

template <class T>
index_t band_cholesky(HostMatrix<T>& ab) {
  return lapack::pbtrf(ab.cols(), ab.rows() - 1, ab.data(), ab.ld());
}

template <class T>
void band_cholesky_apply(const HostMatrix<T>& r, HostMatrix<T>& B) {
  require(B.rows() == r.cols(), "band_cholesky_apply", "B", B.shape(), "; it must have ", r.cols(), " rows");
  lapack::pbtrs(r.cols(), r.rows() - 1, B.cols(), r.data(), r.ld(), B.data(), B.ld());
}

template <class T>
DirectSolve band_cholesky_solve(HostMatrix<T>& ab, HostMatrix<T>& B) {
  const index_t n = ab.cols(), kd = ab.rows() - 1;
  require(B.rows() == n, "band_cholesky_solve", "B", B.shape(), "; it must have ", n, " rows");
  DirectSolve result;
  if (n == 0) return result;
  // D A D with a diagonal between 1/4 and 4, so that the condition does not depend on units.
  std::vector<int> units;
  for (index_t j = 0; j < n; ++j) units.push_back(exponent(ab(kd, j)) / 2);
  scale_band(ab, 0, kd, {units, units});
  const T norm = norm1(ab, 0, kd, true);
  if (result.place = band_cholesky(ab); result.place > 0) {
    result.status = DirectStatus::not_positive;
    return result;
  }
  scale_rows(B, units);
  band_cholesky_apply(ab, B);
  scale_rows(B, units);
  judge(result, lapack::pbcon(n, kd, ab.data(), ab.ld(), norm), B);
  return result;
}

#define TESELA_INSTANTIATE(T)                                                        \
  template DirectSolve band_solve(index_t, index_t, HostMatrix<T>&, HostMatrix<T>&); \
  template index_t band_cholesky(HostMatrix<T>&);                                    \
  template void band_cholesky_apply(const HostMatrix<T>&, HostMatrix<T>&);           \
  template DirectSolve band_cholesky_solve(HostMatrix<T>&, HostMatrix<T>&);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela
