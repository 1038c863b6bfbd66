#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {
namespace {

/// Returns the power of two that scales numbers of this size to about 1.
double scale_of(double size) { return size > 0 ? std::ldexp(1.0, -std::ilogb(size)) : 1; }

/// Returns the scales of the columns of A.
std::vector<double> column_scales(const HostMatrix<double>& A) {
  std::vector<double> all;
  for (index_t j = 0; j < A.cols(); ++j) {
    double size = 0;
    for (index_t i = 0; i < A.rows(); ++i) size = std::max(size, std::abs(A(i, j)));
    all.push_back(scale_of(size));
  }
  return all;
}

/// Returns the kept rows of C on scaled unknowns as the columns of C^T, each of size 1.
HostMatrix<double> transposed(const HostMatrix<double>& C, const std::vector<double>& scales,
                              const std::vector<index_t>& dropped_rows) {
  HostMatrix<double> Ct(C.cols(), C.rows() - std::ssize(dropped_rows));
  index_t k = 0;
  for (index_t i = 0; i < C.rows(); ++i) {
    if (std::binary_search(dropped_rows.begin(), dropped_rows.end(), i)) continue;
    double size = 0;
    for (index_t j = 0; j < C.cols(); ++j)
      size = std::max(size, std::abs(C(i, j) * scales[static_cast<std::size_t>(j)]));
    for (index_t j = 0; j < C.cols(); ++j) Ct(j, k) = C(i, j) * scales[static_cast<std::size_t>(j)] * scale_of(size);
    ++k;
  }
  return Ct;
}

}  // namespace

std::vector<double> constrained_errors(const HostMatrix<double>& A, const HostMatrix<double>& C,
                                       const std::vector<index_t>& dropped_rows) {
  const index_t m = A.rows(), n = A.cols();
  std::vector<double> errors(static_cast<std::size_t>(n), 0.0);
  const std::vector<double> scales = column_scales(A);
  HostMatrix<double> Ct = transposed(C, scales, dropped_rows);
  const index_t p = Ct.cols(), free = n - p;
  if (free <= 0) return errors;
  std::vector<double> tau(static_cast<std::size_t>(n)), tau_n(static_cast<std::size_t>(n));
  lapack::geqrf(n, p, Ct.data(), n, tau.data());
  HostMatrix<double> At(n, m);  // (A Q)^T
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) At(j, i) = A(i, j) * scales[static_cast<std::size_t>(j)];
  lapack::ormqr(Op::transpose, n, m, p, Ct.data(), n, tau.data(), At.data(), n);
  HostMatrix<double> AN(m, free);
  for (index_t j = 0; j < free; ++j)
    for (index_t i = 0; i < m; ++i) AN(i, j) = At(p + j, i);
  lapack::geqrf(m, free, AN.data(), m, tau_n.data());
  HostMatrix<double> N = HostMatrix<double>::zeros(n, free);
  for (index_t j = 0; j < free; ++j) N(p + j, j) = 1;
  lapack::ormqr(Op::none, n, free, p, Ct.data(), n, tau.data(), N.data(), n);
  blas::trsm_right(n, free, AN.data(), m, N.data(), n);
  for (index_t j = 0; j < n; ++j) {
    double norm = 0;
    for (index_t k = 0; k < free; ++k) norm = std::hypot(norm, N(j, k));
    errors[static_cast<std::size_t>(j)] = norm * scales[static_cast<std::size_t>(j)];
  }
  return errors;
}

}  // namespace tesela
