#include <tesela/algorithms/mimo/whiten.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <cmath>

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

/// L of C = L L^H, scaled by 2^-exponent on the way, since squares of C's elements need not exist.
HostMatrix<Number> factor(const HostMatrix<Number>& c) {
  const index_t n = c.rows();
  double largest = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      if (!std::isfinite(c(i, j).real()) || !std::isfinite(c(i, j).imag()))
        refuse("the value at " + place(i, j) + " is not finite");
      largest = std::fmax(largest, std::fmax(std::abs(c(i, j).real()), std::abs(c(i, j).imag())));
    }
  if (largest == 0) refuse("is not positive definite: row 0 (from zero)");
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i)
      if (!(std::abs(c(i, j) / largest - std::conj(c(j, i)) / largest) <= 1e-6))
        refuse("is not Hermitian at " + place(i, j));
  HostMatrix<Number> l = c.clone();
  for (index_t k = 0; k < n; ++k) {
    double left = c(k, k).real() / largest;
    for (index_t j = 0; j < k; ++j) left -= std::norm(l(k, j));
    if (!(left > 1e-14)) refuse("is not positive definite: row " + std::to_string(k) + " (from zero)");
    l(k, k) = std::sqrt(left);
    for (index_t i = k + 1; i < n; ++i) {
      Number sum = c(i, k) / largest;
      for (index_t j = 0; j < k; ++j) sum -= l(i, j) * std::conj(l(k, j));
      l(i, k) = sum / l(k, k).real();
    }
  }
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j; i < n; ++i) l(i, j) *= std::sqrt(largest);
  return l;
}

template <class T>
void solve(const HostMatrix<Number>& l, HostMatrix<std::complex<T>>& b) {
  for (index_t k = 0; k < b.cols(); ++k)
    for (index_t i = 0; i < b.rows(); ++i) {
      Number left(b(i, k));
      for (index_t j = 0; j < i; ++j) left -= l(i, j) * Number(b(j, k));
      b(i, k) = std::complex<T>(left / l(i, i).real());
    }
}

}  // namespace

template <class T>
void whiten(const HostMatrix<Number>& covariance, HostMatrix<std::complex<T>>& channels,
            HostMatrix<std::complex<T>>& y) {
  const index_t n = y.rows();
  if (covariance.rows() != n || covariance.cols() != n || channels.rows() != n)
    refuse(to_string(covariance.shape()) + "; Nr x Nr, of " + std::to_string(n) + " antennas");
  const HostMatrix<Number> l = factor(covariance);
  solve(l, channels);
  solve(l, y);
}

template void whiten(const HostMatrix<Number>&, HostMatrix<std::complex<float>>&, HostMatrix<std::complex<float>>&);
template void whiten(const HostMatrix<Number>&, HostMatrix<std::complex<double>>&, HostMatrix<std::complex<double>>&);

}  // namespace tesela
