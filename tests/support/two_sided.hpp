#pragma once

#include "tests/support/matrices.hpp"

namespace tesela::test {

template <class T>
double residual_bound(index_t n) {
  return (sizeof(real_t<T>) == 8 ? 5e-15 : 1e-6) * std::sqrt(static_cast<double>(std::max<index_t>(n, 1)));
}

template <class T>
double orthogonality_bound(index_t n) {
  return (sizeof(real_t<T>) == 8 ? 1e-13 : 2e-5) * std::sqrt(static_cast<double>(std::max<index_t>(n, 1)));
}

/// Returns L B for a band matrix B.
template <class Wide>
HostMatrix<Wide> times_band(const HostMatrix<Wide>& l, const HostMatrix<Wide>& b) {
  constexpr index_t width = 64;
  HostMatrix<Wide> c = HostMatrix<Wide>::zeros(l.rows(), b.cols());
  for (index_t j = 0; j < b.cols(); j += width) {
    const index_t count = std::min(width, b.cols() - j);
    index_t first = b.rows(), end = 0;  // of the rows that are not zero
    for (index_t k = j; k < j + count; ++k)
      for (index_t i = 0; i < b.rows(); ++i)
        if (b(i, k) != Wide(0)) first = std::min(first, i), end = std::max(end, i + 1);
    if (first < end)
      blas::gemm(Op::none, Op::none, l.rows(), count, end - first, Wide(1), &l(0, first), l.ld(), &b(first, j), b.ld(),
                 Wide(0), &c(0, j), c.ld());
  }
  return c;
}

/// Checks A = L B R^H for a unitary L and R of T, which may be one matrix, in double precision.
template <class T, class Wide>
void check_two_sided(const HostMatrix<Wide>& a, const HostMatrix<T>& left, const HostMatrix<Wide>& b,
                     const HostMatrix<T>& right) {
  const index_t n = a.rows();
  const bool one = &left == &right;
  const HostMatrix<with_parts<T, double>> l = wide(left),
                                          other = one ? identity<with_parts<T, double>>(0) : wide(right),
                                          whole = wide(a);
  const auto& r = one ? l : other;
  const double residual = distance(product(Op::none, times_band(l, wide(b)), Op::conjugate, r), whole),
               size = norm(whole);
  CAPTURE(residual, size, residual_bound<T>(n));
  CHECK(residual <= residual_bound<T>(n) * size);
  for (const auto* const q : {&l, &r}) {
    const double defect = distance(product(Op::conjugate, *q, *q), identity<with_parts<T, double>>(n));
    CAPTURE(defect, orthogonality_bound<T>(n));
    CHECK(defect <= orthogonality_bound<T>(n));
    if (one) break;
  }
}

}  // namespace tesela::test
