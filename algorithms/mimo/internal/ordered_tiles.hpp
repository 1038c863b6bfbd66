#pragma once

#include <tesela/algorithms/mimo/internal/search_tiles.hpp>
#include <tesela/algorithms/mimo/orderings.hpp>

// Shared by the tables of orderings and their searches. Internal to algorithms/mimo.

namespace tesela::mimo {

/// Throws ArgumentError, with the place, if an element is not finite.
void require_finite(const char* argument, const HostMatrix<double>& a);

/// Returns element e of the k-th packed factorization.
template <class T>
T& element(const Block<T>& packed, index_t k, index_t e) {
  constexpr index_t together = kernels::OrderedQrs::together;
  return packed(e * together + k % together, k / together);
}

template <class T>
Block<const T> block_of(const HostMatrix<T>& a) {
  return {a.data(), a.rows(), a.cols(), a.rows()};
}

/// Returns `a` as one tile.
template <class T>
TileMatrix<T> whole(Runtime& runtime, const HostMatrix<T>& a, const char* name) {
  return TileMatrix<T>::map(runtime, a.data(), a.rows(), a.cols(), a.rows(), {a.rows(), a.cols()}, name);
}

}  // namespace tesela::mimo
