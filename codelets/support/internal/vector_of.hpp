#pragma once

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

}  // namespace tesela::kernels
