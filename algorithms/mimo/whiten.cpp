#include <tesela/algorithms/mimo/mimo_channel.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <cmath>
#include <vector>

namespace tesela {
namespace {

using Number = std::complex<double>;

[[noreturn]] void refuse(const std::string& why) { throw ArgumentError("mimo", "covariance", why); }

std::string place(index_t i, index_t j) {
  std::string text("[");
  text += std::to_string(i);
  text += ", ";
  text += std::to_string(j);
  return text + "] (from zero)";
}

/// C = D L L^H D with powers of two D such that the diagonal of the scaled C is about 1: the units of antennas do not
/// matter.
struct Factor {
  HostMatrix<Number> l;
  std::vector<int> exponents;
};

Factor factor(const HostMatrix<Number>& c) {
  const index_t n = c.rows();
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i)
      if (!std::isfinite(c(i, j).real()) || !std::isfinite(c(i, j).imag()))
        refuse("the value at " + place(i, j) + " is not finite");
  const auto indefinite = [](index_t k) {
    refuse("is not positive definite: row " + std::to_string(k) + " (from zero)");
  };
  Factor f{c.clone(), {}};
  for (index_t k = 0; k < n; ++k) {
    if (!(c(k, k).real() > 0)) indefinite(k);
    f.exponents.push_back(std::ilogb(c(k, k).real()) / 2);
  }
  HostMatrix<Number>& l = f.l;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      const int unit = -f.exponents[static_cast<std::size_t>(i)] - f.exponents[static_cast<std::size_t>(j)];
      l(i, j) = {std::ldexp(c(i, j).real(), unit), std::ldexp(c(i, j).imag(), unit)};
    }
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i)
      if (!(std::abs(l(i, j) - std::conj(l(j, i))) <= 1e-6)) refuse("is not Hermitian at " + place(i, j));
  for (index_t k = 0; k < n; ++k) {
    double left = l(k, k).real();
    for (index_t j = 0; j < k; ++j) left -= std::norm(l(k, j));
    if (!(left > 1e-14)) indefinite(k);
    l(k, k) = std::sqrt(left);
    for (index_t i = k + 1; i < n; ++i) {
      for (index_t j = 0; j < k; ++j) l(i, k) -= l(i, j) * std::conj(l(k, j));
      l(i, k) /= l(k, k).real();
    }
  }
  return f;
}

/// Computes b = (D L)^-1 b.
template <class T>
void solve(const Factor& f, HostMatrix<std::complex<T>>& b) {
  for (index_t k = 0; k < b.cols(); ++k)
    for (index_t i = 0; i < b.rows(); ++i) {
      const int unit = -f.exponents[static_cast<std::size_t>(i)];
      Number left(std::ldexp(static_cast<double>(b(i, k).real()), unit),
                  std::ldexp(static_cast<double>(b(i, k).imag()), unit));
      for (index_t j = 0; j < i; ++j) left -= f.l(i, j) * Number(b(j, k));
      b(i, k) = std::complex<T>(left / f.l(i, i).real());
    }
}

}  // namespace

template <class T>
void whiten(const HostMatrix<Number>& covariance, HostMatrix<std::complex<T>>& channels,
            HostMatrix<std::complex<T>>& y) {
  const index_t n = y.rows();
  if (covariance.rows() != n || covariance.cols() != n || channels.rows() != n)
    refuse(to_string(covariance.shape()) + "; it must be Nr x Nr for " + std::to_string(n) + " antennas");
  const Factor f = factor(covariance);
  solve(f, channels);
  solve(f, y);
}

template void whiten(const HostMatrix<Number>&, HostMatrix<std::complex<float>>&, HostMatrix<std::complex<float>>&);
template void whiten(const HostMatrix<Number>&, HostMatrix<std::complex<double>>&, HostMatrix<std::complex<double>>&);

}  // namespace tesela
