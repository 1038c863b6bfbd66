#pragma once

#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>
#include <tesela/algorithms/qr/qr.hpp>

#include <optional>

namespace tesela::detail {

/// lse from A's factorization where its R is, in one row of tiles, m >= n, and the B that holds Q^T B = [c; .]: w is
/// the least change of c with which x = R^-1 (c + w) fulfils C x = d, that is K^T w = d - K^T c with K = R^-T C^T, and
/// multipliers come from K^T K as SeminormalRows has it. Nothing where R, with columns of unit norm, or K is not well
/// conditioned beyond doubt, or what came out is not as accurate as lse() has to be: then nothing has changed.
template <class T>
std::optional<ConstrainedLeastSquares<T>> regular_constraints(Graph& g, const QrFactorization<T>& of_a,
                                                              const TileMatrix<T>& B, const HostMatrix<T>& C,
                                                              const HostMatrix<T>& D, double rcond);

}  // namespace tesela::detail
