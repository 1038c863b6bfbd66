#pragma once

#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

extern "C" {
void dsbevd_(const char*, const char*, const int*, const int*, double*, const int*, double*, double*, const int*,
             double*, const int*, int*, const int*, int*, std::size_t, std::size_t);
}

// Symmetric band matrices in LAPACK's lower band storage: element (i, j), i >= j, in row i - j of column j.

namespace tesela::test {

/// Kinds: uniform, diagonal, zero, tridiagonal (inside the band), graded (from 1 down to eps^3), spiked (tiny elements
/// beside large ones).
template <class T>
HostMatrix<T> make_band(const std::string& kind, index_t n, index_t b, std::uint64_t seed = 1) {
  const Generator<double> random{Pattern::uniform, 0, 0, seed};
  HostMatrix<T> ab = HostMatrix<T>::zeros(b + 1, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j; i <= std::min(j + b, n - 1); ++i) {
      double x = random.uniform(i, j);
      const double place = static_cast<double>(i + j) / static_cast<double>(2 * n);
      if (kind == "zero" || (kind == "diagonal" && i > j) || (kind == "tridiagonal" && i > j + 1)) x = 0;
      if (kind == "graded") x *= std::pow(static_cast<double>(std::numeric_limits<T>::epsilon()), 3 * place);
      if (kind == "spiked" && (i * 7 + j * 3) % 5 != 0) x *= static_cast<double>(std::numeric_limits<T>::min()) * 16;
      ab(i - j, j) = static_cast<T>(x);
    }
  return ab;
}

/// LAPACK's eigenvalues, ascending.
template <class T>
std::vector<double> band_values(const HostMatrix<T>& ab) {
  const int n = static_cast<int>(ab.cols()), kd = static_cast<int>(ab.rows()) - 1, ld = kd + 1, one = 1;
  std::vector<double> w(static_cast<std::size_t>(n)), copy;
  for (index_t j = 0; j < ab.cols(); ++j)
    for (index_t i = 0; i < ab.rows(); ++i) copy.push_back(static_cast<double>(ab(i, j)));
  const int lwork = std::max(1, 2 * n), liwork = 1;
  std::vector<double> work(static_cast<std::size_t>(lwork));
  std::vector<int> iwork(1);
  double z = 0;
  int info = 0;
  if (n > 0)
    dsbevd_("N", "L", &n, &kd, copy.data(), &ld, w.data(), &z, &one, work.data(), &lwork, iwork.data(), &liwork, &info,
            1, 1);
  return info == 0 ? w : std::vector<double>{};
}

}  // namespace tesela::test
