#pragma once

#include "tools/checks/eig_error.hpp"

#include <span>

// Checks of eigenpairs of the symmetric tridiagonal matrix T with diagonal d (n) and off-diagonal e (n - 1), without
// n x n numbers.
namespace tesela {

/// Returns an estimate of ||T||_2: the largest eigenvalue found, but at least the largest norm of a column and at most
/// the largest sum of a row; 1 for T = 0.
double tridiagonal_norm(std::span<const double> d, std::span<const double> e, double largest_value);

/// Measures the residuals of all pairs, and the orthogonality as eig_error. X is n x values.size().
template <class T>
EigError tridiagonal_eig_error(std::span<const double> d, std::span<const double> e, const std::vector<double>& values,
                               const HostMatrix<T>& x, double norm, index_t sampled, std::uint64_t seed);

/// Returns max |values(i) - lambda(first + i)| / norm to a factor of 2, from Sturm counts at both sides of each value
/// in extended precision; of `sampled` random values if there are more. NaN if one is not finite, infinite beyond
/// `most`.
double tridiagonal_value_error(std::span<const double> d, std::span<const double> e, const std::vector<double>& values,
                               index_t first, double norm, double most, index_t sampled, std::uint64_t seed);

}  // namespace tesela
