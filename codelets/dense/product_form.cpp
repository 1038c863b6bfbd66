#include <tesela/codelets/dense/product_form.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::kernels {
namespace {

/// The product H1 H2 = I - W T W^T of two reflectors (LAPACK larft).
struct Reflectors {
  std::vector<std::array<double, 2>> w;
  long double t00 = 0, t01 = 0, t11 = 0;  // the upper triangle of T
};

Reflectors reflectors(index_t size, std::uint64_t seed) {
  Reflectors h;
  const Generator<double> random{Pattern::uniform, 0, 2, seed};
  long double w00 = 0, w01 = 0, w11 = 0;
  h.w.reserve(static_cast<std::size_t>(size));
  for (index_t i = 0; i < size; ++i) {
    const double a = random(i, 0), b = random(i, 1);
    h.w.push_back({a, b});
    w00 += static_cast<long double>(a) * a;
    w01 += static_cast<long double>(a) * b;
    w11 += static_cast<long double>(b) * b;
  }
  // A zero vector defines no reflector and leaves the identity.
  h.t00 = w00 > 0 ? 2 / w00 : 0;
  h.t11 = w11 > 0 ? 2 / w11 : 0;
  h.t01 = -h.t00 * w01 * h.t11;
  return h;
}

}  // namespace

template <class T>
ProductForm<T>::ProductForm(index_t m, index_t n, const std::vector<double>& s, std::uint64_t seed) : s_(s) {
  s_.resize(std::min(s_.size(), static_cast<std::size_t>(std::min(m, n))));
  Reflectors u = reflectors(m, Generator<T>::mix(seed)), v = reflectors(n, Generator<T>::mix(seed + 1));
  // P = T W^T D has one column per singular value, Q = D X S^T one row; M = P X S^T.
  std::vector<std::array<long double, 2>> p;
  long double m00 = 0, m01 = 0, m10 = 0, m11 = 0;
  for (std::size_t l = 0; l < s_.size(); ++l) {
    const long double value = s_[l], a = u.w[l][0] * value, b = u.w[l][1] * value, x = v.w[l][0], y = v.w[l][1];
    const long double p0 = u.t00 * a + u.t01 * b, p1 = u.t11 * b;
    const long double q0 = x * v.t00 + y * v.t01, q1 = y * v.t11;
    p.push_back({p0, p1});
    scaled_.push_back({value * q0, value * q1});
    m00 += p0 * q0;
    m01 += p0 * q1;
    m10 += p1 * q0;
    m11 += p1 * q1;
  }
  right_.resize(static_cast<std::size_t>(n));
  for (std::size_t j = 0; j < right_.size(); ++j) {
    const long double x = v.w[j][0], y = v.w[j][1];
    const std::array<long double, 2> own = j < p.size() ? p[j] : std::array<long double, 2>{0, 0};
    right_[j] = {own[0] - (m00 * x + m01 * y), own[1] - (m10 * x + m11 * y), x, y};
  }
  left_ = std::move(u.w);
  if constexpr (is_complex<T>) {
    for (index_t i = 0; i < m; ++i) row_phases_.push_back(Generator<T>::phase(seed + 2, i));
    for (index_t j = 0; j < n; ++j) column_phases_.push_back(Generator<T>::phase(seed + 3, j));
  }
}

std::vector<double> spectrum(index_t count, double condition) {
  std::vector<double> s(static_cast<std::size_t>(count), 1.0);
  for (std::size_t l = 1; l < s.size(); ++l)
    s[l] = std::pow(condition, -static_cast<double>(l) / static_cast<double>(s.size() - 1));
  return s;
}

TESELA_CLASSES_FOR_NUMBERS(ProductForm)

}  // namespace tesela::kernels
