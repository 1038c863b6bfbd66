#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <cmath>
#include <vector>

/// Least squares in quadruple precision, for references.
namespace tesela::test {

__extension__ typedef __float128 Quad;  // no ISO C++

inline Quad root(Quad x) {
  if (x == 0) return 0;
  int e = 0;
  Quad scaled = x;  // into the range of long double
  for (; scaled > 4; scaled /= 4) ++e;
  for (; scaled < 1; scaled *= 4) --e;
  Quad y = std::sqrt(static_cast<long double>(scaled));
  for (int k = 0; k < 3; ++k) y = (y + scaled / y) / 2;
  for (; e > 0; --e) y *= 2;
  for (; e < 0; ++e) y /= 2;
  return y;
}

/// argmin ||diag(sqrt(w)) (A x - b)||_2 for each column, A of full column rank, by Householder reflectors with column
/// pivoting.
template <class T>
HostMatrix<double> quadruple_wls(const HostMatrix<T>& a, const HostMatrix<T>& b, const std::vector<T>& w) {
  const index_t m = a.rows(), n = a.cols(), r = b.cols();
  std::vector<Quad> s(static_cast<std::size_t>(m * (n + r)));
  const auto at = [&](index_t i, index_t j) -> Quad& { return s[static_cast<std::size_t>(i + j * m)]; };
  for (index_t i = 0; i < m; ++i) {
    const Quad d = root(w.empty() ? Quad(1) : Quad(w[static_cast<std::size_t>(i)]));
    for (index_t j = 0; j < n + r; ++j) at(i, j) = d == 0 ? Quad(0) : d * Quad(j < n ? a(i, j) : b(i, j - n));
  }
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
  HostMatrix<double> x(n, r);
  for (index_t c = 0; c < r; ++c) {
    std::vector<Quad> y(static_cast<std::size_t>(n));
    for (index_t k = n - 1; k >= 0; --k) {
      Quad sum = at(k, n + c);
      for (index_t j = k + 1; j < n; ++j) sum -= at(k, j) * y[static_cast<std::size_t>(j)];
      y[static_cast<std::size_t>(k)] = sum / at(k, k);
      x(pivots[static_cast<std::size_t>(k)], c) = static_cast<double>(y[static_cast<std::size_t>(k)]);
    }
  }
  return x;
}

}  // namespace tesela::test
