#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <span>

namespace tesela {

/// Returns ||B||_F ||B^-1||_2 for B = D A E, where powers of two in D and E make the largest element of each row, then
/// of each column, about 1: a condition of A that does not depend on the units of rows and columns. It is a lower
/// estimate, by five steps of the power method with the factors P A = L U in the form of lu_error. Infinite if B^-1
/// overflows.
template <class T>
double lu_condition(const HostMatrix<T>& a, const HostMatrix<T>& factors, std::span<const index_t> rows);

/// Returns the same for a symmetric positive definite A = R^T R, with B = D A D and a diagonal of about 1.
template <class T>
double cholesky_condition(const HostMatrix<T>& a, const HostMatrix<T>& factors);

}  // namespace tesela
