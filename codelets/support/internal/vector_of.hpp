#pragma once

#include <tesela/codelets/support/inline.hpp>

#include <cstring>

// Internal to codelets/.

namespace tesela::kernels {

/// 64 bytes of numbers. The compiler makes of it what the machine has.
template <class T>
struct VectorOf;
template <>
struct VectorOf<double> {
  static constexpr int lanes = 8;
  using type [[gnu::vector_size(64)]] = double;
};
template <>
struct VectorOf<float> {
  static constexpr int lanes = 16;
  using type [[gnu::vector_size(64)]] = float;
};

/// Vectors from and to memory of any alignment. (One that is returned would have to name its machine.)
template <class V, class T>
TESELA_INLINE void load(V& v, const T* from) {
  std::memcpy(&v, from, sizeof v);
}
template <class V, class T>
TESELA_INLINE void store(T* to, const V& v) {
  std::memcpy(to, &v, sizeof v);
}

}  // namespace tesela::kernels
