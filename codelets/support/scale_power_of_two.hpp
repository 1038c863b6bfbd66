#pragma once

#include <tesela/runtime/codelet.hpp>

#include <cstdint>

namespace tesela::kernels {

/// Computes A *= 2^exponent, even if that power exceeds T's range.
template <class T>
struct ScalePowerOfTwo {
  static constexpr auto name = "scale_power_of_two";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    int exponent = 0;
  };
  static void cpu(const Args& args, InOut<T> a);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a);
};

}  // namespace tesela::kernels
