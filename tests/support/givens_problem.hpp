#pragma once

#include "tests/support/padded.hpp"
#include "tests/support/test.hpp"
#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/generator.hpp>

// Problems and errors for the tests of plane rotations, on the host in long double.

namespace tesela::test {

/// Returns a matrix of this kind: uniform, graded (entries from 1 down to 1e-12), low-rank, kappa (columns nearly
/// dependent), zero, ones, band:3 …
template <class T>
Padded<T> make_matrix(const std::string& kind, index_t m, index_t n) {
  Padded<T> a(m, n);
  using Real = real_t<T>;
  const Generator<T> u{Pattern::uniform, 0, n, 11}, v{Pattern::uniform, 0, n, 12};
  const index_t half_width = kind.starts_with("band:") ? std::stoll(kind.substr(5)) : std::max(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) {
      T x = std::abs(i - j) > half_width ? T(0) : u(i, j);
      if (kind == "graded") x *= std::pow(Real(10), -Real(12) * static_cast<Real>(i + j) / static_cast<Real>(m + n));
      if (kind == "low-rank") {
        x = 0;
        for (index_t k = 0; k < 3; ++k) x += u(i, k) * v(k, j);
      }
      if (kind == "kappa") x = u(i, 0) + T(Real(1e-15)) * u(i, j);
      if (kind == "zero") x = 0;
      if (kind == "ones")
        x = number<T>(static_cast<double>((i * 7 + j * 3) % 3 - 1), static_cast<double>((i * 5 + j) % 3 - 1));
      a(i, j) = x;
    }
  return a;
}

struct Errors {
  double backward = 0, orthogonality = 0;
};

/// Returns ||A - Q R||_F / ||A||_F, where R is the first rows of r's upper trapezoid, and ||I - Q^H Q||_F; Q is m x k.
template <class T>
Errors measure(const Padded<T>& a, const Padded<T>& q, const Padded<T>& r) {
  using Long = with_parts<T, long double>;
  const auto square = [](Long x) { return real_part(times(conj(x), x)); };
  const auto wide = [](T x) { return converted<Long>(x); };
  long double residual = 0, norm = 0, gram = 0;
  for (index_t j = 0; j < a.n; ++j)
    for (index_t i = 0; i < a.m; ++i) {
      Long sum = -wide(a(i, j));
      for (index_t k = 0; k <= std::min(j, q.n - 1); ++k) sum += times(wide(q(i, k)), wide(r(k, j)));
      residual += square(sum);
      norm += square(wide(a(i, j)));
    }
  for (index_t j = 0; j < q.n; ++j)
    for (index_t i = 0; i <= j; ++i) {
      Long sum = i == j ? -1 : 0;
      for (index_t k = 0; k < q.m; ++k) sum += times(conj(wide(q(k, i))), wide(q(k, j)));
      gram += (i == j ? 1 : 2) * square(sum);
    }
  const long double scale = norm > 0 ? std::sqrt(norm) : 1.0L;
  return {static_cast<double>(std::sqrt(residual) / scale), static_cast<double>(std::sqrt(gram))};
}

/// Returns R of LAPACK's geqrf in the upper trapezoid.
template <class T>
Padded<T> lapack_r(Padded<T> a) {
  std::vector<T> tau(static_cast<std::size_t>(std::min(a.m, a.n)));
  lapack::geqrf(a.m, a.n, a.data(), a.ld, tau.data());
  return a;
}

/// Returns the largest difference of |R| of two factorizations, relative to R's largest entry.
template <class T>
double r_difference(const Padded<T>& r, const Padded<T>& other) {
  double worst = 0, largest = 0;
  for (index_t j = 0; j < r.n; ++j)
    for (index_t i = 0; i <= std::min(j, r.m - 1); ++i) {
      const double size = static_cast<double>(std::abs(other(i, j))),
                   difference = std::abs(static_cast<double>(std::abs(r(i, j))) - size);
      worst = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(worst, difference);
      largest = std::max(largest, size);
    }
  return largest > 0 ? worst / largest : worst;
}

}  // namespace tesela::test
