#pragma once

#include "tests/support/test.hpp"
#include "tools/checks/eig_error.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/tiles/filled.hpp>

namespace tesela::test {

/// Returns the lower triangle of a test matrix, Hermitian for complex numbers, times `scale`; NaN above the diagonal,
/// which must not be read.
template <class T>
HostMatrix<T> lower(const char* kind, index_t n, double scale = 1, std::uint64_t seed = 2) {
  const SymmetricChoice choice = parse_symmetric_kind(kind);
  const SymmetricMatrix matrix(choice.kind, n, choice.parameter, seed);
  return filled<T>({n, n}, [&](index_t i, index_t j) {
    return i >= j ? converted<T>(scale * with_parts<T, double>(matrix.element<T>(i, j)))
                  : T(std::numeric_limits<real_t<T>>::quiet_NaN());
  });
}

/// A result with its vectors on the host.
template <class T, class Eig = SymmetricEig<T>>
struct Solved {
  Eig eig;
  HostMatrix<T> x = {};

  Solved(Eig found) : eig(std::move(found)) {
    if (!eig.vectors) return;
    x = HostMatrix<T>(eig.vectors->m(), eig.vectors->n());
    if (eig.status.ok()) eig.vectors->copy_to(x.data(), x.ld());
    eig.vectors.reset();
  }
};

/// Checks that the values ascend and that the largest component of each vector is real and positive.
template <class T, class Eig>
void check_order_and_signs(const Solved<T, Eig>& s) {
  CHECK(std::is_sorted(s.eig.values.begin(), s.eig.values.end()));
  for (index_t j = 0; j < s.x.cols(); ++j) {
    const T* const x = &s.x(0, j);
    const T largest = *std::max_element(x, x + s.x.rows(), [](T p, T q) { return std::abs(p) < std::abs(q); });
    if constexpr (is_complex<T>)  // several components may be the largest; one of them is real
      CHECK(std::any_of(x, x + s.x.rows(), [&](T value) {
        return value.imag() == 0 && value.real() > 0 &&
               value.real() >= std::abs(largest) * (1 - 8 * std::numeric_limits<real_t<T>>::epsilon());
      }));
    else
      CHECK(largest > 0);
  }
}

/// Checks values, residual and orthogonality against these bounds.
template <class T, class Eig>
void check_pairs(const HostMatrix<T>& a, const Solved<T, Eig>& s, const std::vector<double>& reference,
                 EigBounds bounds) {
  REQUIRE(s.eig.status.ok());
  const double norm = symmetric_norm(a, s.eig.norm);
  const double off = eigenvalue_error(s.eig.values, reference, s.eig.first, norm);
  const EigError error = eig_error(a, s.eig.values, s.x, norm, s.x.cols(), 1);
  CAPTURE(a.rows(), off, error.residual, error.orthogonality, bounds.value, bounds.orthogonality);
  CHECK(off <= bounds.value);
  CHECK(error.residual <= bounds.value);
  CHECK(error.orthogonality <= bounds.orthogonality);
}

}  // namespace tesela::test
