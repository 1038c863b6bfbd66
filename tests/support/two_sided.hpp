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

/// Checks A = L B R^H for a unitary L and R of T, in double precision.
template <class T, class Wide>
void check_two_sided(const HostMatrix<Wide>& a, const HostMatrix<T>& left, const HostMatrix<Wide>& b,
                     const HostMatrix<T>& right) {
  const index_t n = a.rows();
  const HostMatrix<with_parts<T, double>> l = wide(left), r = wide(right), whole = wide(a);
  const double residual = distance(product(Op::none, product(l, wide(b)), Op::conjugate, r), whole), size = norm(whole);
  CAPTURE(residual, size, residual_bound<T>(n));
  CHECK(residual <= residual_bound<T>(n) * size);
  for (const auto* const q : {&l, &r}) {
    const double defect = distance(product(Op::conjugate, *q, *q), identity<with_parts<T, double>>(n));
    CAPTURE(defect, orthogonality_bound<T>(n));
    CHECK(defect <= orthogonality_bound<T>(n));
  }
}

}  // namespace tesela::test
