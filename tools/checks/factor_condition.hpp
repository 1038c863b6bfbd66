#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <span>

namespace tesela {

/// ||B||_F ||B^-1||_2 for B = D A E, where powers of two in D and E make the largest element of each row, then of each
/// column, about 1: the condition of A whatever units its rows and columns have. Estimated from below: five steps of
/// the power method with the factors P A = L U, as lu_error takes them. Infinite where B^-1 overflows.
template <class T>
double lu_condition(const HostMatrix<T>& a, const HostMatrix<T>& factors, std::span<const index_t> rows);

/// The same of a symmetric positive definite A = R^T R, for B = D A D with a diagonal of about 1.
template <class T>
double cholesky_condition(const HostMatrix<T>& a, const HostMatrix<T>& factors);

}  // namespace tesela
