#pragma once

#include <tesela/codelets/support/inline.hpp>
#include <tesela/runtime/types.hpp>

#include <cstring>

namespace tesela::kernels {

/// 32 bytes of numbers: one register with AVX2, where the compiler keeps vectors of 64 in memory.
template <class T>
struct LanesOf;
template <>
struct LanesOf<double> {
  static constexpr int count = 4;
  using type [[gnu::vector_size(32)]] = double;
};
template <>
struct LanesOf<float> {
  static constexpr int count = 8;
  using type [[gnu::vector_size(32)]] = float;
};
template <class T>
using Lanes = typename LanesOf<T>::type;

/// Lanes from memory of any alignment. (A vector that is returned would have to name its machine.)
template <class T>
struct LoadLanes {
  Lanes<T> v;
  TESELA_INLINE explicit LoadLanes(const T* from) { std::memcpy(&v, from, sizeof v); }
};

template <class T>
TESELA_INLINE T sum_of_lanes(const Lanes<T>& v) {
  T sum = 0;
  for (int l = 0; l < LanesOf<T>::count; ++l) sum += v[l];
  return sum;
}

}  // namespace tesela::kernels
