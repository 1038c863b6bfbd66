#include "tools/checks/svd_error.hpp"

#include "tools/checks/eig_error.hpp"
#include "tools/checks/worse.hpp"
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack_svd.hpp>
#include <tesela/tiles/filled.hpp>

#include <algorithm>
#include <cmath>
#include <complex>

namespace tesela {
namespace {

template <class T>
int exponent_of(const HostMatrix<T>& a) {
  double largest = 0;
  for (index_t k = 0; k < a.size(); ++k) largest = std::max(largest, static_cast<double>(largest_part(a.data()[k])));
  return largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
}

template <class T>
HostMatrix<with_parts<T, double>> scaled(const HostMatrix<T>& a, int exponent) {
  using Wide = with_parts<T, double>;
  return filled<Wide>(a.shape(), [&](index_t i, index_t j) { return times_power_of_two(Wide(a(i, j)), -exponent); });
}

double square(double x) { return x * x; }
double square(std::complex<double> x) { return std::norm(x); }

template <class Wide>
double frobenius(const HostMatrix<Wide>& a) {
  long double squares = 0;  // n^2 terms of one sign
  for (index_t k = 0; k < a.size(); ++k) squares += static_cast<long double>(square(a.data()[k]));
  return std::sqrt(static_cast<double>(squares));
}

/// Returns every step-th column of x times a factor.
template <class T>
HostMatrix<with_parts<T, double>> scaled_columns(const HostMatrix<T>& x, const std::vector<double>& factors,
                                                 index_t step = 1) {
  using Wide = with_parts<T, double>;
  return filled<Wide>({x.rows(), static_cast<index_t>(factors.size())}, [&](index_t i, index_t j) {
    return Wide(x(i, j * step)) * factors[static_cast<std::size_t>(j)];
  });
}

/// Returns the larger number, or NaN if one is NaN.
/// Returns the largest norm of a column of op(A) X - Y.
template <class Wide>
double largest_column(Op op, const HostMatrix<Wide>& a, const HostMatrix<Wide>& x, HostMatrix<Wide> y) {
  if (y.size() == 0) return 0;
  blas::gemm<Wide>(op, Op::none, y.rows(), y.cols(), x.rows(), 1, a.data(), a.ld(), x.data(), x.ld(), -1, y.data(),
                   y.ld());
  double largest = 0;
  for (index_t j = 0; j < y.cols(); ++j) {
    double squares = 0;
    for (index_t i = 0; i < y.rows(); ++i) squares += square(y(i, j));
    largest = worse(largest, std::sqrt(squares));
  }
  return largest;
}

}  // namespace

template <class T>
SvdBounds svd_bounds(index_t m, index_t n) {
  const EigBounds bounds = eig_bounds<T>(std::max(m, n));
  return {bounds.value, bounds.orthogonality};
}

template <class T>
SvdError svd_error(const HostMatrix<T>& a, const std::vector<double>& values, const HostMatrix<T>& u,
                   const HostMatrix<T>& v, index_t sampled, double norm) {
  const blas::Threads threads(blas::threads_for(std::max(a.rows(), a.cols())));
  SvdError error{0, eigenvector_orthogonality(u, sampled, 1), eigenvector_orthogonality(v, sampled, 1)};
  const int exponent = exponent_of(a);
  const index_t step = std::max<index_t>((std::ssize(values) - 1) / std::max<index_t>(sampled, 1) + 1, 1);
  std::vector<double> s;
  for (index_t j = 0; j < std::ssize(values); j += step)
    s.push_back(std::ldexp(values[static_cast<std::size_t>(j)], -exponent));
  const std::vector<double> ones(s.size(), 1);
  const auto whole = scaled(a, exponent);
  error.residual = worse(largest_column(Op::none, whole, scaled_columns(v, ones, step), scaled_columns(u, s, step)),
                         largest_column(adjoint<T>, whole, scaled_columns(u, ones, step), scaled_columns(v, s, step)));
  const double most = frobenius(whole), given = norm > 0 ? std::ldexp(norm, -exponent) : s.empty() ? 0 : s.front();
  if (most > 0) error.residual /= given > 0 ? std::min(given, most) : most;
  return error;
}

template <class T>
std::vector<double> reference_singular_values(const HostMatrix<T>& a) {
  const blas::Threads threads(blas::threads_for(std::max(a.rows(), a.cols())));
  const int exponent = exponent_of(a);
  auto copy = scaled(a, exponent);
  std::vector<double> s(static_cast<std::size_t>(std::min(a.rows(), a.cols())));
  if (lapack::gesdd<with_parts<T, double>>(lapack::SingularVectors::none, a.rows(), a.cols(), copy.data(), copy.ld(),
                                           s.data(), nullptr, 1, nullptr, 1) != 0)
    return {};
  for (double& value : s) value = std::ldexp(value, exponent);
  return s;
}

double singular_value_error(const std::vector<double>& values, const std::vector<double>& reference) {
  if (values.size() > reference.size()) return std::numeric_limits<double>::quiet_NaN();
  const double norm = reference.empty() || reference.front() == 0 ? 1 : reference.front();
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    largest = worse(largest, values[i] == reference[i] ? 0 : std::abs(values[i] / norm - reference[i] / norm));
  return largest;
}

template <class T>
double norm_drift(const HostMatrix<T>& a, const std::vector<double>& values) {
  const int exponent = exponent_of(a);
  const double norm = frobenius(scaled(a, exponent));
  double squares = 0;
  for (const double value : values) {
    const double s = std::ldexp(value, -exponent);
    squares += s * s;
  }
  return std::abs(std::sqrt(squares) - norm) / (norm > 0 ? norm : 1);
}

template <class T>
double low_rank_error(const HostMatrix<T>& a, const std::vector<double>& values, const HostMatrix<T>& u,
                      const HostMatrix<T>& v, double norm) {
  constexpr index_t most_by_lapack = 512;
  const index_t m = a.rows(), n = a.cols(), k = std::ssize(values);
  if (m == 0 || n == 0 || norm == 0) return 0;
  const blas::Threads threads(blas::threads_for(std::max(m, n)));
  const int exponent = std::ilogb(norm);
  using Wide = with_parts<T, double>;
  HostMatrix<Wide> rest = scaled(a, exponent);
  std::vector<double> s = values;
  for (double& value : s) value = std::ldexp(value, -exponent);
  const HostMatrix<Wide> left = scaled_columns(u, s), right = scaled_columns(v, std::vector<double>(s.size(), 1));
  blas::gemm<Wide>(Op::none, adjoint<T>, m, n, k, -1, left.data(), left.ld(), right.data(), right.ld(), 1, rest.data(),
                   rest.ld());
  const double unit = std::ldexp(norm, -exponent);
  if (std::min(m, n) <= most_by_lapack) {
    const std::vector<double> found = reference_singular_values(rest);
    return found.empty() ? std::numeric_limits<double>::quiet_NaN() : found.front() / unit;
  }
  HostMatrix<Wide> x(n, 1), y(m, 1);
  for (index_t i = 0; i < n; ++i) x(i, 0) = std::sin(static_cast<double>(i * i + 1));
  double length = 0;
  for (int step = 0; step < 60; ++step) {
    const double size = frobenius(x);
    if (!(size > 0)) return size / unit;  // 0 or NaN
    for (index_t i = 0; i < n; ++i) x(i, 0) /= size;
    blas::gemm<Wide>(Op::none, Op::none, m, 1, n, 1, rest.data(), rest.ld(), x.data(), n, 0, y.data(), m);
    length = frobenius(y);
    blas::gemm<Wide>(adjoint<T>, Op::none, n, 1, m, 1, rest.data(), rest.ld(), y.data(), m, 0, x.data(), n);
  }
  return length / unit;
}

TESELA_FUNCTIONS_FOR_NUMBERS(svd_bounds, svd_error, reference_singular_values, norm_drift, low_rank_error)

}  // namespace tesela
