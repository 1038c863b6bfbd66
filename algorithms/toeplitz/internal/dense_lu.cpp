#include <tesela/algorithms/support/condition_estimate.hpp>
#include <tesela/algorithms/toeplitz/internal/dense_lu.hpp>
#include <tesela/codelets/toeplitz/general_toeplitz.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::detail {
namespace {

/// Returns c and r side by side, in double precision.
template <class T>
HostMatrix<double> both(const HostMatrix<T>& c, const HostMatrix<T>& r) {
  HostMatrix<double> t(c.rows(), 2);
  std::copy_n(c.data(), c.rows(), t.data());
  std::copy_n(r.data(), c.rows(), t.data() + c.rows());
  std::copy_n(c.data(), std::min<index_t>(c.rows(), 1), t.data() + c.rows());
  return t;
}

std::span<const double> numbers(const HostMatrix<double>& t) { return {t.data(), static_cast<std::size_t>(t.size())}; }

TileMatrix<double> filled(Graph& g, const HostMatrix<double>& t, int exponent) {
  const index_t n = t.rows();
  TileMatrix<double> a(g.runtime(), n, n, suitable_lu_tile(g.runtime(), n), "A");
  index_t first = 0;
  for (index_t j = 0; j < a.nt(); ++j) {
    const auto tile = a(0, j).write();
    for (index_t k = 0; k < tile.cols; ++k)
      for (index_t i = 0; i < n; ++i) {
        const index_t d = i - first - k;
        tile(i, k) = std::ldexp(d >= 0 ? t(d, 0) : t(-d, 1), -exponent);
      }
    first += tile.cols;
  }
  return a;
}

}  // namespace

template <class T>
DenseLu<T>::DenseLu(Graph& g, const HostMatrix<T>& c, const HostMatrix<T>& r)
    : n_(c.rows()),
      exponent_(exponent_of_largest(numbers(both(c, r)))),
      one_norm_(0),
      a_(filled(g, both(c, r), exponent_)),
      lu_(lu(g, a_)) {
  HostMatrix<double> t = both(c, r);
  scale_by_power_of_two(std::span<double>(t.data(), static_cast<std::size_t>(t.size())), -exponent_);
  one_norm_ = kernels::general_toeplitz_one_norm(n_, t.data(), t.data() + n_);
}

template <class T>
index_t DenseLu<T>::solve(Graph& g, const TileMatrix<T>& X) const {
  if (const index_t zero = lu_.zero_pivot(); zero > 0) return zero;
  const TileMatrix<double> x(g.runtime(), n_, X.n(), {n_, X.n()}, "x");
  std::vector<int> exponents(static_cast<std::size_t>(X.n()));
  {
    const auto from = X(0, 0).read();
    const auto to = x(0, 0).write();
    for (index_t j = 0; j < X.n(); ++j) {
      for (index_t i = 0; i < n_; ++i) to(i, j) = static_cast<double>(from(i, j));
      const std::span<double> column(&to(0, j), static_cast<std::size_t>(n_));
      exponents[static_cast<std::size_t>(j)] = exponent_of_largest<double>(column);
      scale_by_power_of_two(column, -exponents[static_cast<std::size_t>(j)]);
    }
  }
  lu_.solve(g, x);
  static_cast<void>(g.wait());  // the residual shows columns that are not finite
  const auto from = x(0, 0).read();
  const auto to = X(0, 0).write();
  for (index_t j = 0; j < X.n(); ++j)
    for (index_t i = 0; i < n_; ++i)
      to(i, j) = static_cast<T>(std::ldexp(from(i, j), exponents[static_cast<std::size_t>(j)] - exponent_));
  return 0;
}

template <class T>
double DenseLu<T>::condition(Graph& g) const {
  if (lu_.zero_pivot() > 0) return std::numeric_limits<double>::infinity();
  const TileMatrix<double> x(g.runtime(), n_, 1, {n_, 1}, "x");
  // T^-1 J, J the reversal, is symmetric and has the norm of T^-1.
  return one_norm_ * norm1_estimate(n_, [&](std::vector<double>& vector) {
           std::reverse_copy(vector.begin(), vector.end(), x(0, 0).write().data);
           lu_.solve(g, x);
           static_cast<void>(g.wait());
           std::copy_n(x(0, 0).read().data, n_, vector.begin());
         });
}

template class DenseLu<float>;
template class DenseLu<double>;

}  // namespace tesela::detail
