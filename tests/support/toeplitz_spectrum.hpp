#pragma once

#include "tests/support/toeplitz.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>
#include <tesela/codelets/toeplitz/toeplitz_error.hpp>
#include <tesela/host/blas.hpp>

// Checks of a Toeplitz spectrum.

namespace tesela::test {

template <class T>
std::span<const T> column(const HostMatrix<T>& t) {
  return {t.data(), static_cast<std::size_t>(t.rows())};
}

inline const std::vector<ToeplitzGenerator> all_kinds{{ToeplitzKind::random, 0, 1},
                                                      {ToeplitzKind::spd, 0, 2},
                                                      {ToeplitzKind::prolate, 0.3, 1},
                                                      {ToeplitzKind::kms, 0.9, 1},
                                                      {ToeplitzKind::second_difference, 0, 1},
                                                      {ToeplitzKind::singular_minors, 0, 1}};

/// Requires all eigenvalues, correct to `bound` relative to the largest.
template <class T>
Spectrum<T> check_spectrum(Runtime& runtime, const HostMatrix<T>& t, const SpectrumOptions& options, double bound) {
  Graph g(runtime);
  const Spectrum<T> s = toeplitz_spectrum<T>(g, column(t), options);
  std::vector<double> right = dense_eigenvalues(t);
  const double norm = std::max(std::abs(right.front()), std::abs(right.back()));
  std::erase_if(right, [&](double v) { return v < options.low || v >= options.high; });
  REQUIRE(s.values.size() == right.size());
  CHECK(s.expected == static_cast<index_t>(right.size()));
  CHECK(s.shortages.empty());
  for (std::size_t i = 0; i < right.size(); ++i) REQUIRE(std::abs(s.values[i] - right[i]) <= bound * norm);
  return s;
}

/// Checks residuals, orthogonality and symmetry of all vectors.
template <class T>
void check_vectors(const HostMatrix<T>& t, const Spectrum<T>& s, double residual, double orthogonality) {
  const index_t n = t.rows(), k = static_cast<index_t>(s.values.size());
  REQUIRE(s.vectors);
  REQUIRE((s.vectors->m() == n && s.vectors->n() == k));
  HostMatrix<T> vectors = s.vectors->to_host();
  double norm = 0;
  for (const double v : s.values) norm = std::max(norm, std::abs(v));
  HostMatrix<T> y(n, 1), gram(k, k);
  for (index_t j = 0; j < k; ++j) {
    const T* const x = &vectors(0, j);
    kernels::toeplitz_product(n, t.data(), s.values[static_cast<std::size_t>(j)], 1, x, y.data());
    REQUIRE(static_cast<double>(blas::nrm2(n, y.data())) <= residual * norm);
    bool symmetric = true;
    for (index_t i = 0; i < n; ++i)
      symmetric =
          symmetric && std::abs(static_cast<double>(x[n - 1 - i]) -
                                s.symmetry[static_cast<std::size_t>(j)] * static_cast<double>(x[i])) <= residual * 10;
    REQUIRE(symmetric);
  }
  if (k == 0) return;
  blas::gemm<T>(Op::transpose, Op::none, k, k, n, 1, vectors.data(), n, vectors.data(), n, 0, gram.data(), gram.ld());
  bool orthonormal = true;
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < k; ++i)
      orthonormal = orthonormal && std::abs(static_cast<double>(gram(i, j)) - (i == j ? 1.0 : 0.0)) <= orthogonality;
  REQUIRE(orthonormal);
}

}  // namespace tesela::test
