#pragma once

#include <tesela/algorithms/svd/svd.hpp>

#include <cstdint>

namespace tesela {

/// Options of low_rank_svd.
struct LowRankOptions {
  index_t rank = 1;           ///< k, number of values and vectors
  index_t oversampling = 10;  ///< p: the range has k + p dimensions
  int power = 2;              ///< q, power iterations: more for values that decay slowly
  std::uint64_t seed = 1;     ///< of the random vectors; the result depends only on it
  bool in_tiles = false;      ///< whether U and V are left in tiles, on GPUs if they computed them
};

/// Result of low_rank_svd: the k values, m x k and n x k vectors, and the error.
template <class T>
struct LowRankSvd : Svd<T> {
  double error_bound = 0;  ///< ||A - U diag(values) V^H||_2 is not larger, with probability 1 - 3^-20
  double next_value = 0;   ///< value k + 1 in the range: the best error of rank k is not smaller
};

/// Computes a decomposition of rank k for any m x n matrix by random vectors.
///
/// A        m x n, on the host or on a device; only read.
/// Returns  values, vectors on the host or in tiles, the bound of the error and a status as svd. The values are not
/// larger than A's, and each
///          differs from A's by no more than the error.
/// Throws   ArgumentError for a rank outside 0 … min(m, n), negative oversampling and negative power.
/// Waits    for the computation.
/// Method   Y = A W for a random W with k + p columns, Q from Y = Q R; q times Q from A^H Q and then from A Q; singular
///          values of Q^H A: 2 q + 2 products with A (N. Halko, P. Martinsson, J. Tropp, "Finding structure with
///          randomness", SIAM Review 53, 2011, algorithm 4.4). The bound follows from (I - Q Q^H) A w for 20 other
///          random vectors: ||B|| <= c max ||B w||, c = 3 sqrt(2 / pi) for real A (lemma 4.1). For complex A both parts
///          of an element of w are standard normal, and c = sqrt(3 / 2), as the magnitude of such a number is below t
///          with probability 1 - exp(-t^2 / 2) <= t^2 / 2. If k + p >= min(m, n), svd.
template <class T>
LowRankSvd<T> low_rank_svd(Runtime& runtime, MatrixView<T> a, const LowRankOptions& options);
/// Computes it with the options of a graph.
template <class T>
LowRankSvd<T> low_rank_svd(Graph& g, MatrixView<T> a, const LowRankOptions& options);

/// Returns the number of floating-point operations of its products and factorizations.
double low_rank_svd_flops(Shape shape, const LowRankOptions& options);

}  // namespace tesela
