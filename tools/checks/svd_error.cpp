#include "tools/checks/svd_error.hpp"

#include "tools/checks/eig_error.hpp"
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack_svd.hpp>
#include <tesela/tiles/filled.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {
namespace {

template <class T>
int exponent_of(const HostMatrix<T>& a) {
  double largest = 0;
  for (index_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(static_cast<double>(a.data()[k])));
  return largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
}

template <class T>
HostMatrix<double> scaled(const HostMatrix<T>& a, int exponent) {
  return filled<double>(a.shape(),
                        [&](index_t i, index_t j) { return std::ldexp(static_cast<double>(a(i, j)), -exponent); });
}

double frobenius(const HostMatrix<double>& a) {
  double squares = 0;
  for (index_t k = 0; k < a.size(); ++k) squares += a.data()[k] * a.data()[k];
  return std::sqrt(squares);
}

/// Returns the first columns of x times factors.
template <class T>
HostMatrix<double> scaled_columns(const HostMatrix<T>& x, const std::vector<double>& factors) {
  return filled<double>({x.rows(), static_cast<index_t>(factors.size())}, [&](index_t i, index_t j) {
    return static_cast<double>(x(i, j)) * factors[static_cast<std::size_t>(j)];
  });
}

/// Returns ||op(A) X - Y||_F.
double difference(Op op, const HostMatrix<double>& a, const HostMatrix<double>& x, HostMatrix<double> y) {
  if (y.size() == 0) return 0;
  blas::gemm<double>(op, Op::none, y.rows(), y.cols(), x.rows(), 1, a.data(), a.ld(), x.data(), x.ld(), -1, y.data(),
                     y.ld());
  return frobenius(y);
}

/// Returns the larger number, or NaN if one is NaN.
double worst(double x, double y) { return std::isnan(x) || std::isnan(y) ? x + y : std::max(x, y); }

}  // namespace

template <class T>
SvdBounds svd_bounds(index_t m, index_t n) {
  const EigBounds bounds = eig_bounds<T>(std::max(m, n));
  return {bounds.value, bounds.orthogonality};
}

template <class T>
SvdError svd_error(const HostMatrix<T>& a, const std::vector<double>& values, const HostMatrix<T>& u,
                   const HostMatrix<T>& v) {
  const blas::Threads threads(blas::threads_for(std::max(a.rows(), a.cols())));
  const auto k = static_cast<index_t>(values.size());
  SvdError error{0, eigenvector_orthogonality(u, u.cols(), 1), eigenvector_orthogonality(v, v.cols(), 1)};
  const int exponent = exponent_of(a);
  std::vector<double> s = values;
  for (double& value : s) value = std::ldexp(value, -exponent);
  HostMatrix<double> rest = scaled(a, exponent);
  const double norm = frobenius(rest);
  const HostMatrix<double> us = scaled_columns(u, s), ones = scaled_columns(v, std::vector<double>(s.size(), 1));
  if (k == std::min(a.rows(), a.cols())) {
    if (rest.size() > 0)
      blas::gemm<double>(Op::none, Op::transpose, a.rows(), a.cols(), k, -1, us.data(), us.ld(), ones.data(), ones.ld(),
                         1, rest.data(), rest.ld());
    error.residual = frobenius(rest);
  } else {
    error.residual = worst(
        difference(Op::none, rest, ones, us.clone()),
        difference(Op::transpose, rest, scaled_columns(u, std::vector<double>(s.size(), 1)), scaled_columns(v, s)));
  }
  if (norm > 0) error.residual /= norm;
  return error;
}

template <class T>
std::vector<double> reference_singular_values(const HostMatrix<T>& a) {
  const blas::Threads threads(blas::threads_for(std::max(a.rows(), a.cols())));
  const int exponent = exponent_of(a);
  HostMatrix<double> copy = scaled(a, exponent);
  std::vector<double> s(static_cast<std::size_t>(std::min(a.rows(), a.cols())));
  if (lapack::gesdd<double>(lapack::SingularVectors::none, a.rows(), a.cols(), copy.data(), copy.ld(), s.data(),
                            nullptr, 1, nullptr, 1) != 0)
    return {};
  for (double& value : s) value = std::ldexp(value, exponent);
  return s;
}

double singular_value_error(const std::vector<double>& values, const std::vector<double>& reference) {
  if (values.size() > reference.size()) return std::numeric_limits<double>::quiet_NaN();
  const double norm = reference.empty() || reference.front() == 0 ? 1 : reference.front();
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    largest = worst(largest, values[i] == reference[i] ? 0 : std::abs(values[i] / norm - reference[i] / norm));
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

#define TESELA_INSTANTIATE(T)                                                                         \
  template SvdBounds svd_bounds<T>(index_t, index_t);                                                 \
  template SvdError svd_error(const HostMatrix<T>&, const std::vector<double>&, const HostMatrix<T>&, \
                              const HostMatrix<T>&);                                                  \
  template std::vector<double> reference_singular_values(const HostMatrix<T>&);                       \
  template double norm_drift(const HostMatrix<T>&, const std::vector<double>&);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela
