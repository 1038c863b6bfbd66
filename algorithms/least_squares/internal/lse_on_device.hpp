#pragma once

#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>
#include <tesela/algorithms/qr/qr.hpp>

#include <optional>

namespace tesela::detail {

/// Runs lse on A's factorization in its tiles: R in one tile row, m >= n, and B holds Q^T B = [c; .]. w is the smallest
/// change of c with which x = R^-1 (c + w) satisfies C x = d: K^T w = d - K^T c with K = R^-T C^T. Multipliers come
/// from K^T K as in SeminormalRows. Returns nothing, and changes nothing, if R (columns of unit norm) or K is not
/// certainly well conditioned, or if the result is less accurate than lse() requires.
template <class T>
std::optional<ConstrainedLeastSquares<T>> lse_on_device(Graph& g, const QrFactorization<T>& of_a,
                                                        const TileMatrix<T>& B, const HostMatrix<T>& C,
                                                        const HostMatrix<T>& D, double rcond);

}  // namespace tesela::detail
