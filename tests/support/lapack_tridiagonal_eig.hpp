#pragma once

#include "tests/support/test.hpp"
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/types.hpp>
#include <tesela/tiles/generator.hpp>

#include <numbers>

// Symmetric tridiagonal matrices, and LAPACK's eigenvalues as references.

namespace tesela::test {

/// A symmetric tridiagonal matrix, and its eigenvalues in ascending order if a closed form exists.
template <class T>
struct SymmetricTridiagonal {
  std::string kind;
  std::vector<T> d, e;
  std::vector<double> closed = {};
  index_t n() const { return static_cast<index_t>(d.size()); }
};

inline const std::vector<std::string> tridiagonal_eig_kinds{
    "uniform",  "normal",   "wilkinson", "glued",      "second-difference", "equal-tiny",
    "zero",     "identity", "diagonal",  "graded",     "graded-up",         "clustered",
    "legendre", "clement",  "one-zero",  "two-blocks", "exchange"};

/// Returns the matrix of this kind and order; glued: copies of Wilkinson's W21+ joined by 1e-14.
template <class T>
SymmetricTridiagonal<T> tridiagonal_of(const std::string& kind, index_t n, std::uint64_t seed = 1) {
  const Generator<double> random{kind == "normal" ? Pattern::normal : Pattern::uniform, 0, 0, seed};
  const double far = sizeof(T) == 4 ? 30 : 150, step = n > 1 ? 2 * far / static_cast<double>(n - 1) : 0;
  SymmetricTridiagonal<T> t{kind, {}, {}, {}};
  const auto power = [&](index_t i) { return std::pow(10.0, step * static_cast<double>(i) - far); };  // 1e±150
  for (index_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(i), order = static_cast<double>(n);
    double d = 0, e = 0;
    if (kind == "uniform" || kind == "normal" || kind == "one-zero" || kind == "two-blocks") {
      d = random(i, 0), e = random(i, 1);
      if (kind == "one-zero" && i == n / 3) e = 0;
      if (kind == "two-blocks" && i == n / 2) e = 1e-20;
    } else if (kind == "wilkinson") {
      d = std::abs((order - 1) / 2 - x), e = 1;
    } else if (kind == "glued") {
      d = std::abs(10.0 - static_cast<double>(i % 21)), e = i % 21 == 20 ? 1e-14 : 1;
    } else if (kind == "second-difference") {
      d = 2, e = -1;
      t.closed.push_back(2 - 2 * std::cos((x + 1) * std::numbers::pi / (order + 1)));
    } else if (kind == "equal-tiny") {
      d = 1, e = 1e-9 * random(i, 1);
    } else if (kind == "identity") {
      d = 1;
      t.closed.push_back(1);
    } else if (kind == "zero") {
      t.closed.push_back(0);
    } else if (kind == "diagonal") {
      d = random(i, 0);
    } else if (kind == "graded") {
      d = 1 / power(i), e = 0.3 / power(i);
    } else if (kind == "graded-up") {
      d = power(i) * (1 + random(i, 0) / 4), e = 0.3 * power(i);
    } else if (kind == "clustered") {
      d = static_cast<double>(i * 5 / n) + 1e-13 * random(i, 0), e = 1e-11 * random(i, 1);
    } else if (kind == "legendre") {
      e = (x + 1) / std::sqrt(4 * (x + 1) * (x + 1) - 1);
    } else if (kind == "clement") {
      e = std::sqrt((x + 1) * (order - 1 - x));
      t.closed.push_back(2 * x - (order - 1));
    } else if (kind == "exchange") {
      e = i % 2 == 0 ? 1 : 0;
      t.closed.push_back(x < static_cast<double>(n / 2) ? -1 : n % 2 == 1 && i == n / 2 ? 0 : 1);
    }
    t.d.push_back(static_cast<T>(d));
    if (i + 1 < n) t.e.push_back(static_cast<T>(e));
  }
  return t;
}

/// Returns the exponent of a power of two near the largest entry. References are computed in double with entries of
/// size 1.
template <class T>
int size_exponent(const SymmetricTridiagonal<T>& t) {
  double most = 0;
  for (const auto* band : {&t.d, &t.e})
    for (const T x : *band) most = std::max(most, std::abs(static_cast<double>(x)));
  return most > 0 ? std::ilogb(most) : 0;
}

/// Returns the eigenvalues times 2^-size_exponent(t) in ascending order, by dsterf.
template <class T>
std::vector<double> reference_values(const SymmetricTridiagonal<T>& t) {
  const int exponent = size_exponent(t);
  std::vector<double> d, e;
  for (const T x : t.d) d.push_back(std::ldexp(static_cast<double>(x), -exponent));
  for (const T x : t.e) e.push_back(std::ldexp(static_cast<double>(x), -exponent));
  e.push_back(0);
  REQUIRE(lapack::sterf(t.n(), d.data(), e.data()) == 0);
  return d;
}

/// Returns ||T||_2 times 2^-size_exponent from the values.
inline double norm_of(const std::vector<double>& values) {
  return values.empty() ? 0 : std::max(std::abs(values.front()), std::abs(values.back()));
}

}  // namespace tesela::test
