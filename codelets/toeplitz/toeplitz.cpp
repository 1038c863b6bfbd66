#include <tesela/codelets/toeplitz/general_toeplitz.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/toeplitz.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <limits>
#include <numbers>
#include <vector>

namespace tesela::kernels {

index_t toeplitz_length(index_t n) { return fft::good_size(2 * n - 1); }

namespace {

/// t - sigma e_1 scaled to size 1 by 2^-exponent.
template <class S>
struct Unit {
  std::vector<S> t;
  int exponent;
};
template <class T, class S = with_parts<T, double>>
Unit<S> unit(index_t n, const T* t, double sigma) {
  Unit<S> u{std::vector<S>(static_cast<std::size_t>(n)), 0};
  std::transform(t, t + n, u.t.begin(), [](T value) { return converted<S>(value); });
  u.t[0] -= sigma;
  u.exponent = exponent_of_largest<S>(u.t);
  scale_by_power_of_two<S>(u.t, -u.exponent);
  return u;
}

/// Returns the range of the symbol, t(0) + 2 re sum_k t(k) exp(i k x) for a Hermitian T.
template <class S>
SymbolRange symbol_range(const std::vector<S>& t) {
  const auto n = static_cast<index_t>(t.size());
  const index_t length = fft::good_size(8 * n);
  std::vector<S> transform(static_cast<std::size_t>(transform_rows<S>(length)));
  for (index_t i = 0; i < n; ++i) {
    const S value = t[static_cast<std::size_t>(i)];
    transform[static_cast<std::size_t>(i)] = value;
    if (i > 0) transform[static_cast<std::size_t>(length - i)] = conj(value);
  }
  transform_forward(length, transform.data());
  const auto* const f = reinterpret_cast<const double*>(transform.data());
  const std::size_t count = transform.size() * sizeof(S) / sizeof(double);
  double low = f[0], high = f[0];
  for (std::size_t k = 0; k < count; k += 2) {
    if (!(std::abs(f[k]) <= std::numeric_limits<double>::max())) low = high = std::numeric_limits<double>::quiet_NaN();
    low = std::min(low, f[k]);
    high = std::max(high, f[k]);
  }
  const double middle = low / 2 + high / 2;
  const double half =
      (high / 2 - low / 2) / std::cos(std::numbers::pi * static_cast<double>(n - 1) / static_cast<double>(length));
  return {middle - half, middle + half};
}

}  // namespace

template <class T>
SymbolRange toeplitz_symbol_range(index_t n, const T* t, double sigma) {
  if (n == 0) return {};
  const auto u = unit(n, t, sigma);
  const auto [low, high] = symbol_range(u.t);
  return {std::ldexp(low, u.exponent), std::ldexp(high, u.exponent)};
}

template <class T>
double toeplitz_one_norm(index_t n, const T* t) {
  if (n == 0) return 0;
  // sums[i] = |t_1| + ... + |t_i|: row i's sum is sums[i] + |t_0| + sums[n - 1 - i].
  std::vector<double> sums(static_cast<std::size_t>(n));
  for (index_t i = 1; i < n; ++i)
    sums[static_cast<std::size_t>(i)] = sums[static_cast<std::size_t>(i - 1)] + std::abs(static_cast<double>(t[i]));
  double most = 0;
  for (index_t i = 0; i < n; ++i)
    most = std::max(most, sums[static_cast<std::size_t>(i)] + sums[static_cast<std::size_t>(n - 1 - i)]);
  return most + std::abs(static_cast<double>(t[0]));
}

template <class T>
double toeplitz_norm_bound(index_t n, const T* t, double sigma) {
  if (n == 0) return 0;
  const auto u = unit(n, t, sigma);
  const double one_norm = toeplitz_one_norm(n, u.t.data());
  const auto [low, high] = symbol_range(u.t);
  const double symbol = std::max(std::abs(low), std::abs(high));
  return std::ldexp(std::isnan(low) || symbol < one_norm ? symbol : one_norm, u.exponent);
}

template <class T>
void ToeplitzSpectrum<T>::cpu(const Args&, In<T> t, Out<T> spectrum, Scratch<T> work) {
  toeplitz::Host host;
  toeplitz::spectrum(host, t.data, t.rows, spectrum.data, spectrum.rows, work.data);
}

template <class T>
void ToeplitzMultiply<T>::cpu(const Args& args, In<T> spectrum, In<T> x, InOut<T> y, Scratch<T> work) {
  toeplitz::Host host;
  toeplitz::multiply(host, spectrum.data, spectrum.rows, args.weight, args.sigma, args.alpha, x.data, x.ld, args.beta,
                     y.data, y.ld, x.rows, x.cols, work.data);
}

TESELA_FUNCTIONS_FOR_REALS(toeplitz_one_norm, toeplitz_norm_bound)
template SymbolRange toeplitz_symbol_range(index_t, const float*, double);
template SymbolRange toeplitz_symbol_range(index_t, const double*, double);
template SymbolRange toeplitz_symbol_range(index_t, const std::complex<float>*, double);
template SymbolRange toeplitz_symbol_range(index_t, const std::complex<double>*, double);
TESELA_STRUCTS_FOR_REALS(ToeplitzSpectrum, ToeplitzMultiply)

}  // namespace tesela::kernels
