#include "tools/checks/factor_error.hpp"

#include <tesela/host/blas.hpp>
#include <tesela/host/normal_residual.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>
#include <vector>

namespace tesela {
namespace {

constexpr index_t vectors = 16;

template <class T>
double largest(const HostMatrix<T>& a) {
  double most = 0;
  for (index_t e = 0; e < a.size(); ++e) {
    const double x = std::abs(static_cast<double>(a.data()[e]));
    most = !(x <= most) ? x : most;
  }
  return most;
}

/// Returns A times 2^-exponent in double precision.
template <class T>
HostMatrix<double> scaled(const HostMatrix<T>& a, int exponent) {
  HostMatrix<double> copy(a.rows(), a.cols());
  for (index_t e = 0; e < a.size(); ++e) copy.data()[e] = std::ldexp(static_cast<double>(a.data()[e]), -exponent);
  return copy;
}

double norm(const HostMatrix<double>& a) { return a.size() == 0 ? 0 : blas::nrm2<double>(a.size(), a.data()); }

/// Returns ||P A - F|| / ||A||, where multiply(x) makes x F x, with F in units of 2^exponent like A.
template <class Multiply>
double backward(const HostMatrix<double>& a, std::span<const index_t> rows, const Multiply& multiply) {
  const index_t n = a.rows();
  if (n == 0) return 0;
  HostMatrix<double> x(n, vectors), ax(n, vectors);
  const Generator<double> random{Pattern::uniform, 0, n, 4711};
  for (index_t j = 0; j < vectors; ++j)
    for (index_t i = 0; i < n; ++i) x(i, j) = random(i, j) < 0 ? -1 : 1;
  blas::gemm<double>(Op::none, Op::none, n, vectors, n, 1, a.data(), n, x.data(), n, 0, ax.data(), n);
  multiply(x);
  double squares = 0;
  for (index_t j = 0; j < vectors; ++j)
    for (index_t i = 0; i < n; ++i) {
      const double apart = ax(rows.empty() ? i : rows[static_cast<std::size_t>(i)], j) - x(i, j);
      squares += apart * apart;
    }
  const double size = norm(a), error = std::sqrt(squares / vectors);
  return size > 0 ? error / size : error;
}

}  // namespace

template <class T>
FactorError lu_error(const HostMatrix<T>& a, const HostMatrix<T>& factors, std::span<const index_t> rows) {
  const blas::Threads threads(blas::all_cores());
  const index_t n = a.rows();
  const double most = largest(a);
  const int exponent = most > 0 && std::isfinite(most) ? std::ilogb(most) : 0;
  HostMatrix<double> lu(n, n);
  FactorError error;
  double u = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      const auto element = static_cast<double>(factors(i, j));
      lu(i, j) = i <= j ? std::ldexp(element, -exponent) : element;
      double& largest_yet = i <= j ? u : error.multipliers;
      largest_yet = !(std::abs(element) <= largest_yet) ? std::abs(element) : largest_yet;
    }
  if (most > 0) error.growth = u / most;
  error.backward = backward(scaled(a, exponent), rows, [&](HostMatrix<double>& x) {
    blas::trmm<double>(Side::left, blas::Triangle::upper, Op::none, n, vectors, 1, lu.data(), n, x.data(), n);
    blas::trmm<double>(Side::left, blas::Triangle::unit_lower, Op::none, n, vectors, 1, lu.data(), n, x.data(), n);
  });
  return error;
}

template <class T>
FactorError cholesky_error(const HostMatrix<T>& a, const HostMatrix<T>& factors) {
  const blas::Threads threads(blas::all_cores());
  const index_t n = a.rows();
  const double most = largest(a);
  const int exponent = (most > 0 && std::isfinite(most) ? std::ilogb(most) : 0) & ~1;  // R has half of it
  const HostMatrix<double> r = scaled(factors, exponent / 2);
  return {backward(scaled(a, exponent), {}, [&](HostMatrix<double>& x) {
    for (const Op op : {Op::none, Op::transpose})
      blas::trmm<double>(Side::left, blas::Triangle::upper, op, n, vectors, 1, r.data(), n, x.data(), n);
  })};
}

template <class T>
double solution_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& x) {
  const blas::Threads threads(blas::all_cores());
  kernels::NormalResidual<T> sums(x);
  sums.add(a.rows(), a.data(), a.ld(), b.data(), b.ld());
  return sums.result().equation_error;
}

template <class T>
double componentwise_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& x) {
  const index_t n = a.rows();
  const auto exponent_of = [](double most) { return most > 0 && std::isfinite(most) ? std::ilogb(most) : 0; };
  const int of_a = exponent_of(largest(a));
  const HostMatrix<double> scaled_a = scaled(a, of_a);
  std::vector<double> residual(static_cast<std::size_t>(n)), sizes(residual.size());
  double worst = 0;
  for (index_t k = 0; k < x.cols(); ++k) {
    double most_b = 0, most_x = 0;
    for (index_t i = 0; i < n; ++i) {
      most_b = std::max(most_b, std::abs(static_cast<double>(b(i, k))));
      most_x = std::max(most_x, std::abs(static_cast<double>(x(i, k))));
    }
    const int unit =
        most_b > 0 ? std::max(of_a + exponent_of(most_x), exponent_of(most_b)) : of_a + exponent_of(most_x);
    for (index_t i = 0; i < n; ++i) {
      double& r = residual[static_cast<std::size_t>(i)];
      r = std::ldexp(static_cast<double>(b(i, k)), -unit);
      sizes[static_cast<std::size_t>(i)] = std::abs(r);
    }
    for (index_t j = 0; j < n; ++j) {
      const double factor = std::ldexp(static_cast<double>(x(j, k)), of_a - unit);
      const double* const column = &scaled_a(0, j);
      for (index_t i = 0; i < n; ++i) {
        const double term = column[i] * factor;
        residual[static_cast<std::size_t>(i)] -= term;
        sizes[static_cast<std::size_t>(i)] += std::abs(term);
      }
    }
    for (index_t i = 0; i < n; ++i) {
      long double r = residual[static_cast<std::size_t>(i)], size = sizes[static_cast<std::size_t>(i)];
      if (size < 1e-280L) {  // below this size, terms may have underflowed
        r = b(i, k);
        size = std::abs(r);
        for (index_t j = 0; j < n; ++j) {
          const long double term = static_cast<long double>(a(i, j)) * x(j, k);
          r -= term;
          size += std::abs(term);
        }
      }
      if (size == 0) continue;
      const auto error = static_cast<double>(std::abs(r) / size);
      worst = !(error <= worst) ? error : worst;
    }
  }
  return worst;
}

#define TESELA_INSTANTIATE(T)                                                                          \
  template FactorError lu_error(const HostMatrix<T>&, const HostMatrix<T>&, std::span<const index_t>); \
  template FactorError cholesky_error(const HostMatrix<T>&, const HostMatrix<T>&);                     \
  template double solution_error(const HostMatrix<T>&, const HostMatrix<T>&, const HostMatrix<T>&);    \
  template double componentwise_error(const HostMatrix<T>&, const HostMatrix<T>&, const HostMatrix<T>&);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela
