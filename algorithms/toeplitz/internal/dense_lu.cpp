#include <tesela/algorithms/support/condition_estimate.hpp>
#include <tesela/algorithms/toeplitz/internal/dense_lu.hpp>
#include <tesela/codelets/toeplitz/general_toeplitz.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <limits>

namespace tesela::detail {
namespace {

/// Returns c and r side by side, in double precision.
template <class T>
HostMatrix<with_parts<T, double>> both(const HostMatrix<T>& c, const HostMatrix<T>& r) {
  HostMatrix<with_parts<T, double>> t(c.rows(), 2);
  std::copy_n(c.data(), c.rows(), t.data());
  std::copy_n(r.data(), c.rows(), t.data() + c.rows());
  std::copy_n(c.data(), std::min<index_t>(c.rows(), 1), t.data() + c.rows());
  return t;
}

/// Scales all numbers to size 1 and returns the exponent.
template <class S>
int to_unit(std::span<S> numbers) {
  const int e = exponent_of_largest<S>(numbers);
  scale_by_power_of_two(numbers, -e);
  return e;
}

template <class S>
TileMatrix<S> filled(Graph& g, const HostMatrix<S>& t) {
  const index_t n = t.rows();
  TileMatrix<S> a(g.runtime(), n, n, lu_tile(g.runtime(), n, is_complex<S>), "A");
  index_t first = 0;
  for (index_t j = 0; j < a.nt(); ++j) {
    const auto tile = a(0, j).write();
    for (index_t k = 0; k < tile.cols; ++k)
      for (index_t i = 0; i < n; ++i) {
        const index_t d = i - first - k;
        tile(i, k) = d >= 0 ? t(d, 0) : t(-d, 1);
      }
    first += tile.cols;
  }
  return a;
}

}  // namespace

template <class T>
DenseLu<T>::DenseLu(Graph& g, const HostMatrix<T>& c, const HostMatrix<T>& r)
    : n_(c.rows()),
      t_(std::make_shared<HostMatrix<Wide>>(both(c, r))),
      exponent_(to_unit<Wide>({t_->data(), static_cast<std::size_t>(2 * n_)})),
      a_(filled(g, *t_)),
      lu_(lu(g, a_)) {}

template <class T>
index_t DenseLu<T>::solve(Graph& g, const TileMatrix<T>& X) const {
  if (const index_t zero = lu_.zero_pivot(); zero > 0) return zero;
  const index_t k = X.n();
  HostMatrix<Wide> b(n_, k), sum = HostMatrix<Wide>::zeros(n_, k);
  std::vector<int> exponents(static_cast<std::size_t>(k));
  {
    const auto from = X(0, 0).read();
    for (index_t j = 0; j < k; ++j) {
      std::copy_n(&from(0, j), n_, &b(0, j));
      exponents[static_cast<std::size_t>(j)] = to_unit<Wide>({&b(0, j), static_cast<std::size_t>(n_)});
    }
  }
  const TileMatrix<Wide> x(g.runtime(), n_, k, {n_, k}, "x");
  kernels::GeneralToeplitz matrix(n_, t_->data(), t_->data() + n_);
  for (int step = 0; step < 2; ++step) {
    x.copy_from(b.data(), b.ld());
    lu_.solve(g, x);
    static_cast<void>(g.wait());  // the residual shows columns that are not finite
    const auto d = x(0, 0).read();
    for (index_t j = 0; j < k; ++j) {
      for (index_t i = 0; i < n_; ++i) sum(i, j) += d(i, j);
      if (step == 0) matrix.multiply(-1, &sum(0, j), 1, &b(0, j));
    }
  }
  const auto to = X(0, 0).write();
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < n_; ++i)
      to(i, j) = converted<T>(times_power_of_two(sum(i, j), exponents[static_cast<std::size_t>(j)] - exponent_));
  return 0;
}

template <class T>
double DenseLu<T>::condition(Graph& g) const {
  if (lu_.zero_pivot() > 0) return std::numeric_limits<double>::infinity();
  const TileMatrix<Wide> x(g.runtime(), n_, 1, {n_, 1}, "x");
  // T^-1 J, J the reversal, is symmetric and has the norm of T^-1.
  return kernels::general_toeplitz_one_norm(n_, t_->data(), t_->data() + n_) *
         norm1_estimate<Wide>(n_, [&](std::vector<Wide>& vector) {
           std::reverse_copy(vector.begin(), vector.end(), x(0, 0).write().data);
           lu_.solve(g, x);
           static_cast<void>(g.wait());
           std::copy_n(x(0, 0).read().data, n_, vector.begin());
         });
}

TESELA_CLASSES_FOR_NUMBERS(DenseLu)

}  // namespace tesela::detail
