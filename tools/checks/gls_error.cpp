#include "tools/checks/glm_error.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace tesela {
namespace {

template <class T>
HostMatrix<with_parts<T, double>> in_double(const HostMatrix<T>& a, int exponent) {
  using N = with_parts<T, double>;
  HostMatrix<N> result(a.rows(), a.cols());
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) result(i, j) = times_power_of_two(N(a(i, j)), exponent);
  return result;
}

/// Divides rows of F and X by powers of two that bring F's rows to one size, so that pivots are comparable.
template <class N>
void scale_rows(HostMatrix<N>& F, HostMatrix<N>& X) {
  for (index_t i = 0; i < F.rows(); ++i) {
    double most = 0;
    for (index_t j = 0; j < F.cols(); ++j) most = std::max(most, largest_part(F(i, j)));
    const int e = most > 0 && std::isfinite(most) ? std::ilogb(most) : 0;
    for (index_t j = 0; j < F.cols(); ++j) F(i, j) = times_power_of_two(F(i, j), -e);
    for (index_t j = 0; j < X.cols(); ++j) X(i, j) = times_power_of_two(X(i, j), -e);
  }
}

/// X = F^-1 X; returns false if F is singular. Overwrites F.
template <class N>
bool divide(HostMatrix<N>& F, bool sigma, HostMatrix<N>& X) {
  const index_t m = F.rows(), k = X.cols();
  if (X.size() == 0) return true;
  if (sigma) {
    if (lapack::potrf(m, F.data(), F.ld()) != 0) return false;
    blas::trsm(adjoint<N>, m, k, F.data(), F.ld(), X.data(), X.ld());
    return true;
  }
  scale_rows(F, X);
  std::vector<int> swaps(static_cast<std::size_t>(m));
  if (lapack::getrf(m, m, F.data(), F.ld(), swaps.data()) != 0) return false;
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < m; ++i) std::swap(X(i, j), X(swaps[static_cast<std::size_t>(i)] - 1, j));
  blas::solve_unit_lower(Op::none, m, k, F.data(), F.ld(), X.data(), X.ld());
  blas::trsm(Op::none, m, k, F.data(), F.ld(), X.data(), X.ld());
  return true;
}

}  // namespace

template <class T>
typename kernels::NormalResidual<with_parts<T, double>>::Result gls_error(const HostMatrix<T>& a,
                                                                          const HostMatrix<T>& b,
                                                                          const HostMatrix<T>& f, bool sigma,
                                                                          const HostMatrix<T>& x) {
  using N = with_parts<T, double>;
  const blas::Threads threads(blas::all_cores());
  const int size = largest_exponent(f.size(), f.data());
  // An even exponent of sigma is a power of two of F.
  const int exponent = sigma && size % 2 != 0 ? size - 1 : size;
  const index_t m = a.rows(), n = a.cols();
  HostMatrix<N> F = in_double(f, -exponent), both(m, n + b.cols());
  for (index_t j = 0; j < both.cols(); ++j)
    for (index_t i = 0; i < m; ++i) both(i, j) = N(j < n ? a(i, j) : b(i, j - n));
  kernels::NormalResidual<N> sums(in_double(x, 0));
  if (!divide(F, sigma, both)) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan, nan, nan, nan, nan};
  }
  sums.add(m, both.data(), both.ld(), both.data() + n * both.ld(), both.ld());
  auto result = sums.result();
  result.residual_norm = std::ldexp(result.residual_norm, sigma ? -exponent / 2 : -exponent);
  return result;
}

TESELA_FUNCTIONS_FOR_NUMBERS(gls_error)

}  // namespace tesela
