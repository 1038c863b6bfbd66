#pragma once

#include <tesela/algorithms/mimo/internal/search_lists.hpp>
#include <tesela/algorithms/mimo/orderings.hpp>

// What tables of orderings and their searches share. Internal to algorithms/mimo.

namespace tesela::mimo {

/// Throws ArgumentError, with the place.
void require_finite(const char* argument, const HostMatrix<double>& a);

/// Element e of the k-th of packed factorizations.
template <class T>
T& element(const Block<T>& packed, index_t k, index_t e) {
  constexpr index_t together = kernels::OrderedQrs::together;
  return packed(e * together + k % together, k / together);
}

template <class T>
Block<const T> block_of(const HostMatrix<T>& a) {
  return {a.data(), a.rows(), a.cols(), a.rows()};
}

/// One tile.
template <class T>
TileMatrix<T> whole(Runtime& runtime, const HostMatrix<T>& a, const char* name) {
  return TileMatrix<T>::map(runtime, a.data(), a.rows(), a.cols(), a.rows(), {a.rows(), a.cols()}, name);
}

}  // namespace tesela::mimo
