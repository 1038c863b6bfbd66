#pragma once

#include <tesela/algorithms/least_squares/internal/row_system.hpp>

namespace tesela::detail {

/// As RowSystem::solve for a B2, q x p, whose columns differ in size: column j, 2^of_columns[j] times one of size 1, is
/// known to rounding errors of that size. Its rank is decided on columns of size 1 (singular values above rcond times
/// the largest that they can have); then B2^T is factored with rows sorted by size and columns pivoted, so that each
/// has errors of its own size (Cox and Higham 1998). On the host; B2 is finite.
template <class T>
LeastNorm<T> graded_least_norm(HostMatrix<T> B2, std::vector<int> of_columns, const HostMatrix<T>& C2, double rcond,
                               bool multipliers);

/// Returns what RowSystem::beyond does for a B whose columns differ in size: the rows before `first` times orthonormal
/// columns, which span the null space of the other rows. Their rank is that of graded_least_norm. On the host.
template <class T>
HostMatrix<T> graded_beyond(const HostMatrix<T>& B, index_t first, const std::vector<int>& of_columns, double rcond);

}  // namespace tesela::detail
