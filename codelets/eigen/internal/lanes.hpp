#pragma once

#include <tesela/codelets/support/internal/vector_of.hpp>

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

/// Lanes from memory, in an expression.
template <class T>
struct LoadLanes {
  Lanes<T> v;
  TESELA_INLINE explicit LoadLanes(const T* from) { load(v, from); }
};

template <class T>
TESELA_INLINE T sum_of_lanes(const Lanes<T>& v) {
  T sum = v[0];
  for (int l = 1; l < LanesOf<T>::count; ++l) sum += v[l];
  return sum;
}

}  // namespace tesela::kernels
