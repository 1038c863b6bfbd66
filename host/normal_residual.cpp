#include <tesela/host/blas.hpp>
#include <tesela/host/normal_residual.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::kernels {
namespace {

constexpr int unset = std::numeric_limits<int>::min();  // unit of a column that has been zero up to here

int unit(int exponent) { return exponent == unset ? 0 : exponent; }

/// Updates the units so that they suit these rows as well.
template <class T>
std::vector<int> grown(std::vector<int> units, index_t rows, const T* a, index_t lda) {
  for (std::size_t j = 0; j < units.size(); ++j) {
    const T* const column = a + static_cast<index_t>(j) * lda;
    const int exponent = largest_exponent(rows, column);
    if (exponent > units[j] && std::any_of(column, column + rows, [](T x) { return x != T(0); })) units[j] = exponent;
  }
  return units;
}

/// Converts a column to its unit, in double.
template <class T>
void copy_scaled(index_t rows, const T* from, int exponent, with_parts<T, double>* to) {
  std::copy_n(from, rows, to);
  scale_by_power_of_two(std::span(to, static_cast<std::size_t>(rows)), -unit(exponent));
}

}  // namespace

template <class T>
NormalResidual<T>::NormalResidual(const HostMatrix<T>& X)
    : n_(X.rows()),
      r_(X.cols()),
      a_units_(static_cast<std::size_t>(n_), unset),
      b_units_(static_cast<std::size_t>(r_), unset),
      x_(n_, r_),
      scaled_(n_, r_),
      gradient_(HostMatrix<Wide>::zeros(n_, r_)),
      a_norms_(static_cast<std::size_t>(n_)),
      r_norms_(static_cast<std::size_t>(r_)),
      b_norms_(static_cast<std::size_t>(r_)) {
  std::copy_n(X.data(), X.size(), x_.data());
  set_units(a_units_, b_units_);
}

template <class T>
void NormalResidual<T>::set_units(const std::vector<int>& of_a, const std::vector<int>& of_b) {
  const auto change = [&](const std::vector<int>& from, const std::vector<int>& to, index_t j) {
    return unit(from[at(j)]) - unit(to[at(j)]);
  };
  for (index_t j = 0; j < n_; ++j) scale_by_power_of_two(std::span(&a_norms_[at(j)], 1), change(a_units_, of_a, j));
  for (index_t k = 0; k < r_; ++k) {
    scale_by_power_of_two(std::span(&b_norms_[at(k)], 1), change(b_units_, of_b, k));
    scale_by_power_of_two(std::span(&r_norms_[at(k)], 1), change(b_units_, of_b, k));
    for (index_t j = 0; j < n_; ++j) {
      gradient_(j, k) = times_power_of_two(gradient_(j, k), change(a_units_, of_a, j) + change(b_units_, of_b, k));
      scaled_(j, k) = times_power_of_two(x_(j, k), unit(of_a[at(j)]) - unit(of_b[at(k)]));
    }
  }
  a_units_ = of_a;
  b_units_ = of_b;
}

template <class T>
void NormalResidual<T>::add(index_t rows, const T* a, index_t lda, const T* b, index_t ldb) {
  constexpr index_t most = 4096;
  for (index_t first = 0; first < rows; first += most)
    include(std::min(most, rows - first), a + first, lda, b + first, ldb);
  rows_ += rows;
}

template <class T>
void NormalResidual<T>::include(index_t rows, const T* a, index_t lda, const T* b, index_t ldb) {
  const std::vector<int> of_a = grown(a_units_, rows, a, lda);
  std::vector<int> of_b = grown(b_units_, rows, b, ldb);
  for (index_t k = 0; k < r_; ++k)  // a residual is as large as its terms, which may exceed the largest number
    for (index_t j = 0; j < n_; ++j)
      if (const double x = largest_part(x_(j, k));
          of_a[static_cast<std::size_t>(j)] != unset && x != 0 && std::isfinite(x))
        of_b[static_cast<std::size_t>(k)] =
            std::max(of_b[static_cast<std::size_t>(k)], of_a[static_cast<std::size_t>(j)] + std::ilogb(x));
  set_units(of_a, of_b);
  HostMatrix<Wide> block(rows, n_), residual(rows, r_);
  const auto add_norm = [&](double& norm, const Wide* column) { norm = std::hypot(norm, blas::nrm2(rows, column)); };
  for (index_t j = 0; j < n_; ++j) {
    copy_scaled(rows, a + j * lda, a_units_[static_cast<std::size_t>(j)], &block(0, j));
    add_norm(a_norms_[static_cast<std::size_t>(j)], &block(0, j));
  }
  for (index_t k = 0; k < r_; ++k) {
    copy_scaled(rows, b + k * ldb, b_units_[static_cast<std::size_t>(k)], &residual(0, k));
    add_norm(b_norms_[static_cast<std::size_t>(k)], &residual(0, k));
  }
  if (r_ == 0) return;
  if (n_ > 0)
    blas::gemm(Op::none, Op::none, rows, r_, n_, Wide(-1), block.data(), rows, scaled_.data(), scaled_.ld(), Wide(1),
               residual.data(), rows);
  for (index_t k = 0; k < r_; ++k) add_norm(r_norms_[static_cast<std::size_t>(k)], &residual(0, k));
  if (n_ > 0)
    blas::gemm(adjoint<T>, Op::none, n_, r_, rows, Wide(1), block.data(), rows, residual.data(), rows, Wide(1),
               gradient_.data(), gradient_.ld());
}

template <class T>
typename NormalResidual<T>::Result NormalResidual<T>::result() const {
  // Products of different column units need the exponent range of long double.
  using Real = long double;
  const auto of_a = [&](index_t j, Real x) { return std::ldexp(x, unit(a_units_[static_cast<std::size_t>(j)])); };
  // A comparison must not lose NaN.
  const auto larger = [](Real x, Real y) { return std::isnan(x) || x >= y ? x : y; };
  const auto grow = [&](double& largest, Real x) { largest = static_cast<double>(larger(largest, x)); };
  const auto square = [](Real x) { return x * x; };
  const auto magnitude = [](Wide x) { return std::abs(with_parts<T, Real>(x)); };
  Real squares = 0, a_norm = 0;
  for (index_t j = 0; j < n_; ++j) a_norm += square(of_a(j, a_norms_[static_cast<std::size_t>(j)]));
  a_norm = std::sqrt(a_norm);
  const Real rounding = static_cast<Real>(std::max(rows_, n_)) * std::numeric_limits<real_t<T>>::epsilon();
  Result result;
  for (index_t k = 0; k < r_; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const int exponent = unit(b_units_[at]);
    const Real r = std::ldexp(Real(r_norms_[at]), exponent), b = std::ldexp(Real(b_norms_[at]), exponent);
    squares += square(r);
    if (n_ == 0 || a_norm == 0) continue;
    Real x = 0, gradient = 0, columns = b_norms_[at], worst = 0, violation = 0;
    for (index_t j = 0; j < n_; ++j) {
      const Real norm = a_norms_[static_cast<std::size_t>(j)];
      const Real of_gradient = magnitude(gradient_(j, k));
      x += square(magnitude(x_(j, k)));
      gradient += square(std::ldexp(of_a(j, of_gradient), exponent));
      columns += norm * magnitude(scaled_(j, k));
      if (real_part(x_(j, k)) < 0) violation = std::numeric_limits<Real>::infinity();
      if (norm == 0) continue;
      const Real size = of_gradient / norm;
      worst = larger(worst, size);
      if (!(x_(j, k) == Wide(0) && real_part(gradient_(j, k)) <= 0)) violation = larger(violation, size);
    }
    gradient = std::sqrt(gradient);
    const Real data = a_norm * std::sqrt(x) + b;
    if (!(r <= rounding * data)) grow(result.normal_residual, gradient / a_norm / r);
    if (data == 0) continue;
    grow(result.backward_error, gradient / a_norm / data);
    grow(result.column_error, worst / columns);
    grow(result.nonnegative_error, violation / columns);
    grow(result.equation_error, r / data);
  }
  result.residual_norm = static_cast<double>(std::sqrt(squares));
  return result;
}

template <class T>
std::vector<double> NormalResidual<T>::residual_norms() const {
  std::vector<double> norms(r_norms_);
  for (std::size_t k = 0; k < norms.size(); ++k) norms[k] = std::ldexp(norms[k], unit(b_units_[k]));
  return norms;
}

TESELA_CLASSES_FOR_NUMBERS(NormalResidual)

}  // namespace tesela::kernels
