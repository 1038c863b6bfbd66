#pragma once

#include "tests/support/test.hpp"
#include <tesela/tiles/host_matrix.hpp>

#include <utility>

/// Least squares in quadruple precision as references.
namespace tesela::test {

__extension__ typedef __float128 Quad;  // not part of ISO C++

inline Quad root(Quad x) {
  if (x == 0) return 0;
  int e = 0;
  Quad scaled = x;  // reduced to the range of long double
  for (; scaled > 4; scaled /= 4) ++e;
  for (; scaled < 1; scaled *= 4) --e;
  Quad y = std::sqrt(static_cast<long double>(scaled));
  for (int k = 0; k < 3; ++k) y = (y + scaled / y) / 2;
  for (; e > 0; --e) y *= 2;
  for (; e < 0; ++e) y /= 2;
  return y;
}

/// Factors by Householder reflectors with column pivoting: the first n of the n + r columns of s, with m >= n rows,
/// become R. Returns the numbers of R's columns.
inline std::vector<index_t> quadruple_qr(std::vector<Quad>& s, index_t m, index_t n, index_t r) {
  const auto at = [&](index_t i, index_t j) -> Quad& { return s[static_cast<std::size_t>(i + j * m)]; };
  std::vector<index_t> pivots;
  for (index_t j = 0; j < n; ++j) pivots.push_back(j);
  for (index_t k = 0; k < n; ++k) {
    index_t best = k;
    Quad most = -1;
    for (index_t j = k; j < n; ++j) {
      Quad sum = 0;
      for (index_t i = k; i < m; ++i) sum += at(i, j) * at(i, j);
      if (sum > most) most = sum, best = j;
    }
    for (index_t i = 0; i < m; ++i) std::swap(at(i, k), at(i, best));
    std::swap(pivots[static_cast<std::size_t>(k)], pivots[static_cast<std::size_t>(best)]);
    const Quad norm = root(most), head = at(k, k) + (at(k, k) < 0 ? -norm : norm);
    std::vector<Quad> v;
    Quad size = 0;
    for (index_t i = k; i < m; ++i) v.push_back(i == k ? head : at(i, k)), size += v.back() * v.back();
    for (index_t j = k; j < n + r && size > 0; ++j) {
      Quad dot = 0;
      for (index_t i = k; i < m; ++i) dot += v[static_cast<std::size_t>(i - k)] * at(i, j);
      for (index_t i = k; i < m; ++i) at(i, j) -= 2 * dot / size * v[static_cast<std::size_t>(i - k)];
    }
  }
  return pivots;
}

/// Solves R x = c for column c of s after quadruple_qr.
inline void quadruple_solve(const std::vector<Quad>& s, index_t m, index_t n, index_t c,
                            const std::vector<index_t>& pivots, double* x) {
  const auto at = [&](index_t i, index_t j) { return s[static_cast<std::size_t>(i + j * m)]; };
  std::vector<Quad> y(static_cast<std::size_t>(n));
  for (index_t k = n - 1; k >= 0; --k) {
    Quad sum = at(k, c);
    for (index_t j = k + 1; j < n; ++j) sum -= at(k, j) * y[static_cast<std::size_t>(j)];
    y[static_cast<std::size_t>(k)] = sum / at(k, k);
    x[pivots[static_cast<std::size_t>(k)]] = static_cast<double>(y[static_cast<std::size_t>(k)]);
  }
}

/// Returns argmin ||diag(sqrt(w)) (A x - b)||_2 for each column; A has full column rank.
template <class T>
HostMatrix<double> quadruple_wls(const HostMatrix<T>& a, const HostMatrix<T>& b, const std::vector<T>& w) {
  const index_t m = a.rows(), n = a.cols(), r = b.cols();
  std::vector<Quad> s(static_cast<std::size_t>(m * (n + r)));
  for (index_t i = 0; i < m; ++i) {
    const Quad d = root(w.empty() ? Quad(1) : Quad(w[static_cast<std::size_t>(i)]));
    for (index_t j = 0; j < n + r; ++j)
      s[static_cast<std::size_t>(i + j * m)] = d == 0 ? Quad(0) : d * Quad(j < n ? a(i, j) : b(i, j - n));
  }
  const std::vector<index_t> pivots = quadruple_qr(s, m, n, r);
  HostMatrix<double> x(n, r);
  for (index_t c = 0; c < r; ++c) quadruple_solve(s, m, n, n + c, pivots, &x(0, c));
  return x;
}

/// Returns x of min ||u||_2 subject to b = A x + F u for each column b. A has full column rank. F divided by the
/// largest element of each row must have full row rank and be well conditioned.
template <class T>
HostMatrix<double> quadruple_glm(const HostMatrix<T>& a, const HostMatrix<T>& f, const HostMatrix<T>& b) {
  const index_t m = a.rows(), n = a.cols(), r = b.cols(), p = f.cols(), q = m - n;
  std::vector<Quad> s(static_cast<std::size_t>(m * (n + r + p)));
  const auto at = [&](index_t i, index_t j) -> Quad& { return s[static_cast<std::size_t>(i + j * m)]; };
  for (index_t i = 0; i < m; ++i) {
    T size = 0;
    for (index_t j = 0; j < p; ++j) size = std::max(size, std::abs(f(i, j)));
    for (index_t j = 0; j < n + r + p; ++j)
      at(i, j) = Quad(j < n ? a(i, j) : j < n + r ? b(i, j - n) : f(i, j - n - r)) / Quad(size);
  }
  const std::vector<index_t> pivots = quadruple_qr(s, m, n, r + p);
  // Solves B2 B2^T w = c2 by elimination; u = B2^T w.
  std::vector<Quad> gram(static_cast<std::size_t>(q * (q + r)));
  const auto of = [&](index_t i, index_t j) -> Quad& { return gram[static_cast<std::size_t>(i + j * q)]; };
  for (index_t i = 0; i < q; ++i)
    for (index_t j = 0; j < q + r; ++j) {
      of(i, j) = j < q ? Quad(0) : at(n + i, n + j - q);
      for (index_t k = 0; k < p && j < q; ++k) of(i, j) += at(n + i, n + r + k) * at(n + j, n + r + k);
    }
  for (index_t k = 0; k < q; ++k)
    for (index_t i = 0; i < q; ++i) {
      if (i == k) continue;
      const Quad factor = of(i, k) / of(k, k);
      for (index_t j = k; j < q + r; ++j) of(i, j) -= factor * of(k, j);
    }
  HostMatrix<double> x(n, r);
  for (index_t c = 0; c < r; ++c) {
    for (index_t k = 0; k < p; ++k) {
      Quad u = 0;
      for (index_t i = 0; i < q; ++i) u += at(n + i, n + r + k) * of(i, q + c) / of(i, i);
      for (index_t i = 0; i < n; ++i) at(i, n + c) -= at(i, n + r + k) * u;
    }
    quadruple_solve(s, m, n, n + c, pivots, &x(0, c));
  }
  return x;
}

}  // namespace tesela::test
